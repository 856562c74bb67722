"""Within a transaction: rows that take others back, and rows that lead back to a moment."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from agent_core.memory.changes import compare
from agent_core.memory.history import UNLINK, History, Undoing
from agent_core.memory.reconcile import Shelf, find_rows, record, replay_rows
from agent_core.state import ledger
from agent_core.state.database import Connection
from agent_core.state.ledger import LedgerEntry, Origin
from agent_core.state.redacting import FORGOTTEN

Fault = Literal["unknown", "undone", "parted", "forgotten", "nothing"]
"""Why nothing is taken back: there is no such row in these lists, it is taken back already, it
would bring back what has left with an account, its words were forgotten, or nothing is left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """A row that was taken back, now or by the same call before: `row` has done it.

    `derived` and `revived` as in `history.Undoing`.
    """

    undone: LedgerEntry
    row: LedgerEntry
    derived: tuple[LedgerEntry, ...]
    revived: tuple[LedgerEntry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """Nothing was taken back. `row` is the row in question, if there is one."""

    fault: Fault
    row: LedgerEntry | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """How many rows led back to a moment, and the list that stands now."""

    rows: int
    entries: tuple[str, ...]


def undo(
    connection: Connection,
    lists: Mapping[Shelf, tuple[str, ...]],
    *,
    row_id: int | None,
    origin: Origin,
) -> tuple[Undone, ...] | Kept:
    """Take back one row, or, without one, the newest stroke: what one call, or one hand at one
    moment, has done and what still counts and shows.

    `lists` are all those of one memory. Afterwards each is what `history` says it is without
    what is taken back, whatever the limits; the next edits meet those again. What a call has
    taken back before is told again, and not done again. Raises `StoreDamaged`.
    """
    histories = {shelf: History(find_rows(connection, shelf)) for shelf in lists}
    if made := _find_made(connection, histories, origin.call_key):
        return made
    row_ids = _find_stroke(histories.values()) if row_id is None else [row_id]
    if not row_ids:
        return Kept(fault="nothing")
    taken: list[tuple[Shelf, LedgerEntry]] = []
    for number in row_ids:
        shelf = next((one for one in histories if histories[one].life_of(number)), None)
        if shelf is None:
            return Kept(fault="unknown")
        history = histories[shelf]
        row = history.get(number)
        if fault := _find_fault(history, row, history.plan_undo(number)):
            return Kept(fault=fault, row=row)
        taken.append((shelf, row))
    done = []
    for place, (shelf, row) in enumerate(taken):
        plan = histories[shelf].plan_undo(row.id)
        key = origin.call_key and ledger.name_call(origin.call_key, 0, place)
        because = replace(origin, call_key=key, undoes=row.id)
        made_row = record(connection, shelf, plan.change, because)
        histories[shelf].follow(made_row)
        done.append(Undone(undone=row, row=made_row, derived=plan.derived, revived=plan.revived))
    return tuple(done)


def restore(
    connection: Connection,
    lists: Mapping[Shelf, tuple[str, ...]],
    *,
    moment: int,
    origin: Origin,
) -> dict[Shelf, Restored] | Kept:
    """Add the rows that lead back to what stood at a moment, in milliseconds since the epoch.

    What was forgotten since stays so. Refused, as `parted`, where an account was split off
    since: what stood there then is now two people's. Raises `StoreDamaged`.
    """
    restored = {}
    for shelf, entries in lists.items():
        rows = find_rows(connection, shelf)
        then = up_to(rows, moment)
        parted = next((row for row in rows[len(then) :] if row.origin.actor == UNLINK), None)
        if parted:
            return Kept(fault="parted", row=parted)
        wanted = tuple(entry for entry in replay_rows(then) if entry != FORGOTTEN)
        changes = compare(entries, wanted)
        restored[shelf] = Restored(rows=len(changes), entries=wanted)
    for shelf, entries in lists.items():
        for change in compare(entries, restored[shelf].entries):
            record(connection, shelf, change, origin)
    return restored


def up_to(rows: Sequence[LedgerEntry], moment: int) -> Sequence[LedgerEntry]:
    """The rows before the first that was made after a moment."""
    later = (place for place, row in enumerate(rows) if row.origin.now > moment)
    return rows[: next(later, len(rows))]


def _find_fault(history: History, row: LedgerEntry, plan: Undoing) -> Fault | None:
    if not history.counts(row.id):
        return "undone"
    if plan.change.before is None and plan.change.after is not None:
        is_parted = any(
            later.origin.actor == UNLINK and later.id >= row.id for later in history.rows
        )
        if is_parted:
            return "parted"
    return "forgotten" if plan.change.after == FORGOTTEN else None


def _find_stroke(histories: Collection[History]) -> list[int]:
    """The rows that the newest stroke has made, newest first; none if nothing can be taken back.

    Rows that take back are no stroke of their own: what they took back is looked past.
    """
    own = [(row, history) for history in histories for row in history.rows]
    own = [(row, history) for row, history in own if row.origin.undoes is None]
    own.sort(key=lambda pair: pair[0].id, reverse=True)
    stroke: list[int] = []
    name: tuple[str, int, str] | None = None
    for row, history in own:
        if name is None and _shows(history, row):
            name = ledger.name_stroke(row)
        if name is None:
            continue
        if ledger.name_stroke(row) != name:
            break
        if history.counts(row.id):
            stroke.append(row.id)
    return stroke


def _shows(history: History, row: LedgerEntry) -> bool:
    """True if a row counts, and the list would be another without it."""
    if not history.counts(row.id):
        return False
    plan = history.plan_undo(row.id)
    is_seen = plan.change.before != plan.change.after
    return is_seen and _find_fault(history, row, plan) is None


def _find_made(
    connection: Connection, histories: Mapping[Shelf, History], call_key: str | None
) -> tuple[Undone, ...]:
    """What the same call has taken back when it was made."""
    if call_key is None:
        return ()
    person_id = next(iter(histories)).person_id
    done = []
    for row in ledger.find_call(connection, person_id=person_id, call_key=call_key):
        history = next(one for one in histories.values() if one.life_of(row.id))
        undone = history.get(row.origin.undoes or 0)
        before = History(one for one in history.rows if one.id < row.id)
        plan = before.plan_undo(undone.id)
        done.append(Undone(undone=undone, row=row, derived=plan.derived, revived=plan.revived))
    return tuple(done)
