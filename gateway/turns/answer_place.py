"""The chat that gets a turn's answer. A private one leaves a room in which others may read it."""

from collections.abc import Collection

from agent_core.agent.turn import ActiveTurn
from agent_core.chats import Place
from agent_core.state.conversations import turns
from agent_core.state.engine.database import Connection
from agent_core.state.queues import outbox
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from gateway.chats import is_direct_chat
from gateway.outbound.questions import Questions
from gateway.people.owner_notices import find_direct_chat
from gateway.people.room_privacy import may_show
from gateway.texts import general
from gateway.texts import rooms as room_texts
from gateway.turns.answer_messages import end_shown


def is_hidden(active: ActiveTurn) -> bool:
    """Return whether nothing of a turn is shown while it runs: that of a job, or of a task."""
    return active.job_turn is not None or active.conversation.kind == "task"


def leave_room(
    connection: Connection,
    active: ActiveTurn,
    here: Place,
    platforms: Collection[str],
    questions: Questions,
    now: int,
) -> tuple[Place | None, list[OutboxRow]]:
    """Return where a turn may be answered, and the messages that end what it has shown in a room.

    The place is None if others may read the room, and no direct chat of the person is known.
    """
    person = active.person
    if is_direct_chat(here.chat.address) or is_hidden(active):
        return here, []
    if may_show(connection, active.conversation, person.id, here.chat):
        return here, []
    direct = find_direct_chat(connection, person, platforms)
    if direct:
        rows = end_shown(connection, active.id, general.describe_move(direct.platform))
        rows += questions.move(connection, active.id, direct, now)
        place = Place(chat=direct)
        turns.move(connection, turn_id=active.id, place=place)
        return place, rows
    notice = NewOutboxMessage(
        chat=here.chat,
        body=room_texts.ONLY_IN_DIRECT(),
        person_id=person.id,
        answers=here.answers,
    )
    ended = end_shown(connection, active.id, room_texts.ONLY_IN_DIRECT())
    return None, ended or [outbox.enqueue(connection, notice, now=now)]
