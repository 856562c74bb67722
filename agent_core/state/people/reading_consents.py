"""Queries over consents: a person lets an owner read their conversations for a time."""

from dataclasses import dataclass

from agent_core.ids import PersonId
from agent_core.state.engine.connection import read_all, read_one
from agent_core.state.engine.database import Connection


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingConsent:
    """A consent that has not ended; its times are milliseconds UTC."""

    id: int
    person_id: PersonId
    reader_id: PersonId
    given_at: int
    expires_at: int


_COLUMNS = "id, person_id, reader_id, given_at, expires_at"


def insert(
    connection: Connection, *, person_id: PersonId, reader_id: PersonId, now: int, expires_at: int
) -> None:
    """Store a consent."""
    connection.execute(
        "INSERT INTO reading_consents (person_id, reader_id, given_at, expires_at)"
        " VALUES (:person_id, :reader_id, :now, :expires_at)",
        {"person_id": person_id, "reader_id": reader_id, "now": now, "expires_at": expires_at},
    )


def find(
    connection: Connection, *, person_id: PersonId, reader_id: PersonId, now: int
) -> ReadingConsent | None:
    """Return the consent that lets an owner read a person's conversations now, if there is one."""
    found = connection.execute(
        f"SELECT {_COLUMNS} FROM reading_consents WHERE person_id = :person_id"
        " AND reader_id = :reader_id AND ended_at IS NULL AND expires_at > :now"
        " ORDER BY expires_at DESC LIMIT 1",
        {"person_id": person_id, "reader_id": reader_id, "now": now},
    )
    return read_one(ReadingConsent, found)


def list_of(connection: Connection, *, person_id: PersonId, now: int) -> list[ReadingConsent]:
    """List a person's consents that have not ended, oldest first."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM reading_consents WHERE person_id = :person_id"
        " AND ended_at IS NULL AND expires_at > :now ORDER BY id",
        {"person_id": person_id, "now": now},
    )
    return read_all(ReadingConsent, rows)


def list_of_reader(
    connection: Connection, *, reader_id: PersonId, now: int
) -> list[ReadingConsent]:
    """List the consents that others gave to an owner and that have not ended, oldest first."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM reading_consents WHERE reader_id = :reader_id"
        " AND ended_at IS NULL AND expires_at > :now ORDER BY id",
        {"reader_id": reader_id, "now": now},
    )
    return read_all(ReadingConsent, rows)


def end_all(connection: Connection, *, person_id: PersonId, now: int) -> int:
    """End every consent of a person; return how many there were."""
    return connection.execute(
        "UPDATE reading_consents SET ended_at = :now WHERE person_id = :person_id"
        " AND ended_at IS NULL AND expires_at > :now",
        {"person_id": person_id, "now": now},
    ).rowcount


def delete_of(connection: Connection, *, person_id: PersonId) -> None:
    """Delete the consents that a person gave or received."""
    values = {"person_id": person_id}
    connection.execute("DELETE FROM reading_consents WHERE person_id = :person_id", values)
    connection.execute("DELETE FROM reading_consents WHERE reader_id = :person_id", values)
