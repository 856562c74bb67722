"""Check whether others can read a room, and end its mode `full`.

The mode ends in the transaction that records the others, and everything private that still has to
reach the room leaves it there.
"""

from collections.abc import Mapping
from dataclasses import replace

from adapters.contract import ChatAdapter
from adapters.ids import Address
from agent_core.chats import Chat
from agent_core.ids import PersonId, QuestionId
from agent_core.localization import Text
from agent_core.state.conversations import questions
from agent_core.state.conversations.sessions import Conversation
from agent_core.state.engine.database import Connection
from agent_core.state.people import audit, people, presence, rooms
from agent_core.state.people.audit import AuditEntry
from agent_core.state.people.rooms import Mode, Room
from agent_core.state.queues import dead_letters, outbox
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from gateway.chats import is_chat, make_chat, read_chat
from gateway.outbound.questions import drop
from gateway.people.owner_notices import find_direct_chat
from gateway.people.retargeting import leave_room
from gateway.texts import general
from gateway.texts import rooms as room_texts
from gateway.texts.reader_language import speak_to

_CLOCKS = 60_000
"""Milliseconds by which a platform's clock may differ from ours."""
_MOST_DEAD = 1000
"""Undeliverable messages that are looked through, the newest ones."""


def is_shared(connection: Connection, room: Room, person_id: PersonId) -> bool:
    """Return whether anyone besides one account of the person was ever noticed in a room.

    A room in which nobody was noticed counts as shared.
    """
    seen = presence.find(connection, platform=room.platform, chat_id=room.chat_id)
    if seen is None or seen.others_at is not None:
        return True
    first = people.find_by_account(connection, platform=room.platform, user_id=seen.user_id)
    return first is None or first.id != person_id


def may_show(
    connection: Connection, conversation: Conversation, person_id: PersonId, chat: Chat
) -> bool:
    """Return whether a chat may show an answer of a conversation: a private one needs `full`."""
    address = read_chat(chat.address)
    if address.is_direct or not conversation.is_private:
        return True
    room = rooms.find(connection, platform=chat.platform, chat_id=address.chat_id)
    return room is not None and room.mode == "full" and room.set_by == person_id


def end_full(
    connection: Connection,
    room: Room,
    words: Text,
    adapters: Mapping[str, ChatAdapter],
    now: int,
) -> list[OutboxRow]:
    """End the mode `full` and say so in the room, in the language of its person."""
    if room.mode != "full":
        return []
    moved = take_out(connection, room, adapters, now)
    rooms.set_mode(connection, room_id=room.id, mode="person", by=None, now=now)
    record_mode(connection, room, "person", "house", now)
    with speak_to(connection, room.set_by):
        notice = NewOutboxMessage(
            chat=make_chat(room.platform, Address(chat_id=room.chat_id, is_direct=False)),
            body=words(),
            is_silent=True,
        )
    return [*moved, outbox.enqueue(connection, notice, now=now)]


def take_out(
    connection: Connection, room: Room, adapters: Mapping[str, ChatAdapter], now: int
) -> list[OutboxRow]:
    """Send what is on its way to a room in the mode `full` to the person's direct chat instead.

    Their own jobs send to the room no more, either.
    """
    person = people.find(connection, person_id=room.set_by) if room.set_by else None
    if room.mode != "full" or person is None:
        return []
    chat = find_direct_chat(connection, person, adapters)
    leave_room(connection, person.id, room, chat)
    with speak_to(connection, person.id):
        return [
            moved
            for row in _list_on_the_way(connection, room, person.id)
            for moved in _send_elsewhere(connection, row, chat, adapters, now)
        ]


def _list_on_the_way(connection: Connection, room: Room, person_id: PersonId) -> list[OutboxRow]:
    """List what a room of one person still gets, or would get after `/retry`, oldest first.

    Live messages and status lines belong to a running turn, and move with it.
    """
    found = [*outbox.list_open(connection), *dead_letters.list_dead(connection, limit=_MOST_DEAD)]
    return sorted(
        (
            row
            for row in found
            if (row.chat.platform, row.person_id) == (room.platform, person_id)
            and not (row.is_live or row.kind == "status")
            and (row.question_id is None or _is_unasked(connection, row.question_id, row))
            and row.is_whole
            and is_chat(row.chat.address)
            and read_chat(row.chat.address).chat_id == room.chat_id
        ),
        key=lambda row: row.id,
    )


def _is_unasked(connection: Connection, question_id: QuestionId, row: OutboxRow) -> bool:
    """Return whether an open question has surely not been shown yet."""
    question = questions.find(connection, question_id=question_id)
    is_open = question is not None and question.state == "open"
    return is_open and row.state == "owed" and row.message_id is None


def _send_elsewhere(
    connection: Connection,
    row: OutboxRow,
    chat: Chat | None,
    adapters: Mapping[str, ChatAdapter],
    now: int,
) -> list[OutboxRow]:
    """Move a message to a direct chat; what the platform may have of it says so.

    Without a direct chat, the answer is only in the conversation.
    """
    rows: list[OutboxRow] = []
    if not outbox.withdraw(connection, outbox_id=row.id):
        note = general.describe_move(chat.platform) if chat else room_texts.ONLY_IN_DIRECT()
        rows.append(outbox.revise(connection, outbox_id=row.id, body=note))
    if chat is None:
        return rows
    outgoing = outbox.readdress(row, chat)
    if row.question_id is not None:
        questions.move(connection, question_id=row.question_id, chat=chat)
    *first, last = adapters[outgoing.chat.platform].split(row.body)
    parts = [replace(outgoing, body=part) for part in first]
    parts.append(replace(outgoing, body=last, buttons=row.buttons, question_id=row.question_id))
    return [*rows, *(outbox.enqueue(connection, part, now=now) for part in parts)]


def close_questions(connection: Connection, room: Room, words: Text, now: int) -> list[OutboxRow]:
    """Close the open questions for consent in a room."""
    return [
        row
        for question in questions.find_open_of_room(connection, payload=str(room.id))
        for row in drop(connection, question, words, now)
    ]


def record_mode(connection: Connection, room: Room, mode: Mode, actor: str, now: int) -> None:
    """Record a new mode in the audit trail."""
    deed = AuditEntry(
        person_id=room.person_id,
        actor=actor,
        action="room.mode",
        detail=f"{room.mode} -> {mode}",
        created_at=now,
    )
    audit.record(connection, deed)


def was_private(room: Room, moment: int) -> bool:
    """Return whether the mode `full` may have been in use at a moment, in milliseconds; 0 for an
    unknown one.
    """
    if room.full_from is None:
        return False
    is_before = bool(moment) and moment < room.full_from - _CLOCKS
    is_after = room.full_until is not None and moment > room.full_until + _CLOCKS
    return not (is_before or is_after)
