"""Words for what is stored as a code: platforms, modes, and states of other things."""

from collections.abc import Mapping

from adapters.contract import HealthState
from agent_core.localization import Text
from agent_core.state.conversations.turns import TurnState
from agent_core.state.jobs.jobs import JobState
from agent_core.state.memory.skills import SkillState
from agent_core.state.people.rooms import Mode
from gateway.texts import general

_CONSOLE = Text("Console")
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
_MODES: Mapping[Mode, Text] = {
    "person": Text("a conversation for each person"),
    "full": Text("continues the direct conversation of one person"),
    "room": Text("one conversation that everyone shares"),
    "off": Text("gives no answers"),
}
_SKILLS: Mapping[SkillState, Text] = {
    "draft": Text("draft"),
    "trial": Text("on trial"),
    "active": Text("active"),
    "stale": Text("not used for long"),
    "archived": Text("archived"),
    "gone": Text("gone"),
}
_ORIGINS: Mapping[str, Text] = {
    "bundled": Text("comes with Talaria"),
    "home": Text("in the home directory"),
    "project": Text("in the working folder"),
}
_CONNECTIONS: Mapping[HealthState, Text] = {
    "starting": Text("connecting"),
    "connected": Text("connected"),
    "disconnected": Text("not connected"),
    "stopped": Text("switched off"),
}


def name_turn_state(state: TurnState) -> str:
    """Return the state of a turn in words."""
    return _TURNS[state]()


def name_job_state(state: JobState) -> str:
    """Return the state of a job in words."""
    return _JOBS[state]()


def name_connection(state: HealthState) -> str:
    """Return the state of a connection to a platform in words."""
    return _CONNECTIONS[state]()


def name_platform(platform: str) -> str:
    """Return the name of a platform as it stands alone."""
    return _CONSOLE() if platform == "console" else general.name_platform(platform)


def name_mode(mode: Mode) -> str:
    """Return the mode of a room in words."""
    return _MODES[mode]()


def name_skill_state(state: SkillState) -> str:
    """Return the state of a skill in words."""
    return _SKILLS[state]()


def name_skill_origin(origin: str) -> str:
    """Return where a skill comes from, in words."""
    return _ORIGINS[origin]()
