"""The rows of one list read as the lives of its entries: what made each of them, and what if not.

An entry begins with the row that adds it, and lives through every row that rewords or drops it,
or takes such a row back. Entries keep the order in which they stood, also while they are gone.

**What the list is without a row** `x`: all rows are gone through again but `x`. A row that
rewords or drops an entry is passed over where the entry does not stand; so an `add` that is taken
back takes all later wordings of its entry with it, and a `replace` under a later `replace` changes
nothing that shows. A row that takes back (`Origin.undoes`) does nothing but leave out its row;
left out itself, that row counts again. It is one row, whatever it changes; where nothing shows of
it, its change is without `before` and `after`. A row of any origin can be taken back.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from agent_core.errors import StoreDamaged
from agent_core.state.memory.ledger import Change, LedgerEntry, Operation

UNLINK = "unlink"
"""The actor of what is done to memory when an account is split off."""


@dataclass(slots=True, kw_only=True, eq=False)
class TrackedEntry:
    """One entry. `rows` are all rows about it, oldest first.

    `words` is the entry as it stands, None while it is gone; then `made_by` is None, too.
    """

    rows: list[LedgerEntry] = field(default_factory=list)
    words: str | None = None
    made_by: LedgerEntry | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoPlan:
    """What taking a row back comes to. `change` is what its own row says, `made_by` the row that
    gives the entry the words that it has then, if it stands.

    `derived` are rows that did something and no longer do, for they built on what is gone;
    `revived` are those that do something again.
    """

    change: Change
    made_by: LedgerEntry | None = None
    derived: tuple[LedgerEntry, ...] = ()
    revived: tuple[LedgerEntry, ...] = ()


class EntryHistory:
    """The lives of the entries of one list."""

    def __init__(self, rows: Iterable[LedgerEntry]) -> None:
        """`rows` are all rows of a list, oldest first. Raises `StoreDamaged` if they don't fit."""
        self._rows: dict[int, LedgerEntry] = {}
        self._lives: dict[int, TrackedEntry] = {}
        self._order: list[TrackedEntry] = []
        self._standing: list[TrackedEntry] = []
        self._takers: dict[int, int] = {}
        """How many rows that count take back each row."""
        for row in rows:
            self.follow(row)

    @property
    def current(self) -> tuple[TrackedEntry, ...]:
        """The entries that stand, in the order of the list."""
        return tuple(self._standing)

    @property
    def rows(self) -> tuple[LedgerEntry, ...]:
        """All rows, oldest first."""
        return tuple(self._rows.values())

    def get(self, row_id: int) -> LedgerEntry:
        """A row of this list."""
        return self._rows[row_id]

    def find_tracked(self, row_id: int) -> TrackedEntry | None:
        """The entry that a row is about; None if there is no such row in this list."""
        return self._lives.get(row_id)

    def counts(self, row_id: int) -> bool:
        """True unless the row is taken back."""
        return self._takers[row_id] == 0

    def follow(self, row: LedgerEntry) -> None:
        """Read one more row. Raises `StoreDamaged` if it does not fit."""
        undoes, change = row.origin.undoes, row.change
        if undoes is None and change.operation == "add":
            tracked = self._begin(change)
        elif undoes is None:
            tracked = self._at(row)
        elif undoes in self._lives:
            tracked = self._lives[undoes]
        else:
            raise StoreDamaged(f"row {undoes} of the ledger is missing; restore a backup")
        self._rows[row.id] = row
        self._lives[row.id] = tracked
        self._takers[row.id] = 0
        tracked.rows.append(row)
        before = tracked.words
        if undoes is not None:
            self._count(undoes, 1)
        tracked.words, tracked.made_by, _ = self._live(tracked)
        self._place(tracked, before, change.position)
        if (before, tracked.words) != (change.before, change.after) and not (
            before == tracked.words and change.before is change.after is None
        ):
            raise StoreDamaged(f"row {row.id} of the ledger does not fit those before it")

    def plan_undo(self, row_id: int) -> UndoPlan:
        """What taking back a row that counts comes to."""
        tracked = self._lives[row_id]
        _, _, effective = self._live(tracked)
        self._count(row_id, 1)
        words, made_by, left = self._live(tracked)
        self._count(row_id, -1)
        return UndoPlan(
            change=self._describe(tracked, words),
            made_by=made_by,
            derived=tuple(row for row in effective if row not in left and row.id != row_id),
            revived=tuple(row for row in left if row not in effective),
        )

    def _begin(self, change: Change) -> TrackedEntry:
        tracked = TrackedEntry()
        place = len(self._order)
        if change.position < len(self._standing):
            place = self._order.index(self._standing[change.position])
        elif change.position > len(self._standing):
            raise StoreDamaged("rows are missing from the ledger")
        self._order.insert(place, tracked)
        return tracked

    def _at(self, row: LedgerEntry) -> TrackedEntry:
        if row.change.position >= len(self._standing):
            raise StoreDamaged(f"row {row.id} of the ledger does not fit those before it")
        return self._standing[row.change.position]

    def _place(self, tracked: TrackedEntry, before: str | None, position: int) -> None:
        """Let an entry stand that has come, or stand no more."""
        if before is None and tracked.words is not None:
            self._standing.insert(position, tracked)
        elif before is not None and tracked.words is None:
            self._standing.remove(tracked)

    def _position(self, tracked: TrackedEntry) -> int:
        """Where an entry stands, or would."""
        place = self._order.index(tracked)
        return sum(other.words is not None for other in self._order[:place])

    def _describe(self, tracked: TrackedEntry, words: str | None) -> Change:
        before = tracked.words
        if before == words:
            return Change(operation="replace", position=0, before=None, after=None)
        position = self._position(tracked)
        if before is None:
            return Change(operation="add", position=position, before=None, after=words)
        operation: Operation = "remove" if words is None else "replace"
        return Change(operation=operation, position=position, before=before, after=words)

    def _live(
        self, tracked: TrackedEntry
    ) -> tuple[str | None, LedgerEntry | None, list[LedgerEntry]]:
        """How an entry stands, by the rows that count, and those of them that did something."""
        words, made_by = None, None
        effective = []
        for row in tracked.rows:
            if row.origin.undoes is not None or self._takers[row.id]:
                continue
            if row.change.operation == "add" or words is not None:
                words = row.change.after
                made_by = row if words is not None else None
                effective.append(row)
        return words, made_by, effective

    def _count(self, row_id: int, more: int) -> None:
        """A row is taken back by one more or one less; it may be one that takes back itself."""
        following: int | None = row_id
        while following is not None:
            did_count = self._takers[following] == 0
            self._takers[following] += more
            does_count = self._takers[following] == 0
            if did_count == does_count:
                return
            more = 1 if does_count else -1
            following = self._rows[following].origin.undoes
