"""The command for a room's answer mode: room."""

from collections.abc import Mapping, Sequence
from typing import get_args

from agent_core.state.engine.database import Connection
from agent_core.state.people import audit, rooms
from agent_core.state.people.audit import AuditEntry
from agent_core.state.people.rooms import Mode, Room
from agent_core.state.queues.outbox import OutboxRow
from gateway.commands.registry import Call, Handler, Reply
from gateway.people import RoomConsent, Rooms, close_questions
from gateway.texts import general
from gateway.texts import rooms as room_texts

_MODES: tuple[Mode, ...] = get_args(Mode)


class RoomCommands:
    """Shows and changes how mentions in a room are answered."""

    def __init__(self, room_directory: Rooms, consent: RoomConsent) -> None:
        self._rooms = room_directory
        self._consent = consent

    def handlers(self) -> Mapping[str, Handler]:
        """Return the handlers by command name."""
        return {"room": self._room}

    async def _room(self, call: Call) -> Reply:
        room = call.room
        if room is None:
            return Reply(text=room_texts.ONLY_IN_ROOMS())
        word = call.argument.casefold()
        if not word:
            effective = await self._rooms.effective_mode(room, call.message.address, call.person)
            is_owner = call.person.is_owner
            return Reply(text=room_texts.describe_room(effective, is_owner=is_owner))
        if word == "full":
            return await self._ask(call, room)
        if not call.person.is_owner:
            return Reply(text=room_texts.ONLY_OWNER_SETS())
        mode = next((mode for mode in _MODES if mode == word), None)
        if mode is None:
            return Reply(text=room_texts.MODE_UNKNOWN())

        def effect(connection: Connection) -> tuple[str, Sequence[OutboxRow]]:
            rooms.set_mode(connection, room_id=room.id, mode=mode, by=call.person.id, now=call.now)
            deed = AuditEntry(
                person_id=room.person_id,
                actor=call.actor,
                action="room.mode",
                detail=f"{room.mode} -> {mode}",
                created_at=call.now,
            )
            audit.record(connection, deed)
            rows = close_questions(connection, room, general.QUESTION_OVER, call.now)
            return room_texts.describe_new_mode(mode), rows

        return Reply(effect=effect)

    async def _ask(self, call: Call, room: Room) -> Reply:
        """Ask the person for consent; only their answer opens the mode `full`."""
        objection = await self._consent.find_objection(room, call.message, call.person)
        if objection:
            return Reply(text=objection)

        def effect(connection: Connection) -> tuple[str, Sequence[OutboxRow]]:
            return "", self._consent.ask(connection, room, call.message, call.person, call.now)

        return Reply(effect=effect)
