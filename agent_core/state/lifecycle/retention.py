"""Queries that remove old data, one range of rows at a time.

Queued, open and running rows stay. The row of every event stays, so that a repeated event is
detected. The row of every sent message stays, so that the message can be found on its platform.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from agent_core.ids import MessageId, PersonId, SessionId
from agent_core.state.engine.connection import checksum
from agent_core.state.engine.database import Connection
from agent_core.state.lifecycle import redact

RetainedKind = Literal[
    "inbox", "outbox", "steps", "usage", "messages", "exports", "copies", "webhooks"
]
DAY = 24 * 3_600_000
"""Milliseconds."""
_NEWEST: dict[RetainedKind, str] = {
    "inbox": "SELECT MAX(id) FROM inbox",
    "outbox": "SELECT MAX(id) FROM outbox",
    "steps": "SELECT MAX(id) FROM turns",
    "usage": "SELECT MAX(id) FROM usage",
    "messages": "SELECT MAX(id) FROM turns",
    "exports": "SELECT MAX(id) FROM outbox",
    "copies": "SELECT MAX(id) FROM outbox",
    "webhooks": "SELECT MAX(id) FROM webhook_deliveries",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Rows with ids above `after` up to `until` that are older than `before`.

    `before` is in milliseconds since the epoch.
    """

    after: int
    until: int
    before: int

    @property
    def values(self) -> dict[str, int]:
        """The parameters of the queries."""
        return {"after": self.after, "until": self.until, "before": self.before}


_IN_SPAN = "id > :after AND id <= :until"
_IN_TURNS = (
    f"turn_id IN (SELECT id FROM turns WHERE {_IN_SPAN} AND ended_at < :before"
    " AND state <> 'running') LIMIT 1"
)
_IS_COPY = (
    "state = 'sent' AND is_live = 0 AND turn_id IS NOT NULL AND body <> '' AND buttons = ''"
    " AND question_id IS NULL AND file_key IS NULL AND platform <> 'console'"
)
"""The condition of answers whose text the transcript has, too. Answers on the console page are
excluded, because the page shows them again.
"""
_OLD: dict[RetainedKind, str] = {
    "inbox": (
        f"SELECT 1 FROM inbox WHERE {_IN_SPAN} AND received_at < :before AND state = 'done'"
        " AND payload <> '' LIMIT 1"
    ),
    "outbox": (
        f"SELECT 1 FROM outbox WHERE {_IN_SPAN} AND created_at < :before AND state = 'sent'"
        " AND (body <> '' OR file_key IS NOT NULL) LIMIT 1"
    ),
    "steps": f"SELECT 1 FROM steps WHERE {_IN_TURNS}",
    "usage": (
        f"SELECT 1 FROM usage WHERE {_IN_SPAN} AND created_at < :before"
        " AND turn_id IS NOT NULL LIMIT 1"
    ),
    "messages": f"SELECT 1 FROM messages WHERE {_IN_TURNS}",
    "exports": (
        f"SELECT 1 FROM outbox WHERE {_IN_SPAN} AND created_at < :before AND state = 'sent'"
        " AND turn_id IS NULL AND file_key IS NOT NULL LIMIT 1"
    ),
    "copies": (
        f"SELECT 1 FROM outbox WHERE {_IN_SPAN} AND created_at < :before AND {_IS_COPY} LIMIT 1"
    ),
    "webhooks": (
        f"SELECT 1 FROM webhook_deliveries WHERE {_IN_SPAN} AND ended_at < :before LIMIT 1"
    ),
}


def find_newest(connection: Connection, *, kind: RetainedKind) -> int:
    """Return the id of the newest row of a kind; 0 for none."""
    return int(connection.execute(_NEWEST[kind]).fetchone()[0] or 0)


def has_old(connection: Connection, *, kind: RetainedKind, span: Span) -> bool:
    """Return whether a range has old rows; this read avoids a write that would change nothing."""
    return connection.execute(_OLD[kind], span.values).fetchone() is not None


def sweep_inbox(connection: Connection, *, span: Span) -> int:
    """Clear the payloads of processed events; return their number."""
    cursor = connection.execute(
        f"UPDATE inbox SET payload = '' WHERE {_IN_SPAN} AND received_at < :before"
        " AND state = 'done' AND payload <> ''",
        span.values,
    )
    return cursor.rowcount


def sweep_outbox(connection: Connection, *, span: Span) -> int:
    """Clear the content of sent messages, except messages that ask an open question."""
    empty = dict.fromkeys(("body", "buttons", "reason"), "")
    return _rewrite_outbox(
        connection,
        "state = 'sent' AND is_live = 0 AND (body <> '' OR file_key IS NOT NULL)"
        " AND NOT EXISTS (SELECT 1 FROM questions WHERE questions.id = outbox.question_id"
        " AND questions.state = 'open')",
        span,
        {**empty, **dict.fromkeys(("file_key", "file_name", "shown"))},
    )


def sweep_copies(connection: Connection, *, span: Span) -> int:
    """Clear the text of sent answers that is in the transcript, too."""
    return _rewrite_outbox(connection, _IS_COPY, span, {"body": "", "shown": None})


def _rewrite_outbox(
    connection: Connection, condition: str, span: Span, changes: Mapping[str, object]
) -> int:
    """Delete rows and insert them again without their text.

    SQLite merges pages only when rows are deleted, not when they are updated. An UPDATE would leave
    nearly empty pages, whose space later rows can't use.
    """
    found = connection.execute(
        f"DELETE FROM outbox WHERE {_IN_SPAN} AND created_at < :before AND {condition} RETURNING *",
        span.values,
    )
    names = [column[0] for column in found.description]
    given = {**changes, "checksum": checksum("")}
    rows = [{**dict(zip(names, row, strict=True)), **given} for row in found.fetchall()]
    connection.executemany(
        f"INSERT INTO outbox ({', '.join(names)}) VALUES (:{', :'.join(names)})", rows
    )
    return len(rows)


def sweep_exports(connection: Connection, *, span: Span) -> list[str]:
    """Detach files that were sent outside of turns, such as exports; return their keys."""
    rows = connection.execute(
        f"SELECT id, file_key FROM outbox WHERE {_IN_SPAN} AND created_at < :before"
        " AND state = 'sent' AND turn_id IS NULL AND file_key IS NOT NULL",
        span.values,
    ).fetchall()
    connection.executemany(
        "UPDATE outbox SET file_key = NULL WHERE id = :id", [{"id": row[0]} for row in rows]
    )
    return [row[1] for row in rows]


def sweep_steps(connection: Connection, *, span: Span) -> int:
    """Delete tool results of ended turns, which the transcript also has; `span` is of turns.

    Also delete what those turns counted.
    """
    for column in ("turn_id", "caller_id"):
        connection.execute(
            f"DELETE FROM page_fetches WHERE {column} IN (SELECT id FROM turns"
            f" WHERE {_IN_SPAN} AND ended_at < :before AND state <> 'running')",
            span.values,
        )
    cursor = connection.execute(
        "DELETE FROM steps WHERE turn_id IN (SELECT id FROM turns"
        f" WHERE {_IN_SPAN} AND ended_at < :before AND state <> 'running')",
        span.values,
    )
    return cursor.rowcount


def sweep_webhooks(connection: Connection, *, span: Span) -> int:
    """Delete deliveries of webhooks that were sent or abandoned; return their number."""
    cursor = connection.execute(
        f"DELETE FROM webhook_deliveries WHERE {_IN_SPAN} AND ended_at < :before", span.values
    )
    return cursor.rowcount


def sweep_usage(connection: Connection, *, span: Span) -> int:
    """Sum the calls of each person and day into one row per purpose and model.

    Returns the number of rows saved. The total cost does not change.
    """
    rows = connection.execute(
        "SELECT person_id, purpose, model, created_at / 86400000, COUNT(*), SUM(input_tokens),"
        " SUM(cache_read_tokens), SUM(cache_write_tokens), SUM(output_tokens),"
        " SUM(micro_dollars), MIN(id), json_group_array(id) FROM usage"
        f" WHERE {_IN_SPAN} AND created_at < :before GROUP BY 1, 2, 3, 4,"
        " micro_dollars IS NULL HAVING COUNT(*) > 1 OR MAX(turn_id IS NOT NULL)",
        span.values,
    ).fetchall()
    for row in rows:
        connection.execute(
            "UPDATE usage SET turn_id = NULL, request_hash = NULL, input_tokens = :input,"
            " cache_read_tokens = :read, cache_write_tokens = :write, output_tokens = :output,"
            " micro_dollars = :cost WHERE id = :id",
            {
                "id": row[10],
                "input": row[5],
                "read": row[6],
                "write": row[7],
                "output": row[8],
                "cost": row[9],
            },
        )
        connection.executemany(
            "DELETE FROM usage WHERE id = :id",
            [{"id": one} for one in json.loads(row[11]) if one != row[10]],
        )
    return sum(row[4] - 1 for row in rows)


def sweep_messages(connection: Connection, *, span: Span) -> int:
    """Delete the messages of ended turns, whole turns at a time; `span` is of turns.

    Titles and summaries of their conversations are deleted with them.
    """
    rows = connection.execute(
        "SELECT messages.id, messages.session_id, messages.person_id FROM turns JOIN messages"
        " ON messages.turn_id = turns.id WHERE turns.id > :after AND turns.id <= :until"
        " AND turns.ended_at < :before AND turns.state <> 'running'",
        span.values,
    ).fetchall()
    redact.delete_messages(connection, message_ids=[MessageId(row[0]) for row in rows])
    for session_id, person_id in {(row[1], row[2]) for row in rows}:
        redact.drop_old_title(connection, session_id=SessionId(session_id))
        redact.delete_compactions(connection, session_id=SessionId(session_id))
        redact.clear_prompts(connection, person_id=PersonId(person_id))
    return len(rows)


def list_old_files(connection: Connection, *, after_key: str, before: int, limit: int) -> list[str]:
    """List keys of old files that still have bytes, from one key on; only for `Database.browse`."""
    rows = connection.execute(
        "SELECT key FROM files WHERE key > :after_key AND created_at < :before"
        " AND length(data) > 0 ORDER BY key LIMIT :limit",
        {"after_key": after_key, "before": before, "limit": limit},
    )
    return [row[0] for row in rows]


def sweep_files(connection: Connection, *, keys: Sequence[str], before: int) -> int:
    """Clear the bytes of unreferenced files, unless a file was stored again in the meantime."""
    cursor = connection.executemany(
        "UPDATE files SET data = x'' WHERE key = :key AND created_at < :before",
        [{"key": key, "before": before} for key in keys],
    )
    return max(cursor.rowcount, 0)
