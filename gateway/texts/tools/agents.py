"""Sentences on named agents: which there are, and who answers in a chat."""

from collections.abc import Sequence

from agent_core.agent.named import AgentEntry, NamedAgent
from agent_core.localization import Text

_NONE = Text("There are no named agents yet. Each one is a folder in `agents` of the home.")
_LIST = Text("These agents can answer you:\n\n{lines}")
_LINE = Text("- `{name}`: {description}")
_LINE_USED = Text("- `{name}` (answers here): {description}")
_FAULTY = Text("- `{name}`: {fault}")
_UNDESCRIBED = Text("no description")
_WITH_MODEL = Text("{description} (model {model})")
_WITH_TAGS = Text("{description} [{tags}]")
_HOW = Text("`/agents use` and a name lets one answer here, `/agents use default` ends that.")
USAGE = Text(
    "Write /agents, `/agents use` with a name or default, or `/agents job` with number and name."
)
ONLY_OWNER = Text("Only an owner can choose who answers in a group or channel.")
BUSY = Text("I'm still answering here. Wait for the answer or write /stop, then switch.")
USED = Text("{name} answers here from now on. `/agents use default` brings me back.")
DEFAULT_USED = Text("I answer here again, in the conversation that we had before.")
JOB_UNKNOWN = Text("You have no job of that number. /jobs lists them.")
JOB_NO_AGENT = Text("That job doesn't think, so no agent can do it.")
JOB_USED = Text("{name} does the job {title} from now on.")
JOB_DEFAULT = Text("I do the job {title} again.")
BROKEN = Text("I can't do that: {fault}.")
_BROKEN_TURN = Text("Your message got no answer: {fault}. `/agents use default` brings me back.")
FROM = Text("From {name}:")
USE, USE_DEFAULT = Text("Use {name}"), Text("Use the assistant")


def list_agents(entries: Sequence[AgentEntry], used: str) -> str:
    """List agents, with the faults of those that can't be used; `used` answers here."""
    if not entries:
        return _NONE()
    lines = "\n".join(_describe(entry, is_used=entry.name == used) for entry in entries)
    return f"{_LIST(lines=lines)}\n\n{_HOW()}"


def describe_broken(fault: str) -> str:
    """Say that a message has no answer, because its agent can't be used."""
    return _BROKEN_TURN(fault=fault)


def _describe(entry: AgentEntry, *, is_used: bool) -> str:
    if entry.agent is None:
        return _FAULTY(name=entry.name, fault=entry.fault)
    line = _LINE_USED if is_used else _LINE
    return line(name=entry.name, description=_outline(entry.agent))


def _outline(agent: NamedAgent) -> str:
    text = agent.description or _UNDESCRIBED()
    if agent.model:
        text = _WITH_MODEL(description=text, model=agent.model)
    return _WITH_TAGS(description=text, tags=", ".join(agent.tags)) if agent.tags else text
