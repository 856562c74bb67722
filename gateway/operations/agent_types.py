"""Requests and answers of the operations on named agents and teams. Quick to import."""

from dataclasses import dataclass
from typing import Literal

Action = Literal["create", "change"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListAgents:
    """Asks for all agents and teams."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRule:
    """A rule about one tool of an agent; see `CallRule`."""

    tool: str
    callers: tuple[str, ...] = ()
    most_per_turn: int = 0
    must_run_first: bool = False
    ends_turn: bool = False
    then_only: tuple[str, ...] = ()
    only_after: tuple[str, ...] = ()
    must_run_before_end: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentLine:
    """An agent; with a `fault`, it can't be used. `tools` and `blocks` are None for all."""

    name: str
    fault: str = ""
    description: str = ""
    model: str = ""
    tools: tuple[str, ...] | None = None
    disabled: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    blocks: tuple[str, ...] | None = None
    tags: tuple[str, ...] = ()
    rules: tuple[AgentRule, ...] = ()
    teams: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamLine:
    """A team; with a `fault`, it can't be used. `dollars` is 0 without a limit of its own."""

    name: str
    fault: str = ""
    manager: str = ""
    members: tuple[str, ...] = ()
    supervisor: str = ""
    description: str = ""
    blocks: tuple[str, ...] = ()
    rounds: int = 0
    steps: int = 0
    dollars: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentList:
    """Lists agents and teams; `archived` and `archived_teams` are the names of those put away."""

    agents: tuple[AgentLine, ...]
    teams: tuple[TeamLine, ...]
    archived: tuple[str, ...] = ()
    archived_teams: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowAgent:
    """Asks for one agent with its identity."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownAgent:
    """An agent, and `soul`: who it is and how it works; "" if it can't be used."""

    line: AgentLine
    soul: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class UseAgent:
    """Asks that an agent answers in a person's direct chats; "" is the assistant itself."""

    person: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteAgent:
    """Asks to make or change an agent. None leaves a part as it is; `by` is the owner's folder.

    `any_tools` and `any_blocks` let it use every tool or block of its person again.
    """

    action: Action
    name: str
    soul: str | None = None
    description: str | None = None
    model: str | None = None
    tools: tuple[str, ...] | None = None
    disabled: tuple[str, ...] | None = None
    skills: tuple[str, ...] | None = None
    blocks: tuple[str, ...] | None = None
    tags: tuple[str, ...] | None = None
    rules: tuple[AgentRule, ...] | None = None
    any_tools: bool = False
    any_blocks: bool = False
    by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteTeam:
    """Asks to make or change a team. None leaves a part as it is; `by` is the owner's folder."""

    action: Action
    name: str
    manager: Literal["supervisor", "round_robin", "free"] | None = None
    members: tuple[str, ...] | None = None
    supervisor: str | None = None
    description: str | None = None
    blocks: tuple[str, ...] | None = None
    rounds: int | None = None
    steps: int | None = None
    dollars: float | None = None
    by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PutAway:
    """Asks to archive or restore an agent or a team."""

    kind: Literal["agent", "team"]
    action: Literal["archive", "restore"]
    name: str
    by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveAgent:
    """Asks to move an agent from one team to another."""

    name: str
    source: str
    target: str
    by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedAgent:
    """The agent or team that was made, changed, moved or put away."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportAgent:
    """Asks to bring in an agent from the file at an absolute path.

    `name` is its name here, "" for its own. `chosen` is one of several agents of the file. Its
    blocks and messages will belong to `person`, a folder name; "" is the first owner. `by` is the
    owner who asks.
    """

    path: str
    name: str = ""
    chosen: str = ""
    person: str = ""
    by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedAgent:
    """The agent that came in, its blocks and the number of its messages.

    `left_out` says in clauses what the file holds that Talaria can't take over.
    """

    name: str
    blocks: tuple[str, ...]
    messages: int
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportAgent:
    """Asks to write an agent to a new file at an absolute path.

    The file holds what `person` and the agent said; "" is the first owner. `by` is the owner who
    asks.
    """

    name: str
    path: str
    person: str = ""
    by: str = ""
