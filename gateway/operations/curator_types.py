"""Requests and answers of the operations on the curator. Quick to import."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCurator:
    """Asks to tidy up now.

    `person` is the folder of whoever asks; "" for the command line. A member asks for their own
    memory only.
    """

    person: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedRun:
    """Says what is looked at; `job` is the number of the curator's job, None without a run."""

    scope: Literal["everything", "own_memory"]
    job: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowPlan:
    """Asks what the curator would do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CuratorPlan:
    """The lines of a plan; nothing was changed."""

    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreSkills:
    """Asks to restore the newest snapshot of the skills.

    `by` is the folder of the owner who asks; "" for the command line.
    """

    by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoredSkills:
    """The skills that a snapshot brought back, and the curator's newer ones that it archived."""

    snapshot: str
    restored: tuple[str, ...]
    archived: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListProposals:
    """Asks for the proposals that wait for a person, by their folder."""

    person: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingProposal:
    """A proposal of the curator. `removed` are the notes that go, or the skills that are merged.

    `text` replaces them: a note, "" for none, or the text of the skill `into`. The note `kept`
    stays instead.
    """

    key: str
    kind: Literal["merge", "duplicate", "contradiction", "shorten"]
    reason: str
    removed: tuple[str, ...]
    text: str
    kept: str = ""
    into: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalList:
    """The proposals that wait, oldest first."""

    proposals: tuple[WaitingProposal, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DecideProposal:
    """Accepts or declines a proposal, for a person by their folder."""

    person: str
    key: str
    accepts: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidedProposal:
    """Says what became of a proposal; `rows` are the changes of memory, in order of undo."""

    state: Literal["open", "accepted", "declined", "outdated"]
    rows: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowReport:
    """Asks how tidy the memory of a person is; owners hear about the skills, too."""

    person: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ListSize:
    """The notes of one list of a memory, with their characters and the limit of these."""

    list: Literal["user", "memory"]
    notes: int
    characters: int
    limit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillCounts:
    """Counts the skills in each state."""

    active: int
    trial: int
    draft: int
    stale: int
    archived: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CuratorReport:
    """When the curator ran and runs next, in milliseconds UTC, what waits, and how full it is.

    `skills` is None for members, and while there are none.
    """

    last: int | None
    following: int | None
    waiting: int
    lists: tuple[ListSize, ...]
    skills: SkillCounts | None
