"""Edits of one memory within a transaction: all of them or none, and once for each call."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from agent_core.memory.changes import Edit, Refusal, plan_all
from agent_core.memory.sync import Shelf, find_rows, record, replay_rows
from agent_core.state.engine.database import Connection
from agent_core.state.memory import evidence, ledger, shares
from agent_core.state.memory.ledger import Change, LedgerEntry, Origin
from agent_core.state.memory.shares import EVERYONE, Share


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """An edit that was made, now or by the same call before, and its list right after it.

    A rewrite may make several changes, any other edit makes one. `rows` are those of the ledger
    that say so.
    """

    rows: tuple[LedgerEntry, ...]
    entries: tuple[str, ...]

    @property
    def changes(self) -> tuple[Change, ...]:
        """What was changed, in order."""
        return tuple(row.change for row in self.rows)


def make(
    connection: Connection,
    lists: Mapping[Shelf, tuple[str, ...]],
    *,
    edits: Sequence[Edit],
    origin: Origin,
) -> tuple[Done, ...] | Refusal:
    """Make all edits, one after the other, or none. `lists` are those that they are about.

    What a call has made before is not made again. Raises `StoreDamaged`.
    """
    shelves = {shelf.target: shelf for shelf in lists}
    if made := _find_made(connection, next(iter(lists)), origin.call_key):
        return made
    planned = plan_all(
        {shelf.target: entries for shelf, entries in lists.items()},
        edits,
        {shelf.target: shelf.limit for shelf in lists},
    )
    if isinstance(planned, Refusal):
        return planned
    origin = evidence.rest_on_turn(connection, origin)
    done: list[Done] = []
    made_so_far = 0
    for index, (edit, changes) in enumerate(zip(edits, planned, strict=True)):
        shelf = shelves[edit.target]
        rows = []
        for change in changes:
            key = origin.call_key and ledger.name_call(origin.call_key, index, made_so_far)
            rows.append(record(connection, shelf, change, replace(origin, call_key=key)))
            made_so_far += 1
        if edit.is_for_anyone and edit.action != "rewrite":
            _share(connection, shelf, changes, origin)
        entries = replay_rows(find_rows(connection, shelf))
        done.append(Done(rows=tuple(rows), entries=entries))
    return tuple(done)


def _find_made(
    connection: Connection, shelf: Shelf, call_key: str | None
) -> tuple[Done, ...] | None:
    """What the same call came to when it was made, edit by edit; on any list of that memory."""
    if call_key is None:
        return None
    by_edit: dict[int, list[LedgerEntry]] = {}
    for row in ledger.find_call(connection, person_id=shelf.person_id, call_key=call_key):
        by_edit.setdefault(ledger.read_edit(row.origin.call_key or "", call_key), []).append(row)
    done = []
    for made in by_edit.values():
        last = made[-1]
        rows = find_rows(connection, replace(shelf, target=last.target))
        entries = replay_rows(row for row in rows if row.id <= last.id)
        done.append(Done(rows=tuple(made), entries=entries))
    return tuple(done) or None


def _share(connection: Connection, shelf: Shelf, changes: Sequence[Change], origin: Origin) -> None:
    """Let anyone see the new entry."""
    for change in changes:
        if change.after is not None:
            shares.insert(
                connection,
                Share(target=shelf.target, entry=change.after, audience=EVERYONE),
                person_id=shelf.person_id,
                actor=origin.actor,
                now=origin.now,
            )
