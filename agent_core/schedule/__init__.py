"""Scheduled jobs: triggers, occurrences, missed runs, and the `schedule` tool."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from agent_core.schedule.almanac import CalendarReader as CalendarReader
    from agent_core.schedule.almanac import read_calendars as read_calendars
    from agent_core.schedule.confirmations import KEEP as KEEP
    from agent_core.schedule.confirmations import MOVE as MOVE
    from agent_core.schedule.confirmations import JobMover as JobMover
    from agent_core.schedule.confirmations import ask_to_move as ask_to_move
    from agent_core.schedule.confirmations import describe_followers as describe_followers
    from agent_core.schedule.confirmations import list_left as list_left
    from agent_core.schedule.confirmations import move_jobs as move_jobs
    from agent_core.schedule.confirmations import name_deletion as name_deletion
    from agent_core.schedule.descriptions import describe_late as describe_late
    from agent_core.schedule.descriptions import describe_next as describe_next
    from agent_core.schedule.descriptions import describe_timing as describe_timing
    from agent_core.schedule.descriptions import list_ways as list_ways
    from agent_core.schedule.descriptions import show_moment as show_moment
    from agent_core.schedule.gates import Gate as Gate
    from agent_core.schedule.gates import passes as passes
    from agent_core.schedule.gates import read_gate as read_gate
    from agent_core.schedule.job_editor import ASKED as ASKED
    from agent_core.schedule.job_editor import PAUSED_BY_OPERATOR as PAUSED_BY_OPERATOR
    from agent_core.schedule.job_editor import PAUSED_DAMAGED as PAUSED_DAMAGED
    from agent_core.schedule.job_editor import PAUSED_ON_REQUEST as PAUSED_ON_REQUEST
    from agent_core.schedule.job_editor import InvalidJob as InvalidJob
    from agent_core.schedule.job_editor import InvalidJobFault as InvalidJobFault
    from agent_core.schedule.job_editor import JobAlreadyRunning as JobAlreadyRunning
    from agent_core.schedule.job_editor import JobOwner as JobOwner
    from agent_core.schedule.job_editor import JobRequest as JobRequest
    from agent_core.schedule.job_editor import JobRules as JobRules
    from agent_core.schedule.job_editor import change_job as change_job
    from agent_core.schedule.job_editor import create_job as create_job
    from agent_core.schedule.job_editor import default_options as default_options
    from agent_core.schedule.job_editor import draft_job as draft_job
    from agent_core.schedule.job_editor import drop_job as drop_job
    from agent_core.schedule.job_editor import find_visible_job as find_visible_job
    from agent_core.schedule.job_editor import find_webhook as find_webhook
    from agent_core.schedule.job_editor import list_followers as list_followers
    from agent_core.schedule.job_editor import name_failures as name_failures
    from agent_core.schedule.job_editor import next_slot_of as next_slot_of
    from agent_core.schedule.job_editor import pause_job as pause_job
    from agent_core.schedule.job_editor import redraft_job as redraft_job
    from agent_core.schedule.job_editor import renew_webhook as renew_webhook
    from agent_core.schedule.job_editor import restore_job as restore_job
    from agent_core.schedule.job_editor import resume_job as resume_job
    from agent_core.schedule.job_editor import run_job_now as run_job_now
    from agent_core.schedule.misfires import GRACE as GRACE
    from agent_core.schedule.misfires import MOST_COUNTED as MOST_COUNTED
    from agent_core.schedule.misfires import Plan as Plan
    from agent_core.schedule.misfires import choose_next_slot as choose_next_slot
    from agent_core.schedule.misfires import plan_runs as plan_runs
    from agent_core.schedule.occurrences import Slot as Slot
    from agent_core.schedule.occurrences import find_zone as find_zone
    from agent_core.schedule.occurrences import first_slot as first_slot
    from agent_core.schedule.occurrences import walk_after as walk_after
    from agent_core.schedule.occurrences import walk_slots as walk_slots
    from agent_core.schedule.quiet_times import LONGEST_QUIET as LONGEST_QUIET
    from agent_core.schedule.quiet_times import is_quiet as is_quiet
    from agent_core.schedule.quiet_times import quiet_until as quiet_until
    from agent_core.schedule.requests import SCHEDULE_SPEC as SCHEDULE_SPEC
    from agent_core.schedule.requests import read_request as read_request
    from agent_core.schedule.resources import JobResources as JobResources
    from agent_core.schedule.resources import JobTurn as JobTurn
    from agent_core.schedule.rules import Calendar as Calendar
    from agent_core.schedule.rules import Rule as Rule
    from agent_core.schedule.rules import Spans as Spans
    from agent_core.schedule.tool import ScheduleServices as ScheduleServices
    from agent_core.schedule.tool import ScheduleTool as ScheduleTool
    from agent_core.schedule.triggers import Once as Once
    from agent_core.schedule.triggers import OnEvent as OnEvent
    from agent_core.schedule.triggers import dump_timing as dump_timing
    from agent_core.schedule.triggers import is_event as is_event
    from agent_core.schedule.triggers import load_timing as load_timing
    from agent_core.schedule.triggers import milliseconds as milliseconds
    from agent_core.schedule.triggers import read_cron as read_cron
    from agent_core.schedule.triggers import read_event as read_event
    from agent_core.schedule.triggers import read_once as read_once
    from agent_core.schedule.triggers import write_arguments as write_arguments
else:
    __getattr__ = export_lazily(__name__, __file__)
