"""Check whether others can read a room, and end its mode `full`.

The mode ends in the transaction that records the others.
"""

from adapters.ids import Address
from agent_core.ids import PersonId
from agent_core.localization import Text
from agent_core.state.conversations import questions
from agent_core.state.engine.database import Connection
from agent_core.state.people import audit, people, presence, rooms
from agent_core.state.people.audit import AuditEntry
from agent_core.state.people.rooms import Mode, Room
from agent_core.state.queues import outbox
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from gateway import conversion
from gateway.outbound import drop
from gateway.texts.readers import speak_to

_CLOCKS = 60_000
"""Milliseconds by which a platform's clock may differ from ours."""


def is_shared(connection: Connection, room: Room, person_id: PersonId) -> bool:
    """Return whether anyone besides one account of the person was ever noticed in a room.

    A room in which nobody was noticed counts as shared.
    """
    seen = presence.find(connection, platform=room.platform, chat_id=room.chat_id)
    if seen is None or seen.others_at is not None:
        return True
    first = people.find_by_account(connection, platform=room.platform, user_id=seen.user_id)
    return first is None or first.id != person_id


def end_full(connection: Connection, room: Room, words: Text, now: int) -> list[OutboxRow]:
    """End the mode `full` and say so in the room, in the language of its person."""
    if room.mode != "full":
        return []
    rooms.set_mode(connection, room_id=room.id, mode="person", by=None, now=now)
    record_mode(connection, room, "person", "house", now)
    with speak_to(connection, room.set_by):
        notice = NewOutboxMessage(
            platform=room.platform,
            chat=conversion.name_chat(Address(chat_id=room.chat_id, is_direct=False)),
            body=words(),
            is_silent=True,
        )
    return [outbox.enqueue(connection, notice, now=now)]


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
