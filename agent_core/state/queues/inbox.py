"""Queries over platform events: stored before they are acknowledged, kept until they are done."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent_core.ids import InboxId, PersonId, TurnId
from agent_core.state.engine.connection import read_all, read_one
from agent_core.state.engine.database import Connection

_DONE = "state = 'done', payload = CASE WHEN platform = 'console' THEN payload ELSE '' END"
"""The event of an ended turn is in the transcript, so that its payload is cleared. The console page
shows its own events again, so that theirs stay.
"""
_IS_OPEN = "state IN ('received', 'claimed')"
"""The condition of a partial index; SQLite uses the index only if a query repeats it verbatim."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxRow:
    """An event to process."""

    id: InboxId
    platform: str
    event_id: str
    payload: str
    is_repeat: bool = False
    """True if it is read again: by a later process, or because its person has changed."""


def store(
    connection: Connection, *, platform: str, events: Sequence[tuple[str, str]], now: int
) -> list[InboxRow]:
    """Store events given as (event id, payload); return the new ones, in order."""
    fresh = []
    for event_id, payload in events:
        cursor = connection.execute(
            "INSERT INTO inbox (platform, event_id, payload, state, received_at)"
            " VALUES (:platform, :event_id, :payload, 'received', :now)"
            " ON CONFLICT (platform, event_id) DO NOTHING",
            {"platform": platform, "event_id": event_id, "payload": payload, "now": now},
        )
        if cursor.rowcount:
            inbox_id = InboxId(cursor.lastrowid or 0)
            fresh.append(
                InboxRow(id=inbox_id, platform=platform, event_id=event_id, payload=payload)
            )
    return fresh


def drop_used(connection: Connection, *, platform: str, event_id: str) -> None:
    """Delete a processed event, because its platform uses the id again for another event."""
    connection.execute(
        "DELETE FROM inbox WHERE platform = :platform AND event_id = :event_id"
        " AND state <> 'received'",
        {"platform": platform, "event_id": event_id},
    )


def list_received(connection: Connection) -> list[InboxRow]:
    """List the unclaimed events, oldest first."""
    rows = connection.execute(
        "SELECT id, platform, event_id, payload FROM inbox"
        f" WHERE {_IS_OPEN} AND state = 'received' ORDER BY id"
    )
    return read_all(InboxRow, rows)


def find_received(connection: Connection, *, inbox_ids: Sequence[InboxId]) -> list[InboxRow]:
    """List those of the given events that are unclaimed and unfinished, oldest first."""
    found = []
    for inbox_id in sorted(inbox_ids):
        rows = connection.execute(
            "SELECT id, platform, event_id, payload FROM inbox"
            " WHERE id = :id AND state = 'received'",
            {"id": inbox_id},
        )
        found += read_all(InboxRow, rows)
    return found


def find_event(connection: Connection, *, platform: str, event_id: str) -> InboxRow | None:
    """Return an event that is unclaimed and unfinished."""
    found = connection.execute(
        "SELECT id, platform, event_id, payload FROM inbox WHERE platform = :platform"
        " AND event_id = :event_id AND state = 'received'",
        {"platform": platform, "event_id": event_id},
    )
    return read_one(InboxRow, found)


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxProgress:
    """The progress of an event. If a turn answers it, the turn, its chat and its person are set."""

    is_over: bool
    turn_id: TurnId | None
    chat: str | None
    person_id: PersonId | None


def find_progress(connection: Connection, *, platform: str, event_id: str) -> InboxProgress | None:
    """Return the progress of an event; None if it was never stored."""
    found = connection.execute(
        "SELECT inbox.state IN ('done', 'dead') AS is_over, turn_id, turns.chat, turns.person_id"
        " FROM inbox LEFT JOIN turns ON turns.id = turn_id"
        " WHERE inbox.platform = :platform AND event_id = :event_id",
        {"platform": platform, "event_id": event_id},
    )
    return read_one(InboxProgress, found, is_over=bool)


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxRepeat:
    """A stored event of which a client has sent equal ones, numbered from 0 on.

    `turn_id` and `chat` are those of the turn that answers it, if one does. `payload` is empty once
    the event is done and forgotten.
    """

    event_id: str
    is_over: bool
    turn_id: TurnId | None
    chat: str | None
    payload: str

    @property
    def number(self) -> int:
        """Its number: the first is 0, and the others end with theirs."""
        return int(self.event_id.partition(".")[2] or 0)


def list_repeats(connection: Connection, *, platform: str, event_id: str) -> list[InboxRepeat]:
    """List an event and its numbered repeats (`ID.1`, `ID.2`), newest first.

    The id holds a hash of its person, so it names no events of anybody else.
    """
    rows = connection.execute(
        "SELECT event_id, inbox.state IN ('done', 'dead') AS is_over, turn_id, turns.chat, payload"
        " FROM inbox LEFT JOIN turns ON turns.id = turn_id WHERE inbox.platform = :platform"
        # "/" is the character after "."
        " AND event_id >= :event_id AND event_id < :event_id || '/' ORDER BY inbox.id DESC",
        {"platform": platform, "event_id": event_id},
    )
    return read_all(InboxRepeat, rows, is_over=bool)


def claim(
    connection: Connection,
    *,
    inbox_ids: Sequence[InboxId],
    turn_id: TurnId,
    is_over: bool = False,
) -> None:
    """Assign events to a turn.

    `is_over` also marks them done, for a turn that ends in the same transaction.
    """
    change = _DONE if is_over else "state = 'claimed'"
    connection.executemany(
        f"UPDATE inbox SET {change}, turn_id = :turn_id WHERE id = :id AND state = 'received'",
        [{"id": inbox_id, "turn_id": turn_id} for inbox_id in inbox_ids],
    )


def find_platform(connection: Connection, *, inbox_id: InboxId) -> str | None:
    """Return the platform of an event; None if it is gone."""
    row = connection.execute("SELECT platform FROM inbox WHERE id = :id", {"id": inbox_id})
    found = row.fetchone()
    return found[0] if found else None


def list_claimed(connection: Connection, *, turn_id: TurnId) -> list[InboxRow]:
    """List the events of a turn that has not ended, oldest first."""
    rows = connection.execute(
        "SELECT id, platform, event_id, payload FROM inbox"
        " WHERE turn_id = :turn_id AND state = 'claimed' ORDER BY id",
        {"turn_id": turn_id},
    )
    return read_all(InboxRow, rows)


def finish(connection: Connection, *, inbox_id: InboxId, reason: str = "") -> None:
    """Mark an event that needs no turn as done. `reason` is a word or two."""
    connection.execute(
        "UPDATE inbox SET state = 'done', reason = :reason WHERE id = :id",
        {"id": inbox_id, "reason": reason},
    )


def keep_note(connection: Connection, *, inbox_id: InboxId, note: str) -> None:
    """Store a note to the sender of an event until the turn that answers it ends."""
    connection.execute(
        "UPDATE inbox SET reason = :note WHERE id = :id", {"id": inbox_id, "note": note}
    )


def take_notes(connection: Connection, *, turn_id: TurnId) -> list[str]:
    """Return and delete the notes to the senders of a turn's events, oldest first."""
    rows = connection.execute(
        "SELECT reason FROM inbox WHERE turn_id = :turn_id AND reason <> '' ORDER BY id",
        {"turn_id": turn_id},
    ).fetchall()
    if rows:
        connection.execute(
            "UPDATE inbox SET reason = '' WHERE turn_id = :turn_id", {"turn_id": turn_id}
        )
    return [row[0] for row in rows]


def drop_payload(connection: Connection, *, inbox_id: InboxId) -> None:
    """Delete the content of an event; its row stays, so that a repetition is recognised."""
    connection.execute("UPDATE inbox SET payload = '' WHERE id = :id", {"id": inbox_id})


def find_newest_at(connection: Connection, *, turn_id: TurnId) -> int | None:
    """Return when the newest message of a turn arrived, in milliseconds; None if it has none."""
    row = connection.execute(
        "SELECT MAX(received_at) FROM inbox WHERE turn_id = :turn_id", {"turn_id": turn_id}
    ).fetchone()
    return row[0] if row and isinstance(row[0], int) else None


def finish_turn(connection: Connection, *, turn_id: TurnId) -> None:
    """Mark all events of a turn as done."""
    connection.execute(
        f"UPDATE inbox SET {_DONE} WHERE turn_id = :turn_id AND state = 'claimed'",
        {"turn_id": turn_id},
    )


def park(connection: Connection, *, inbox_id: InboxId, reason: str) -> None:
    """Set an unreadable event aside; it is kept, but not processed again."""
    connection.execute(
        "UPDATE inbox SET state = 'dead', reason = :reason WHERE id = :id",
        {"id": inbox_id, "reason": reason},
    )


def count_dead(connection: Connection) -> int:
    """Count the events that were set aside."""
    row = connection.execute("SELECT COUNT(*) FROM inbox WHERE state = 'dead'").fetchone()
    return int(row[0])


def has_open(connection: Connection, *, platform: str) -> bool:
    """Return whether an event of a platform waits or is being processed."""
    row = connection.execute(
        f"SELECT 1 FROM inbox WHERE platform = :platform AND {_IS_OPEN} LIMIT 1",
        {"platform": platform},
    ).fetchone()
    return row is not None


def advance_positions(connection: Connection, *, platform: str, reached: Mapping[str, str]) -> None:
    """Advance the read positions of channels; none moves back. Positions are compared as text."""
    connection.executemany(
        "INSERT INTO read_positions (platform, channel, position) VALUES (:platform, :channel,"
        " :position)"
        " ON CONFLICT (platform, channel) DO UPDATE SET position = excluded.position"
        " WHERE excluded.position > read_positions.position",
        [
            {"platform": platform, "channel": channel, "position": position}
            for channel, position in reached.items()
        ],
    )


def read_positions(connection: Connection, *, platform: str) -> dict[str, str]:
    """Return channel -> position of one platform."""
    rows = connection.execute(
        "SELECT channel, position FROM read_positions WHERE platform = :platform",
        {"platform": platform},
    ).fetchall()
    return dict(rows)
