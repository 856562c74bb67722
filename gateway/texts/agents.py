"""Sentences on named agents: which there are, and who answers in a chat."""

from collections.abc import Sequence

from agent_core.agent.named.definition import NamedAgent
from agent_core.agent.named.folder import AgentEntry
from agent_core.agent.named.teams import Team, TeamEntry
from agent_core.errors import AgentBroken, AgentMissing
from agent_core.localization import Plural, Text
from agent_core.money import count_micro_dollars
from gateway.texts.usage import describe_amount

_NONE = Text(
    "There are no other agents yet. An owner makes one with /agents new NAME and a"
    " description of it."
)
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
USAGE = Text(
    "With /agents you can:\n"
    "- /agents: list the agents\n"
    "- /agents use NAME: let that agent answer here; /agents use default switches back\n"
    "- /agents job NUMBER NAME: let that agent take care of one of your reminders\n"
    "\n"
    "Owners can also:\n"
    "- /agents new NAME DESCRIPTION: make an agent that fits the description\n"
    "- /agents change NAME FIELD VALUE: change one thing about it\n"
    "- /agents archive NAME: archive it; /agents restore NAME brings it back"
)
ONLY_OWNER_MAKES = Text("Only an owner can make or change agents and teams.")
HOW_TO_CHANGE = Text(
    "Send /agents change NAME FIELD VALUE. The fields are: {fields}. If the value is a list, put"
    " commas between its entries."
)
REFUSED = Text("Nothing has changed. {reason}")
MADE = Text("The agent “{name}” is ready. Others here can use it, too.")
CHANGED = Text(
    "The agent “{name}” has been changed. Its tools change at once, the rest with the next /new."
)
ARCHIVED = Text(
    "{name} is archived. I answer again where it answered before. /agents restore {name} brings it"
    " back."
)
RESTORED = Text("The agent “{name}” is back. /agents use {name} lets it answer here.")
_NO_TEAMS = Text(
    "There are no teams yet. An owner makes one: /team new NAME LEADER: MEMBER, MEMBER. Without a"
    " leader, the members speak in turn."
)
_TEAMS = Text("Teams of agents:\n\n{lines}\n\nTo give one a task, send /team NAME TASK.")
_TEAM = Text("- `{name}`: {members}")
_TEAM_LED = Text("- `{name}`: {supervisor} leads {members}")
_ROUNDS, _STEPS = Plural("{n} round", "{n} rounds"), Plural("{n} step", "{n} steps")
_LIMITS = Text("At most {rounds} and {steps} for one task.")
_LIMITS_WITH_MONEY = Text("At most {rounds}, {steps} and {money} for one task.")
_TEAM_BLOCKS = Text("{line}\nThey share these notes: {blocks}.")
TEAM_USAGE = Text(
    "With /team you can:\n"
    "- /team: list the teams\n"
    "- /team NAME TASK: give a team a task\n"
    "\n"
    "Owners can also:\n"
    "- /team new NAME LEADER: MEMBER, MEMBER: make a team\n"
    "- /team change NAME FIELD VALUE: change members, supervisor (the leader), manager"
    " (who decides who speaks), blocks (shared notes), rounds, steps, dollars or"
    " description\n"
    "- /team move AGENT FROM TO: move an agent to another team\n"
    "- /team archive NAME: archive a team; /team restore NAME brings it back"
)
TEAM_MADE = Text("The team “{name}” is ready. Send /team {name}, and what it shall do.")
TEAM_CHANGED = Text("The change to the team “{name}” takes effect with its next task.")
TEAM_ARCHIVED = Text(
    "The team “{name}” is archived; its agents stay. /team restore {name} brings it back."
)
TEAM_RESTORED = Text("The team “{name}” is back.")
MOVED = Text(
    "The agent “{name}” has moved from the team “{source}” to “{target}”, with everything it"
    " remembers."
)
TEAM_TASK = Text(
    "Give this task to the team {name} with message_agent (mode team), and tell me its result:"
    " {task}"
)
ONLY_OWNER = Text("Only an owner can choose who answers in a group or channel.")
BUSY = Text("I'm still answering here. Wait until I'm done or send /stop, then try again.")
_DID_ARCHIVE = Text("Archived: {name}")
_DID_RESTORE = Text("Brought back: {name}")
_DID_USE = Text("{name} answers")
_DID_USE_DEFAULT = Text("I'm the one who answers again")
USED = Text("The agent “{name}” now answers here. To switch back, send /agents use default.")
DEFAULT_USED = Text("I'm back, and we're in our earlier conversation again.")
JOB_UNKNOWN = Text("You have no reminder with that number. /reminders lists your reminders.")
JOB_NO_AGENT = Text("That reminder needs no model, so no agent can take care of it.")
JOB_USED = Text("The agent “{name}” now takes care of the reminder “{title}”.")
JOB_DEFAULT = Text("I take care of the reminder “{title}” myself again.")
_MISSING = Text("There's no agent called “{name}”. /agents lists the agents.")
_MISSING_NEAR = Text("There's no agent called “{name}”. Did you mean “{near}”?")
_BROKEN = Text("That agent has a fault in its files, which an owner can fix. Details: “{fault}.”")
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


def list_teams(entries: Sequence[TeamEntry]) -> str:
    """List teams, with the faults of those that can't be used."""
    if not entries:
        return _NO_TEAMS()
    lines = [
        _outline_team(one.team) if one.team else _FAULTY(name=one.name, fault=one.fault)
        for one in entries
    ]
    return _TEAMS(lines="\n".join(lines))


def describe_team(team: Team) -> str:
    """Describe a team with its limits."""
    line = _outline_team(team)
    if team.blocks:
        line = _TEAM_BLOCKS(line=line, blocks=", ".join(team.blocks))
    return f"{line}\n{describe_limits(team.rounds, team.steps, team.dollars)}"


def describe_limits(rounds: int, steps: int, dollars: float) -> str:
    """Say where a task of a team ends; 0 `dollars` are no limit."""
    limits = {"rounds": _ROUNDS(rounds), "steps": _STEPS(steps)}
    if not dollars:
        return _LIMITS(**limits)
    money = describe_amount("money", count_micro_dollars(dollars))
    return _LIMITS_WITH_MONEY(money=money, **limits)


def _outline_team(team: Team) -> str:
    members = ", ".join(team.members)
    if team.supervisor:
        return _TEAM_LED(name=team.name, supervisor=team.supervisor, members=members)
    return _TEAM(name=team.name, members=members)


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


def name_deed(name: str, *, is_archive: bool) -> str:
    """Name for `/undo` that an agent or a team was archived, or brought back."""
    return (_DID_ARCHIVE if is_archive else _DID_RESTORE)(name=name)


def name_choice(name: str) -> str:
    """Name for `/undo` which agent answers since a choice; "" is the default."""
    return _DID_USE(name=name) if name else _DID_USE_DEFAULT()
