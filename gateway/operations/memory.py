"""Operations on memory: show its changes and its entries, and undo or restore them."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from agent_core.errors import ToolArgumentError
from agent_core.ids import ArchiveId, PersonId
from agent_core.memory import undo as memory_undo
from agent_core.memory.archive.history import load_archive_history
from agent_core.memory.archive.undo import ArchiveUndoRefused, restore_archive, undo_archive_change
from agent_core.memory.archive.writes import delete_entry
from agent_core.memory.edits_within_limits import Edit, Refusal
from agent_core.memory.numbering import (
    NumberedEntry,
    find_current,
    list_entries,
    load_change_index,
)
from agent_core.memory.sync import replay_rows
from agent_core.memory.undo import list_rows_up_to
from agent_core.state.engine.database import Connection
from agent_core.state.memory import archive, ledger, memory_owners, shares
from agent_core.state.memory.ledger import LedgerEntry, MemoryTarget, Origin
from agent_core.state.memory.memory_owners import StoredOwner
from agent_core.state.memory.shares import EVERYONE, Share
from agent_core.state.people import audit
from agent_core.state.people import rooms as stored_rooms
from agent_core.state.people.audit import AuditEntry
from agent_core.tools.secret_scan import find_secret
from gateway.errors import Declined, Mistaken
from gateway.operations.contract import (
    Operation,
    OperationContext,
    check_limit,
    find_person,
    note_deed,
)
from gateway.operations.memory_types import (
    ChangedAudience,
    ChangeLog,
    EditMemory,
    KeptMemory,
    ListChanges,
    MemoryChange,
    MemoryEntry,
    MemoryList,
    RestoredList,
    RestoredMemory,
    RestoreMemory,
    ShareEntry,
    ShowMemory,
    ShownMemory,
    UndoChange,
    UndoneMemory,
)
from gateway.operations.wire import typed
from gateway.texts import memory as texts
from gateway.texts import profile, rooms

if TYPE_CHECKING:
    from agent_core.memory.archive.undo import RestoredArchive
    from agent_core.memory.store import MemoryStore
    from agent_core.memory.undo import UndoneChange, UndoRefused
    from agent_core.state.engine.database import Database

_AT_ONCE = 500
"""Number of people whose memory is read in one transaction."""
_ROOM = "room:"
BACK = "as"
"""Begins the audiences of an entry in the command that gives them back, which only undo runs."""
_MOST_COUNTED = 100_000
"""Archive entries are counted up to this number."""


async def show_log(context: OperationContext, asked: ListChanges) -> ChangeLog:
    """List the newest changes of everyone or of one owner, newest first. Raises `Declined`."""
    limit = check_limit(asked.limit)

    def look(connection: Connection) -> list[MemoryChange]:
        if asked.person is None:
            recent = ledger.list_recent(connection, limit=limit)
            names = _name_all(connection)
            return [_report(row, names.get(person_id, "?")) for person_id, row in recent]
        owner = _find_owner(connection, asked.person)
        rows = ledger.list_recent_of(connection, person_id=owner.person_id, limit=limit)
        return [_report(row, owner.slug) for row in rows]

    return ChangeLog(changes=tuple(await context.database.read(look)))


async def show_lists(context: OperationContext, asked: ShowMemory) -> ShownMemory:
    """List the entries of everyone or of one owner, now or at a moment. Raises `Declined`."""
    lists: list[MemoryList] = []
    for owner in await _find(context, asked.person):
        if asked.moment is None:
            await context.memory.snapshot(
                owner.person_id, owner.folder, context.now(), kind=owner.kind
            )
        lists += await context.database.read(_show, owner, asked.moment)
    return ShownMemory(lists=tuple(lists))


def _show(connection: Connection, owner: StoredOwner, moment: int | None) -> list[MemoryList]:
    change_index = load_change_index(connection, person_id=owner.person_id)
    shown = []
    for target, history in change_index.histories.items():
        if moment is None:
            entries = [
                MemoryEntry(row=tracked.made_by.id, words=tracked.words)
                for tracked in history.current
                if tracked.made_by and tracked.words is not None
            ]
        else:
            rows = list_rows_up_to(history.rows, moment)
            entries = [MemoryEntry(row=None, words=words) for words in replay_rows(rows)]
        if entries:
            shown.append(MemoryList(person=owner.slug, list=target, entries=tuple(entries)))
    return shown


async def edit(context: OperationContext, asked: EditMemory) -> MemoryChange:
    """Add an entry to a person's memory, or replace or remove one.

    Raises `Mistaken` and `Declined`.
    """
    person = await context.database.read(find_person, asked.person)
    owner = StoredOwner(person_id=person.id, slug=person.slug, folder=person.slug, kind="human")
    try:
        row = await edit_entry(context.database, context.memory, owner, asked, _origin(context))
    except OSError as error:
        raise Declined(_describe_unreadable(owner, error)) from error
    context.forget_known()
    return _report(row, owner.slug)


async def edit_entry(
    database: "Database",
    memory: "MemoryStore",
    owner: StoredOwner,
    asked: EditMemory,
    origin: Origin,
) -> LedgerEntry:
    """Edit a memory and return the row of the change; a repeat with a call's key does nothing.

    Raises `Mistaken`, and `OSError` if a file can't be read.
    """
    if origin.call_key:
        done = await database.read(
            ledger.find_call, person_id=owner.person_id, call_key=origin.call_key
        )
        if done:
            return done[-1]
    await memory.snapshot(owner.person_id, owner.folder, origin.now, kind=owner.kind)
    target: MemoryTarget = asked.list
    old = ""
    if asked.action != "add":
        index = await database.read(load_change_index, person_id=owner.person_id)
        tracked = find_current(index, asked.row or 0)
        if tracked is None or tracked.words is None:
            raise Mistaken(rooms.NUMBER_UNKNOWN(number=asked.row or 0))
        target, old = tracked.rows[0].target, tracked.words
    text = asked.text.strip() if asked.action != "remove" else ""
    if asked.action != "remove" and not text:
        raise Mistaken(profile.EMPTY_LINE())
    if find_secret(text):
        raise Mistaken(profile.SECRET())
    change = Edit(action=asked.action, target=target, text=text, old=old)
    outcome = await memory.change(owner.person_id, owner.folder, change, origin, kind=owner.kind)
    if isinstance(outcome, Refusal):
        raise Mistaken(_explain_refusal(outcome, asked.row or 0))
    return outcome.rows[-1]


async def share(context: OperationContext, asked: ShareEntry) -> ChangedAudience:
    """Let everyone see an entry of a person's memory, or nobody else. Raises `Mistaken`."""
    now = context.now()
    person = await context.database.read(find_person, asked.person)
    await context.memory.snapshot(person.id, person.slug, now)
    audience = EVERYONE if asked.sees == "everyone" else None
    actor = f"person:{person.id}" if context.actor == "person" else context.actor
    origin = Origin(actor=actor, now=now)

    def work(connection: Connection) -> NumberedEntry:
        whose, number = person.id, asked.row
        before = set_audience(
            connection, person_id=whose, number=number, audience=audience, origin=origin
        )
        after = find_entry(connection, person_id=whose, number=number)
        if after != before:
            describe = rooms.describe_share if audience else rooms.describe_private
            undo, redo = (name_back(one) for one in (before, after))
            did = describe(number, before.entry)
            note_deed(context, connection, undo=undo, redo=redo, did=did)
        return before

    before = await context.database.write("memory.share", work)
    context.forget_known()
    return ChangedAudience(row=before.number, words=before.entry, sees=asked.sees)


def set_audience(
    connection: Connection,
    *,
    person_id: PersonId,
    number: int,
    audience: str | None,
    origin: Origin,
) -> NumberedEntry:
    """Add an audience to an entry of a person's memory, or make it private for None.

    Records it in the audit trail, and returns the entry as it was before. Raises `Mistaken`.
    """
    chosen = find_entry(connection, person_id=person_id, number=number)
    if audience is None:
        shares.delete(connection, person_id=person_id, target=chosen.target, entry=chosen.entry)
    else:
        shares.insert(
            connection,
            Share(target=chosen.target, entry=chosen.entry, audience=audience),
            person_id=person_id,
            actor=origin.actor,
            now=origin.now,
        )
    deed = AuditEntry(
        person_id=person_id,
        actor=origin.actor,
        action="memory.share" if audience else "memory.hide",
        detail=f"entry {number}: {audience}" if audience else f"entry {number}",
        created_at=origin.now,
    )
    audit.record(connection, deed)
    return chosen


def find_entry(connection: Connection, *, person_id: PersonId, number: int) -> NumberedEntry:
    """Return an entry of a person's memory. Raises `Mistaken`."""
    for entry in list_entries(connection, person_id=person_id):
        if entry.number == number:
            return entry
    raise Mistaken(rooms.NUMBER_UNKNOWN(number=number))


def name_back(entry: NumberedEntry) -> str:
    """Return the command, without slash, by which only those see an entry who do now."""
    return " ".join((f"share {entry.number} {BACK}", *entry.audiences))


def find_audiences(connection: Connection, listed: Sequence[NumberedEntry]) -> dict[str, str]:
    """Return the names of the rooms that entries are shared with, by audience."""
    names = {name for entry in listed for name in entry.audiences if name.startswith(_ROOM)}
    return {
        name: stored_rooms.find_name(connection, person_id=PersonId(int(name.removeprefix(_ROOM))))
        for name in names
    }


def _explain_refusal(refusal: Refusal, number: int) -> str:
    match refusal.fault:
        case "full":
            return profile.FULL()
        case "flaw":
            return profile.HIDDEN()
        case "none" | "several":
            return rooms.NUMBER_UNKNOWN(number=number)
        case _:
            return profile.SAME()


async def undo(context: OperationContext, asked: UndoChange) -> UndoneMemory:
    """Undo one row of the ledger. Raises `Declined`."""
    row_id = asked.row
    if row_id < 1:
        raise Declined(texts.NUMBER_UNKNOWN(number=row_id))

    def look(connection: Connection) -> tuple[StoredOwner | None, LedgerEntry] | None:
        found = ledger.find_row(connection, entry_id=row_id)
        return (memory_owners.find(connection, person_id=found[0]), found[1]) if found else None

    found = await context.database.read(look)
    if found is None:
        raise Declined(texts.NUMBER_UNKNOWN(number=row_id))
    owner, row = found
    if row.target == "soul":
        raise Declined(texts.CHANGED_SOUL(number=row_id))
    if row.target == "skill":
        raise Declined(texts.CHANGED_SKILL(number=row_id))
    if owner is None:
        raise Declined(texts.OF_MERGED_PERSON(number=row_id))
    if row.target == "archive":
        return await _undo_archived(context, owner, row)
    try:
        outcome = await context.memory.undo(
            owner.person_id, owner.folder, row_id, _origin(context), kind=owner.kind
        )
    except OSError as error:
        raise Declined(_describe_unreadable(owner, error)) from error
    undone = take_undone(outcome, row_id)
    done = next(one for one in undone if one.undone.id == row_id)
    return UndoneMemory(
        person=owner.slug,
        list=row.target,
        undone=_report(done.undone, owner.slug),
        row=_report(done.row, owner.slug),
        derived=tuple(_report(one, owner.slug) for one in done.derived),
        revived=tuple(_report(one, owner.slug) for one in done.revived),
    )


def take_undone(
    outcome: "Sequence[UndoneChange] | UndoRefused", number: int = 0
) -> "Sequence[UndoneChange]":
    """Return what was undone. Raises `Declined` if nothing was."""
    if isinstance(outcome, memory_undo.UndoRefused):
        raise Declined(
            texts.explain_refusal(outcome.fault, outcome.row.id if outcome.row else number)
        )
    return outcome


async def undo_note(
    database: "Database", person_id: PersonId, row: LedgerEntry, origin: Origin
) -> LedgerEntry:
    """Undo a change of an archived note, and return the row that does. Raises `Declined`."""
    work = partial(undo_archive_change, person_id=person_id, row=row, origin=origin)
    try:
        return await database.write("archive.undo", work)
    except ArchiveUndoRefused as error:
        raise Declined(texts.explain_refusal(error.fault, row.id)) from error


async def delete_note(
    database: "Database", person_id: PersonId, archive_id: ArchiveId, origin: Origin
) -> LedgerEntry | None:
    """Delete a note of an archive, and return the row that says so; None if there is none.

    The ledger keeps the note, so an undo brings it back.
    """
    work = partial(delete_entry, person_id=person_id, archive_id=archive_id, origin=origin)
    try:
        await database.write("archive.forget", work)
    except ToolArgumentError:
        return None
    history = await database.read(load_archive_history, person_id=person_id, archive_id=archive_id)
    if history is None:
        raise AssertionError("a deleted note keeps its history")
    return history.rows[-1]


async def _undo_archived(
    context: OperationContext, owner: StoredOwner, row: LedgerEntry
) -> UndoneMemory:
    """Undo a change to the archive. Raises `Declined`."""
    made = await undo_note(context.database, owner.person_id, row, _origin(context))
    context.forget_known()
    return UndoneMemory(
        person=owner.slug,
        list=row.target,
        undone=_report(row, owner.slug),
        row=_report(made, owner.slug),
    )


async def restore(context: OperationContext, asked: RestoreMemory) -> RestoredMemory:
    """Restore the memory of everyone or of one owner to an earlier time. Raises `Declined`.

    Restores one owner after the other; a failure is reported and does not stop the others.
    """
    restored: list[RestoredList] = []
    kept: list[KeptMemory] = []
    for owner in await _find(context, asked.person):
        try:
            outcome = await context.memory.restore(
                owner.person_id,
                owner.folder,
                asked.moment,
                _origin(context),
                kind=owner.kind,
            )
        except OSError as error:
            kept.append(KeptMemory(person=owner.slug, why=_describe_unreadable(owner, error)))
            continue
        restored += [
            RestoredList(
                person=owner.slug,
                list=target,
                changes=one.rows,
                entries=len(one.entries),
                left_out=one.left_out,
            )
            for target, one in outcome.items()
            if one.rows or one.left_out
        ]
        restored += await _restore_archive(context, owner, asked.moment)
    context.forget_known()
    return RestoredMemory(restored=tuple(restored), kept=tuple(kept))


async def _restore_archive(
    context: OperationContext, owner: StoredOwner, moment: int
) -> list[RestoredList]:
    """Restore an owner's archive; return its changes."""

    def work(connection: Connection) -> "tuple[RestoredArchive, int]":
        person_id = owner.person_id
        done = restore_archive(
            connection, person_id=person_id, moment=moment, origin=_origin(context)
        )
        return done, archive.count(connection, person_id=person_id, most=_MOST_COUNTED)

    done, count = await context.database.write("memory.restore", work)
    if not done.rows and not done.left_out:
        return []
    return [
        RestoredList(
            person=owner.slug,
            list="archive",
            changes=done.rows,
            entries=count,
            left_out=done.left_out,
        )
    ]


OPERATIONS: Mapping[str, Operation] = {
    "memory.log": typed(show_log),
    "memory.show": typed(show_lists),
    "memory.edit": typed(edit),
    "memory.share": typed(share),
    "memory.undo": typed(undo),
    "memory.restore": typed(restore),
}


async def _find(context: OperationContext, slug: str | None) -> Sequence[StoredOwner]:
    """Return one memory owner, or all of them. Raises `Declined`."""
    if slug is None:
        return await context.database.read(_list_all)
    return [await context.database.read(_find_owner, slug)]


def _find_owner(connection: Connection, name: str) -> StoredOwner:
    """Return the owner with a folder name, or the person with a name. Raises `Declined`."""
    owner = memory_owners.find_by_slug(connection, slug=name)
    if owner:
        return owner
    try:
        person = find_person(connection, name)
    except Mistaken as error:
        raise Declined(
            f"{error} A room is room-<its folder>, a block block-<its folder>, the team is team."
        ) from error
    return StoredOwner(person_id=person.id, slug=person.slug, folder=person.slug, kind="human")


def _list_all(connection: Connection) -> list[StoredOwner]:
    found: list[StoredOwner] = []
    while True:
        after = found[-1].person_id if found else PersonId(0)
        more = memory_owners.list_all(connection, after=after, limit=_AT_ONCE)
        found += more
        if len(more) < _AT_ONCE:
            return found


def _name_all(connection: Connection) -> dict[PersonId, str]:
    return {owner.person_id: owner.slug for owner in _list_all(connection)}


def _origin(context: OperationContext) -> Origin:
    return Origin(actor=context.actor, now=context.now())


def _report(row: LedgerEntry, slug: str) -> MemoryChange:
    return MemoryChange(
        row=row.id,
        person=slug,
        list=row.target,
        at=row.origin.now,
        actor=row.origin.shown_actor,
        operation=row.change.operation,
        before=row.change.before,
        after=row.change.after,
        undoes=row.origin.undoes,
        evidence=row.origin.evidence,
        messages=tuple(row.origin.message_ids),
    )


def _describe_unreadable(owner: StoredOwner, error: OSError) -> str:
    why = error.strerror or str(error)
    return texts.FILE_UNREADABLE(name=owner.slug, reason=why)
