"""The scheduler: claims due slots, runs scripts and system jobs, and recovers runs."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from gateway.scheduler.agent_messages import AgentMessages as AgentMessages
    from gateway.scheduler.alerts import LOOK as LOOK
    from gateway.scheduler.alerts import LOST_STORE_LOOK as LOST_STORE_LOOK
    from gateway.scheduler.alerts import AlertSources as AlertSources
    from gateway.scheduler.alerts import AlertWatch as AlertWatch
    from gateway.scheduler.alerts import LostStoreAlarm as LostStoreAlarm
    from gateway.scheduler.alerts import is_backup_old as is_backup_old
    from gateway.scheduler.alerts import measure_space as measure_space
    from gateway.scheduler.calendars import Calendars as Calendars
    from gateway.scheduler.command_ends import CommandEnds as CommandEnds
    from gateway.scheduler.curation import Curation as Curation
    from gateway.scheduler.curation import describe_plan as describe_plan
    from gateway.scheduler.event_sources import WATCH as WATCH
    from gateway.scheduler.event_sources import EventSources as EventSources
    from gateway.scheduler.gates import GateChecker as GateChecker
    from gateway.scheduler.retention import Sweeper as Sweeper
    from gateway.scheduler.reviews import SUMMARY_TASK as SUMMARY_TASK
    from gateway.scheduler.reviews import PersonBusy as PersonBusy
    from gateway.scheduler.reviews import Reviews as Reviews
    from gateway.scheduler.runner import JobRunner as JobRunner
    from gateway.scheduler.runner import SystemTask as SystemTask
    from gateway.scheduler.skill_curator import Curator as Curator
    from gateway.scheduler.skill_curator import SkillServices as SkillServices
    from gateway.scheduler.skill_curator import make_skill_services as make_skill_services
    from gateway.scheduler.skill_curator import record_manual_changes as record_manual_changes
    from gateway.scheduler.skill_curator import sync_at_start as sync_at_start
    from gateway.scheduler.skill_tests import SkillTests as SkillTests
    from gateway.scheduler.skill_tests import TaskUnfinished as TaskUnfinished
    from gateway.scheduler.system_jobs import BACKUP as BACKUP
    from gateway.scheduler.system_jobs import CALENDARS as CALENDARS
    from gateway.scheduler.system_jobs import CURATOR as CURATOR
    from gateway.scheduler.system_jobs import MEMORY_SYNC as MEMORY_SYNC
    from gateway.scheduler.system_jobs import RETENTION as RETENTION
    from gateway.scheduler.system_jobs import BackupPlan as BackupPlan
    from gateway.scheduler.system_jobs import Backups as Backups
    from gateway.scheduler.system_jobs import deliver_backup as deliver_backup
    from gateway.scheduler.system_jobs import ensure_system_jobs as ensure_system_jobs
    from gateway.scheduler.system_jobs import make_triggers as make_triggers
    from gateway.scheduler.system_jobs import sync_memory as sync_memory
    from gateway.scheduler.ticker import Scheduler as Scheduler
else:
    __getattr__ = export_lazily(__name__, __file__)
