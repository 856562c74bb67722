"""The command for a room's answer mode, and private answers to commands in rooms."""

from collections.abc import Mapping
from typing import get_args

from adapters.contract import ChatAdapter
from agent_core.ids import RoomId
from agent_core.state.engine.database import Connection
from agent_core.state.people import rooms
from agent_core.state.people.rooms import Room
from agent_core.state.queues import outbox
from agent_core.state.queues.outbox import NewOutboxMessage
from gateway.commands.registry import Call, Handler, Outcome, Reply
from gateway.errors import Declined
from gateway.operations.room_types import ChosenMode
from gateway.operations.rooms import NAME, Author, compare, set_mode, set_name
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
        text, others, buttons = reply.apply(connection)
        parts = self._adapters[chat.platform].split(text)
        rows = [
            outbox.enqueue(
                connection,
                NewOutboxMessage(
                    chat=chat,
                    body=part,
                    part=number,
                    person_id=person.id,
                    buttons=buttons if number == len(parts) - 1 else (),
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
        if call.is_undo:
            return Reply(effect=lambda connection: self._set_again(connection, call))
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
            return self._set_mode(connection, call, room, mode)

        return Reply(effect=effect)

    def _set_mode(
        self, connection: Connection, call: Call, room: Room, mode: ChosenMode
    ) -> Outcome:
        rows = set_mode(connection, room, mode, self._rooms.adapters, _author(call))
        _note(connection, call, room)
        return room_texts.MODES[mode](), rows

    def _name(self, connection: Connection, call: Call, room: Room, name: str) -> Outcome:
        """Keep the name that an owner gives to a room; without one, take it back."""
        given = set_name(connection, room, name, _author(call))
        _note(connection, call, room)
        if not given:
            return room_texts.NAME_TAKEN_BACK(), ()
        return room_texts.NAME_SET(name=quote_name(given)), ()

    def _set_again(self, connection: Connection, call: Call) -> Outcome:
        """Give a room the mode or the name that `/undo` gives back. Raises `Declined`."""
        number, kind, words = [*call.argument.split(" ", 2), ""][:3]
        room = rooms.find_by_id(connection, room_id=RoomId(int(number)))
        if room is None or not call.person.is_owner:
            raise Declined(room_texts.ONLY_OWNER_SETS())
        if kind == NAME:
            return self._name(connection, call, room, words)
        mode = next(mode for mode in _MODES if mode == words)
        return self._set_mode(connection, call, room, mode)

    async def _ask(self, call: Call, room: Room) -> Reply:
        """Ask the person for consent; only their yes opens the mode `full`."""
        objection = await self._consent.find_objection(room, call.message, call.person)
        if objection:
            return Reply(text=objection)

        def effect(connection: Connection) -> Outcome:
            return "", self._consent.ask(connection, room, call.message, call.person, call.now)

        return Reply(effect=effect)


def _note(connection: Connection, call: Call, before: Room) -> None:
    """Record what a command changed of a room, for `/undo`."""
    after = rooms.find_by_id(connection, room_id=before.id) or before
    redo, undo, did = compare(before, after)
    if undo:
        call.note_deed(connection, redo, undo, did)
    else:
        call.note_fixed(connection, did)


def _author(call: Call) -> Author:
    return Author(person_id=call.person.id, actor=call.actor, now=call.now)
