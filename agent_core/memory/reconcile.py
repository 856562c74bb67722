"""Within one transaction: the ledger, the file as it was found, and one edit become one list."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from agent_core.errors import StoreDamaged
from agent_core.ids import PersonId
from agent_core.memory.changes import Edit, Refusal, apply, compare, merge, plan, replay
from agent_core.memory.entries import parse, render
from agent_core.memory.files import ABSENT, FileText, digest
from agent_core.state import ledger, shares
from agent_core.state.database import Connection
from agent_core.state.ledger import Change, LedgerEntry, Origin, Projection, Target
from agent_core.state.shares import EVERYONE, Share


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """One of the lists of one person. `limit` is in characters of its file."""

    person_id: PersonId
    target: Target
    limit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """A change that was made, now or by the same call before, and the list right after it."""

    change: Change
    entries: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """What a transaction came to. `text` is the file to be written, None if it stands."""

    entries: tuple[str, ...]
    outcome: Done | Refusal | None
    projection: Projection
    text: str | None


def find_list(connection: Connection, shelf: Shelf) -> tuple[str, ...]:
    """The list as the ledger has it. Raises `StoreDamaged`."""
    return _replay(_find_rows(connection, shelf))


def find_agreed(connection: Connection, shelf: Shelf, seen: FileText) -> tuple[str, ...] | None:
    """The list, if the file is just what the ledger says; else None. Raises `StoreDamaged`."""
    projection = ledger.find_projection(connection, person_id=shelf.person_id, target=shelf.target)
    if projection is None:
        is_untouched = seen == ABSENT and not _find_rows(connection, shelf)
        return () if is_untouched else None
    if projection.previous is not None or projection.current != seen.hash:
        return None
    return find_list(connection, shelf)


def settle(
    connection: Connection, shelf: Shelf, seen: FileText, edit: Edit | None, origin: Origin
) -> Settlement:
    """Take in what was edited by hand, then make the edit, and say what the file must become.

    A file as it was written last, or before a write that a crash cut off, or no file at all,
    is behind the ledger; any other is somebody's work, and becomes rows of the ledger. An entry
    that is no longer there as it was is shared with nobody any more. Raises `StoreDamaged`.
    """
    entries, base = _take_in(connection, shelf, seen, origin.now)
    outcome = _make(connection, shelf, entries, edit, origin) if edit else None
    entries = find_list(connection, shelf) if isinstance(outcome, Done) else entries
    _withdraw(connection, shelf, entries)
    if parse(seen.text) == entries:
        text = None
        projection = Projection(current=seen.hash, previous=None, base=base)
    else:
        text = render(entries)
        projection = Projection(current=digest(text), previous=seen.hash, base=base)
    _save(connection, shelf, projection)
    return Settlement(entries=entries, outcome=outcome, projection=projection, text=text)


def confirm(connection: Connection, shelf: Shelf, projection: Projection) -> None:
    """Note that the file has reached the disk, unless another is on its way already."""
    stored = ledger.find_projection(connection, person_id=shelf.person_id, target=shelf.target)
    if stored == projection:
        _save(connection, shelf, replace(projection, previous=None))


def _take_in(
    connection: Connection, shelf: Shelf, seen: FileText, now: int
) -> tuple[tuple[str, ...], int]:
    """The list with what was done by hand, and the row up to which the file knows it."""
    rows = _find_rows(connection, shelf)
    ours = _replay(rows)
    projection = ledger.find_projection(connection, person_id=shelf.person_id, target=shelf.target)
    last = rows[-1].id if rows else 0
    if seen == ABSENT:
        return ours, 0
    if projection and seen.hash == projection.current:
        return ours, last
    if projection and seen.hash == projection.previous:
        return ours, projection.base
    theirs = parse(seen.text)
    if projection and projection.previous is not None:
        base = _replay(row for row in rows if row.id <= projection.base)
        theirs = merge(base, ours, theirs)
    for change in compare(ours, theirs):
        last = _record(connection, shelf, change, Origin(actor="hand", now=now)).id
    return theirs, last


def _make(
    connection: Connection,
    shelf: Shelf,
    entries: tuple[str, ...],
    edit: Edit,
    origin: Origin,
) -> Done | Refusal:
    made = origin.call_key and ledger.find_call(
        connection, person_id=shelf.person_id, call_key=origin.call_key
    )
    if made:
        rows = _find_rows(connection, shelf)
        then = _replay(row for row in rows if row.id <= made.id)
        return Done(change=made.change, entries=then)
    change = plan(entries, edit, shelf.limit)
    if isinstance(change, Refusal):
        return change
    _record(connection, shelf, change, origin)
    if edit.is_for_anyone and change.after is not None:
        shares.insert(
            connection,
            Share(target=shelf.target, entry=change.after, audience=EVERYONE),
            person_id=shelf.person_id,
            actor=origin.actor,
            now=origin.now,
        )
    return Done(change=change, entries=apply(entries, change))


def _withdraw(connection: Connection, shelf: Shelf, entries: tuple[str, ...]) -> None:
    """Make private what was shared in other words than those that stand now."""
    for share in shares.list_of(connection, person_id=shelf.person_id):
        if share.target == shelf.target and share.entry not in entries:
            shares.delete(
                connection, person_id=shelf.person_id, target=shelf.target, entry=share.entry
            )


def _find_rows(connection: Connection, shelf: Shelf) -> list[LedgerEntry]:
    return ledger.find_entries(connection, person_id=shelf.person_id, target=shelf.target)


def _replay(rows: Iterable[LedgerEntry]) -> tuple[str, ...]:
    try:
        return replay(row.change for row in rows)
    except ValueError as error:
        raise StoreDamaged(f"rows are missing from the ledger: {error}") from error


def _record(connection: Connection, shelf: Shelf, change: Change, origin: Origin) -> LedgerEntry:
    return ledger.record(
        connection,
        person_id=shelf.person_id,
        target=shelf.target,
        change=change,
        origin=origin,
    )


def _save(connection: Connection, shelf: Shelf, projection: Projection) -> None:
    ledger.save_projection(
        connection, person_id=shelf.person_id, target=shelf.target, projection=projection
    )
