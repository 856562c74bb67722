"""Insert a new turn into the database."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from agent_core.agent.journal import TurnJournal
from agent_core.agent.prompt.prompt_cache import store_prompt
from agent_core.agent.turn import PreparedTurn
from agent_core.ids import InboxId
from agent_core.state.conversations import sessions, turns
from agent_core.state.conversations.messages import TranscriptPlace
from agent_core.state.conversations.turns import TurnRequest
from agent_core.state.engine.database import Connection
from agent_core.state.memory import skill_uses
from agent_core.state.queues import inbox
from agent_core.transcript import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTurn:
    """The values that `insert_turn` writes.

    They refer to no running turn, because its journal refers to them.
    """

    prepared: PreparedTurn
    said: tuple[Message, ...]
    now: int
    inbox_ids: Sequence[InboxId] = ()
    """The inbound events that the turn answers."""


def insert_turn(
    connection: Connection, journal: TurnJournal, new: NewTurn, asked: TurnRequest
) -> None:
    """Insert a created turn within the caller's transaction, and claim the events it answers."""
    place, context, now = journal.shelf, new.prepared.context, new.now
    asked = replace(asked, turn_id=place.turn_id, ending=journal.ending)
    is_first = _open_session(connection, place, new, asked)
    turns.insert(
        connection,
        conversation=context.conversation,
        session_id=place.session_id,
        request=asked,
        prompt_hash=new.prepared.prompt.hash,
        now=now,
    )
    for name in context.agent.skills if context.agent and is_first else ():
        skill_uses.note(connection, name=name, turn_id=place.turn_id, now=now)
    # After the messages, the full-text index would flush for this update, and again at the end.
    is_over = asked.ending is not None
    inbox.claim(connection, inbox_ids=new.inbox_ids, turn_id=place.turn_id, is_over=is_over)
    journal.append(connection, new.said, now)


def _open_session(
    connection: Connection, place: TranscriptPlace, new: NewTurn, asked: TurnRequest
) -> bool:
    """Open the turn's session and store its prompt, unless both exist.

    Return whether the prompt is fresh, which is a use of the skills that a named agent preloads.
    """
    session, prompt, now = new.prepared.session, new.prepared.prompt, new.now
    if session is None:
        sessions.insert(
            connection,
            conversation_id=place.conversation_id,
            session_id=place.session_id,
            account_id=asked.account_id,
            now=now,
        )
    is_fresh = session is None or session.prompt_hash != prompt.hash
    if is_fresh:
        store_prompt(prompt, now, connection)
        sessions.touch(connection, session_id=place.session_id, prompt_hash=prompt.hash, now=now)
    return is_fresh
