"""Writes to the archive: entry, index and ledger row in one transaction."""

from dataclasses import dataclass, replace

from agent_core.errors import ToolArgumentError
from agent_core.ids import ArchiveId, PersonId
from agent_core.memory.archive.entries import ArchiveContent, read_entry, write_entry
from agent_core.state.engine.database import Connection
from agent_core.state.memory import archive, ledger
from agent_core.state.memory.archive import ArchiveEntry
from agent_core.state.memory.ledger import Change, Origin

UNKNOWN = "no entry has that `id`; `search` shows the ids"


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedChange:
    """A change that this call, or an earlier attempt of it, applied.

    `content` is the new content, None if the entry was deleted or forgotten.
    """

    id: ArchiveId
    content: ArchiveContent | None


def insert_entry(
    connection: Connection, *, person_id: PersonId, content: ArchiveContent, origin: Origin
) -> AppliedChange:
    """Insert an entry, once per `origin.call_key`."""
    if done := find_applied(connection, person_id=person_id, origin=origin):
        return done
    entry = archive.insert(
        connection, person_id=person_id, text=content.text, tags=content.tags, now=origin.now
    )
    return _record(connection, person_id, origin, entry.id, (None, content))


def update_entry(
    connection: Connection,
    *,
    person_id: PersonId,
    archive_id: ArchiveId,
    text: str | None,
    tags: tuple[str, ...] | None,
    origin: Origin,
) -> AppliedChange:
    """Change the text or tags of an entry.

    Raises `ToolArgumentError` if the entry is unknown or nothing would change, and
    `StoreDamaged`.
    """
    if done := find_applied(connection, person_id=person_id, origin=origin):
        return done
    old = _find(connection, person_id, archive_id)
    before = ArchiveContent(text=old.text, tags=old.tags)
    after = ArchiveContent(
        text=old.text if text is None else text, tags=old.tags if tags is None else tags
    )
    if after == before:
        raise ToolArgumentError("nothing to do: the entry already says that")
    new = replace(old, text=after.text, tags=after.tags, updated_at=origin.now)
    archive.update(connection, person_id=person_id, old=old, new=new)
    return _record(connection, person_id, origin, old.id, (before, after))


def delete_entry(
    connection: Connection, *, person_id: PersonId, archive_id: ArchiveId, origin: Origin
) -> AppliedChange:
    """Delete an entry. Raises `ToolArgumentError` if it is unknown, and `StoreDamaged`."""
    if done := find_applied(connection, person_id=person_id, origin=origin):
        return done
    old = _find(connection, person_id, archive_id)
    archive.delete(connection, person_id=person_id, entry=old)
    before = ArchiveContent(text=old.text, tags=old.tags)
    return _record(connection, person_id, origin, old.id, (before, None))


def find_applied(
    connection: Connection, *, person_id: PersonId, origin: Origin
) -> AppliedChange | None:
    """Find the change that an earlier attempt of the call made. Raises `StoreDamaged`."""
    if origin.call_key is None:
        return None
    made = ledger.find_call(connection, person_id=person_id, call_key=origin.call_key)
    if not made:
        return None
    change = made[-1].change
    return AppliedChange(id=ArchiveId(change.position), content=read_entry(change.after or ""))


def _find(connection: Connection, person_id: PersonId, archive_id: ArchiveId) -> ArchiveEntry:
    entry = archive.find(connection, person_id=person_id, archive_id=archive_id)
    if entry is None:
        raise ToolArgumentError(UNKNOWN)
    return entry


def _record(
    connection: Connection,
    person_id: PersonId,
    origin: Origin,
    archive_id: ArchiveId,
    contents: tuple[ArchiveContent | None, ArchiveContent | None],
) -> AppliedChange:
    before, after = (write_entry(one) if one else None for one in contents)
    operation = ledger.name_operation(before, after)
    change = Change(operation=operation, position=archive_id, before=before, after=after)
    ledger.record(connection, person_id=person_id, target="archive", change=change, origin=origin)
    return AppliedChange(id=archive_id, content=contents[1])
