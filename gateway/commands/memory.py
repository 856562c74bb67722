"""Commands about what is remembered, and who may see it: memory, share."""

from collections.abc import Sequence

from agent_core.ids import PersonId
from agent_core.memory.archive.history import read_named
from agent_core.memory.changes import Edit, Refusal
from agent_core.memory.numbering import Listed, Register, find_standing, list_entries
from agent_core.state.engine.database import Connection
from agent_core.state.memory import ledger, shares
from agent_core.state.memory.ledger import LedgerEntry, Origin
from agent_core.state.memory.shares import EVERYONE, Share
from agent_core.state.people import audit, rooms
from agent_core.state.people.audit import Deed
from agent_core.state.queues.outbox import OutboxRow
from gateway.commands import archive
from gateway.commands.memory_scope import MemoryOwner, find_memory_owner, look, may_change, name_actor, own
from gateway.commands.registry import Call, Handler, Reply
from gateway.outbound.composer import stand_for
from gateway.texts import memory
from gateway.texts import rooms as wording

_ROOM = "room:"


class MemoryCommands:
    """Shows a memory, deletes its entries and shares them."""

    def __init__(
        self,
        *,
        access: MemoryAccess,
        notes: ArchiveNotes,
    ) -> None:
        self._access = access
        self._notes = notes

    def handlers(self) -> Mapping[str, Handler]:
        """Return the handlers by command name."""
        return {"memory": self._memory, "share": self._share}

    async def _memory(self, call: Call) -> Reply:
        memory_owner = find_memory_owner(call)
        word, _, rest = call.argument.partition(" ")
        if word.casefold() == "forget" and rest.strip().isdecimal():
            return await self._forget(call, memory_owner, int(rest))
        if word.casefold() == "forget" and (named := read_named(rest)):
            return await archive.forget(call, house, memory_owner, named)
        if word.casefold() == "archive":
            return await archive.find_aside(call, house, memory_owner, rest)
        if word:
            return Reply(text=memory.ROOM_HOW if memory_owner.is_room else wording.MEMORY_USAGE)
        listed = await self._look(call, memory_owner)
        aside = memory.list_aside(await archive.look_aside(house, memory_owner))
        if memory_owner.is_room:
            # What is not noted of the room is asked for by somebody who means their own.
            shown = [(entry.number, entry.entry) for entry in listed]
            own = memory.list_room(shown) if shown else wording.ONLY_IN_DIRECT
        else:
            own = await _describe(house, listed) if listed else wording.MEMORY_EMPTY
        if aside and memory_owner.is_room and not listed:
            return Reply(text="\n".join(aside))
        return Reply(text="\n".join([own, *(["", *aside] if aside else [])]))

    async def _describe(house: House, listed: Sequence[Listed]) -> str:
        titles = await self._access.database.read(lambda c: _find_titles(c, listed))
        shown = [
            (
                entry.target,
                entry.number,
                entry.entry,
                wording.name_audiences(
                    [titles[name] for name in entry.audiences if name in titles],
                    is_for_everyone=EVERYONE in entry.audiences,
                ),
            )
            for entry in listed
        ]
        return wording.list_memory(shown)

    async def _forget(self, call: Call, memory_owner: MemoryOwner, number: int) -> Reply:
        """Drop an entry; the ledger itself is the record of that. Done once, if read twice."""
        key = f"inbox:{call.inbox_id}"
        done = await self._access.database.read(
            lambda c: ledger.find_call(c, person_id=memory_owner.person_id, call_key=key)
        )
        register = await look(call, house, memory_owner)
        if done:
            return _tell_forgotten(register, done[0])
        life = find_standing(register, number)
        if life is None or life.words is None:
            return Reply(text=wording.NUMBER_UNKNOWN.format(number=number))
        if memory_owner.is_room and not await may_change(call, house, life.made_by):
            return Reply(text=memory.NOT_YOUR_CHANGE)
        target = life.rows[0].target
        origin = Origin(
            actor=name_actor(call, memory_owner), now=call.now, evidence=call.message.text, call_key=key
        )
        edit = Edit(action="remove", target=target, old=life.words)
        try:
            outcome = await self._access.memory.change(
                memory_owner.person_id, memory_owner.slug, edit, origin, kind=memory_owner.kind
            )
        except OSError as error:
            return Reply(text=wording.UNREADABLE.format(reason=error.strerror or error))
        if isinstance(outcome, Refusal):
            return Reply(text=wording.NUMBER_UNKNOWN.format(number=number))
        return _tell_forgotten(await look(call, house, memory_owner), outcome.rows[0])

    async def _share(self, call: Call) -> Reply:
        number, _, word = call.argument.partition(" ")
        word = word.strip().casefold()
        if not number.isdecimal():
            return Reply(text=wording.NUMBER_MISSING)
        is_room = call.room is not None
        if word not in ("", "private", "here" if is_room else "everyone"):
            return Reply(text=wording.AUDIENCE_UNKNOWN.format(number=number))
        await look(call, house, own(call.person))

        def effect(connection: Connection) -> tuple[str, Sequence[OutboxRow]]:
            chosen = _choose(list_entries(connection, person_id=call.person.id), int(number))
            if chosen is None:
                return wording.NUMBER_UNKNOWN.format(number=number), ()
            if word == "private":
                return _hide(connection, call, chosen), ()
            return _show(connection, call, chosen), ()

        return Reply(effect=effect)

    async def _look(self, call: Call, memory_owner: MemoryOwner) -> tuple[Listed, ...]:
        """The entries as they stand, with what was changed by hand."""
        await look(call, house, memory_owner)
        return await self._access.database.read(lambda c: list_entries(c, person_id=memory_owner.person_id))






def _tell_forgotten(register: Register, row: LedgerEntry) -> Reply:
    undo = stand_for(f"undo {register.number_of(row)}", memory.UNDO)
    return Reply(text=wording.describe_forgotten(row.change.before or ""), buttons=(undo,))




def _show(connection: Connection, call: Call, chosen: Listed) -> str:
    audience = call.room.audience if call.room else EVERYONE
    shares.insert(
        connection,
        Share(target=chosen.target, entry=chosen.entry, audience=audience),
        person_id=call.person.id,
        actor=call.actor,
        now=call.now,
    )
    _note(connection, call, "memory.share", f"entry {chosen.number}: {audience}")
    if call.room:
        return wording.describe_room_share(chosen.number)
    return wording.describe_share(chosen.number, chosen.entry)


def _hide(connection: Connection, call: Call, chosen: Listed) -> str:
    shares.delete(connection, person_id=call.person.id, target=chosen.target, entry=chosen.entry)
    _note(connection, call, "memory.hide", f"entry {chosen.number}")
    if call.room:
        return wording.describe_room_private(chosen.number)
    return wording.describe_private(chosen.number, chosen.entry)


def _note(connection: Connection, call: Call, action: str, detail: str) -> None:
    deed = Deed(
        person_id=call.person.id,
        actor=call.actor,
        action=action,
        detail=detail,
        created_at=call.now,
    )
    audit.note(connection, deed)




def _choose(listed: Sequence[Listed], number: int) -> Listed | None:
    return next((entry for entry in listed if entry.number == number), None)


def _find_titles(connection: Connection, listed: Sequence[Listed]) -> dict[str, str]:
    """What the rooms are called that entries are shared with, by audience."""
    names = {name for entry in listed for name in entry.audiences if name.startswith(_ROOM)}
    return {
        name: rooms.find_title(connection, person_id=PersonId(int(name.removeprefix(_ROOM))))
        for name in names
    }


