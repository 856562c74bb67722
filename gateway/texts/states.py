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
TURNS: Mapping[TurnState, Text] = {
    "running": Text("running"),
    "answered": Text("answered"),
    "stopped": Text("stopped"),
    "refused": Text("declined by the model"),
    "exhausted": Text("reached a limit"),
    "failed": Text("failed"),
}
JOBS: Mapping[JobState, Text] = {
    "active": Text("active"),
    "paused": Text("paused"),
    "over": Text("finished"),
    "dropped": Text("deleted"),
}
MODES: Mapping[Mode, Text] = {
    "person": Text("a conversation for each person"),
    "full": Text("continues the direct conversation of one person"),
    "room": Text("one conversation that everyone shares"),
    "off": Text("gives no answers"),
}
SKILLS: Mapping[SkillState, Text] = {
    "draft": Text("draft"),
    "trial": Text("on trial"),
    "active": Text("active"),
    "stale": Text("not used for a long time"),
    "archived": Text("archived"),
    "gone": Text("gone"),
}
ORIGINS: Mapping[str, Text] = {
    "bundled": Text("comes with Talaria"),
    "home": Text("in Talaria's folder"),
    "project": Text("in the working folder"),
}
CONNECTIONS: Mapping[HealthState, Text] = {
    "starting": Text("connecting"),
    "connected": Text("connected"),
    "disconnected": Text("not connected"),
    "stopped": Text("switched off"),
}


def name_platform(platform: str) -> str:
    """Return the name of a platform as it stands alone."""
    return _CONSOLE() if platform == "console" else general.name_platform(platform)
