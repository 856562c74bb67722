"""Operations on rooms: list them, choose how one is answered, and name it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from adapters.contract import ChatAdapter
from adapters.ids import Address
from agent_core.ids import PersonId, RoomId
from agent_core.safe_names import PlainName, name_given
from agent_core.state.engine.database import Connection
from agent_core.state.people import audit, rooms
from agent_core.state.people.audit import AuditEntry
from agent_core.state.people.rooms import Room
from agent_core.state.queues import outbox
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from gateway.chats import make_chat
from gateway.errors import Declined, Mistaken
from gateway.operations.contract import Operation, OperationContext, find_person, note_deed
from gateway.operations.room_types import ChangeRoom, ChosenMode, ListRooms, RoomLine, RoomList
from gateway.operations.wire import typed
from gateway.people.room_privacy import close_questions, record_mode, take_out
from gateway.texts import general
from gateway.texts import rooms as texts
from gateway.texts.people import quote_name
from gateway.texts.reader_language import speak_to

NAME = "name"
"""The word behind `/room` that names a room."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """Names who changes a room and when, for the audit trail. The command line has no person."""

    person_id: PersonId | None
    actor: str
    now: int


async def list_rooms(context: OperationContext, _: ListRooms) -> RoomList:
    """List all rooms."""
    found = await context.database.read(rooms.list_all)
    return RoomList(rooms=tuple(map(describe_room, found)))


async def change(context: OperationContext, asked: ChangeRoom) -> RoomLine:
    """Change how a room is answered, or its name; a new mode is said there.

    Raises `Declined` and `Mistaken`.
    """
    adapters, now = context.scheduling.load_platforms(), context.now()

    def work(connection: Connection) -> tuple[RoomLine, list[OutboxRow]]:
        author = _find_author(connection, asked.by, now)
        room = _find(connection, asked.number)
        rows: list[OutboxRow] = []
        if asked.name is not None and name_given(asked.name) != room.name:
            set_name(connection, room, asked.name, author)
        if asked.mode is not None and asked.mode != room.mode:
            rows += set_mode(connection, room, asked.mode, adapters, author)
            rows += _announce(connection, room, asked.mode, adapters, author)
        changed = _find(connection, room.id)
        for after in (replace(changed, mode=room.mode), replace(changed, name=room.name)):
            redo, undo, did = compare(room, after)
            if undo:
                note_deed(context, connection, undo=undo, redo=redo, did=did)
        return describe_room(changed), rows

    changed, rows = await context.database.write("rooms.change", work)
    context.forget_known()
    context.enqueue(rows)
    return changed


def set_mode(
    connection: Connection,
    room: Room,
    mode: ChosenMode,
    adapters: Mapping[str, ChatAdapter],
    author: Author,
) -> list[OutboxRow]:
    """Set how a room is answered; what is private and on its way there goes elsewhere."""
    moved = take_out(connection, room, adapters, author.now)
    rooms.set_mode(connection, room_id=room.id, mode=mode, by=author.person_id, now=author.now)
    record_mode(connection, room, mode, author.actor, author.now)
    return [*moved, *close_questions(connection, room, general.QUESTION_OVER, author.now)]


def set_name(connection: Connection, room: Room, words: str, author: Author) -> PlainName:
    """Set the name that an owner gives to a room, and return it; no words take it back."""
    given = name_given(words)
    rooms.set_name(connection, room_id=room.id, name=given)
    deed = AuditEntry(
        person_id=room.person_id,
        actor=author.actor,
        action="room.name",
        detail=f"{room.name} -> {given}",
        created_at=author.now,
    )
    audit.record(connection, deed)
    return given


def compare(before: Room, after: Room) -> tuple[str, str, str]:
    """Return the commands that do a change of a room again and take it back, and a line about it.

    Nothing takes back what did not change, and the end of the mode `full`, which needs a consent.
    """
    if before.name != after.name:
        redo, undo = (f"room {one.id} {NAME} {one.name}" for one in (after, before))
        name = quote_name(after.name)
        return redo, undo, texts.NAME_SET(name=name) if after.name else texts.NAME_TAKEN_BACK()
    redo, undo = (f"room {one.id} mode {one.mode}" for one in (after, before))
    is_fixed = before.mode in ("full", after.mode)
    return redo, "" if is_fixed else undo, texts.name_mode(after)


def describe_room(room: Room) -> RoomLine:
    """Return a room as an answer."""
    return RoomLine(
        number=room.id,
        platform=room.platform,
        title=room.platform_title,
        name=room.name,
        mode=room.mode,
    )


def _announce(
    connection: Connection,
    room: Room,
    mode: ChosenMode,
    adapters: Mapping[str, ChatAdapter],
    author: Author,
) -> list[OutboxRow]:
    """Say in a room how it is answered now: those who write there have to know who reads it."""
    if room.platform not in adapters:
        return []
    with speak_to(connection, author.person_id):
        notice = NewOutboxMessage(
            chat=make_chat(room.platform, Address(chat_id=room.chat_id, is_direct=False)),
            body=texts.MODES[mode](),
            is_silent=True,
        )
    return [outbox.enqueue(connection, notice, now=author.now)]


def _find(connection: Connection, number: int) -> Room:
    found = rooms.find_by_id(connection, room_id=RoomId(number))
    if found is None:
        raise Mistaken(texts.NO_SUCH_ROOM(number=number))
    return found


def _find_author(connection: Connection, slug: str, now: int) -> Author:
    """Return the author of a change; only owners may be one. Raises `Declined`."""
    if not slug:
        return Author(person_id=None, actor="house", now=now)
    person = find_person(connection, slug)
    if not person.is_owner:
        raise Declined(texts.ONLY_OWNER_CHANGES())
    return Author(person_id=person.id, actor=f"person:{person.id}", now=now)


OPERATIONS: Mapping[str, Operation] = {
    "rooms.list": typed(list_rooms),
    "rooms.change": typed(change),
}
"""The operations, by their names on the control socket."""
