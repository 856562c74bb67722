"""Sentences on named agents: which there are, and who answers in a chat."""

from collections.abc import Sequence

from agent_core.agent.named.definition import NamedAgent
from agent_core.agent.named.folder import AgentEntry
from agent_core.errors import AgentBroken, AgentMissing
from agent_core.localization import Text

_NONE = Text("There are no named agents yet. An owner creates one with `talaria agents add NAME`.")
_LIST = Text("These agents can answer you:\n\n{lines}")
_LINE = Text("- `{name}`: {description}")
_LINE_USED = Text("- `{name}` (answers here): {description}")
_FAULTY = Text("- `{name}`: {fault}")
_UNDESCRIBED = Text("no description")
_WITH_MODEL = Text("{description} (model {model})")
_WITH_TAGS = Text("{description} [{tags}]")
_HOW = Text(
    "To let an agent answer here, send /agents use NAME. To switch back, send /agents use default."
)
USAGE = Text("Send /agents, /agents use NAME, /agents use default or /agents job NUMBER NAME.")
ONLY_OWNER = Text("Only an owner can choose who answers in a group or channel.")
BUSY = Text("I'm still answering here. Wait until I'm done or send /stop, then try again.")
USED = Text("{name} now answers here. To switch back, send /agents use default.")
DEFAULT_USED = Text("I'm back, and we're in our earlier conversation again.")
JOB_UNKNOWN = Text("You have no job with that number. /jobs lists your jobs.")
JOB_NO_AGENT = Text("That job doesn't use a model, so no agent can run it.")
JOB_USED = Text("{name} now runs the job {title}.")
JOB_DEFAULT = Text("I now run the job {title} again.")
_MISSING = Text("There's no agent called {name}. /agents lists the agents.")
_MISSING_NEAR = Text("There's no agent called {name}. Did you mean {near}?")
_BROKEN = Text(
    "That agent has a fault in its files, which an owner can fix. Details in English: “{fault}.”"
)
_BROKEN_TURN = Text(
    "I couldn't answer your message. {cause} To switch back to the assistant, send"
    " /agents use default."
)
FROM = Text("From {name}:")
USE, USE_DEFAULT = Text("Use {name}"), Text("Use the assistant")


def list_agents(entries: Sequence[AgentEntry], used: str) -> str:
    """List agents, with the faults of those that can't be used; `used` answers here."""
    if not entries:
        return _NONE()
    lines = "\n".join(_describe(entry, is_used=entry.name == used) for entry in entries)
    return f"{_LIST(lines=lines)}\n\n{_HOW()}"


def describe_fault(error: AgentBroken) -> str:
    """Say that an agent is missing or can't be used, and what to do."""
    if not isinstance(error, AgentMissing):
        return _BROKEN(fault=error)
    return (_MISSING_NEAR if error.near else _MISSING)(name=error.name, near=error.near)


def describe_broken(error: AgentBroken) -> str:
    """Say that a message has no answer, because its agent can't be used."""
    return _BROKEN_TURN(cause=describe_fault(error))


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
