"""The chat that gets a turn's answer. A private one leaves a room in which others may read it."""

from collections.abc import Collection

from agent_core.agent.active_turn import ActiveTurn
from agent_core.ids import TurnId
from agent_core.state.conversations import turns
from agent_core.state.conversations.sessions import is_task
from agent_core.state.conversations.turns import StoredTurn
from agent_core.state.engine.database import Connection
from agent_core.state.queues import outbox
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from gateway.conversion import Place
from gateway.outbound.questions import Questions
from gateway.people.owners import find_direct_chat
from gateway.people.room_privacy import may_show
from gateway.texts import general
from gateway.texts import rooms as room_texts


def place_of(turn: StoredTurn) -> Place:
    """Return the chat that gets a turn's answer."""
    return Place(platform=turn.platform, chat=turn.chat, answers=turn.answers)


def find_place(connection: Connection, turn_id: TurnId, is_fresh: bool) -> Place | None:
    """Return where a turn answers; None if an earlier transaction has ended it."""
    turn = turns.find(connection, turn_id=turn_id)
    return place_of(turn) if turn and (is_fresh or turn.state == "running") else None


def end_shown(connection: Connection, turn_id: TurnId, text: str) -> list[OutboxRow]:
    """End a turn's live message with `text`, and remove its status line."""
    live, status = outbox.find_visible(connection, turn_id=turn_id)
    rows = [outbox.finalize_live(connection, outbox_id=live.id, body=text)] if live else []
    return [*rows, end_status(connection, status)] if status else rows


def end_status(connection: Connection, status: OutboxRow) -> OutboxRow:
    """Remove a turn's status line."""
    return outbox.withdraw_live(connection, outbox_id=status.id)


def leave_room(
    connection: Connection,
    active: ActiveTurn,
    here: Place,
    platforms: Collection[str],
    questions: Questions,
    now: int,
) -> tuple[Place | None, list[OutboxRow]]:
    """Return where a turn in a room may be answered, and the messages that end what it has shown.

    The place is None if others may read the room, and no direct chat of the person is known.
    """
    person, chat = active.person, (here.platform, here.chat)
    is_shown = active.job_turn is None and not is_task(active.conversation.key)
    if not is_shown or may_show(connection, active.conversation, person.id, chat):
        return here, []
    direct = find_direct_chat(connection, person, platforms)
    if direct:
        rows = end_shown(connection, active.id, general.describe_move(direct[0]))
        rows += questions.move(connection, active.id, direct, now)
        place = Place(platform=direct[0], chat=direct[1])
        turns.move(connection, turn_id=active.id, place=place.fields)
        return place, rows
    notice = NewOutboxMessage(
        platform=here.platform,
        chat=here.chat,
        body=room_texts.ONLY_IN_DIRECT(),
        person_id=person.id,
        answers=here.answers,
    )
    ended = end_shown(connection, active.id, room_texts.ONLY_IN_DIRECT())
    return None, ended or [outbox.enqueue(connection, notice, now=now)]
