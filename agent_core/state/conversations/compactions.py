"""Queries over compactions: summaries that replace older messages of a session in later calls."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

from agent_core.errors import StoreDamaged
from agent_core.ids import MessageId, PersonId, SessionId, TurnId
from agent_core.state.engine.connection import checksum, list_fields, read_all, read_one
from agent_core.state.engine.database import Connection

CompactionReason = Literal["near", "overflow", "asked", "idle"]
"""The reasons, in this order: the threshold was passed, the provider found the input too long, a
person asked for it, or the provider's cache was about to expire.
"""

_FIELDS = (
    "id, turn_id, made_after, shortened_to, summarized_to, left_out_from, kept, summary, reason,"
    " tokens_before, tokens_after, created_at, checksum, plan, found_tools"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewCompaction:
    """A view of a session, for calls whose newest message is `made_after` or a later one.

    `summary` replaces messages up to `summarized_to`, except those in `kept`. Of the other messages
    up to `shortened_to`, long tool outputs keep only their beginning and end. `left_out_from` is
    the oldest replaced message that the summary does not cover yet; None if it covers all. The
    token counts are estimates of the whole request. `turn_id` is the turn that needed the
    compaction, if any. `plan` is the plan of the session at that time. `found_tools` are the tools
    that a search found in messages that are now hidden or shortened.
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
    left_out_from: MessageId | None = None
    plan: str = ""
    found_tools: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction(NewCompaction):
    """A stored compaction."""

    id: int


def insert(
    connection: Connection, compaction: NewCompaction, *, session_id: SessionId, person_id: PersonId
) -> Compaction:
    """Store a compaction; it becomes the newest of its session."""
    kept = json.dumps(compaction.kept)
    cursor = connection.execute(
        "INSERT INTO compactions (session_id, person_id, turn_id, made_after, shortened_to,"
        " summarized_to, left_out_from, kept, summary, reason, tokens_before, tokens_after,"
        " created_at, checksum, plan, found_tools) VALUES (:session_id, :person_id, :turn_id,"
        " :made_after, :shortened_to, :summarized_to, :left_out_from, :kept, :summary, :reason,"
        " :tokens_before, :tokens_after, :created_at, :checksum, :plan, :found_tools)",
        {
            **list_fields(compaction),
            "kept": kept,
            "checksum": _sum(compaction, kept),
            "session_id": session_id,
            "person_id": person_id,
        },
    )
    return Compaction(id=cursor.lastrowid or 0, **list_fields(compaction))


def copy_newest(connection: Connection, *, session_id: SessionId, into: SessionId) -> None:
    """Give a branch the newest compaction that was made only of messages that the branch shows."""
    connection.execute(
        "INSERT INTO compactions (session_id, person_id, turn_id, made_after, shortened_to,"
        " summarized_to, left_out_from, kept, summary, reason, tokens_before, tokens_after,"
        " created_at, checksum, plan, found_tools) SELECT :into, person_id, turn_id, made_after,"
        " shortened_to, summarized_to, left_out_from, kept, summary, reason, tokens_before,"
        " tokens_after, created_at, checksum, plan, found_tools FROM compactions"
        " WHERE session_id = :session_id"
        " AND made_after <= (SELECT branched_at FROM sessions WHERE id = :into)"
        " ORDER BY id DESC LIMIT 1",
        {"session_id": session_id, "into": into},
    )


def list_of_session(
    connection: Connection, *, session_id: SessionId, person_id: PersonId
) -> list[Compaction]:
    """List all compactions of a session, oldest first. Raises `StoreDamaged`."""
    rows = connection.execute(
        f"SELECT {_FIELDS} FROM compactions WHERE session_id = :session_id"
        " AND person_id = :person_id ORDER BY id",
        {"session_id": session_id, "person_id": person_id},
    )
    return read_all(_read, rows)


def find_newest(
    connection: Connection, *, session_id: SessionId, person_id: PersonId
) -> Compaction | None:
    """Return the compaction for the session's next call, if any. Raises `StoreDamaged`."""
    found = connection.execute(
        f"SELECT {_FIELDS} FROM compactions WHERE session_id = :session_id"
        " AND person_id = :person_id ORDER BY id DESC LIMIT 1",
        {"session_id": session_id, "person_id": person_id},
    )
    return read_one(_read, found)


def move(connection: Connection, *, session_ids: Iterable[SessionId], person_id: PersonId) -> None:
    """Move the compactions of sessions to another person."""
    connection.executemany(
        "UPDATE compactions SET person_id = :person_id WHERE session_id = :session_id",
        [{"person_id": person_id, "session_id": session_id} for session_id in session_ids],
    )


def fingerprint(
    connection: Connection, *, session_id: SessionId, after: MessageId
) -> tuple[int, int, int]:
    """Return the newest message of a session, the sum of the checksums after `after`, and the
    newest compaction.

    A compaction is prepared outside a transaction, and stored only if these have not changed.
    `after` is the end of what the present compaction replaces: a change of older messages deletes
    that compaction.
    """
    newest, total = connection.execute(
        "SELECT COALESCE(MAX(id), 0), COALESCE(SUM(checksum), 0) FROM messages"
        " WHERE session_id = :session_id AND id > :after",
        {"session_id": session_id, "after": after},
    ).fetchone()
    row = connection.execute(
        "SELECT MAX(id) FROM compactions WHERE session_id = :session_id", {"session_id": session_id}
    ).fetchone()
    return newest, total, row[0] or 0


def drop_prompt(connection: Connection, *, session_id: SessionId) -> None:
    """Clear the frozen prompt of a session, so that its next turn composes a new prompt."""
    connection.execute(
        "UPDATE sessions SET prompt_hash = NULL WHERE id = :session_id", {"session_id": session_id}
    )


def _read(*, checksum: int, kept: str, **fields: Any) -> Compaction:
    found = Compaction(kept=(), **fields)
    if _sum(found, kept) != checksum:
        raise StoreDamaged(
            f"compaction {found.id} of the transcript is damaged; restore a backup, or start"
            " afresh with /new"
        )
    return replace(found, kept=tuple(json.loads(kept)))


def _sum(compaction: NewCompaction, kept: str) -> int:
    """Compute the checksum.

    An absent `left_out_from`, `plan` or `found_tools` is skipped, so that the checksums of old rows
    stay valid.
    """
    values = (
        *(compaction.made_after, compaction.shortened_to, compaction.summarized_to),
        *(compaction.left_out_from, kept, compaction.summary),
        *(compaction.plan or None, compaction.found_tools or None),
    )
    return checksum(*(value for value in values if value is not None))
