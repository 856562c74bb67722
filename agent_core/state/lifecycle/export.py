"""Queries for the export of a person's data; use them only in `Database.browse`.

Each row is a mapping from column names that can be written as it is. It contains no secrets (keys
of buttons, codes) and no data of others.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from agent_core.ids import PersonId, SessionId
from agent_core.state.engine.database import Connection
from agent_core.state.lifecycle.person_data import DataSubject
from agent_core.transcript import Part, load_parts

Row = Mapping[str, object]

_PEOPLE = "(SELECT value FROM json_each(:people))"
_CONVERSATIONS = f"(SELECT id FROM conversations WHERE person_id IN {_PEOPLE})"
_TURNS = f"(SELECT id FROM turns WHERE person_id IN {_PEOPLE})"

TABLES: Mapping[str, str] = {
    "person": (
        "SELECT slug, name, role, time_zone, language, quiet_from, quiet_until, verbosity,"
        " context_cap, model, spoken_answers, tools_off, agent, learning, learning_summary,"
        " home_platform, days_off, created_at, joined_to IS NOT NULL AS is_joined"
        f" FROM people WHERE id IN {_PEOPLE} ORDER BY id"
    ),
    "accounts": (
        "SELECT platform, user_id, display_name, admitted_by, created_at FROM accounts"
        f" WHERE person_id IN {_PEOPLE} ORDER BY id"
    ),
    "ledger": (
        "SELECT ledger.id, people.slug AS memory, target, operation, position, before, after,"
        " actor, evidence, message_ids, sources, undoes, ledger.created_at FROM ledger"
        f" JOIN people ON people.id = ledger.person_id WHERE ledger.person_id IN {_PEOPLE}"
        " ORDER BY ledger.id"
    ),
    "archive": (
        "SELECT id, text, tags, created_at, updated_at FROM archive"
        f" WHERE person_id IN {_PEOPLE} ORDER BY id"
    ),
    "shares": (
        "SELECT target, entry, audience, created_at FROM shares"
        f" WHERE person_id IN {_PEOPLE} ORDER BY id"
    ),
    "blocks": (
        "SELECT blocks.label, blocks.description, blocks.char_limit, blocks.is_read_only,"
        f" blocks.created_at FROM blocks WHERE made_by IN {_PEOPLE} ORDER BY blocks.id"
    ),
    "questions": (
        "SELECT id, kind, text, choices, state, answer, platform, asked_at, answered_at"
        f" FROM questions WHERE person_id IN {_PEOPLE} ORDER BY id"
    ),
    "approvals": (
        "SELECT scope, subject, created_at, expires_at, used_at FROM approvals"
        f" WHERE person_id IN {_PEOPLE} ORDER BY id"
    ),
    "api_tokens": (
        "SELECT name, scope, created_at, last_used_at FROM api_tokens"
        f" WHERE person_id IN {_PEOPLE} ORDER BY id"
    ),
    "connections": (
        "SELECT server, is_shared, signed_in_at FROM mcp_accounts"
        f" WHERE person_id IN {_PEOPLE} AND signed_in_at IS NOT NULL ORDER BY server, is_shared"
    ),
    "webhooks": (
        "SELECT id, name, url, kinds, state, reason, created_at FROM webhooks"
        f" WHERE person_id IN {_PEOPLE} ORDER BY id"
    ),
    "webhook_deliveries": (
        "SELECT webhook_id, event_id, kind, payload, webhook_deliveries.state, attempts, status,"
        " webhook_deliveries.created_at, ended_at FROM webhooks JOIN webhook_deliveries"
        f" ON webhook_id = webhooks.id WHERE person_id IN {_PEOPLE} ORDER BY webhook_deliveries.id"
    ),
    "reading_consents": (
        "SELECT given_at, expires_at, ended_at FROM reading_consents"
        f" WHERE person_id IN {_PEOPLE} ORDER BY id"
    ),
    "usage": (
        "SELECT purpose, model, input_tokens, cache_read_tokens, cache_write_tokens,"
        " output_tokens, micro_dollars, turn_id, created_at FROM usage"
        f" WHERE person_id IN {_PEOPLE} ORDER BY created_at, id"
    ),
    "turns": (
        "SELECT id, session_id, platform, model, state, reason, started_at, ended_at FROM turns"
        f" WHERE person_id IN {_PEOPLE} ORDER BY id"
    ),
    "jobs": (
        "SELECT id, kind, title, body, timing, zone, late, options, is_urgent, state, reason,"
        " next_slot, next_at, room_id IS NOT NULL AS is_in_room, created_at FROM jobs"
        f" WHERE person_id IN {_PEOPLE} ORDER BY id"
    ),
    "job_versions": (
        "SELECT job_id, title, body, timing, zone, replaced_at FROM job_versions WHERE job_id IN"
        f" (SELECT id FROM jobs WHERE person_id IN {_PEOPLE}) ORDER BY id"
    ),
    "summaries": (
        "SELECT session_id, summarized_to, summary, plan, found_tools, created_at FROM compactions"
        f" WHERE person_id IN {_PEOPLE} ORDER BY id"
    ),
    "deeds": (
        "SELECT action, detail, created_at FROM audit"
        f" WHERE person_id IN {_PEOPLE} AND (actor IN (SELECT 'account:' || platform || ':'"
        f" || user_id FROM accounts WHERE person_id IN {_PEOPLE})"
        " OR actor IN (SELECT 'person:' || value FROM json_each(:people))) ORDER BY id"
    ),
}
"""The plain tables of an export, by the names of their files."""


def walk_table(connection: Connection, *, table: str, subject: DataSubject) -> Iterator[Row]:
    """Yield the rows of one of `TABLES`."""
    yield from _rows(connection, TABLES[table], subject.values)


def list_blocks(connection: Connection, *, subject: DataSubject) -> list[tuple[PersonId, str]]:
    """List (row in `people`, label) of the blocks that a person made; a label is one plain word."""
    rows = connection.execute(
        f"SELECT person_id, label FROM blocks WHERE made_by IN {_PEOPLE} ORDER BY id",
        subject.values,
    )
    return [(PersonId(row[0]), row[1]) for row in rows]


def walk_sessions(connection: Connection, *, subject: DataSubject) -> Iterator[Row]:
    """Yield the sessions of a person's conversations, direct or in rooms, oldest first."""
    yield from _rows(
        connection,
        "SELECT sessions.id, sessions.title, sessions.plan, sessions.started_at, sessions.last_at,"
        " sessions.ended_at, COALESCE(rooms.title, '') AS room,"
        " conversations.kind = 'direct' AS is_direct FROM conversations"
        " JOIN sessions ON sessions.conversation_id = conversations.id"
        " LEFT JOIN rooms ON rooms.id = conversations.room_id"
        f" WHERE conversations.id IN {_CONVERSATIONS} ORDER BY sessions.id",
        subject.values,
    )


def count_messages(connection: Connection, *, subject: DataSubject) -> int:
    """Count the messages of all those sessions."""
    query = (
        f"SELECT COUNT(*) FROM messages WHERE person_id IN {_PEOPLE} AND session_id IN"
        f" (SELECT id FROM sessions WHERE conversation_id IN {_CONVERSATIONS})"
    )
    return int(connection.execute(query, subject.values).fetchone()[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedMessage:
    """A message of the transcript. `chat` is the gateway's name of the chat of its turn.

    For a program, it holds the program's name and that of its conversation.
    """

    id: int
    turn: int
    role: str
    platform: str
    chat: str
    parts: tuple[Part, ...]
    created_at: int


def walk_messages(
    connection: Connection, *, session_id: SessionId, subject: DataSubject
) -> Iterator[ExportedMessage]:
    """Yield the messages of one of those sessions."""
    rows = connection.execute(
        "SELECT messages.id, turn_id, role, messages.platform, COALESCE(turns.chat, ''), parts,"
        " text, messages.created_at FROM messages LEFT JOIN turns ON turns.id = messages.turn_id"
        f" WHERE messages.session_id = :session_id AND messages.person_id IN {_PEOPLE}"
        " ORDER BY messages.id",
        {"session_id": session_id, **subject.values},
    )
    for key, turn_id, role, platform, chat, parts, text, at in rows:
        yield ExportedMessage(
            id=key,
            turn=turn_id,
            role=role,
            platform=platform,
            chat=chat,
            parts=load_parts(parts, text),
            created_at=at,
        )


def walk_files(connection: Connection, *, subject: DataSubject) -> Iterator[tuple[str, str]]:
    """Yield (key, name) of the files that a person's turns made."""
    yield from connection.execute(
        "SELECT file_key, name FROM turn_files"
        f" WHERE turn_id IN {_TURNS} AND turn_id IN (SELECT id FROM turns"
        f" WHERE conversation_id IN {_CONVERSATIONS}) ORDER BY id",
        subject.values,
    )


def _rows(connection: Connection, sql: str, values: Mapping[str, object]) -> Iterator[Row]:
    cursor = connection.execute(sql, dict(values))
    names = [column[0] for column in cursor.description]
    for row in cursor:
        yield dict(zip(names, row, strict=True))
