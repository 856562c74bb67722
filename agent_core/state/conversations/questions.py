"""Queries over what people were asked: an answer counts once, and only for its own question."""

import json
from dataclasses import dataclass
from typing import Literal

from agent_core.ids import CallId, PersonId, QuestionId, TurnId
from agent_core.state.engine.database import Connection

Kind = Literal["choice", "approval", "link", "merge", "forget", "erase"]
"""What is asked: the model wants a choice, a tool call wants leave, two accounts want to be
joined, two memories do not fit into one, words are to go for good, a person is."""
Style = Literal["plain", "good", "danger"]
QuestionState = Literal["open", "answered", "over"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One answer that may be given. `key` is unique in its question, `[a-z0-9_]`, short."""

    key: str
    label: str
    style: Style = "plain"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewQuestion:
    """A question to be asked. `place` is (platform, chat); times are milliseconds.

    `secret` is in the keys of the question's buttons, so that none can be made up.
    """

    person_id: PersonId
    kind: Kind
    text: str
    choices: tuple[Choice, ...]
    secret: str
    place: tuple[str, str]
    expires_at: int
    turn_id: TurnId | None = None
    call_id: CallId | None = None
    payload: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question that was asked, and what became of it. `answer` is the key of a choice."""

    id: QuestionId
    person_id: PersonId
    turn_id: TurnId | None
    call_id: CallId | None
    kind: Kind
    text: str
    choices: tuple[Choice, ...]
    payload: str
    secret: str
    platform: str
    chat: str
    state: QuestionState
    answer: str | None
    expires_at: int


_COLUMNS = (
    *("id", "person_id", "turn_id", "call_id", "kind", "text", "choices", "payload", "secret"),
    *("platform", "chat", "state", "answer", "expires_at"),
)
_ROW = ", ".join(_COLUMNS)


def _question(row: tuple[object, ...]) -> Question:
    fields = dict(zip(_COLUMNS, row, strict=True))
    fields["choices"] = load_choices(str(fields["choices"]))
    return Question(**fields)  # type: ignore[arg-type]


def dump_choices(choices: tuple[Choice, ...]) -> str:
    """Choices as JSON text."""
    fields = [[choice.key, choice.label, choice.style] for choice in choices]
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def load_choices(text: str) -> tuple[Choice, ...]:
    """The reverse of `dump_choices`; an empty text is no choices."""
    fields = json.loads(text) if text else []
    return tuple(Choice(key=key, label=label, style=style) for key, label, style in fields)


def ask(connection: Connection, question: NewQuestion, *, now: int) -> Question:
    """Keep a question; one that was asked by the same call of the same turn stays as it is."""
    if question.turn_id is not None and question.call_id is not None:
        known = find_of_call(connection, turn_id=question.turn_id, call_id=question.call_id)
        if known:
            return known
    row = connection.execute(
        "INSERT INTO questions (person_id, turn_id, call_id, kind, text, choices, payload, secret,"
        " platform, chat, state, asked_at, expires_at) VALUES (:person_id, :turn_id, :call_id,"
        " :kind, :text, :choices, :payload, :secret, :platform, :chat, 'open', :now, :expires_at)"
        f" RETURNING {_ROW}",
        {
            "person_id": question.person_id,
            "turn_id": question.turn_id,
            "call_id": question.call_id,
            "kind": question.kind,
            "text": question.text,
            "choices": dump_choices(question.choices),
            "payload": question.payload,
            "secret": question.secret,
            "platform": question.place[0],
            "chat": question.place[1],
            "now": now,
            "expires_at": question.expires_at,
        },
    ).fetchone()
    return _question(row)


def find(connection: Connection, *, question_id: QuestionId) -> Question | None:
    """The question of this id."""
    row = connection.execute(
        f"SELECT {_ROW} FROM questions WHERE id = :id", {"id": question_id}
    ).fetchone()
    return _question(row) if row else None


def find_of_call(connection: Connection, *, turn_id: TurnId, call_id: CallId) -> Question | None:
    """What a tool call has asked, if it has."""
    row = connection.execute(
        f"SELECT {_ROW} FROM questions WHERE turn_id = :turn_id AND call_id = :call_id",
        {"turn_id": turn_id, "call_id": call_id},
    ).fetchone()
    return _question(row) if row else None


def find_open(connection: Connection, *, person_id: PersonId) -> list[Question]:
    """What a person has not answered yet, newest first."""
    rows = connection.execute(
        f"SELECT {_ROW} FROM questions WHERE person_id = :person_id AND state = 'open'"
        " ORDER BY id DESC",
        {"person_id": person_id},
    ).fetchall()
    return [_question(row) for row in rows]


def list_people_asked(connection: Connection) -> list[PersonId]:
    """Everyone who has something to answer."""
    rows = connection.execute(
        "SELECT DISTINCT person_id FROM questions WHERE state = 'open'"
    ).fetchall()
    return [PersonId(row[0]) for row in rows]


def find_open_of_turn(connection: Connection, *, turn_id: TurnId) -> list[Question]:
    """What a turn still waits for."""
    rows = connection.execute(
        f"SELECT {_ROW} FROM questions WHERE turn_id = :turn_id AND state = 'open' ORDER BY id",
        {"turn_id": turn_id},
    ).fetchall()
    return [_question(row) for row in rows]


def answer(
    connection: Connection, *, question_id: QuestionId, key: str, by: PersonId, now: int
) -> bool:
    """Keep an answer; False if the question has one already, or is over."""
    row = connection.execute(
        "UPDATE questions SET state = 'answered', answer = :key, answered_by = :by,"
        " answered_at = :now WHERE id = :id AND state = 'open' RETURNING id",
        {"id": question_id, "key": key, "by": by, "now": now},
    ).fetchone()
    return row is not None


def close(connection: Connection, *, question_id: QuestionId, now: int) -> bool:
    """The question needs no answer any more; False if it was answered or over before."""
    row = connection.execute(
        "UPDATE questions SET state = 'over', answered_at = :now"
        " WHERE id = :id AND state = 'open' RETURNING id",
        {"id": question_id, "now": now},
    ).fetchone()
    return row is not None


def move(connection: Connection, *, question_id: QuestionId, place: tuple[str, str]) -> None:
    """The question is asked elsewhere from now on; `place` is (platform, chat)."""
    connection.execute(
        "UPDATE questions SET platform = :platform, chat = :chat WHERE id = :id",
        {"id": question_id, "platform": place[0], "chat": place[1]},
    )
