"""Queries over compactions: how talks were made shorter for the calls that followed."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from agent_core.errors import StoreDamaged
from agent_core.ids import MessageId, PersonId, SessionId, TurnId
from agent_core.state.engine.database import Connection
from agent_core.state.engine.recovery import checksum

CompactionReason = Literal["near", "overflow", "asked"]
"""The limit was near, the provider found the input too long, or somebody asked for it."""

_FIELDS = (
    "id, turn_id, made_after, shortened_to, summarized_to, kept, summary, reason, tokens_before,"
    " tokens_after, created_at, checksum"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewCompaction:
    """How a session is shown to calls made when `made_after` is its newest message, or later.

    Messages up to `summarized_to` are told by `summary`, but for those in `kept`; of the others,
    up to `shortened_to`, long outputs of tools are shown by their ends. The numbers of tokens
    are estimates of the whole request. `turn_id` is the turn that needed it, if one did.
    """

    turn_id: TurnId | None
    made_after: MessageId
    shortened_to: MessageId
    summarized_to: MessageId
    kept: tuple[MessageId, ...]
    summary: str
    reason: CompactionReason
    tokens_before: int
    tokens_after: int
    created_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction(NewCompaction):
    """A compaction as it stands in the database."""

    id: int


def insert(
    connection: Connection, compaction: NewCompaction, *, session_id: SessionId, person_id: PersonId
) -> Compaction:
    """Write down a compaction; it is the newest of its session then."""
    kept = json.dumps(compaction.kept)
    values = {
        "session_id": session_id,
        "person_id": person_id,
        "turn_id": compaction.turn_id,
        "made_after": compaction.made_after,
        "shortened_to": compaction.shortened_to,
        "summarized_to": compaction.summarized_to,
        "kept": kept,
        "summary": compaction.summary,
        "reason": compaction.reason,
        "tokens_before": compaction.tokens_before,
        "tokens_after": compaction.tokens_after,
        "now": compaction.created_at,
        "checksum": _sum(
            compaction.made_after,
            compaction.shortened_to,
            compaction.summarized_to,
            kept,
            compaction.summary,
        ),
    }
    row = connection.execute(
        "INSERT INTO compactions (session_id, person_id, turn_id, made_after, shortened_to,"
        " summarized_to,"
        " kept, summary, reason, tokens_before, tokens_after, created_at, checksum) VALUES"
        " (:session_id, :person_id, :turn_id, :made_after, :shortened_to, :summarized_to, :kept,"
        " :summary, :reason, :tokens_before, :tokens_after, :now, :checksum) RETURNING id",
        values,
    ).fetchone()
    return Compaction(
        id=row[0],
        turn_id=compaction.turn_id,
        made_after=compaction.made_after,
        shortened_to=compaction.shortened_to,
        summarized_to=compaction.summarized_to,
        kept=compaction.kept,
        summary=compaction.summary,
        reason=compaction.reason,
        tokens_before=compaction.tokens_before,
        tokens_after=compaction.tokens_after,
        created_at=compaction.created_at,
    )


def list_of_session(
    connection: Connection, *, session_id: SessionId, person_id: PersonId
) -> list[Compaction]:
    """All compactions of a session, oldest first. Raises `StoreDamaged`."""
    rows = connection.execute(
        f"SELECT {_FIELDS} FROM compactions WHERE session_id = :session_id AND person_id ="
        " :person_id"
        " ORDER BY id",
        {"session_id": session_id, "person_id": person_id},
    ).fetchall()
    return [_read_row(row) for row in rows]


def find_newest(
    connection: Connection, *, session_id: SessionId, person_id: PersonId
) -> Compaction | None:
    """The compaction that counts for the session's next call, if there is one. Raises"
    " `StoreDamaged`."""
    row = connection.execute(
        f"SELECT {_FIELDS} FROM compactions WHERE session_id = :session_id AND person_id ="
        " :person_id"
        " ORDER BY id DESC LIMIT 1",
        {"session_id": session_id, "person_id": person_id},
    ).fetchone()
    return _read_row(row) if row else None


def move(connection: Connection, *, session_ids: Iterable[SessionId], person_id: PersonId) -> None:
    """The compactions of sessions go with them to another person."""
    connection.executemany(
        "UPDATE compactions SET person_id = :person_id WHERE session_id = :session_id",
        [{"person_id": person_id, "session_id": session_id} for session_id in session_ids],
    )


def fingerprint(connection: Connection, *, session_id: SessionId) -> tuple[int, int, int]:
    """What tells whether a compaction may still be made of what was read of a session: its newest
    message, the sum of all checksums, and its newest compaction.
    """
    newest, total = connection.execute(
        "SELECT COALESCE(MAX(id), 0), COALESCE(SUM(checksum), 0) FROM messages"
        " WHERE session_id = :session_id",
        {"session_id": session_id},
    ).fetchone()
    row = connection.execute(
        "SELECT MAX(id) FROM compactions WHERE session_id = :session_id", {"session_id": session_id}
    ).fetchone()
    return newest, total, row[0] or 0


def drop_prompt(connection: Connection, *, session_id: SessionId) -> None:
    """The next turn of a session takes its prompt afresh."""
    connection.execute(
        "UPDATE sessions SET prompt_hash = NULL WHERE id = :session_id", {"session_id": session_id}
    )


_Row = tuple[int, int | None, int, int, int, str, str, CompactionReason, int, int, int, int]


def _read_row(row: _Row) -> Compaction:
    compaction_id, turn_id, made_after, shortened_to, summarized_to, kept, summary = row[:7]
    if _sum(made_after, shortened_to, summarized_to, kept, summary) != row[11]:
        raise StoreDamaged(
            f"compaction {compaction_id} of the transcript is damaged; restore a backup, or start"
            " afresh"
            " with /new"
        )
    return Compaction(
        id=compaction_id,
        turn_id=None if turn_id is None else TurnId(turn_id),
        made_after=MessageId(made_after),
        shortened_to=MessageId(shortened_to),
        summarized_to=MessageId(summarized_to),
        kept=tuple(MessageId(message_id) for message_id in json.loads(kept)),
        summary=summary,
        reason=row[7],
        tokens_before=row[8],
        tokens_after=row[9],
        created_at=row[10],
    )


def _sum(made_after: int, shortened_to: int, summarized_to: int, kept: str, summary: str) -> int:
    return checksum(made_after, shortened_to, summarized_to, kept, summary)
