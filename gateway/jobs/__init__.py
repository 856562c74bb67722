"""The results of jobs: agent turns, outcomes, notifications and their history."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from gateway.jobs.agent_runs import AgentRunDeps as AgentRunDeps
    from gateway.jobs.agent_runs import JobLimitReached as JobLimitReached
    from gateway.jobs.agent_runs import RunRefused as RunRefused
    from gateway.jobs.agent_runs import find_job_turn as find_job_turn
    from gateway.jobs.agent_runs import resume_run as resume_run
    from gateway.jobs.agent_runs import start_run as start_run
    from gateway.jobs.buttons import make_job_buttons as make_job_buttons
    from gateway.jobs.conversations import ChatRef as ChatRef
    from gateway.jobs.conversations import rename_conversation_key as rename_conversation_key
    from gateway.jobs.destinations import ChatMessenger as ChatMessenger
    from gateway.jobs.events import EventJobs as EventJobs
    from gateway.jobs.events import JobEvent as JobEvent
    from gateway.jobs.events import compose_message as compose_message
    from gateway.jobs.history import JobHistory as JobHistory
    from gateway.jobs.history import clean_output as clean_output
    from gateway.jobs.history import shorten_output as shorten_output
    from gateway.jobs.notifier import Notifier as Notifier
    from gateway.jobs.notifier import is_asked as is_asked
    from gateway.jobs.outcomes import LONGEST_PAUSE as LONGEST_PAUSE
    from gateway.jobs.outcomes import SILENCE as SILENCE
    from gateway.jobs.outcomes import Outcomes as Outcomes
    from gateway.jobs.places import name_places as name_places
    from gateway.jobs.recipients import Recipients as Recipients
    from gateway.jobs.reports import Made as Made
    from gateway.jobs.resources import find_unpriced as find_unpriced
    from gateway.jobs.resources import make_rules as make_rules
    from gateway.jobs.versions import undo_change as undo_change
else:
    __getattr__ = export_lazily(__name__, __file__)
