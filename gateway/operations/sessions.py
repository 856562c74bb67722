"""Operations on sessions: begin a new one, go on in an old one, and name one."""

from agent_core.ids import ConversationId, SessionId
from agent_core.state.conversations import past_sessions, sessions
from agent_core.state.engine.database import Connection
from agent_core.state.people.people import Person
from agent_core.transcript import flatten
from gateway.errors import Declined
from gateway.texts import general
from gateway.turns.lanes import Lanes

LONGEST_TITLE = 80
"""Characters."""
BACK = "back"
"""Begins the number and the title of a session in a command that only undo runs."""


def stop_turn(lanes: Lanes, conversation_id: ConversationId, person: Person) -> None:
    """Stop the turn of a conversation that is to go on elsewhere. Raises `Declined`."""
    if not lanes.may_stop(conversation_id, person):
        raise Declined(general.STOP_NOT_YOURS())
    lanes.stop(conversation_id)


def begin(connection: Connection, conversation_id: ConversationId, now: int) -> None:
    """End the open session of a conversation: the next message begins a new one."""
    sessions.end(connection, conversation_id=conversation_id, now=now)


def go_on(
    connection: Connection, conversation_id: ConversationId, session_id: SessionId, now: int
) -> None:
    """Make an old session of a conversation the open one."""
    past_sessions.reopen(
        connection, conversation_id=conversation_id, session_id=session_id, now=now
    )


def name(connection: Connection, session_id: SessionId, words: str) -> str:
    """Give a session a title, or take it away without words; return it as stored."""
    title = flatten(words, LONGEST_TITLE)
    sessions.set_title(connection, session_id=session_id, title=title)
    return title


def name_again(session_id: SessionId, title: str) -> str:
    """Return the command, without slash, by which `/undo` gives a session a title again."""
    return f"title {BACK} {session_id} {title}"
