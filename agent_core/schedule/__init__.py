"""Scheduled jobs: triggers, occurrences, missed runs, and the `schedule` tool."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

# mypy: implicit-reexport
if TYPE_CHECKING:
    from agent_core.schedule.almanac import CalendarReader, read_calendars
    from agent_core.schedule.confirmations import (
        KEEP,
        MOVE,
        JobMover,
        ask_to_move,
        describe_followers,
        list_left,
        move_jobs,
    )
    from agent_core.schedule.descriptions import (
        describe_late,
        describe_next,
        describe_timing,
        list_ways,
        show_moment,
    )
    from agent_core.schedule.gates import Gate, passes, read_gate
    from agent_core.schedule.job_editor import (
        ASKED,
        PAUSED_BY_OPERATOR,
        PAUSED_DAMAGED,
        PAUSED_ON_REQUEST,
        InvalidJob,
        InvalidJobFault,
        JobAlreadyRunning,
        JobOwner,
        JobRequest,
        JobRules,
        change_job,
        create_job,
        default_options,
        draft_job,
        drop_job,
        find_visible_job,
        find_webhook,
        list_followers,
        name_failures,
        next_slot_of,
        pause_job,
        redraft_job,
        renew_webhook,
        restore_job,
        resume_job,
        run_job_now,
    )
    from agent_core.schedule.misfires import GRACE, MOST_COUNTED, Plan, choose_next_slot, plan_runs
    from agent_core.schedule.occurrences import Slot, find_zone, first_slot, walk_after, walk_slots
    from agent_core.schedule.quiet_times import LONGEST_QUIET, is_quiet, quiet_until
    from agent_core.schedule.requests import SCHEDULE_SPEC, read_request
    from agent_core.schedule.resources import JobResources, JobTurn
    from agent_core.schedule.rules import Calendar, Rule, Spans
    from agent_core.schedule.tool import ScheduleServices, ScheduleTool
    from agent_core.schedule.triggers import (
        Once,
        OnEvent,
        dump_timing,
        is_event,
        load_timing,
        milliseconds,
        read_cron,
        read_event,
        read_once,
        write_arguments,
    )
else:
    __getattr__ = export_lazily(__name__, __file__)
