"""Queries over turns and their tool calls."""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from agent_core.chats import Chat, Place
from agent_core.ids import (
    AccountId,
    CallId,
    ConversationId,
    PersonId,
    PromptHash,
    SessionId,
    TurnId,
)
from agent_core.state.conversations.sessions import Conversation
from agent_core.state.engine.connection import read_all, read_one
from agent_core.state.engine.database import Connection
from agent_core.transcript import ImagePart, Receipt, UntrustedSource, dump_parts, read_images

TurnState = Literal["running", "answered", "stopped", "refused", "exhausted", "failed"]
TurnEnding = tuple[TurnState, str, str, int | None]
"""The ending of a turn: state, reason, the model that answered last, and the time. The time is None
for a running turn.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTurn:
    """A turn as it is stored.

    `place` is where the answer goes. `person_id` is the asker, who also pays, and who asked through
    the account `account_id`. The conversation may belong to a room.
    """

    id: TurnId
    conversation_id: ConversationId
    session_id: SessionId
    person_id: PersonId
    prompt_hash: PromptHash | None
    place: Place
    state: TurnState
    reason: str
    """The code of an ending other than `answered`; a category of the provider for `refused`."""
    detail: str
    """The error behind the ending, in the words of the provider or of Python; only for owners."""
    attempts: int
    started_at: int
    ended_at: int | None
    account_id: AccountId | None
    waiting_since: int | None
    """When an outage of the model began that the turn waits for; None if it does not wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRequest:
    """The asker of a turn, their account, and the place of the answer.

    `turn_id` is the reserved id, if there is one. `ending` is given if the turn
    starts and ends in the same transaction.
    """

    person_id: PersonId
    account_id: AccountId | None
    place: Place
    turn_id: TurnId | None = None
    ending: TurnEnding | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A tool call that was started. `outcome` is the text of its result, None until it is known.

    `receipts` are what the person reads about the changes that it made.
    """

    call_id: CallId
    name: str
    outcome: str | None
    is_error: bool
    sources: tuple[UntrustedSource, ...] = ()
    images: tuple[ImagePart, ...] = ()
    receipts: tuple[Receipt, ...] = ()


_TURN = (
    "id, conversation_id, session_id, person_id, prompt_hash, platform, chat, answers, state,"
    " reason, detail, attempts, started_at, ended_at, account_id, waiting_since"
)
_END_WAIT = (
    "model_waits = model_waits || COALESCE(waiting_since || '-' || :now || ' ', ''),"
    " waiting_since = NULL"
)
"""Records the end of a wait for a model, if the turn waits for one."""
LATEST_MODEL = (
    "COALESCE((SELECT model FROM usage WHERE turn_id = turns.id AND purpose = 'turn'"
    " AND usage.person_id = turns.person_id ORDER BY usage.id DESC LIMIT 1), '')"
)
"""The model that answered a turn last; "" if none did."""
_LONGEST_DETAIL = 500
"""The most characters of a detail; some providers answer an error with a whole page."""


def insert(
    connection: Connection,
    *,
    conversation: Conversation,
    session_id: SessionId,
    request: TurnRequest,
    prompt_hash: PromptHash,
    now: int,
) -> TurnId:
    """Start a turn."""
    state, reason, model, ended_at = request.ending or ("running", "", "", None)
    cursor = connection.execute(
        "INSERT INTO turns (id, conversation_id, session_id, person_id, account_id, prompt_hash,"
        " platform, chat, answers, started_at, state, reason, model, ended_at) VALUES (:id,"
        " :conversation_id, :session_id, :person_id, :account_id, :prompt_hash, :platform, :chat,"
        " :answers, :now, :state, :reason, :model, :ended_at)",
        {
            "id": request.turn_id,
            "conversation_id": conversation.id,
            "session_id": session_id,
            "person_id": request.person_id,
            "account_id": request.account_id,
            "prompt_hash": prompt_hash,
            "platform": request.place.chat.platform,
            "chat": request.place.chat.address,
            "answers": request.place.answers,
            "now": now,
            "state": state,
            "reason": reason,
            "model": model,
            "ended_at": ended_at,
        },
    )
    return TurnId(cursor.lastrowid or 0)


def move(connection: Connection, *, turn_id: TurnId, place: Place) -> None:
    """Send the answer of a turn to another place from now on."""
    connection.execute(
        "UPDATE turns SET platform = :platform, chat = :chat, answers = :answers"
        " WHERE id = :turn_id",
        {
            "turn_id": turn_id,
            "platform": place.chat.platform,
            "chat": place.chat.address,
            "answers": place.answers,
        },
    )


def _make_turn(*, platform: str, chat: str, answers: str | None, **fields: Any) -> StoredTurn:
    place = Place(chat=Chat(platform=platform, address=chat), answers=answers)
    return StoredTurn(place=place, **fields)


def list_running(connection: Connection) -> list[StoredTurn]:
    """List the turns that started and have not ended, oldest first.

    Turns of helpers are left out: the turn that started a helper continues it.
    """
    rows = connection.execute(
        f"SELECT {_TURN} FROM turns WHERE state = 'running' AND (SELECT kind FROM conversations"
        " WHERE conversations.id = turns.conversation_id) <> 'helper' ORDER BY id"
    )
    return read_all(_make_turn, rows)


def list_with_open_call(connection: Connection) -> frozenset[TurnId]:
    """List the running turns with a tool call that has started and whose result is unknown."""
    rows = connection.execute(
        "SELECT DISTINCT turns.id FROM turns JOIN steps ON steps.turn_id = turns.id"
        " WHERE turns.state = 'running' AND steps.outcome IS NULL"
    )
    return frozenset(TurnId(row[0]) for row in rows)


def find_latest(
    connection: Connection, *, conversation_id: ConversationId, person_id: PersonId
) -> StoredTurn | None:
    """Return the newest turn of a conversation."""
    found = connection.execute(
        f"SELECT {_TURN} FROM turns WHERE conversation_id = :conversation_id"
        " AND person_id = :person_id ORDER BY id DESC LIMIT 1",
        {"conversation_id": conversation_id, "person_id": person_id},
    )
    return read_one(_make_turn, found)


def list_of_person(
    connection: Connection, *, person_id: PersonId, before: int, limit: int
) -> list[StoredTurn]:
    """List the turns with ids below `before` that a person asked for, newest first."""
    rows = connection.execute(
        f"SELECT {_TURN} FROM turns WHERE person_id = :person_id AND id < :before"
        " ORDER BY id DESC LIMIT :limit",
        {"person_id": person_id, "before": before, "limit": limit},
    )
    return read_all(_make_turn, rows)


def list_with_step(
    connection: Connection, *, person_id: PersonId, step: str, among: int
) -> list[StoredTurn]:
    """List those of a person's newest turns that have called a tool, newest first.

    `among` is the number of turns that are looked at.
    """
    rows = connection.execute(
        f"SELECT {_TURN} FROM (SELECT * FROM turns WHERE person_id = :person_id"
        " ORDER BY id DESC LIMIT :among) AS turns WHERE EXISTS (SELECT 1 FROM steps"
        " WHERE turn_id = turns.id AND name = :step) ORDER BY id DESC",
        {"person_id": person_id, "among": among, "step": step},
    )
    return read_all(_make_turn, rows)


def is_by_person(connection: Connection, *, turn_id: TurnId) -> bool:
    """Return whether a person's own message began a turn: no job, no helper and no other agent."""
    row = connection.execute(
        "SELECT 1 FROM turns WHERE id = :turn_id AND run_id IS NULL AND account_id IS NOT NULL",
        {"turn_id": turn_id},
    ).fetchone()
    return row is not None


def find_of_person(
    connection: Connection, *, turn_id: TurnId, person_id: PersonId
) -> StoredTurn | None:
    """Return a turn that a person asked for; None if another person asked for it."""
    found = connection.execute(
        f"SELECT {_TURN} FROM turns WHERE id = :turn_id AND person_id = :person_id",
        {"turn_id": turn_id, "person_id": person_id},
    )
    return read_one(_make_turn, found)


def has_any(connection: Connection, *, person_id: PersonId) -> bool:
    """Return whether a person ever had a turn."""
    row = connection.execute(
        "SELECT 1 FROM turns WHERE person_id = :person_id LIMIT 1", {"person_id": person_id}
    ).fetchone()
    return row is not None


def list_latest(
    connection: Connection, *, conversation_id: ConversationId, limit: int
) -> list[StoredTurn]:
    """List the newest turns of a conversation, of all askers, newest first."""
    rows = connection.execute(
        f"SELECT {_TURN} FROM turns WHERE conversation_id = :conversation_id"
        " ORDER BY id DESC LIMIT :limit",
        {"conversation_id": conversation_id, "limit": limit},
    )
    return read_all(_make_turn, rows)


def list_recent(connection: Connection, *, limit: int) -> list[StoredTurn]:
    """List the newest turns of everyone, newest first; only for the owner's command line."""
    rows = connection.execute(
        f"SELECT {_TURN} FROM turns ORDER BY id DESC LIMIT :limit", {"limit": limit}
    )
    return read_all(_make_turn, rows)


def find(connection: Connection, *, turn_id: TurnId) -> StoredTurn | None:
    """Return the turn with this id, whoever it belongs to."""
    found = connection.execute(
        f"SELECT {_TURN} FROM turns WHERE id = :turn_id", {"turn_id": turn_id}
    )
    return read_one(_make_turn, found)


def exists(connection: Connection, *, turn_id: TurnId) -> bool:
    """Return whether the turn has started."""
    row = connection.execute("SELECT 1 FROM turns WHERE id = :id", {"id": turn_id}).fetchone()
    return row is not None


def find_newest(connection: Connection) -> TurnId:
    """Return the id of the newest turn of all; 0 if there is none."""
    row = connection.execute("SELECT MAX(id) FROM turns").fetchone()
    return TurnId(row[0] or 0)


def is_running(connection: Connection, *, turn_id: TurnId) -> bool:
    """Return whether the turn has not ended."""
    row = connection.execute(
        "SELECT 1 FROM turns WHERE id = :turn_id AND state = 'running'", {"turn_id": turn_id}
    ).fetchone()
    return row is not None


def select_of_session(
    connection: Connection, *, session_id: SessionId, turn_ids: Collection[TurnId]
) -> frozenset[TurnId]:
    """Select those of some turns that belong to a session."""
    rows = connection.execute(
        "SELECT id FROM turns WHERE id IN (SELECT value FROM json_each(:turn_ids))"
        " AND session_id = :session_id",
        {"turn_ids": json.dumps(list(turn_ids)), "session_id": session_id},
    )
    return frozenset(TurnId(row[0]) for row in rows)


def has_untrusted(connection: Connection, *, session_ids: Sequence[SessionId]) -> bool:
    """Return whether a turn of these sessions read words of others."""
    row = connection.execute(
        "SELECT 1 FROM turns WHERE session_id IN (SELECT value FROM json_each(:session_ids))"
        " AND is_untrusted = 1 LIMIT 1",
        {"session_ids": json.dumps(list(session_ids))},
    ).fetchone()
    return row is not None


def is_untrusted(connection: Connection, *, turn_id: TurnId) -> bool:
    """Return whether a turn read words of others, which its answer may repeat.

    True for a missing turn.
    """
    row = connection.execute(
        "SELECT is_untrusted FROM turns WHERE id = :turn_id", {"turn_id": turn_id}
    ).fetchone()
    return row is None or bool(row[0])


def count_attempt(connection: Connection, *, turn_id: TurnId) -> int:
    """Count one more attempt at a turn, and return the number of attempts."""
    row = connection.execute(
        "UPDATE turns SET attempts = attempts + 1 WHERE id = :turn_id RETURNING attempts",
        {"turn_id": turn_id},
    ).fetchone()
    return int(row[0])


def uncount_attempt(connection: Connection, *, turn_id: TurnId) -> None:
    """Undo the count of one attempt, because the turn stopped at a step boundary on purpose."""
    connection.execute(
        "UPDATE turns SET attempts = attempts - 1 WHERE id = :turn_id", {"turn_id": turn_id}
    )


def wait(connection: Connection, *, turn_id: TurnId, since: int) -> None:
    """Record that the turn waits for a model that does not answer.

    A turn that only waits can't crash the process, so the count of its attempts restarts.
    """
    connection.execute(
        "UPDATE turns SET waiting_since = :since, attempts = 0 WHERE id = :turn_id",
        {"turn_id": turn_id, "since": since},
    )


def end_wait(connection: Connection, *, turn_id: TurnId, now: int) -> None:
    """Record that a model answers the turn again, and how long the wait took."""
    connection.execute(
        f"UPDATE turns SET {_END_WAIT} WHERE id = :turn_id", {"turn_id": turn_id, "now": now}
    )


def end(
    connection: Connection, *, turn_id: TurnId, state: TurnState, reason: str, now: int
) -> None:
    """End a turn whose model calls are recorded."""
    connection.execute(
        f"UPDATE turns SET state = :state, reason = :reason, model = {LATEST_MODEL},"
        f" ended_at = :now, {_END_WAIT} WHERE id = :turn_id",
        {"turn_id": turn_id, "state": state, "reason": reason, "now": now},
    )


def note_error(connection: Connection, *, turn_id: TurnId, detail: str) -> None:
    """Record the beginning of the error that ended a turn."""
    connection.execute(
        "UPDATE turns SET detail = :detail WHERE id = :turn_id",
        {"turn_id": turn_id, "detail": detail[:_LONGEST_DETAIL]},
    )


def mark_untrusted(connection: Connection, *, turn_id: TurnId) -> None:
    """Record that a turn's session has read words of others, so that the answer may repeat them."""
    connection.execute(
        "UPDATE turns SET is_untrusted = 1 WHERE id = :turn_id", {"turn_id": turn_id}
    )


def begin_steps(
    connection: Connection,
    *,
    turn_id: TurnId,
    calls: Sequence[tuple[CallId, str, str]],
    now: int,
) -> None:
    """Record calls as (call id, tool name, effect) before the first of them runs."""
    connection.executemany(
        "INSERT INTO steps (turn_id, call_id, name, effect, started_at)"
        " VALUES (:turn_id, :call_id, :name, :effect, :now)"
        " ON CONFLICT (turn_id, call_id) DO NOTHING",
        [
            {"turn_id": turn_id, "call_id": call_id, "name": name, "effect": effect, "now": now}
            for call_id, name, effect in calls
        ],
    )


def end_step(connection: Connection, *, turn_id: TurnId, step: Step, now: int) -> None:
    """Record the result of a call."""
    connection.execute(
        "UPDATE steps SET outcome = :outcome, is_error = :is_error, sources = :sources,"
        " images = :images, receipts = :receipts, ended_at = :now"
        " WHERE turn_id = :turn_id AND call_id = :call_id",
        {
            "turn_id": turn_id,
            "call_id": step.call_id,
            "outcome": step.outcome,
            "is_error": int(step.is_error),
            "sources": json.dumps(step.sources),
            "images": dump_parts(step.images),
            "receipts": json.dumps([[one.text, one.undo] for one in step.receipts]),
            "now": now,
        },
    )


def list_steps(connection: Connection, *, turn_id: TurnId) -> list[Step]:
    """List the calls of a turn in the order in which they started."""
    rows = connection.execute(
        "SELECT call_id, name, outcome, is_error, sources, images, receipts FROM steps"
        " WHERE turn_id = :turn_id ORDER BY id",
        {"turn_id": turn_id},
    )
    return read_all(
        Step,
        rows,
        is_error=bool,
        sources=_load_sources,
        images=read_images,
        receipts=_load_receipts,
    )


def _load_sources(text: str) -> tuple[UntrustedSource, ...]:
    return tuple(json.loads(text))


def _load_receipts(text: str) -> tuple[Receipt, ...]:
    return tuple(Receipt(text=said, undo=undo) for said, undo in json.loads(text))


def list_bodies(connection: Connection, *, turn_id: TurnId) -> list[str]:
    """Return the texts of a turn's complete messages, oldest first, without its questions."""
    rows = connection.execute(
        "SELECT body FROM outbox WHERE turn_id = :turn_id AND is_live = 0 AND kind = 'message'"
        " AND question_id IS NULL AND body <> '' ORDER BY id",
        {"turn_id": turn_id},
    ).fetchall()
    return [row[0] for row in rows]
