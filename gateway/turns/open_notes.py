"""Ask about all notes that wait for a person in one message.

Notes wait in the records of their reviews until they are answered, so that a question without an
answer loses none.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

from agent_core.agent.review.record import HeldClaim
from agent_core.agent.review.replacing import find_replaced
from agent_core.chats import Chat
from agent_core.ids import PersonId, TaskId
from agent_core.state.conversations import questions
from agent_core.state.conversations.questions import Choice, NewQuestion, Question
from agent_core.state.engine.database import Connection
from agent_core.state.people.people import Person
from agent_core.state.queues.outbox import OutboxRow
from gateway.outbound.questions import AnswerOutcome, Questions, drop, make_secret
from gateway.texts import learning as notices
from gateway.turns.proposals import (
    ACCEPT,
    DISMISS,
    NoteRef,
    ask_first,
    enqueue_change,
    list_held,
    take_held,
)

ALL, NONE, EACH = "all", "none", "each"
_MOST_LISTED = 8
"""Notes of one question; fewer wait for others, because a message should be worth it."""
_MOST_CHARACTERS = 1_500
"""Characters of the notes in one question: a message holds them on every platform."""
_LONGEST_REPLACED = 240
"""Characters of a replaced note that a list shows whole; a longer one is asked about alone."""
_WEEK = 7 * 24 * 3_600_000
_SOON, _LATER = _WEEK, 4 * _WEEK
"""Milliseconds between two questions, if a whole list of notes waits and with fewer."""
_LASTS = 8 * _WEEK
"""Milliseconds during which a question may be answered: until the next one, usually."""
_MOST_DOUBLED = 3
"""How often the wait doubles while nobody answers."""


def find_due(connection: Connection, person_id: PersonId) -> int:
    """Return when a person may be asked about notes again, unless they want it earlier.

    The first question comes at once. Few notes, and questions without an answer, make the waits
    longer. In milliseconds since the epoch, UTC.
    """
    asked = questions.list_asked_notes(connection, person_id=person_id, limit=_MOST_DOUBLED)
    unanswered = sum(1 for _ in takewhile(lambda one: one[1] != "answered", asked))
    wait = _SOON if len(list_held(connection, person_id)) >= _MOST_LISTED else _LATER
    return asked[0][0] + wait * 2**unanswered if asked else 0


def ask(
    connection: Connection, asking: Questions, person_id: PersonId, chat: Chat, now: int
) -> list[OutboxRow]:
    """Ask about the notes that wait, in the reader's language; no rows if none does.

    A newer question replaces an older one, so that each note has at most one question.
    """
    question = _make_question(connection, person_id, chat, now)
    if question is None:
        return []
    rows: list[OutboxRow] = []
    for older in questions.find_open(connection, person_id=person_id):
        if older.kind == "notes":
            rows += drop(connection, older, notices.ASKED_AGAIN, now)
    return [*rows, *asking.pose(connection, question, now)]


def answer_notes(
    connection: Connection, question: Question, key: str, person: Person, now: int
) -> AnswerOutcome:
    """Keep or dismiss the notes of a question, or ask about each, in the answer's transaction."""
    listed: Sequence[tuple[TaskId, int, str]] = json.loads(question.payload)
    if key == EACH:
        refs = [(task_id, number) for task_id, number, _ in listed]
        asks = ask_first(connection, person.id, refs, question.chat, now)
        return _ask_each(asks)
    alone: list[NoteRef] = []
    done = 0
    for task_id, number, replaced in listed:
        ref = (task_id, number)
        if key == ALL and not _has_shown(connection, person.id, ref, replaced):
            alone.append(ref)
            continue
        one = take_held(connection, person.id, ref, question.chat, now)
        if one is None:
            continue
        asked = questions.ask(connection, one, now=now)
        choice = ACCEPT if key == ALL else DISMISS
        questions.answer(connection, question_id=asked.id, key=choice, by=person.id, now=now)
        if key == ALL:
            enqueue_change(connection, asked, now)
        done += 1
    asks = ask_first(connection, person.id, alone, question.chat, now)
    if not asks and (following := _make_question(connection, person.id, question.chat, now)):
        asks = [following]
    if not done:
        return _ask_each(asks)
    describe = notices.describe_kept if key == ALL else notices.describe_dismissed
    return AnswerOutcome(words=describe(done), asks=asks)


def _ask_each(asks: Sequence[NewQuestion]) -> AnswerOutcome:
    """Go on with the first note that still waits; without one, say so."""
    if asks:
        return AnswerOutcome(words=notices.ASKING_EACH(), says_more=False, asks=asks)
    return AnswerOutcome(words=notices.NOTES_GONE())


def _make_question(
    connection: Connection, person_id: PersonId, chat: Chat, now: int
) -> NewQuestion | None:
    """Make the question about the oldest notes that wait; a single one is shown in full."""
    waiting = [
        (ref, held, find_replaced(connection, person_id=person_id, claim=held.claim))
        for ref, held in _list_waiting(connection, person_id)
    ]
    listed: list[tuple[NoteRef, HeldClaim, str]] = []
    left = _MOST_CHARACTERS
    for one in waiting[:_MOST_LISTED]:
        left -= len(one[1].claim.text) + len(one[2])
        if listed and (left < 0 or len(one[2]) > _LONGEST_REPLACED):
            break
        listed.append(one)
    if not listed:
        return None
    if len(listed) == 1:
        following = [one[0] for one in waiting[1:]]
        question = take_held(connection, person_id, listed[0][0], chat, now, following)
        return replace(question, expires_at=now + _LASTS) if question else None
    notes = [(held, replaced) for _, held, replaced in listed]
    return NewQuestion(
        person_id=person_id,
        kind="notes",
        text=notices.ask_about_all(notes, len(waiting) - len(listed)),
        choices=(
            Choice(key=ALL, label=notices.KEEP_ALL(), style="good"),
            Choice(key=NONE, label=notices.KEEP_NONE()),
            Choice(key=EACH, label=notices.ONE_BY_ONE()),
        ),
        secret=make_secret(),
        chat=chat,
        expires_at=now + _LASTS,
        payload=json.dumps([(*ref, replaced) for ref, _, replaced in listed], ensure_ascii=False),
    )


def _list_waiting(connection: Connection, person_id: PersonId) -> list[tuple[NoteRef, HeldClaim]]:
    return [((task_id, held.number), held) for task_id, held in list_held(connection, person_id)]


def _has_shown(connection: Connection, person_id: PersonId, ref: NoteRef, replaced: str) -> bool:
    """Return whether a list showed the whole of a change: nobody accepts what they have not seen.

    `replaced` is the note that went for it then. A note that no longer waits counts as shown.
    """
    held = dict(_list_waiting(connection, person_id)).get(ref)
    if held is None:
        return True
    is_skill = held.lesson is not None and held.lesson.skill != ""
    is_same = find_replaced(connection, person_id=person_id, claim=held.claim) == replaced
    return not is_skill and is_same and len(replaced) <= _LONGEST_REPLACED
