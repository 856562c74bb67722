"""Edits of one memory within a transaction: all of them or none, and once for each call."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from agent_core.memory.changes import Edit, Refusal, plan_all
from agent_core.memory.sync import MemoryList, find_rows, record, replay_rows
from agent_core.state.engine.database import Connection
from agent_core.state.memory import evidence, ledger, shares
from agent_core.state.memory.ledger import Change, LedgerEntry, Origin
from agent_core.state.memory.shares import EVERYONE, Share


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedEdit:
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


def apply_edits(
    connection: Connection,
    lists: Mapping[MemoryList, tuple[str, ...]],
    *,
    edits: Sequence[Edit],
    origin: Origin,
) -> tuple[AppliedEdit, ...] | Refusal:
    """Make all edits, one after the other, or none. `lists` are those that they are about.

    What a call has made before is not made again. Raises `StoreDamaged`.
    """
    memory_lists = {memory_list.target: memory_list for memory_list in lists}
    if made := _find_made(connection, next(iter(lists)), origin.call_key):
        return made
    planned = plan_all(
        {memory_list.target: entries for memory_list, entries in lists.items()},
        edits,
        {memory_list.target: memory_list.limit for memory_list in lists},
    )
    if isinstance(planned, Refusal):
        return planned
    origin = evidence.rest_on_turn(connection, origin)
    done: list[AppliedEdit] = []
    made_so_far = 0
    for index, (edit, changes) in enumerate(zip(edits, planned, strict=True)):
        memory_list = memory_lists[edit.target]
        rows = []
        for change in changes:
            key = origin.call_key and ledger.name_call(origin.call_key, index, made_so_far)
            rows.append(record(connection, memory_list, change, replace(origin, call_key=key)))
            made_so_far += 1
        if edit.is_for_anyone and edit.action != "rewrite":
            _share(connection, memory_list, changes, origin)
        entries = replay_rows(find_rows(connection, memory_list))
        done.append(AppliedEdit(rows=tuple(rows), entries=entries))
    return tuple(done)


def _find_made(
    connection: Connection, memory_list: MemoryList, call_key: str | None
) -> tuple[AppliedEdit, ...] | None:
    """What the same call came to when it was made, edit by edit; on any list of that memory."""
    if call_key is None:
        return None
    by_edit: dict[int, list[LedgerEntry]] = {}
    for row in ledger.find_call(connection, person_id=memory_list.person_id, call_key=call_key):
        by_edit.setdefault(ledger.read_edit(row.origin.call_key or "", call_key), []).append(row)
    done = []
    for made in by_edit.values():
        last = made[-1]
        rows = find_rows(connection, replace(memory_list, target=last.target))
        entries = replay_rows(row for row in rows if row.id <= last.id)
        done.append(AppliedEdit(rows=tuple(made), entries=entries))
    return tuple(done) or None


def _share(
    connection: Connection, memory_list: MemoryList, changes: Sequence[Change], origin: Origin
) -> None:
    """Let anyone see the new entry."""
    for change in changes:
        if change.after is not None:
            shares.insert(
                connection,
                Share(target=memory_list.target, entry=change.after, audience=EVERYONE),
                person_id=memory_list.person_id,
                actor=origin.actor,
                now=origin.now,
            )
