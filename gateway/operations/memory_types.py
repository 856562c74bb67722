"""Requests and answers of the operations on memory. Quick to import."""

from dataclasses import dataclass, field
from typing import Literal

_MOMENT = "The moment must be in milliseconds since the epoch."


@dataclass(frozen=True, slots=True, kw_only=True)
class ListChanges:
    """Asks for the newest changes of everyone, or of one owner of a memory."""

    limit: int
    person: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowMemory:
    """Asks for the entries of everyone or of one owner, now or at a moment."""

    person: str | None = None
    moment: int | None = field(default=None, metadata={"refusal": _MOMENT})


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoChange:
    """Names a row of the ledger whose change is undone."""

    row: int = field(
        metadata={"refusal": "Give a row number; `talaria memory log` lists the rows."}
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class EditMemory:
    """Asks to add an entry to a person's memory, or to replace or remove the one of a `row`."""

    person: str
    action: Literal["add", "replace", "remove"]
    row: int | None = None
    text: str = ""
    list: Literal["user", "memory"] = "user"


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreMemory:
    """Names a moment to which the memory of everyone or of one owner is restored."""

    moment: int = field(metadata={"refusal": "Give the moment to which memory is restored."})
    person: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryChange:
    """A row of the ledger. `list` is the list that it changed; `at` is in milliseconds UTC."""

    row: int
    person: str
    list: str
    at: int
    actor: str
    operation: str
    before: str | None
    after: str | None
    undoes: int | None
    evidence: str
    messages: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareEntry:
    """Lets everyone see an entry of a person's memory, or nobody else; `row` is its number."""

    person: str
    row: int
    sees: Literal["everyone", "nobody"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedAudience:
    """The entry whose audience was changed."""

    row: int
    words: str
    sees: Literal["everyone", "nobody"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeLog:
    """Changes, newest first."""

    changes: tuple[MemoryChange, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryEntry:
    """An entry, and the row that made it; of an earlier moment, the row is not known."""

    row: int | None
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryList:
    """The entries of one list of an owner."""

    person: str
    list: str
    entries: tuple[MemoryEntry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownMemory:
    """The lists that have entries."""

    lists: tuple[MemoryList, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoneMemory:
    """A change that was undone, the row that records it, and the changes that went with it."""

    person: str
    list: str
    undone: MemoryChange
    row: MemoryChange
    derived: tuple[MemoryChange, ...] = ()
    revived: tuple[MemoryChange, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoredList:
    """A restored list: the changes that were reverted, and the entries it has now.

    `left_out` counts the entries that were deleted, or moved with an account.
    """

    person: str
    list: str
    changes: int
    entries: int
    left_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptMemory:
    """A memory that could not be restored, with the reason."""

    person: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoredMemory:
    """Lists the memory that a restoration changed, and the memory that it could not change."""

    restored: tuple[RestoredList, ...]
    kept: tuple[KeptMemory, ...]
