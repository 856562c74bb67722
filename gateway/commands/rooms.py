"""The command for a room's answer mode, and private answers to commands in rooms."""

from collections.abc import Mapping
from typing import get_args

from adapters.contract import ChatAdapter
from agent_core.state.engine.database import Connection
from agent_core.state.people.rooms import Room
from agent_core.state.queues import outbox
from agent_core.state.queues.outbox import NewOutboxMessage
from gateway.commands.registry import Call, Handler, Outcome, Reply
from gateway.operations.room_types import ChosenMode
from gateway.operations.rooms import Author, set_mode, set_name
from gateway.people.owner_notices import find_direct_chat
from gateway.people.room_consent import RoomConsent
from gateway.people.rooms import Rooms
from gateway.texts import rooms as room_texts
from gateway.texts.people import quote_name

_MODES: tuple[ChosenMode, ...] = get_args(ChosenMode)


class PrivateAnswers:
    """Keeps the answers to private commands out of rooms."""

    def __init__(self, adapters: Mapping[str, ChatAdapter]) -> None:
        self._adapters = adapters

    def wrap(self, handler: Handler) -> Handler:
        """Return a handler whose answer goes to the person's direct chat.

        The room gets one line instead. An answer that only the person sees stays where it is.
        Without a direct chat, the command does nothing.
        """

        async def run(call: Call) -> Reply:
            if call.message.address.is_direct or call.message.reply_address:
                return await handler(call)
            reply = await handler(call)
            return Reply(effect=lambda connection: self._answer(connection, call, reply))

        return run

    def _answer(self, connection: Connection, call: Call, reply: Reply) -> Outcome:
        person = call.person
        chat = find_direct_chat(connection, person, (call.platform,))
        chat = chat or find_direct_chat(connection, person, self._adapters)
        if chat is None:
            return room_texts.ONLY_IN_DIRECT(), ()
        text, others = reply.effect(connection) if reply.effect else (reply.text, ())
        parts = self._adapters[chat.platform].split(text)
        rows = [
            outbox.enqueue(
                connection,
                NewOutboxMessage(
                    chat=chat,
                    body=part,
                    part=number,
                    person_id=person.id,
                    buttons=reply.buttons if number == len(parts) - 1 else (),
                ),
                now=call.now,
            )
            for number, part in enumerate(parts)
        ]
        return room_texts.ANSWERED_IN_DIRECT(), [*others, *rows]


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
            return Reply(text=room_texts.describe_room(effective, room.name, is_owner=is_owner))
        if word == "full":
            return await self._ask(call, room)
        if not call.person.is_owner:
            return Reply(text=room_texts.ONLY_OWNER_SETS())
        first, _, name = call.argument.partition(" ")
        if first.casefold() == "name":
            return Reply(effect=lambda connection: self._name(connection, call, room, name))
        mode = next((mode for mode in _MODES if mode == word), None)
        if mode is None:
            return Reply(text=room_texts.MODE_UNKNOWN())

        def effect(connection: Connection) -> Outcome:
            rows = set_mode(connection, room, mode, self._rooms.adapters, _author(call))
            return room_texts.MODES[mode](), rows

        return Reply(effect=effect)

    def _name(self, connection: Connection, call: Call, room: Room, name: str) -> Outcome:
        """Keep the name that an owner gives to a room; without one, take it back."""
        given = set_name(connection, room, name, _author(call))
        if not given:
            return room_texts.NAME_TAKEN_BACK(), ()
        return room_texts.NAME_SET(name=quote_name(given)), ()

    async def _ask(self, call: Call, room: Room) -> Reply:
        """Ask the person for consent; only their yes opens the mode `full`."""
        objection = await self._consent.find_objection(room, call.message, call.person)
        if objection:
            return Reply(text=objection)

        def effect(connection: Connection) -> Outcome:
            return "", self._consent.ask(connection, room, call.message, call.person, call.now)

        return Reply(effect=effect)


def _author(call: Call) -> Author:
    return Author(person_id=call.person.id, actor=call.actor, now=call.now)
