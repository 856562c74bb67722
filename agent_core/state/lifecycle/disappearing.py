"""Queries over messages that the apps of their chat delete after a time, and their removal.

When one is due is a single value under the number of its event, until it is gone.
"""

from agent_core.ids import InboxId, OutboxId, TurnId
from agent_core.state.engine import meta
from agent_core.state.engine.database import Connection
from agent_core.state.lifecycle import person_data, redact, retention

PREFIX = "disappears:"
"""Begins the keys in `meta`; `reviews` leaves out turns with such an event."""
_TOLD = "disappears_told:"


def note(connection: Connection, *, inbox_id: InboxId, due_at: int) -> None:
    """Record when an event disappears, in milliseconds UTC; the first time counts."""
    if meta.get(connection, key=f"{PREFIX}{inbox_id}") is None:
        meta.put(connection, key=f"{PREFIX}{inbox_id}", value=str(due_at))


def begin_telling(connection: Connection, *, chat: str) -> bool:
    """Return whether nobody in a chat was informed so far, once. `chat` is a digest."""
    is_first = meta.get(connection, key=f"{_TOLD}{chat}") is None
    meta.put(connection, key=f"{_TOLD}{chat}", value="")
    return is_first


def list_due(connection: Connection, *, now: int) -> list[InboxId]:
    """List the events that are due."""
    noted = meta.list_under(connection, prefix=PREFIX)
    return [
        InboxId(int(key.removeprefix(PREFIX)))
        for key, due_at in noted.items()
        if int(due_at) <= now
    ]


def remove(connection: Connection, *, inbox_id: InboxId, now: int) -> bool:
    """Remove an event with its turn: words, answers, results, files. False while it is in use."""
    row = connection.execute(
        "SELECT inbox.state, inbox.turn_id, turns.state FROM inbox"
        " LEFT JOIN turns ON turns.id = inbox.turn_id WHERE inbox.id = :inbox_id",
        {"inbox_id": inbox_id},
    ).fetchone()
    if row and (row[0] not in ("done", "dead") or row[2] == "running"):
        return False
    keys = redact.list_uploads(connection, inbox_id=inbox_id)
    if row and row[1]:
        keys += _remove_turn(connection, TurnId(row[1]), now)
    if row:
        redact.drop_event(connection, inbox_id=inbox_id)
    if keys:
        unused = {*keys} - person_data.list_referenced(connection, keys=keys)
        redact.empty_files(connection, keys=sorted(unused))
    meta.drop(connection, key=f"{PREFIX}{inbox_id}")
    return True


def _remove_turn(connection: Connection, turn_id: TurnId, now: int) -> list[str]:
    """Remove what a turn said and did; return the keys of its files."""
    span = retention.Span(after=turn_id - 1, until=turn_id, before=now + 1)
    retention.sweep_messages(connection, span=span)
    retention.sweep_steps(connection, span=span)
    files = connection.execute(
        "SELECT id, file_key FROM turn_files WHERE turn_id = :turn_id", {"turn_id": turn_id}
    ).fetchall()
    for file_id, _ in files:
        redact.drop_turn_file(connection, turn_file_id=file_id)
    sent = connection.execute(
        "SELECT id FROM outbox WHERE turn_id = :turn_id", {"turn_id": turn_id}
    ).fetchall()
    for (outbox_id,) in sent:
        redact.drop_words(connection, outbox_id=OutboxId(outbox_id))
    return [key for _, key in files]
