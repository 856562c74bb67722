"""Queries that take words out of rows; each may be repeated, and leaves a row that tells of it."""

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
from agent_core.state.engine.database import Connection
from agent_core.state.engine.recovery import checksum
from agent_core.state.jobs import jobs
from agent_core.state.search import search
from agent_core.state.tokenizer import index_text
from agent_core.transcript import Role

FORGOTTEN = "[forgotten]"
"""Stands where words were that a person wanted gone."""
ERASED = "[erased]"
"""Stands where somebody spoke who is gone from this house, in talks that go on without them."""


def read_message(
    connection: Connection, *, message_id: MessageId
) -> tuple[Role, str, SessionId] | None:
    """(role, parts, session) of a message whose words still stand."""
    row = connection.execute(
        "SELECT role, parts, session_id FROM messages"
        " WHERE id = :message_id AND forgotten_at IS NULL",
        {"message_id": message_id},
    ).fetchone()
    return (row[0], row[1], SessionId(row[2])) if row else None


def redact_message(connection: Connection, *, message_id: MessageId, parts: str, now: int) -> None:
    """Put what is left of a message in its place, and let no search find it any more.

    What the index was told of a damaged message is not known: that stays in it, and leads to
    nothing.
    """
    indexed = _read_indexed(connection, message_id)
    search.drop_message(connection, message_id=message_id, indexed=indexed)
    role = connection.execute(
        "SELECT role FROM messages WHERE id = :message_id", {"message_id": message_id}
    ).fetchone()[0]
    connection.execute(
        "UPDATE messages SET parts = :parts, text = '', forgotten_at = :now, checksum = :checksum"
        " WHERE id = :message_id",
        {
            "message_id": message_id,
            "parts": parts,
            "now": now,
            "checksum": checksum(role, parts, ""),
        },
    )


def delete_messages(connection: Connection, *, message_ids: Sequence[MessageId]) -> None:
    """Take messages out whole, also out of the index."""
    for message_id in message_ids:
        indexed = _read_indexed(connection, message_id)
        search.drop_message(connection, message_id=message_id, indexed=indexed)
    connection.executemany(
        "DELETE FROM messages WHERE id = :message_id",
        [{"message_id": message_id} for message_id in message_ids],
    )


def drop_title(connection: Connection, *, session_id: SessionId) -> None:
    """A session has no name any more."""
    connection.execute(
        "UPDATE sessions SET title = '' WHERE id = :session_id", {"session_id": session_id}
    )


def delete_compactions(connection: Connection, *, session_id: SessionId) -> None:
    """Drop every summary of a session; it is folded anew when it has to be."""
    connection.execute(
        "DELETE FROM compactions WHERE session_id = :session_id", {"session_id": session_id}
    )


def drop_outcome(connection: Connection, *, step_id: int) -> None:
    """What a tool gave is gone."""
    connection.execute(
        "UPDATE steps SET outcome = :mark WHERE id = :step_id AND outcome IS NOT NULL",
        {"mark": FORGOTTEN, "step_id": step_id},
    )


def drop_event(connection: Connection, *, inbox_id: InboxId) -> bool:
    """Keep of an event that it came; False for one that is still to be worked on."""
    row = connection.execute(
        "UPDATE inbox SET payload = '', reason = CASE WHEN state = 'dead' THEN '' ELSE reason END"
        " WHERE id = :inbox_id AND state IN ('done', 'dead') RETURNING id",
        {"inbox_id": inbox_id},
    ).fetchone()
    return row is not None


def drop_words(connection: Connection, *, outbox_id: OutboxId) -> bool:
    """Keep of a message that it was sent; False for one that is on its way.

    One that was not sent yet never is, and one that could not be is not worth a retry.
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
    """Keep of a question that it was asked; it is over then. False while a turn waits for it."""
    row = connection.execute(
        "UPDATE questions SET text = :mark, choices = '', payload = '',"
        " state = CASE WHEN state = 'open' THEN 'over' ELSE state END"
        " WHERE id = :question_id AND (state <> 'open' OR turn_id IS NULL) RETURNING id",
        {"question_id": question_id, "mark": FORGOTTEN},
    ).fetchone()
    return row is not None


def drop_prompt(connection: Connection, *, prompt_hash: PromptHash) -> None:
    """A frozen prompt can't be read any more: the turns made with it can't be rebuilt.

    The sessions that are in it have to be taken out of it: see `clear_prompts`.
    """
    connection.execute(
        "UPDATE prompts SET system = '', tools = '[]', shown = '[]' WHERE hash = :prompt_hash",
        {"prompt_hash": prompt_hash},
    )


def clear_prompts(connection: Connection, *, person_id: PersonId) -> None:
    """The open talks of a person take a fresh prompt at their next turn."""
    connection.execute(
        "UPDATE sessions SET prompt_hash = NULL WHERE ended_at IS NULL AND conversation_id IN"
        " (SELECT id FROM conversations WHERE person_id = :person_id)",
        {"person_id": person_id},
    )


def drop_turn_file(connection: Connection, *, turn_file_id: int) -> None:
    """A turn has not made this file; whoever still offers it has nothing to show."""
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
    """The bytes of files are gone. Their rows stay, so that no reference leads nowhere."""
    connection.executemany(
        "UPDATE files SET data = x'' WHERE key = :key", [{"key": key} for key in keys]
    )


def drop_task(connection: Connection, *, task_id: int) -> None:
    """Background work is not owed any more, and nothing tells what it was."""
    connection.execute("DELETE FROM tasks WHERE id = :task_id", {"task_id": task_id})


def drop_external_sync(connection: Connection, *, item_id: int) -> None:
    """An outside memory is told this no more."""
    connection.execute("DELETE FROM external_sync WHERE id = :item_id", {"item_id": item_id})


def drop_description(connection: Connection, *, person_id: PersonId) -> None:
    """A block does not say any more what it is for; `person_id` is its row in `people`."""
    connection.execute(
        "UPDATE blocks SET description = :mark WHERE person_id = :person_id",
        {"mark": FORGOTTEN, "person_id": person_id},
    )


def drop_detail(connection: Connection, *, audit_id: int) -> None:
    """Of something that was done only what and when is known from now on."""
    connection.execute("UPDATE audit SET detail = '' WHERE id = :audit_id", {"audit_id": audit_id})


def drop_job(connection: Connection, *, job_id: JobId) -> list[str]:
    """A job is no more, with its runs and what is held of them; the keys of files held so."""
    values = {"job_id": job_id}
    runs = "(SELECT id FROM job_runs WHERE job_id = :job_id)"
    held = connection.execute(
        f"DELETE FROM deferred_messages WHERE run_id IN {runs} RETURNING file_key", values
    ).fetchall()
    jobs.redact(connection, job_id=job_id)
    return [row[0] for row in held if row[0]]


def drop_reason(connection: Connection, *, run_id: RunId) -> None:
    """Nobody knows any more why a run did not work."""
    connection.execute("UPDATE job_runs SET reason = '' WHERE id = :run_id", {"run_id": run_id})


def _read_indexed(connection: Connection, message_id: MessageId) -> str | None:
    """What the index was told of a message, as far as that is known."""
    row = connection.execute(
        "SELECT scope, role, platform, created_at, text, parts, checksum FROM messages"
        " WHERE id = :message_id",
        {"message_id": message_id},
    ).fetchone()
    if row is None or checksum(row[1], row[5], row[4]) != row[6]:
        return None
    return index_text(row[0], row[1], row[2], row[3], row[4])
