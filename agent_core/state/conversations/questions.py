"""Queries over questions to people. An answer counts only once, and only for its own question."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from agent_core.chats import Chat
from agent_core.ids import CallId, PersonId, QuestionId, TurnId
from agent_core.state.engine.connection import list_fields, read_all, read_one
from agent_core.state.engine.database import Connection

QuestionKind = Literal[
    "choice",
    "approval",
    "call",
    "reason",
    "link",
    "merge",
    "forget",
    "erase",
    "full",
    "proposal",
    "reading",
    "notes",
    "when",
]
"""The kinds, in this order: a choice for the model; approval of a change; approval of exactly one
tool call; the reason for its refusal, in any words; a link of two accounts; a merge of two memories
that exceed the limit; a redaction; the erasure of a person; consent to a room's mode `full`; a
change that a turn only proposed; consent that an owner reads conversations; all notes of reviews
that wait; the new time of a reminder, in words.
"""
Style = Literal["plain", "good", "danger"]
QuestionState = Literal["open", "answered", "over"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A possible answer. `key` is short, `[a-z0-9_]`, and unique in its question."""

    key: str
    label: str
    style: Style = "plain"
    url: str = ""
    """An https address that the button opens in a browser; nothing is answered then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionContent:
    """The content of a question and the person it is for. Times are in milliseconds.

    `secret` is part of the keys of the question's buttons, so that nobody can forge them.
    """

    person_id: PersonId
    chat: Chat
    kind: QuestionKind
    text: str
    choices: tuple[Choice, ...]
    secret: str
    expires_at: int
    turn_id: TurnId | None = None
    call_id: CallId | None = None
    payload: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewQuestion(QuestionContent):
    """A question to store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question(QuestionContent):
    """A stored question with its state. `answer` is a choice's key, or the text of a reason."""

    id: QuestionId
    state: QuestionState
    answer: str | None


_ROW = (
    "id, person_id, turn_id, call_id, kind, text, choices, payload, secret, platform, chat, state,"
    " answer, expires_at"
)


def dump_choices(choices: tuple[Choice, ...]) -> str:
    """Encode choices as JSON text."""
    fields = [
        [choice.key, choice.label, choice.style, *([choice.url] if choice.url else ())]
        for choice in choices
    ]
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def load_choices(text: str) -> tuple[Choice, ...]:
    """Decode the text of `dump_choices`; an empty text means no choices."""
    fields = json.loads(text) if text else []
    return tuple(
        Choice(key=key, label=label, style=style, url="".join(url))
        for key, label, style, *url in fields
    )


def _make_question(*, platform: str, chat: str, **fields: Any) -> Question:
    return Question(chat=Chat(platform=platform, address=chat), **fields)


def ask(connection: Connection, question: NewQuestion, *, now: int) -> Question:
    """Store a question; a repeated call of the same turn returns the one that is stored already."""
    if question.turn_id is not None and question.call_id is not None:
        known = find_of_call(connection, turn_id=question.turn_id, call_id=question.call_id)
        if known:
            return known
    rows = connection.execute(
        "INSERT INTO questions (person_id, turn_id, call_id, kind, text, choices, payload, secret,"
        " platform, chat, state, asked_at, expires_at) VALUES (:person_id, :turn_id, :call_id,"
        " :kind, :text, :choices, :payload, :secret, :platform, :chat, 'open', :now, :expires_at)"
        f" RETURNING {_ROW}",
        {
            **list_fields(question),
            "choices": dump_choices(question.choices),
            "platform": question.chat.platform,
            "chat": question.chat.address,
            "now": now,
        },
    )
    return read_all(_make_question, rows, choices=load_choices)[0]


def find(connection: Connection, *, question_id: QuestionId) -> Question | None:
    """Return the question of this id."""
    found = connection.execute(f"SELECT {_ROW} FROM questions WHERE id = :id", {"id": question_id})
    return read_one(_make_question, found, choices=load_choices)


def find_of_call(connection: Connection, *, turn_id: TurnId, call_id: CallId) -> Question | None:
    """Return the question that a tool call asked, if any."""
    found = connection.execute(
        f"SELECT {_ROW} FROM questions WHERE turn_id = :turn_id AND call_id = :call_id",
        {"turn_id": turn_id, "call_id": call_id},
    )
    return read_one(_make_question, found, choices=load_choices)


def is_of_turn(connection: Connection, *, turn_id: TurnId) -> bool:
    """Return whether a turn has asked something."""
    found = connection.execute(
        "SELECT 1 FROM questions WHERE turn_id = :turn_id LIMIT 1", {"turn_id": turn_id}
    )
    return found.fetchone() is not None


def find_asked_since(
    connection: Connection, *, person_id: PersonId, platform: str, since: int
) -> Question | None:
    """Return the newest open question on a platform that a person's own message brought about.

    `since` is in milliseconds since the epoch. Those about notes and consent come by themselves.
    """
    found = connection.execute(
        f"SELECT {_ROW} FROM questions WHERE person_id = :person_id AND state = 'open'"
        " AND platform = :platform AND asked_at > :since"
        " AND kind NOT IN ('proposal', 'notes', 'reading') ORDER BY id DESC LIMIT 1",
        {"person_id": person_id, "platform": platform, "since": since},
    )
    return read_one(_make_question, found, choices=load_choices)


def find_open(connection: Connection, *, person_id: PersonId) -> list[Question]:
    """List the open questions of a person, newest first."""
    rows = connection.execute(
        f"SELECT {_ROW} FROM questions WHERE person_id = :person_id AND state = 'open'"
        " ORDER BY id DESC",
        {"person_id": person_id},
    )
    return read_all(_make_question, rows, choices=load_choices)


def list_awaited(connection: Connection, *, person_id: PersonId) -> list[Question]:
    """List the questions for whose answers a person's own running turns wait, newest first.

    What a turn proposes is asked when it has ended, so no turn waits for that.
    """
    rows = connection.execute(
        f"SELECT {_ROW} FROM questions WHERE person_id = :person_id AND state = 'open'"
        " AND kind != 'proposal' AND turn_id IN"
        " (SELECT id FROM turns WHERE state = 'running' AND person_id = :person_id)"
        " ORDER BY id DESC",
        {"person_id": person_id},
    )
    return read_all(_make_question, rows, choices=load_choices)


def find_open_of_room(connection: Connection, *, payload: str) -> list[Question]:
    """List the open questions for consent to the mode `full`; `payload` is the room's id."""
    rows = connection.execute(
        f"SELECT {_ROW} FROM questions INDEXED BY questions_open WHERE state = 'open'"
        " AND kind = 'full' AND payload = :payload ORDER BY id",
        {"payload": payload},
    )
    return read_all(_make_question, rows, choices=load_choices)


def list_people_asked(connection: Connection) -> list[PersonId]:
    """List all people who have an open question."""
    rows = connection.execute(
        "SELECT DISTINCT person_id FROM questions WHERE state = 'open'"
    ).fetchall()
    return [PersonId(row[0]) for row in rows]


def find_open_of_turn(connection: Connection, *, turn_id: TurnId) -> list[Question]:
    """List the open questions of a turn."""
    rows = connection.execute(
        f"SELECT {_ROW} FROM questions WHERE turn_id = :turn_id AND state = 'open' ORDER BY id",
        {"turn_id": turn_id},
    )
    return read_all(_make_question, rows, choices=load_choices)


def answer(
    connection: Connection, *, question_id: QuestionId, key: str, by: PersonId, now: int
) -> bool:
    """Store an answer; False if the question is answered or closed."""
    row = connection.execute(
        "UPDATE questions SET state = 'answered', answer = :key, answered_by = :by,"
        " answered_at = :now WHERE id = :id AND state = 'open' RETURNING id",
        {"id": question_id, "key": key, "by": by, "now": now},
    ).fetchone()
    return row is not None


def close(connection: Connection, *, question_id: QuestionId, now: int) -> bool:
    """Close a question without an answer; False if it was answered or closed before."""
    row = connection.execute(
        "UPDATE questions SET state = 'over', answered_at = :now"
        " WHERE id = :id AND state = 'open' RETURNING id",
        {"id": question_id, "now": now},
    ).fetchone()
    return row is not None


def list_refused(
    connection: Connection, *, person_id: PersonId, limit: int, pieces: Sequence[str] = ()
) -> list[Question]:
    """List the proposals that a person did not accept, newest first; redacted ones are left out.

    With `pieces`, only those that hold one of them: SQLite searches, so that the event loop goes on
    although there may be thousands.
    """
    named = {f"piece{number}": piece for number, piece in enumerate(pieces)}
    holds = " OR ".join(f"instr(payload, :{name}) > 0" for name in named) or "1"
    rows = connection.execute(
        f"SELECT {_ROW} FROM questions WHERE person_id = :person_id AND kind = 'proposal'"
        " AND payload <> '' AND (state = 'over' OR (state = 'answered' AND answer <> 'accept'))"
        f" AND ({holds}) ORDER BY id DESC LIMIT :limit",
        {"person_id": person_id, "limit": limit, **named},
    )
    return read_all(_make_question, rows, choices=load_choices)


def set_payload(
    connection: Connection, *, person_id: PersonId, question_id: QuestionId, payload: str
) -> None:
    """Replace the payload of a person's question."""
    connection.execute(
        "UPDATE questions SET payload = :payload WHERE id = :id AND person_id = :person_id",
        {"id": question_id, "person_id": person_id, "payload": payload},
    )


def list_asked_notes(
    connection: Connection, *, person_id: PersonId, limit: int
) -> list[tuple[int, QuestionState]]:
    """List when a person was asked about notes of reviews, and what came of it, newest first."""
    rows = connection.execute(
        "SELECT asked_at, state FROM questions WHERE person_id = :person_id"
        " AND (kind = 'notes' OR (kind = 'proposal' AND call_id LIKE 'review:%'))"
        " ORDER BY id DESC LIMIT :limit",
        {"person_id": person_id, "limit": limit},
    ).fetchall()
    return [(row[0], row[1]) for row in rows]


def reword(
    connection: Connection,
    *,
    person_id: PersonId,
    question_id: QuestionId,
    text: str,
    choices: tuple[Choice, ...],
    payload: str,
) -> None:
    """Ask a person something else by the same question."""
    connection.execute(
        "UPDATE questions SET text = :text, choices = :choices, payload = :payload"
        " WHERE id = :id AND person_id = :person_id",
        {
            "id": question_id,
            "person_id": person_id,
            "text": text,
            "choices": dump_choices(choices),
            "payload": payload,
        },
    )


def reopen(connection: Connection, *, question_id: QuestionId, expires_at: int) -> None:
    """Open a question again and delete its answer. `expires_at` is in milliseconds."""
    connection.execute(
        "UPDATE questions SET state = 'open', answer = NULL, answered_by = NULL,"
        " answered_at = NULL, expires_at = :expires_at WHERE id = :id",
        {"id": question_id, "expires_at": expires_at},
    )


def move(connection: Connection, *, question_id: QuestionId, chat: Chat) -> None:
    """Move a question to another chat."""
    connection.execute(
        "UPDATE questions SET platform = :platform, chat = :chat WHERE id = :id",
        {"id": question_id, "platform": chat.platform, "chat": chat.address},
    )
