"""Commands for memory entries and their visibility: memory, share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent_core.ids import PersonId
from agent_core.memory.archive.history import parse_archive_ref
from agent_core.memory.numbering import NumberedEntry, find_current, list_entries
from agent_core.state.engine.database import Connection
from agent_core.state.memory import shares
from agent_core.state.memory.ledger import LedgerEntry
from agent_core.state.memory.shares import EVERYONE, Share
from agent_core.state.people import rooms
from gateway.commands.archive import ArchiveNotes
from gateway.commands.memory_scope import (
    MemoryAccess,
    MemoryScope,
    own_scope,
    refuse_unreadable,
    scope_of,
)
from gateway.commands.registry import Call, Handler, Outcome, Reply
from gateway.errors import Mistaken
from gateway.operations.memory_types import EditMemory
from gateway.outbound.command_buttons import make_undo_button
from gateway.texts import memory
from gateway.texts import rooms as room_texts

_ROOM = "room:"


@dataclass(frozen=True, slots=True)
class MemoryCommands:
    """Shows a memory, deletes its entries and shares them."""

    access: MemoryAccess
    notes: ArchiveNotes
    review: Handler
    """Asks about the entries that wait for a yes."""
    conflicts: Handler
    """Shows the entries that contradict each other."""

    def handlers(self) -> Mapping[str, Handler]:
        """Return the handlers by command name."""
        return {"memory": self._memory, "share": self._share}

    async def _memory(self, call: Call) -> Reply:
        scope = scope_of(call)
        word, _, rest = call.argument.partition(" ")
        if word.casefold() == "forget" and rest.strip().isdecimal():
            return await self.forget(call, scope, int(rest))
        if word.casefold() == "forget" and (named := parse_archive_ref(rest)):
            return await self.notes.delete(call, scope, named)
        if call.argument.casefold() == "review":
            return await self.review(call)
        if call.argument.casefold() in ("conflicts", "conflict") and not scope.is_room:
            return await self.conflicts(call)
        if word.casefold() == "archive":
            return await self.notes.find(call, scope, rest)
        if word:
            return Reply(text=memory.ROOM_USAGE() if scope.is_room else room_texts.MEMORY_USAGE())
        listed = await self._list(call, scope)
        notes = memory.list_archive_hint(await self.notes.preview(scope))
        if scope.is_room:
            # The caller of an empty room memory may mean their own.
            shown = [(entry.number, entry.entry) for entry in listed]
            entries = memory.list_room(shown) if shown else room_texts.MEMORY_EMPTY_HERE()
        else:
            entries = await self._describe(listed) if listed else room_texts.MEMORY_EMPTY()
        if notes and scope.is_room and not listed:
            return Reply(text="\n".join(notes))
        return Reply(text="\n".join([entries, *(["", *notes] if notes else [])]))

    async def _describe(self, listed: Sequence[NumberedEntry]) -> str:
        titles = await self.access.database.read(_find_names, listed)
        shown = [
            (
                entry.target,
                entry.number,
                entry.entry,
                room_texts.name_audiences(
                    [titles[name] for name in entry.audiences if name in titles],
                    is_for_everyone=EVERYONE in entry.audiences,
                ),
            )
            for entry in listed
        ]
        return room_texts.list_memory(shown)

    async def forget(self, call: Call, scope: MemoryScope, number: int) -> Reply:
        """Delete an entry; the ledger knows this call, so a repeated event deletes it once."""
        if scope.is_room:
            tracked = find_current(await self.access.open(call, scope), number)
            if tracked and not await self.access.may_change(call, tracked.made_by):
                return Reply(text=memory.NOT_YOUR_CHANGE())
        asked = EditMemory(person=scope.slug, action="remove", row=number)
        try:
            row = await self.access.edit(call, scope, asked)
        except Mistaken as error:
            return Reply(text=str(error))
        except OSError as error:
            return refuse_unreadable(error)
        return _describe_deleted(row)

    async def _share(self, call: Call) -> Reply:
        number, _, word = call.argument.partition(" ")
        word = word.strip().casefold()
        if not number.isdecimal():
            return Reply(text=room_texts.NUMBER_MISSING())
        is_room = call.room is not None
        if word not in ("", "private", "here" if is_room else "everyone"):
            return Reply(text=room_texts.AUDIENCE_UNKNOWN(number=number))
        await self.access.open(call, own_scope(call.person))

        def effect(connection: Connection) -> Outcome:
            chosen = _choose(list_entries(connection, person_id=call.person.id), int(number))
            if chosen is None:
                return room_texts.NUMBER_UNKNOWN(number=number), ()
            if word == "private":
                return _hide(connection, call, chosen), ()
            return _show(connection, call, chosen), ()

        return Reply(effect=effect)

    async def _list(self, call: Call, scope: MemoryScope) -> tuple[NumberedEntry, ...]:
        """List the entries, after taking in changes made by hand."""
        await self.access.open(call, scope)
        return await self.access.database.read(list_entries, person_id=scope.person_id)


def _describe_deleted(row: LedgerEntry) -> Reply:
    undo = make_undo_button(row, memory.UNDO())
    return Reply(text=room_texts.describe_forgotten(row.change.before or ""), buttons=(undo,))


def _show(connection: Connection, call: Call, chosen: NumberedEntry) -> str:
    audience = call.room.audience if call.room else EVERYONE
    shares.insert(
        connection,
        Share(target=chosen.target, entry=chosen.entry, audience=audience),
        person_id=call.person.id,
        actor=call.actor,
        now=call.now,
    )
    call.record(connection, "memory.share", f"entry {chosen.number}: {audience}")
    call.note_deed(connection, f"share {chosen.number}", f"share {chosen.number} private")
    if call.room:
        return room_texts.SHARED_HERE(number=chosen.number)
    return room_texts.describe_share(chosen.number, chosen.entry)


def _hide(connection: Connection, call: Call, chosen: NumberedEntry) -> str:
    shares.delete(connection, person_id=call.person.id, target=chosen.target, entry=chosen.entry)
    call.record(connection, "memory.hide", f"entry {chosen.number}")
    call.note_deed(connection, f"share {chosen.number} private", f"share {chosen.number}")
    if call.room:
        return room_texts.UNSHARED_HERE(number=chosen.number)
    return room_texts.describe_private(chosen.number, chosen.entry)


def _choose(listed: Sequence[NumberedEntry], number: int) -> NumberedEntry | None:
    return next((entry for entry in listed if entry.number == number), None)


def _find_names(connection: Connection, listed: Sequence[NumberedEntry]) -> dict[str, str]:
    """Return the names of the rooms that entries are shared with, by audience."""
    names = {name for entry in listed for name in entry.audiences if name.startswith(_ROOM)}
    return {
        name: rooms.find_name(connection, person_id=PersonId(int(name.removeprefix(_ROOM))))
        for name in names
    }
