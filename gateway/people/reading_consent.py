"""Consent that an owner reads a person's conversations: asked in their chat, and for a time."""

from collections.abc import Collection, Mapping

from agent_core.ids import PersonId
from agent_core.localization import use_language
from agent_core.state.conversations import questions as stored
from agent_core.state.conversations.questions import Choice, NewQuestion, Question, QuestionKind
from agent_core.state.engine.database import Connection
from agent_core.state.people import audit, people, reading_consents
from agent_core.state.people.audit import AuditEntry
from agent_core.state.people.people import Person
from agent_core.state.queues.outbox import OutboxRow
from gateway.errors import Declined
from gateway.outbound.questions import Answerer, AnswerOutcome, Questions, make_secret
from gateway.people.owner_notices import find_direct_chat
from gateway.texts import access

READING_HOURS = 24
"""Hours until a consent ends; then an owner can ask again."""
_HOUR = 3_600_000
_ASK_LASTS = 7 * 24 * _HOUR
"""Milliseconds during which the question may be answered."""
_KIND: QuestionKind = "reading"
_YES, _NO = "yes", "no"


class ReadingConsent:
    """Asks people whether an owner may read their conversations."""

    def __init__(self, questions: Questions, platforms: Collection[str]) -> None:
        self._questions = questions
        self._platforms = platforms

    def ask(
        self, connection: Connection, *, reader: Person, person: Person, now: int
    ) -> list[OutboxRow]:
        """Ask a person in their direct chat, in the caller's transaction.

        Raises `Declined` if they can't be asked, or were asked already.
        """
        if is_asked(connection, reader=reader, person_id=person.id):
            raise Declined(access.ASKED_ALREADY(name=person.name))
        chat = find_direct_chat(connection, person, self._platforms)
        if chat is None:
            raise Declined(access.NO_DIRECT_CHAT(name=person.name))
        record(connection, person.id, f"person:{reader.id}", "ask", reader, now)
        with use_language(person.language):
            question = NewQuestion(
                person_id=person.id,
                kind=_KIND,
                text=access.MAY_READ(name=reader.name, hours=READING_HOURS),
                choices=(
                    Choice(key=_YES, label=access.ALLOW(hours=READING_HOURS)),
                    Choice(key=_NO, label=access.REFUSE()),
                ),
                secret=make_secret(),
                chat=chat,
                expires_at=now + _ASK_LASTS,
                payload=str(reader.id),
            )
        return self._questions.pose(connection, question, now)


def is_asked(connection: Connection, *, reader: Person, person_id: PersonId) -> bool:
    """Return whether a person still has to answer this reader."""
    asked = stored.find_open(connection, person_id=person_id)
    return any(one.kind == _KIND and one.payload == str(reader.id) for one in asked)


def make_reading_answerers() -> Mapping[QuestionKind, Answerer]:
    """Return the handler of the question's answers."""
    return {_KIND: _answer}


def _answer(
    connection: Connection, question: Question, key: str, person: Person, now: int
) -> AnswerOutcome:
    """Store the consent after a yes, if the asker is still an owner."""
    reader = people.find(connection, person_id=PersonId(int(question.payload)))
    actor = f"person:{person.id}"
    if reader is None or not reader.is_owner:
        return AnswerOutcome(words=access.NO_OWNER_ANY_MORE())
    if key != _YES:
        record(connection, person.id, actor, "refuse", reader, now)
        return AnswerOutcome(words=access.REFUSED(name=reader.name))
    reading_consents.insert(
        connection,
        person_id=person.id,
        reader_id=reader.id,
        now=now,
        expires_at=now + READING_HOURS * _HOUR,
    )
    record(connection, person.id, actor, "allow", reader, now)
    return AnswerOutcome(words=access.ALLOWED(name=reader.name, hours=READING_HOURS))


def record(
    connection: Connection, person_id: PersonId, actor: str, what: str, other: Person, now: int
) -> None:
    """Record what was done about a consent, and with whom."""
    deed = AuditEntry(
        person_id=person_id,
        actor=actor,
        action=f"reading.{what}",
        detail=other.slug,
        created_at=now,
    )
    audit.record(connection, deed)
