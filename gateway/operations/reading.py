"""Operations on consent to be read: ask a person for it, and end it."""

from agent_core.ids import PersonId
from agent_core.state.engine.database import Connection
from agent_core.state.people import people, reading_consents
from agent_core.state.people.people import Person
from agent_core.state.queues.outbox import OutboxRow
from gateway.people.reading_consent import ReadingConsent, record


def ask(
    connection: Connection, consent: ReadingConsent, reader: Person, person_id: PersonId, now: int
) -> list[OutboxRow] | None:
    """Ask a person to let an owner read their conversations; None if there is no such person.

    Raises `Declined` if they can't be asked, or were asked already.
    """
    person = people.find(connection, person_id=person_id)
    if person is None or person.id == reader.id:
        return None
    return consent.ask(connection, reader=reader, person=person, now=now)


def end(connection: Connection, person: Person, actor: str, now: int) -> None:
    """End every consent that a person has given, and record it."""
    if reading_consents.end_all(connection, person_id=person.id, now=now):
        record(connection, person.id, actor, "end", person, now)
