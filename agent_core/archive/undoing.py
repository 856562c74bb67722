"""Takes a change of the archive back, as long as nothing has changed its entry since."""

from dataclasses import replace

from agent_core.archive.entries import Content, read_entry, write_entry
from agent_core.errors import CoreError
from agent_core.ids import ArchiveId, PersonId
from agent_core.state import archive, ledger
from agent_core.state.archive import Archived
from agent_core.state.database import Connection
from agent_core.state.ledger import Change, LedgerEntry, Operation, Origin


class Overtaken(CoreError):
    """A change can't be taken back; the text says why."""


def undo(
    connection: Connection, *, person_id: PersonId, row: LedgerEntry, origin: Origin
) -> LedgerEntry:
    """The row that takes another one back. An entry that was dropped comes again as a new one.

    Raises `Overtaken` and `StoreDamaged`.
    """
    if ledger.is_undone(connection, person_id=person_id, entry_id=row.id):
        raise Overtaken(f"Row {row.id} is taken back already.")
    standing = archive.find(
        connection, person_id=person_id, archive_id=ArchiveId(row.change.position)
    )
    says = write_entry(Content(text=standing.text, tags=standing.tags)) if standing else None
    if says != row.change.after:
        raise Overtaken(
            f"What row {row.id} did was changed again since; take the later change back first."
        )
    wanted = read_entry(row.change.before) if row.change.before else None
    if row.change.before and wanted is None:
        raise Overtaken(f"What row {row.id} dropped was forgotten since.")
    place = _make_so(connection, person_id, standing, wanted, origin.now)
    operation: Operation = "replace"
    if standing is None or wanted is None:
        operation = "remove" if standing else "add"
    return ledger.record(
        connection,
        person_id=person_id,
        target="archive",
        change=Change(
            operation=operation,
            position=place,
            before=row.change.after,
            after=row.change.before,
        ),
        origin=replace(origin, undoes=row.id),
    )


def _make_so(
    connection: Connection,
    person_id: PersonId,
    standing: Archived | None,
    wanted: Content | None,
    now: int,
) -> ArchiveId:
    """Let the archive say what it said before; where that stands by now."""
    if standing and wanted:
        new = replace(standing, text=wanted.text, tags=wanted.tags, updated_at=now)
        archive.update(connection, person_id=person_id, old=standing, new=new)
        return standing.id
    if standing:
        archive.delete(connection, person_id=person_id, entry=standing)
        return standing.id
    assert wanted is not None  # noqa: S101 - a change changes something
    entry = archive.insert(
        connection, person_id=person_id, text=wanted.text, tags=wanted.tags, now=now
    )
    return entry.id
