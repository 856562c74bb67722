"""Writes to several memories within one transaction; their files follow later."""

from dataclasses import replace

from agent_core.ids import PersonId
from agent_core.memory.files import hash_text, render
from agent_core.memory.provenance import says
from agent_core.memory.store import MemoryStore
from agent_core.memory.sync import MemoryList, find_list, record
from agent_core.state.engine.database import Connection
from agent_core.state.memory import ledger, shares
from agent_core.state.memory.ledger import Change, LedgerEntry, MemoryTarget, Origin
from agent_core.state.memory.shares import Share


def memory_list(store: MemoryStore, person_id: PersonId, target: MemoryTarget) -> MemoryList:
    """Identify one list of one person."""
    return MemoryList(person_id=person_id, target=target, limit=store.limits.of(target))


def append(
    connection: Connection, memory_list: MemoryList, entry: str, origin: Origin, source: LedgerEntry
) -> None:
    """Append a copy of another row's entry and evidence, unless the list has the entry already."""
    entries = find_list(connection, memory_list)
    if not says(entries, entry, memory_list.target):
        change = Change(operation="add", position=len(entries), before=None, after=entry)
        record(connection, memory_list, change, copy_evidence(origin, source))


def remove(
    connection: Connection, memory_list: MemoryList, places: list[tuple[int, str]], origin: Origin
) -> None:
    """Remove entries, from the last to the first, so that other positions stay valid."""
    for place, entry in reversed(places):
        change = Change(operation="remove", position=place, before=entry, after=None)
        record(connection, memory_list, change, origin)


def copy_evidence(origin: Origin, source: LedgerEntry) -> Origin:
    """Add the evidence of a copied row to an origin."""
    return replace(
        origin,
        evidence=source.origin.evidence,
        message_ids=source.origin.message_ids,
        sources=source.origin.sources,
        source_id=source.id,
    )


def share(
    connection: Connection,
    person_id: PersonId,
    like: list[Share],
    target: MemoryTarget,
    origin: Origin,
) -> None:
    """Repeat the given shares for one person's copy of an entry."""
    for one in like:
        if one.target == target:
            shares.insert(connection, one, person_id=person_id, actor=origin.actor, now=origin.now)


def move_shares(
    connection: Connection,
    kept: PersonId,
    back: PersonId,
    entry: str,
    target: MemoryTarget,
    origin: Origin,
) -> None:
    """Move the shares of an entry together with it; the latest decision about visibility wins."""
    like = [s for s in shares.list_of(connection, person_id=kept) if s.entry == entry]
    shares.delete(connection, person_id=back, target=target, entry=entry)
    share(connection, back, like, target, origin)
    shares.delete(connection, person_id=kept, target=target, entry=entry)


def mark_outdated(connection: Connection, memory_list: MemoryList) -> None:
    """Mark a file as outdated after its ledger changed; the next read rewrites the file.

    The caller has just read the file with `adopt_hand_edits`.
    """
    stored = ledger.find_projection(
        connection, person_id=memory_list.person_id, target=memory_list.target
    )
    current = hash_text(render(find_list(connection, memory_list)))
    if stored is None or stored.current == current:
        return
    previous = stored.current if stored.previous is None else stored.previous
    projection = replace(stored, current=current, previous=previous)
    ledger.save_projection(
        connection,
        person_id=memory_list.person_id,
        target=memory_list.target,
        projection=projection,
    )
