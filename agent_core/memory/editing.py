"""Edits of one memory within a transaction: all or none, and only once per tool call."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from agent_core.memory.edits_within_limits import Edit, Refusal, plan_all
from agent_core.memory.sync import MemoryList, find_rows, record, replay_rows
from agent_core.state.engine.database import Connection
from agent_core.state.memory import evidence, ledger, shares
from agent_core.state.memory.ledger import Change, LedgerEntry, Origin
from agent_core.state.memory.shares import EVERYONE, Share


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedEdit:
    """An edit that this call, or an earlier attempt of it, applied, and the list right after it.

    `rows` are its ledger rows: one, or several for a rewrite.
    """

    rows: tuple[LedgerEntry, ...]
    entries: tuple[str, ...]

    @property
    def changes(self) -> tuple[Change, ...]:
        """The changes in order."""
        return tuple(row.change for row in self.rows)


def apply_edits(
    connection: Connection,
    lists: Mapping[MemoryList, tuple[str, ...]],
    *,
    edits: Sequence[Edit],
    origin: Origin,
) -> tuple[AppliedEdit, ...] | Refusal:
    """Apply all edits in order, or none. `lists` are the lists that they touch.

    A repeated call returns its first result and changes nothing. Raises `StoreDamaged`.
    """
    memory_lists = {memory_list.target: memory_list for memory_list in lists}
    if made := _find_previous(connection, next(iter(lists)), origin.call_key):
        return made
    planned = plan_all(
        {memory_list.target: entries for memory_list, entries in lists.items()},
        edits,
        {memory_list.target: memory_list.limit for memory_list in lists},
    )
    if isinstance(planned, Refusal):
        return planned
    origin = evidence.add_turn_evidence(connection, origin)
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


def _find_previous(
    connection: Connection, memory_list: MemoryList, call_key: str | None
) -> tuple[AppliedEdit, ...] | None:
    """Find the result of an earlier attempt of the same call, edit by edit, on any list."""
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
    """Make the new entry visible to everyone."""
    for change in changes:
        if change.after is not None:
            shares.insert(
                connection,
                Share(target=memory_list.target, entry=change.after, audience=EVERYONE),
                person_id=memory_list.person_id,
                actor=origin.actor,
                now=origin.now,
            )
