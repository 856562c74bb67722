"""The ledger rows of one list, grouped by entry, and the effect of undoing each of them.

An entry begins with the row that adds it. Every row that rewords or removes the entry, or undoes a
row of the entry, belongs to it. Removed entries keep their place in the order.

To undo row `x`, all rows are replayed without `x`. A row that rewords or removes an entry has no
effect while the entry does not exist. So undoing an `add` also drops all later wordings of the
entry, and undoing a `replace` under a later `replace` changes nothing visible. An undo row
(`Origin.undoes`) only disables its target; when the undo row itself is undone, the target counts
again.

An undo is always one row. If nothing visible changes, its change has neither `before` nor `after`.
Rows of any origin can be undone.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from agent_core.errors import StoreDamaged
from agent_core.state.memory.ledger import Change, LedgerEntry, Operation

UNLINK = "unlink"
"""The ledger actor of changes made when an account is unlinked."""


@dataclass(slots=True, kw_only=True, eq=False)
class TrackedEntry:
    """An entry with all its rows, oldest first.

    `words` is the present text. While the entry is removed, `words` and `made_by` are None.
    """

    rows: list[LedgerEntry] = field(default_factory=list)
    words: str | None = None
    made_by: LedgerEntry | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoPlan:
    """The effect of undoing a row.

    `change` is the content of the undo row. `made_by` is the row that gives the entry its text
    afterwards, if the entry then exists.

    `derived` are rows that lose their effect because they build on the undone row; `revived` are
    rows that regain theirs.
    """

    change: Change
    made_by: LedgerEntry | None = None
    derived: tuple[LedgerEntry, ...] = ()
    revived: tuple[LedgerEntry, ...] = ()


class EntryHistory:
    """The history of all entries of one list."""

    def __init__(self, rows: Iterable[LedgerEntry]) -> None:
        """Replay `rows`, all rows of a list, oldest first. Raises `StoreDamaged` if they don't
        fit.
        """
        self._rows: dict[int, LedgerEntry] = {}
        self._lives: dict[int, TrackedEntry] = {}
        self._order: list[TrackedEntry] = []
        self._standing: list[TrackedEntry] = []
        self._undo_counts: dict[int, int] = {}
        """The number of active undo rows of each row."""
        for row in rows:
            self.follow(row)

    @property
    def current(self) -> tuple[TrackedEntry, ...]:
        """The present entries in list order."""
        return tuple(self._standing)

    @property
    def rows(self) -> tuple[LedgerEntry, ...]:
        """The rows, oldest first."""
        return tuple(self._rows.values())

    def get(self, row_id: int) -> LedgerEntry:
        """Return a row of this list."""
        return self._rows[row_id]

    def find_tracked(self, row_id: int) -> TrackedEntry | None:
        """Find the entry of a row; None if the row does not belong to this list."""
        return self._lives.get(row_id)

    def counts(self, row_id: int) -> bool:
        """True unless the row was undone."""
        return self._undo_counts[row_id] == 0

    def follow(self, row: LedgerEntry) -> None:
        """Replay one more row. Raises `StoreDamaged` if it does not fit."""
        undoes, change = row.origin.undoes, row.change
        if undoes is None and change.operation == "add":
            tracked = self._add_entry(change)
        elif undoes is None:
            tracked = self._entry_at(row)
        elif undoes in self._lives:
            tracked = self._lives[undoes]
        else:
            raise StoreDamaged(f"row {undoes} of the ledger is missing; restore a backup")
        self._rows[row.id] = row
        self._lives[row.id] = tracked
        self._undo_counts[row.id] = 0
        tracked.rows.append(row)
        before = tracked.words
        if undoes is not None:
            self._count(undoes, 1)
        tracked.words, tracked.made_by, _ = self._replay(tracked)
        self._place(tracked, before, change.position)
        if (before, tracked.words) != (change.before, change.after) and not (
            before == tracked.words and change.before is change.after is None
        ):
            raise StoreDamaged(f"row {row.id} of the ledger contradicts the rows before it")

    def plan_undo(self, row_id: int) -> UndoPlan:
        """Plan the undo of an active row."""
        tracked = self._lives[row_id]
        _, _, effective = self._replay(tracked)
        self._count(row_id, 1)
        words, made_by, left = self._replay(tracked)
        self._count(row_id, -1)
        return UndoPlan(
            change=self._describe(tracked, words),
            made_by=made_by,
            derived=tuple(row for row in effective if row not in left and row.id != row_id),
            revived=tuple(row for row in left if row not in effective),
        )

    def _add_entry(self, change: Change) -> TrackedEntry:
        tracked = TrackedEntry()
        place = len(self._order)
        if change.position < len(self._standing):
            place = self._order.index(self._standing[change.position])
        elif change.position > len(self._standing):
            raise StoreDamaged("rows are missing from the ledger")
        self._order.insert(place, tracked)
        return tracked

    def _entry_at(self, row: LedgerEntry) -> TrackedEntry:
        if row.change.position >= len(self._standing):
            raise StoreDamaged(f"row {row.id} of the ledger contradicts the rows before it")
        return self._standing[row.change.position]

    def _place(self, tracked: TrackedEntry, before: str | None, position: int) -> None:
        """Insert a returning entry into the present list, or remove a deleted one."""
        if before is None and tracked.words is not None:
            self._standing.insert(position, tracked)
        elif before is not None and tracked.words is None:
            self._standing.remove(tracked)

    def _position(self, tracked: TrackedEntry) -> int:
        """Return the index of an entry in the present list, or the index that it would have."""
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

    def _replay(
        self, tracked: TrackedEntry
    ) -> tuple[str | None, LedgerEntry | None, list[LedgerEntry]]:
        """Replay the active rows of an entry; returns its text, the row behind it and the
        effective rows.
        """
        words, made_by = None, None
        effective = []
        for row in tracked.rows:
            if row.origin.undoes is not None or self._undo_counts[row.id]:
                continue
            if row.change.operation == "add" or words is not None:
                words = row.change.after
                made_by = row if words is not None else None
                effective.append(row)
        return words, made_by, effective

    def _count(self, row_id: int, more: int) -> None:
        """Add to the number of active undos of a row, and follow undos of undos to their end."""
        following: int | None = row_id
        while following is not None:
            did_count = self._undo_counts[following] == 0
            self._undo_counts[following] += more
            does_count = self._undo_counts[following] == 0
            if did_count == does_count:
                return
            more = 1 if does_count else -1
            following = self._rows[following].origin.undoes
