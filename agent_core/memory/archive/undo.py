"""Undo of archive changes: of single changes, or of all changes since a moment.

A single change can be undone while its entry is unchanged since.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from agent_core.errors import CoreError
from agent_core.ids import ArchiveId, PersonId
from agent_core.memory.archive.entries import ArchiveContent, read_entry, write_entry
from agent_core.memory.archive.history import load_archive_history
from agent_core.state.engine.database import Connection
from agent_core.state.lifecycle.redact import FORGOTTEN
from agent_core.state.memory import archive, ledger
from agent_core.state.memory.archive import ArchiveEntry
from agent_core.state.memory.ledger import Change, LedgerEntry, Origin

ArchiveUndoFault = Literal["undone", "overtaken", "forgotten"]
"""Reasons to refuse an undo, in order: already undone, changed again since, or forgotten."""


class ArchiveUndoRefused(CoreError):
    """The undo was refused; `fault` is the reason."""

    def __init__(self, fault: ArchiveUndoFault) -> None:
        super().__init__(fault)
        self.fault = fault


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoredArchive:
    """The number of rows added by a restore, and of old entries left out because they were
    forgotten.
    """

    rows: int
    left_out: int


def undo_archive_change(
    connection: Connection, *, person_id: PersonId, row: LedgerEntry, origin: Origin
) -> LedgerEntry:
    """Undo a change; returns the undo row. A call with the same `origin.call_key` adds it once.

    A deleted entry returns under its old id. Raises `ArchiveUndoRefused` and `StoreDamaged`.
    """
    if origin.call_key is not None:
        made = ledger.find_call(connection, person_id=person_id, call_key=origin.call_key)
        if made:
            return made[0]
    place = ArchiveId(row.change.position)
    standing = archive.find(connection, person_id=person_id, archive_id=place)
    wanted = read_entry(row.change.before) if row.change.before else None
    if fault := _find_fault(connection, person_id, row, standing):
        raise ArchiveUndoRefused(fault)
    place = _write_content(connection, person_id, place, (standing, wanted), origin.now)
    undo_origin = replace(origin, undoes=row.id)
    return _record(connection, person_id, (place, row.change.after, row.change.before), undo_origin)


def find_newest_archive_change(
    connection: Connection,
    *,
    person_id: PersonId,
    is_wanted: Callable[[LedgerEntry], bool] = lambda _: True,
) -> LedgerEntry | None:
    """Find the newest wanted change of a person's archive that can be undone, but no undo row.

    Raises `StoreDamaged`.
    """
    for row in ledger.walk_archived(connection, person_id=person_id):
        if row.origin.undoes is None and is_wanted(row):
            place = ArchiveId(row.change.position)
            standing = archive.find(connection, person_id=person_id, archive_id=place)
            if _find_fault(connection, person_id, row, standing) is None:
                return row
    return None


def restore_archive(
    connection: Connection, *, person_id: PersonId, moment: int, origin: Origin
) -> RestoredArchive:
    """Restore a person's archive to a moment, in milliseconds since the epoch, by ledger rows.

    Forgotten entries stay out. Raises `StoreDamaged`.
    """
    then: dict[int, LedgerEntry] = {}
    for row in ledger.walk_archived(connection, person_id=person_id):
        if row.origin.now <= moment:
            break
        then[row.change.position] = row  # ends with the first change after the moment
    rows = left_out = 0
    for position in sorted(then):
        place, said = ArchiveId(position), then[position].change.before
        standing = archive.find(connection, person_id=person_id, archive_id=place)
        says = _write(standing)
        wanted = read_entry(said) if said is not None else None
        if said is not None and wanted is None:
            left_out += 1
        elif says != said:
            place = _write_content(connection, person_id, place, (standing, wanted), origin.now)
            _record(connection, person_id, (place, says, said), origin)
            rows += 1
    return RestoredArchive(rows=rows, left_out=left_out)


def _find_fault(
    connection: Connection, person_id: PersonId, row: LedgerEntry, standing: ArchiveEntry | None
) -> ArchiveUndoFault | None:
    history = load_archive_history(
        connection, person_id=person_id, archive_id=ArchiveId(row.change.position)
    )
    if history and not history.counts(row):
        return "undone"
    if FORGOTTEN in (row.change.before, row.change.after):
        return "forgotten"
    return None if _write(standing) == row.change.after else "overtaken"


def _write(standing: ArchiveEntry | None) -> str | None:
    return write_entry(ArchiveContent(text=standing.text, tags=standing.tags)) if standing else None


def _record(
    connection: Connection,
    person_id: PersonId,
    made: tuple[ArchiveId, str | None, str | None],
    origin: Origin,
) -> LedgerEntry:
    """Record a change: the entry, its old text and its new text."""
    place, before, after = made
    operation = ledger.name_operation(before, after)
    change = Change(operation=operation, position=place, before=before, after=after)
    return ledger.record(
        connection, person_id=person_id, target="archive", change=change, origin=origin
    )


def _write_content(
    connection: Connection,
    person_id: PersonId,
    place: ArchiveId,
    contents: tuple[ArchiveEntry | None, ArchiveContent | None],
    now: int,
) -> ArchiveId:
    """Write the wanted content of an entry; returns its id."""
    standing, wanted = contents
    if standing and wanted:
        new = replace(standing, text=wanted.text, tags=wanted.tags, updated_at=now)
        archive.update(connection, person_id=person_id, old=standing, new=new)
    elif standing:
        archive.delete(connection, person_id=person_id, entry=standing)
    elif wanted:
        entry = archive.insert(
            connection,
            person_id=person_id,
            text=wanted.text,
            tags=wanted.tags,
            now=now,
            again=place,
        )
        return entry.id
    return place
