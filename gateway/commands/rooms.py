"""Commands about rooms: room."""

from collections.abc import Sequence
from typing import get_args

from agent_core.state.engine.database import Connection
from agent_core.state.people import audit, rooms
from agent_core.state.people.audit import Deed
from agent_core.state.people.rooms import Mode
from agent_core.state.queues.outbox import OutboxRow
from gateway.commands.registry import Call, House, Reply, SlashCommand
from gateway.texts import rooms as wording

_MODES: tuple[Mode, ...] = get_args(Mode)


async def _room(call: Call, house: House) -> Reply:
    room = call.room
    if room is None:
        return Reply(text=wording.ONLY_IN_ROOMS)
    word = call.argument.casefold()
    if not word:
        now = await house.rooms.mode_for(room, call.message.address, call.person)
        is_alone = now == "full" and room.mode != "full"
        return Reply(
            text=wording.describe_room(room.mode, is_alone=is_alone, is_owner=call.person.is_owner)
        )
    if not call.person.is_owner:
        return Reply(text=wording.ONLY_OWNER_SETS)
    mode = next((mode for mode in _MODES if mode == word), None)
    if mode is None:
        return Reply(text=wording.MODE_UNKNOWN)

    def effect(connection: Connection) -> tuple[str, Sequence[OutboxRow]]:
        rooms.set_mode(connection, room_id=room.id, mode=mode, by=call.person.id)
        deed = Deed(
            person_id=room.person_id,
            actor=call.actor,
            action="room.mode",
            detail=f"{room.mode} -> {mode}",
            created_at=call.now,
        )
        audit.note(connection, deed)
        return wording.describe_new_mode(mode), ()

    return Reply(effect=effect)


COMMANDS = (SlashCommand(name="room", summary="How I answer in this room", run=_room),)
