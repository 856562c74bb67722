"""Queries that redact rows: each may be repeated, and keeps the row without its text."""

import re
from collections.abc import Sequence

from agent_core.ids import (
    InboxId,
    JobId,
    MessageId,
    OutboxId,
    PersonId,
    PromptHash,
    QuestionId,
    RunId,
    SessionId,
    TurnId,
)
from agent_core.state.engine.connection import checksum
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import job_runs, jobs
from agent_core.state.memory.blocks import PREFIX
from agent_core.state.search import message_index
from agent_core.state.tokenizer import list_entries
from agent_core.transcript import Message, dump_parts, dump_stored, load_parts

_FILE_KEY = re.compile(r'"key": "([0-9a-f]{64})"')

FORGOTTEN = "[forgotten]"
"""Replaces text that a person had deleted."""
ERASED = "[erased]"
"""Replaces text of an erased person in conversations of others."""


def read_message(
    connection: Connection, *, message_id: MessageId
) -> tuple[Message, SessionId] | None:
    """Return (message, session) of a message, unless it is redacted."""
    row = connection.execute(
        "SELECT role, parts, text, session_id FROM messages"
        " WHERE id = :message_id AND forgotten_at IS NULL",
        {"message_id": message_id},
    ).fetchone()
    if row is None:
        return None
    return Message(role=row[0], parts=load_parts(row[1], row[2])), SessionId(row[3])


def drop_from_index(connection: Connection, *, message_ids: Sequence[MessageId]) -> None:
    """Remove messages from the search index, in the transaction that redacts them.

    Pass many at once: FTS5 writes its index whenever another table changes.
    """
    for message_id in message_ids:
        entries = _list_entries(connection, message_id)
        message_index.drop_message(connection, message_id=message_id, entries=entries)


def redact_message(
    connection: Connection, *, message_id: MessageId, redacted: Message, now: int
) -> None:
    """Replace the parts of a message that `drop_from_index` removed from the search index.

    The error of its turn is removed, too, because a provider may quote the message in it. The
    indexed text of a damaged message is unknown: its index entry stays, but leads to no message.
    """
    parts = dump_parts(redacted.parts)
    connection.execute(
        "UPDATE messages SET parts = :parts, text = '', forgotten_at = :now, checksum = :checksum"
        " WHERE id = :message_id",
        {
            "message_id": message_id,
            "parts": parts,
            "now": now,
            "checksum": checksum(redacted.role, parts, ""),
        },
    )
    connection.execute(  # the step with the tool's result refers to the same pictures
        "UPDATE steps SET images = '[]' WHERE images <> '[]'"
        " AND turn_id = (SELECT turn_id FROM messages WHERE id = :message_id)",
        {"message_id": message_id},
    )
    _drop_detail_of_turn(connection, message_id)


def clean_facts(connection: Connection, *, message_id: MessageId, cleaned: Message) -> None:
    """Store a message again whose facts were cleaned. Its text, and so its index entry, stays.

    The error of its turn is removed, as by `redact_message`.
    """
    parts = dump_stored(cleaned.parts)
    connection.execute(
        "UPDATE messages SET parts = :parts, checksum = :checksum WHERE id = :message_id",
        {
            "message_id": message_id,
            "parts": parts,
            "checksum": checksum(cleaned.role, parts, cleaned.text),
        },
    )
    _drop_detail_of_turn(connection, message_id)


def _drop_detail_of_turn(connection: Connection, message_id: MessageId) -> None:
    connection.execute(
        "UPDATE turns SET detail = '' WHERE detail <> ''"
        " AND id = (SELECT turn_id FROM messages WHERE id = :message_id)",
        {"message_id": message_id},
    )


def delete_messages(connection: Connection, *, message_ids: Sequence[MessageId]) -> None:
    """Delete messages, also from the search index."""
    drop_from_index(connection, message_ids=message_ids)
    connection.executemany(
        "DELETE FROM messages WHERE id = :message_id",
        [{"message_id": message_id} for message_id in message_ids],
    )


def drop_title(connection: Connection, *, session_id: SessionId) -> None:
    """Clear the title of a session, and its plan."""
    connection.execute(
        "UPDATE sessions SET title = '', plan = '' WHERE id = :session_id",
        {"session_id": session_id},
    )


def drop_old_title(connection: Connection, *, session_id: SessionId) -> None:
    """Clear the title of a session; clear its plan, too, unless the session is still in use."""
    connection.execute(
        "UPDATE sessions SET title = '', plan = CASE WHEN ended_at IS NULL AND EXISTS"
        " (SELECT 1 FROM messages WHERE session_id = :session_id) THEN plan ELSE '' END"
        " WHERE id = :session_id",
        {"session_id": session_id},
    )


def delete_compactions(connection: Connection, *, session_id: SessionId) -> None:
    """Delete every compaction of a session and of its branches.

    The next turns compact them again if necessary.
    """
    connection.execute(
        "WITH RECURSIVE shown (id) AS (SELECT :session_id UNION"
        " SELECT sessions.id FROM sessions JOIN shown ON sessions.branched_from = shown.id)"
        " DELETE FROM compactions WHERE session_id IN (SELECT id FROM shown)",
        {"session_id": session_id},
    )


def drop_outcome(connection: Connection, *, step_id: int) -> None:
    """Clear the result of a tool call."""
    connection.execute(
        "UPDATE steps SET outcome = :mark, sources = '[]', images = '[]', receipts = '[]'"
        " WHERE id = :step_id AND outcome IS NOT NULL",
        {"mark": FORGOTTEN, "step_id": step_id},
    )


def drop_event(connection: Connection, *, inbox_id: InboxId) -> bool:
    """Clear an event, also in the input of job runs; False if it still has to be processed."""
    row = connection.execute(
        "UPDATE inbox SET payload = '', reason = CASE WHEN state = 'dead' THEN '' ELSE reason END"
        " WHERE id = :inbox_id AND state IN ('done', 'dead') RETURNING id",
        {"inbox_id": inbox_id},
    ).fetchone()
    if row:
        job_runs.drop_message_event(connection, inbox_id=inbox_id)
    return row is not None


def list_uploads(
    connection: Connection,
    *,
    inbox_id: InboxId | None = None,
    message_id: MessageId | None = None,
) -> list[str]:
    """List the keys of the files in an event, or in the events of a message's turn."""
    rows = connection.execute(
        "SELECT payload FROM inbox WHERE (id = :inbox_id OR turn_id ="
        " (SELECT turn_id FROM messages WHERE id = :message_id)) AND payload LIKE '%\"files\"%'",
        {"inbox_id": inbox_id, "message_id": message_id},
    ).fetchall()
    return [key for (payload,) in rows for key in _FILE_KEY.findall(payload)]


def drop_words(connection: Connection, *, outbox_id: OutboxId) -> bool:
    """Clear the text of an outbox message; False while it is being sent.

    A queued message will not be sent any more, and an undeliverable one can't be retried.
    """
    row = connection.execute(
        "UPDATE outbox SET body = :mark, checksum = :checksum, shown = NULL, buttons = '',"
        " file_key = NULL, file_name = NULL, reason = '',"
        " state = CASE WHEN state = 'owed' THEN 'dead' ELSE state END,"
        " person_id = CASE WHEN state = 'sent' THEN person_id END"
        " WHERE id = :outbox_id AND state IN ('owed', 'sent', 'dead') AND is_live = 0"
        " RETURNING id",
        {"outbox_id": outbox_id, "mark": FORGOTTEN, "checksum": checksum(FORGOTTEN)},
    ).fetchone()
    return row is not None


def drop_question(connection: Connection, *, question_id: QuestionId) -> bool:
    """Clear and close a question; False if a turn is waiting for it."""
    row = connection.execute(
        "UPDATE questions SET text = :mark, choices = '', payload = '',"
        " state = CASE WHEN state = 'open' THEN 'over' ELSE state END"
        " WHERE id = :question_id AND (state <> 'open' OR turn_id IS NULL) RETURNING id",
        {"question_id": question_id, "mark": FORGOTTEN},
    ).fetchone()
    return row is not None


def drop_prompt(connection: Connection, *, prompt_hash: PromptHash) -> None:
    """Clear a frozen prompt; the requests of its turns can then no longer be rebuilt.

    Its sessions must get a new prompt; see `clear_prompts`.
    """
    connection.execute(
        "UPDATE prompts SET system = '', tools = '[]', shown = '[]', checksum = :checksum"
        " WHERE hash = :prompt_hash",
        {"prompt_hash": prompt_hash, "checksum": checksum("", "[]", "[]")},
    )


def clear_prompts(connection: Connection, *, person_id: PersonId) -> None:
    """Clear the prompts of a person's open sessions, so that their next turns compose new ones."""
    connection.execute(
        "UPDATE sessions SET prompt_hash = NULL WHERE ended_at IS NULL AND conversation_id IN"
        " (SELECT id FROM conversations WHERE person_id = :person_id)",
        {"person_id": person_id},
    )


def drop_turn_file(connection: Connection, *, turn_file_id: int) -> None:
    """Delete a file of a turn; messages that offer it then have nothing to show."""
    row = connection.execute(
        "DELETE FROM turn_files WHERE id = :turn_file_id RETURNING turn_id, file_key",
        {"turn_file_id": turn_file_id},
    ).fetchone()
    if row:
        connection.execute(
            "UPDATE outbox SET file_key = NULL, file_name = NULL"
            " WHERE turn_id = :turn_id AND file_key = :key AND state IN ('sent', 'dead')",
            {"turn_id": TurnId(row[0]), "key": row[1]},
        )


def empty_files(connection: Connection, *, keys: Sequence[str]) -> None:
    """Clear the bytes of files. Their rows stay, so that references stay valid."""
    connection.executemany(
        "UPDATE files SET data = x'' WHERE key = :key", [{"key": key} for key in keys]
    )


def drop_description(connection: Connection, *, person_id: PersonId) -> None:
    """Clear the description of a block; `person_id` is the block's row in `people`."""
    connection.execute(
        "UPDATE blocks SET description = :mark WHERE person_id = :person_id",
        {"mark": FORGOTTEN, "person_id": person_id},
    )


def drop_name(connection: Connection, *, person_id: PersonId, name: str) -> None:
    """Give a block another name and folder; `person_id` is the block's row in `people`."""
    values = {"name": name, "slug": PREFIX + name, "person_id": person_id}
    connection.execute("UPDATE people SET name = :name, slug = :slug WHERE id = :person_id", values)
    connection.execute("UPDATE blocks SET label = :name WHERE person_id = :person_id", values)


def drop_detail(connection: Connection, *, audit_id: int) -> None:
    """Reduce an audit entry to action and time."""
    connection.execute("UPDATE audit SET detail = '' WHERE id = :audit_id", {"audit_id": audit_id})


def drop_job(connection: Connection, *, job_id: JobId) -> list[str]:
    """Delete a job with its runs and deferred messages; return the keys of their files."""
    values = {"job_id": job_id}
    runs = "(SELECT id FROM job_runs WHERE job_id = :job_id)"
    held = connection.execute(
        f"DELETE FROM deferred_messages WHERE run_id IN {runs} RETURNING file_key", values
    ).fetchall()
    jobs.redact(connection, job_id=job_id)
    return [row[0] for row in held if row[0]]


def drop_job_version(connection: Connection, *, version_id: int) -> None:
    """Delete a stored former version of a job."""
    connection.execute("DELETE FROM job_versions WHERE id = :id", {"id": version_id})


def drop_run_texts(connection: Connection, *, run_id: RunId) -> None:
    """Clear the reason of a failed run, and the event in the input of an open one."""
    connection.execute(
        "UPDATE job_runs SET reason = '', input = '' WHERE id = :run_id", {"run_id": run_id}
    )


def _list_entries(connection: Connection, message_id: MessageId) -> list[str]:
    """List the index entries of a message, if they are known."""
    row = connection.execute(
        "SELECT scope, role, platform, created_at, text, parts, checksum FROM messages"
        " WHERE id = :message_id",
        {"message_id": message_id},
    ).fetchone()
    if row is None or checksum(row[1], row[5], row[4]) != row[6]:
        return []
    return list_entries(row[0], row[1], row[2], row[3], row[4])
