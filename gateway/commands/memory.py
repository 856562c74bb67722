"""Commands for memory entries and their visibility: memory, share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from agent_core.memory.archive.history import parse_archive_ref
from agent_core.memory.numbering import NumberedEntry, find_current, list_entries
from agent_core.state.conversations.questions import Choice
from agent_core.state.engine.database import Connection
from agent_core.state.memory.ledger import LedgerEntry, Origin
from agent_core.state.memory.shares import EVERYONE
from agent_core.transcript import flatten
from gateway.commands.archive import ArchiveNotes
from gateway.commands.memory_scope import (
    MemoryAccess,
    MemoryScope,
    own_scope,
    refuse_unreadable,
    scope_of,
)
from gateway.commands.numbers import read_number
from gateway.commands.registry import Call, Handler, Outcome, Reply
from gateway.errors import Mistaken
from gateway.operations import memory as operations
from gateway.operations.memory_types import EditMemory
from gateway.outbound.command_buttons import make_undo_button, stand_for
from gateway.texts import memory
from gateway.texts import rooms as room_texts

_FORGET = ("forget", "delete", "remove", "vergiss", "lösche", "löschen")
_BUTTONED = 20
"""Entries with a button; no platform shows more than 25."""
_LONGEST_LABEL = 40


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
        if word.casefold() in _FORGET and rest.strip():
            return await self._forget(call, scope, rest.strip())
        if call.argument.isdecimal():
            return await self._show(call, scope, call.argument)
        if call.argument.casefold() == "review":
            return await self.review(call)
        if call.argument.casefold() in ("conflicts", "conflict") and not scope.is_room:
            return await self.conflicts(call)
        if word.casefold() == "archive":
            return await self.notes.find(call, scope, rest)
        if word.casefold() in _FORGET:
            return Reply(text=memory.ROOM_USAGE() if scope.is_room else room_texts.MEMORY_USAGE())
        if word:
            return await self._find(call, scope, call.argument)
        listed = await self._list(call, scope)
        notes = memory.list_archive_hint(await self.notes.preview(scope))
        # The caller of an empty room memory may mean their own.
        empty = room_texts.MEMORY_EMPTY_HERE if scope.is_room else room_texts.MEMORY_EMPTY
        entries = await self._describe(listed, scope) if listed else empty()
        if notes and scope.is_room and not listed:
            return Reply(text="\n".join(notes))
        text = "\n".join([entries, *(["", *notes] if notes else [])])
        return Reply(text=text, buttons=tuple(map(_open, listed[:_BUTTONED])))

    async def _show(self, call: Call, scope: MemoryScope, number: str) -> Reply:
        """Show one entry, with buttons for what can be done with it."""
        found = [one for one in await self._list(call, scope) if str(one.number) == number]
        if not found:
            return Reply(text=room_texts.NUMBER_UNKNOWN(number=number))
        buttons = [
            stand_for(f"why {number}", room_texts.WHY()),
            stand_for(f"memory forget {number}", room_texts.DELETE(), "danger"),
            stand_for("memory", room_texts.ALL_NOTES()),
        ]
        return Reply(text=await self._describe(found, scope), buttons=tuple(buttons))

    async def _find(self, call: Call, scope: MemoryScope, words: str) -> Reply:
        """List the entries that hold all of some words, or else the archived notes that fit."""
        found = _search(await self._list(call, scope), words)
        if not found:
            archived = await self.notes.find(call, scope, words)
            is_hit = archived.text != memory.ARCHIVE_NO_HIT()
            return archived if is_hit else _find_none(words)
        text = await self._describe(found, scope)
        return Reply(text=text, buttons=tuple(map(_open, found[:_BUTTONED])))

    async def _forget(self, call: Call, scope: MemoryScope, named: str) -> Reply:
        """Delete the entry of a number, or the only one that holds all of some words."""
        if (number := read_number(named)) is not None:
            return await self.forget(call, scope, number)
        if archived := parse_archive_ref(named):
            return await self.notes.delete(call, scope, archived)
        found = _search(await self._list(call, scope), named)
        if len(found) == 1:
            return await self.forget(call, scope, found[0].number)
        if not found:
            return replace(_find_none(named), is_refusal=True)
        buttons = (
            stand_for(f"memory forget {one.number}", flatten(one.entry, _LONGEST_LABEL), "danger")
            for one in found[:_BUTTONED]
        )
        return Reply(text=room_texts.WHICH_TO_FORGET(), buttons=tuple(buttons))

    async def _describe(self, listed: Sequence[NumberedEntry], scope: MemoryScope) -> str:
        if scope.is_room:
            return memory.list_room([(entry.number, entry.entry) for entry in listed])
        titles = await self.access.database.read(operations.find_audiences, listed)
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
            return Reply(text=str(error), is_refusal=True)
        except OSError as error:
            return refuse_unreadable(error)
        return _describe_deleted(row)

    async def _share(self, call: Call) -> Reply:
        named, _, word = call.argument.partition(" ")
        number, word = read_number(named), word.strip().casefold()
        if number is None:
            return Reply(text=room_texts.NUMBER_MISSING())
        is_room = call.room is not None
        is_back = call.is_undo and word.split()[:1] == [operations.BACK]
        if word not in ("", "private", "here" if is_room else "everyone") and not is_back:
            return Reply(text=room_texts.AUDIENCE_UNKNOWN(number=number))
        await self.access.open(call, own_scope(call.person))

        def effect(connection: Connection) -> Outcome:
            try:
                if is_back:
                    return _put_back(connection, call, number, word), ()
                audience = call.room.audience if call.room else EVERYONE
                given = None if word == "private" else audience
                before = _set_audience(connection, call, number, given)
            except Mistaken as error:
                return str(error), ()
            describe = _describe_hidden if given is None else _describe_shown
            said = describe(call, before)
            _note_deed(connection, call, before, said)
            return said, ()

        return Reply(effect=effect)

    async def _list(self, call: Call, scope: MemoryScope) -> tuple[NumberedEntry, ...]:
        """List the entries, after taking in changes made by hand."""
        await self.access.open(call, scope)
        return await self.access.database.read(list_entries, person_id=scope.person_id)


def _describe_deleted(row: LedgerEntry) -> Reply:
    undo = make_undo_button(row, memory.UNDO())
    return Reply(text=room_texts.describe_forgotten(row.change.before or ""), buttons=(undo,))


def _set_audience(
    connection: Connection, call: Call, number: int, audience: str | None
) -> NumberedEntry:
    """Add an audience to an entry, or make it private for None. Raises `Mistaken`."""
    return operations.set_audience(
        connection,
        person_id=call.person.id,
        number=number,
        audience=audience,
        origin=Origin(actor=call.actor, now=call.now),
    )


def _note_deed(connection: Connection, call: Call, before: NumberedEntry, did: str) -> None:
    """Record a change of who sees an entry; its undo gives back exactly those of `before`."""
    now = operations.find_entry(connection, person_id=call.person.id, number=before.number)
    if now != before:
        undo = operations.name_back(before)
        call.note_deed(connection, f"share {call.argument}", undo, did)
    else:
        call.note_fixed(connection, did)


def _put_back(connection: Connection, call: Call, number: int, words: str) -> str:
    """Let only those see an entry who saw it before the deed that is undone. Raises `Mistaken`."""
    before = tuple(words.split()[1:])
    chosen = _set_audience(connection, call, number, None)
    for audience in before:
        _set_audience(connection, call, number, audience)
    here = (call.room.audience if call.room else EVERYONE,)
    # No names: a group must not read with which others an entry is shared.
    said = room_texts.AUDIENCE_BACK(number=chosen.number)
    if not before:
        said = _describe_hidden(call, chosen)
    elif before == here:
        said = _describe_shown(call, chosen)
    _note_deed(connection, call, chosen, said)
    return said


def _describe_shown(call: Call, chosen: NumberedEntry) -> str:
    if call.room:
        return room_texts.SHARED_HERE(number=chosen.number)
    return room_texts.describe_share(chosen.number, chosen.entry)


def _describe_hidden(call: Call, chosen: NumberedEntry) -> str:
    if call.room:
        return room_texts.UNSHARED_HERE(number=chosen.number)
    return room_texts.describe_private(chosen.number, chosen.entry)


def _search(listed: Sequence[NumberedEntry], words: str) -> list[NumberedEntry]:
    """Return the entries that hold all of some words, in any case."""
    wanted = words.casefold().split()
    return [one for one in listed if all(word in one.entry.casefold() for word in wanted)]


def _find_none(words: str) -> Reply:
    return Reply(text=room_texts.NO_NOTE(words=flatten(words, _LONGEST_LABEL)))


def _open(entry: NumberedEntry) -> Choice:
    """Return the button that shows an entry with what can be done with it."""
    return stand_for(f"memory {entry.number}", flatten(entry.entry, _LONGEST_LABEL))
