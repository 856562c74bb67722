"""Queries over long-running commands.

The text of a command is only in the workspace. A command belongs to the person of its conversation.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from agent_core.ids import ConversationId, PersonId, ProcessId, TurnId
from agent_core.state.engine.connection import list_fields, read_all, read_one
from agent_core.state.engine.database import Connection

ProcessState = Literal["running", "ended", "lost"]

_PROCESS = (
    "id, conversation_id, turn_id, workspace, wants_note, state, status, reason, started_at,"
    " ended_at"
)
_MINE = "conversation_id IN (SELECT id FROM conversations WHERE person_id = :person_id)"
_KEPT = 20
"""The ended commands of a person that are kept in the list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewProcess:
    """A long-running command before its start; `wants_note` requests a turn when it ends."""

    conversation_id: ConversationId
    turn_id: TurnId
    workspace: str
    wants_note: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessRow(NewProcess):
    """A long-running command. `reason` is the limit that ended it, or another code; "" if none.

    `lost` means that the gateway stopped before the command ended.
    """

    id: ProcessId
    state: ProcessState
    status: int | None
    reason: str
    started_at: int
    ended_at: int | None


def insert(
    connection: Connection, *, process: NewProcess, person_id: PersonId, now: int
) -> ProcessId:
    """Record a command before it starts, and delete the oldest ended commands of its person."""
    cursor = connection.execute(
        "INSERT INTO processes (conversation_id, turn_id, workspace, wants_note, state, started_at)"
        " VALUES (:conversation_id, :turn_id, :workspace, :wants_note, 'running', :now)",
        {**list_fields(process), "now": now},
    )
    connection.execute(
        f"DELETE FROM processes WHERE id IN (SELECT id FROM processes WHERE {_MINE}"
        " AND state <> 'running' ORDER BY id DESC LIMIT -1 OFFSET :kept)",
        {"person_id": person_id, "kept": _KEPT},
    )
    return ProcessId(cursor.lastrowid or 0)


def drop(connection: Connection, *, process_id: ProcessId) -> None:
    """Delete a command that could not start."""
    connection.execute("DELETE FROM processes WHERE id = :id", {"id": process_id})


def find(
    connection: Connection, *, process_id: ProcessId, person_id: PersonId
) -> ProcessRow | None:
    """Return a command of a person."""
    found = connection.execute(
        f"SELECT {_PROCESS} FROM processes WHERE id = :id AND {_MINE}",
        {"id": process_id, "person_id": person_id},
    )
    return read_one(ProcessRow, found, wants_note=bool)


def list_of_person(connection: Connection, *, person_id: PersonId) -> list[ProcessRow]:
    """List the commands of a person, newest first."""
    rows = connection.execute(
        f"SELECT {_PROCESS} FROM processes WHERE {_MINE} ORDER BY id DESC",
        {"person_id": person_id},
    )
    return read_all(ProcessRow, rows, wants_note=bool)


def find_any(
    connection: Connection, *, process_ids: Sequence[ProcessId]
) -> list[tuple[ProcessRow, PersonId]]:
    """Return those of these commands that still exist, each with its person."""
    found = []
    for process_id in process_ids:
        rows = connection.execute(
            f"SELECT {_PROCESS}, (SELECT person_id FROM conversations WHERE id ="
            " processes.conversation_id) AS owner_id FROM processes WHERE id = :id",
            {"id": process_id},
        )
        found += read_all(_with_owner, rows, wants_note=bool)
    return found


def _with_owner(owner_id: PersonId, **fields: Any) -> tuple[ProcessRow, PersonId]:
    return ProcessRow(**fields), owner_id


def end(
    connection: Connection, *, process_id: ProcessId, status: int | None, reason: str, now: int
) -> ProcessRow | None:
    """Record the end of a running command; None if it is not recorded as running."""
    found = connection.execute(
        "UPDATE processes SET state = 'ended', status = :status, reason = :reason, ended_at = :now"
        f" WHERE id = :id AND state = 'running' RETURNING {_PROCESS}",
        {"id": process_id, "status": status, "reason": reason, "now": now},
    )
    return read_one(ProcessRow, found, wants_note=bool)


def lose(connection: Connection, *, known: Sequence[ProcessId], now: int) -> list[ProcessRow]:
    """Mark all running commands but the `known` ones as lost, and return them."""
    rows = connection.execute(
        f"SELECT {_PROCESS} FROM processes WHERE state = 'running' ORDER BY id"
    )
    running = read_all(ProcessRow, rows, wants_note=bool)
    lost = [process for process in running if process.id not in known]
    connection.executemany(
        "UPDATE processes SET state = 'lost', ended_at = :now WHERE id = :id",
        [{"id": process.id, "now": now} for process in lost],
    )
    return lost
