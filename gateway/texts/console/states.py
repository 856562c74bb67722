"""Words for what is stored as a code: states of turns and jobs."""

from collections.abc import Mapping

from agent_core.localization import Text
from agent_core.state.conversations.turns import TurnState
from agent_core.state.jobs.jobs import JobState

_TURNS: Mapping[TurnState, Text] = {
    "running": Text("running"),
    "answered": Text("answered"),
    "stopped": Text("stopped"),
    "refused": Text("declined by the model"),
    "exhausted": Text("reached a limit"),
    "failed": Text("failed"),
}
_JOBS: Mapping[JobState, Text] = {
    "active": Text("active"),
    "paused": Text("paused"),
    "over": Text("finished"),
    "dropped": Text("deleted"),
}


def name_turn_state(state: TurnState) -> str:
    """Return the state of a turn in words."""
    return _TURNS[state]()


def name_job_state(state: JobState) -> str:
    """Return the state of a job in words."""
    return _JOBS[state]()
