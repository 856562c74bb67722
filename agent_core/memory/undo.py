"""Undo of memory changes within a transaction: single rows, change sets, and restore points."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from agent_core.ids import PersonId
from agent_core.memory.entry_history import UNLINK, EntryHistory, UndoPlan
from agent_core.memory.list_changes import compare
from agent_core.memory.provenance import still_belongs
from agent_core.memory.sync import MemoryList, find_rows, record
from agent_core.state.engine.database import Connection
from agent_core.state.lifecycle.redact import FORGOTTEN
from agent_core.state.memory import ledger
from agent_core.state.memory.ledger import LedgerEntry, MemoryTarget, Origin
from agent_core.state.people import people

UndoFault = Literal["unknown", "undone", "parted", "forgotten", "nothing"]
"""Reasons to refuse an undo, in order: the row is not in these lists, it is already undone, it
belongs to an account that was unlinked, its text was forgotten, or nothing is left to undo.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoneChange:
    """An undone row, and the ledger row that undid it in this or an earlier attempt of the call.

    `derived` and `revived` are as in `UndoPlan`.
    """

    undone: LedgerEntry
    row: LedgerEntry
    derived: tuple[LedgerEntry, ...]
    revived: tuple[LedgerEntry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoRefused:
    """A refused undo. `row` is the row in question, if there is one."""

    fault: UndoFault
    row: LedgerEntry | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoredEntry:
    """The result of a restore: the number of added rows, and the present list.

    `left_out` counts the old entries that were forgotten or unlinked since.
    """

    rows: int
    entries: tuple[str, ...]
    left_out: int = 0


def undo(
    connection: Connection,
    lists: Mapping[MemoryList, tuple[str, ...]],
    *,
    row_id: int | None,
    origin: Origin,
) -> tuple[UndoneChange, ...] | UndoRefused:
    """Undo one row, or without `row_id` the newest change set.

    A change set holds everything that one call, or one hand edit, changed and that is still
    visible; the row of a merge stands for all of it. `lists` are all lists of one memory. Limits do
    not apply to an undo; the next edit enforces them again. A repeated call returns its first
    result. Raises `StoreDamaged`.
    """
    histories = {
        memory_list: EntryHistory(find_rows(connection, memory_list)) for memory_list in lists
    }
    if made := _find_previous(connection, histories, origin.call_key):
        return made
    if row_id is None:
        row_ids = _find_newest_change_set(connection, histories)
    else:
        row_ids = [row_id, *_list_merged_with(connection, histories, row_id)]
    if not row_ids:
        return UndoRefused(fault="nothing")
    taken: list[tuple[MemoryList, LedgerEntry]] = []
    for number in row_ids:
        memory_list = next((one for one in histories if histories[one].find_tracked(number)), None)
        if memory_list is None:
            return UndoRefused(fault="unknown")
        history = histories[memory_list]
        row = history.get(number)
        plan = history.plan_undo(number)
        if fault := _find_fault(connection, memory_list, history, row, plan):
            return UndoRefused(fault=fault, row=row)
        taken.append((memory_list, row))
    done = []
    for place, (memory_list, row) in enumerate(taken):
        plan = histories[memory_list].plan_undo(row.id)
        key = origin.call_key and ledger.name_call(origin.call_key, 0, place)
        undo_origin = replace(origin, call_key=key, undoes=row.id)
        made_row = record(connection, memory_list, plan.change, undo_origin)
        histories[memory_list].follow(made_row)
        done.append(
            UndoneChange(undone=row, row=made_row, derived=plan.derived, revived=plan.revived)
        )
    return tuple(done)


def find_newest_change(
    connection: Connection,
    person_id: PersonId,
    histories: Mapping[MemoryTarget, EntryHistory],
    *,
    is_wanted: Callable[[LedgerEntry], bool] = lambda _: True,
) -> int:
    """Find the newest wanted row that can be undone, but no undo row; 0 if there is none."""
    change_set = _find_newest_change_set(
        connection,
        {
            MemoryList(person_id=person_id, target=target, limit=0): history
            for target, history in histories.items()
        },
        is_wanted,
    )
    return change_set[0] if change_set else 0


def restore(
    connection: Connection,
    lists: Mapping[MemoryList, tuple[str, ...]],
    *,
    moment: int,
    origin: Origin,
) -> dict[MemoryList, RestoredEntry]:
    """Restore lists to a moment, in milliseconds since the epoch, by adding ledger rows.

    Entries that were forgotten or unlinked since stay out. Raises `StoreDamaged`.
    """
    restored = {}
    for memory_list, entries in lists.items():
        then = [
            (tracked.words, tracked.made_by)
            for tracked in EntryHistory(
                list_rows_up_to(find_rows(connection, memory_list), moment)
            ).current
            if tracked.words is not None and tracked.made_by
        ]
        wanted = tuple(
            words
            for words, row in then
            if words in entries
            or (words != FORGOTTEN and _still_belongs(connection, memory_list, row))
        )
        changes = compare(entries, wanted)
        for change in changes:
            record(connection, memory_list, change, origin)
        restored[memory_list] = RestoredEntry(
            rows=len(changes), entries=wanted, left_out=len(then) - len(wanted)
        )
    return restored


def list_rows_up_to(rows: Sequence[LedgerEntry], moment: int) -> Sequence[LedgerEntry]:
    """Return the rows made up to a moment."""
    later = (place for place, row in enumerate(rows) if row.origin.now > moment)
    return rows[: next(later, len(rows))]


def _list_merged_with(
    connection: Connection, histories: Mapping[MemoryList, EntryHistory], row_id: int
) -> list[int]:
    """List the other rows of a merge, as far as they can be undone, newest first."""
    rows = {row.id: row for history in histories.values() for row in history.rows}
    merge = rows.get(row_id)
    if merge is None or not ledger.is_merge(merge):
        return []
    group = ledger.identify_group(merge)
    return [
        row.id
        for memory_list, history in histories.items()
        for row in reversed(history.rows)
        if row.id != row_id and ledger.identify_group(row) == group
        if row.origin.undoes is None and _is_undoable(connection, memory_list, history, row)
    ]


def _find_fault(
    connection: Connection,
    memory_list: MemoryList,
    history: EntryHistory,
    row: LedgerEntry,
    plan: UndoPlan,
) -> UndoFault | None:
    if not history.counts(row.id):
        return "undone"
    if plan.change.after is None:
        is_left = plan.change.before is not None or row.change.after != FORGOTTEN
        return None if is_left else "forgotten"
    if plan.change.after == FORGOTTEN:
        return "forgotten"
    made_by = plan.made_by or row
    is_parted = row.origin.actor == UNLINK or not _still_belongs(connection, memory_list, made_by)
    return "parted" if is_parted else None


def _still_belongs(connection: Connection, memory_list: MemoryList, row: LedgerEntry) -> bool:
    """True unless the text of a row came from an account that was unlinked.

    Only people have accounts.
    """
    memory_owner = people.find(connection, person_id=memory_list.person_id)
    is_person = memory_owner is not None and memory_owner.kind == "human"
    return not is_person or still_belongs(connection, memory_list.person_id, row)


def _find_newest_change_set(
    connection: Connection,
    histories: Mapping[MemoryList, EntryHistory],
    is_wanted: Callable[[LedgerEntry], bool] = lambda _: True,
) -> list[int]:
    """List the rows of the newest wanted change set, newest first; empty if nothing can be undone.

    Undo rows are not a change set; the search skips them and the rows that they undid.
    """
    own = [(row, memory_list) for memory_list, history in histories.items() for row in history.rows]
    own = [(row, memory_list) for row, memory_list in own if row.origin.undoes is None]
    own.sort(key=lambda pair: pair[0].id, reverse=True)
    change_set: list[int] = []
    name: tuple[str, int, str] | None = None
    for row, memory_list in own:
        history = histories[memory_list]
        is_next = name is None and is_wanted(row)
        if is_next and _is_undoable(connection, memory_list, history, row):
            name = ledger.identify_group(row)
        if name is None:
            continue
        if ledger.identify_group(row) != name:
            break
        if history.counts(row.id):
            change_set.append(row.id)
    return change_set


def _is_undoable(
    connection: Connection, memory_list: MemoryList, history: EntryHistory, row: LedgerEntry
) -> bool:
    """True if a row is active and allowed to be undone, and the undo is visible."""
    if not history.counts(row.id):
        return False
    plan = history.plan_undo(row.id)
    is_seen = plan.change.before != plan.change.after
    return is_seen and _find_fault(connection, memory_list, history, row, plan) is None


def _find_previous(
    connection: Connection, histories: Mapping[MemoryList, EntryHistory], call_key: str | None
) -> tuple[UndoneChange, ...]:
    """Find the result of an earlier attempt of the same call."""
    if call_key is None:
        return ()
    person_id = next(iter(histories)).person_id
    done = []
    for row in ledger.find_call(connection, person_id=person_id, call_key=call_key):
        history = next(one for one in histories.values() if one.find_tracked(row.id))
        undone = history.get(row.origin.undoes or 0)
        before = EntryHistory(one for one in history.rows if one.id < row.id)
        plan = before.plan_undo(undone.id)
        done.append(
            UndoneChange(undone=undone, row=row, derived=plan.derived, revived=plan.revived)
        )
    return tuple(done)
