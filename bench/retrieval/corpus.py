"""A sample in a database of its own, and in a plain full-text table as the baseline."""

import re
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from agent_core.chats import Chat, Place
from agent_core.ids import MessageId, PersonId, PromptHash, SessionId, TurnId
from agent_core.state.conversations import messages, sessions, turns
from agent_core.state.conversations.messages import TranscriptPlace
from agent_core.state.conversations.sessions import Conversation
from agent_core.state.conversations.turns import TurnRequest
from agent_core.state.people import people, rooms
from agent_core.state.search.search_scope import SearchFilter
from agent_core.transcript import Message, TextPart
from bench.retrieval.samples import Said, Sample
from tests.agent_core.state.schema import migrate

PROMPT = PromptHash("0" * 64)
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """The stored messages of a sample. `ids` are their rows, by the ids of the sample."""

    connection: sqlite3.Connection
    field: SearchFilter
    ids: Mapping[str, MessageId]


def store(sample: Sample, folder: Path) -> Corpus:
    """Store a sample as its people would have written it, with the plain table beside it."""
    connection = sqlite3.connect(folder / "state.db", isolation_level=None)
    connection.execute("PRAGMA synchronous = OFF")
    migrate(connection)
    connection.execute("BEGIN")
    sessions.insert_prompt(connection, prompt_hash=PROMPT, system="", tools="[]", now=0)
    names = dict.fromkeys(one.speaker for one in sample.messages if one.role == "user")
    speakers = {
        name: people.insert(connection, slug=f"s{number}", name=name, role="member", now=0).id
        for number, name in enumerate(names)
    }
    dialogue = _open_conversation(connection, sample, next(iter(speakers.values())))
    ids: dict[str, MessageId] = {}
    session_id, turn_id = SessionId(0), TurnId(0)
    for before, said in zip((None, *sample.messages), sample.messages, strict=False):
        is_new = before is None or before.session != said.session
        if is_new:
            session_id = sessions.insert(connection, conversation_id=dialogue.id, now=said.at)
        if is_new or said.role == "user":
            asker = speakers.get(said.speaker, dialogue.person_id)
            turn_id = _open_turn(connection, dialogue, session_id, asker, said.at)
        ids[said.id] = _append(connection, dialogue, (session_id, turn_id), said)
    connection.execute("COMMIT")
    connection.execute(
        "CREATE VIRTUAL TABLE temp.plain USING fts5 (text, tokenize = 'porter unicode61')"
    )
    connection.execute("INSERT INTO temp.plain (rowid, text) SELECT id, text FROM messages")
    field = SearchFilter(person_id=dialogue.person_id, scope=dialogue.scope, except_turn=TurnId(0))
    return Corpus(connection=connection, field=field, ids=ids)


def _open_conversation(
    connection: sqlite3.Connection, sample: Sample, person_id: PersonId
) -> Conversation:
    if not sample.is_room:
        return sessions.ensure_conversation(
            connection,
            sessions.NewConversation(
                key="direct", kind="direct", person_id=person_id, is_direct=True
            ),
            now=0,
        )
    room = rooms.insert(
        connection, platform="telegram", chat_id="room", title="room", slug="room", now=0
    )
    return sessions.ensure_conversation(
        connection,
        sessions.NewConversation(
            key="room:telegram:room::all",
            kind="room",
            person_id=room.person_id,
            is_direct=False,
            room_id=room.id,
        ),
        now=0,
    )


def _open_turn(
    connection: sqlite3.Connection,
    dialogue: Conversation,
    session_id: SessionId,
    person_id: PersonId,
    now: int,
) -> TurnId:
    return turns.insert(
        connection,
        conversation=dialogue,
        session_id=session_id,
        request=TurnRequest(
            person_id=person_id,
            account_id=None,
            place=Place(chat=Chat(platform="telegram", address="{}")),
        ),
        prompt_hash=PROMPT,
        now=now,
    )


def _append(
    connection: sqlite3.Connection,
    dialogue: Conversation,
    ids: tuple[SessionId, TurnId],
    said: Said,
) -> MessageId:
    place = TranscriptPlace(
        session_id=ids[0],
        turn_id=ids[1],
        person_id=dialogue.person_id,
        conversation_id=dialogue.id,
        platform="telegram",
    )
    message = Message(role=said.role, parts=(TextPart(text=said.text),))
    return messages.append(connection, place, [message], now=said.at)[0]


def search_plainly(corpus: Corpus, question: str, limit: int) -> list[MessageId]:
    """Search with FTS5's own words and its bm25: any word of the question."""
    words = " OR ".join(f'"{word}"' for word in _WORD.findall(question))
    rows = corpus.connection.execute(
        "SELECT rowid FROM temp.plain WHERE plain MATCH :words ORDER BY bm25(plain) LIMIT :limit",
        {"words": words, "limit": limit},
    )
    return [row[0] for row in rows]
