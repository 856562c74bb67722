"""Queries that erase a person; each of them may be repeated.

The row in `people` stays without a name. The rows of turns and their cost stay, too. So the
deployment's sums remain correct, and no id is ever assigned to somebody else.
"""

import json
from collections.abc import Sequence

from agent_core.ids import JobId, MessageId, PersonId, SessionId
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import jobs
from agent_core.state.lifecycle.person_data import DataSubject
from agent_core.state.memory import ledger
from agent_core.transcript import ImagePart, Message, load_parts, read_images

_ACTOR = "erased"
_PEOPLE = "(SELECT value FROM json_each(:people))"
_CONVERSATIONS = f"(SELECT id FROM conversations WHERE person_id IN {_PEOPLE})"
_TURNS = f"(SELECT id FROM turns WHERE person_id IN {_PEOPLE})"


def erase_identity(connection: Connection, *, person_ids: Sequence[PersonId]) -> None:
    """Erase the names, roles, accounts and settings of people.

    If an account writes again, it counts as a stranger's.
    """
    for person_id in person_ids:
        values = {"person_id": person_id}
        connection.execute(
            "UPDATE people SET slug = 'erased-' || id, name = '(erased)', role = 'member',"
            " time_zone = NULL, created_at = 0, language = NULL, quiet_from = NULL,"
            " quiet_until = NULL, verbosity = 'normal', asked_at = NULL, context_cap = NULL,"
            " home_platform = NULL, home_chat = NULL, days_off = '[]', model = '',"
            " spoken_answers = 'off', tools_off = '', agent = '', learning = 'quiet',"
            # A row that points to another person is in no list of people.
            " joined_to = id WHERE id = :person_id",
            values,
        )
        connection.execute(
            "UPDATE accounts SET user_id = 'erased-' || id, display_name = '', created_at = 0,"
            " admitted_by = 'list', came_from = NULL WHERE person_id = :person_id",
            values,
        )
        connection.execute("DELETE FROM shares WHERE person_id = :person_id", values)
        connection.execute("DELETE FROM block_readers WHERE person_id = :person_id", values)
        connection.execute("DELETE FROM api_tokens WHERE person_id = :person_id", values)
        connection.execute("DELETE FROM mcp_accounts WHERE person_id = :person_id", values)
        connection.execute(
            "DELETE FROM webhook_deliveries WHERE webhook_id IN"
            " (SELECT id FROM webhooks WHERE person_id = :person_id)",
            values,
        )
        connection.execute("DELETE FROM webhooks WHERE person_id = :person_id", values)
        connection.execute("DELETE FROM login_links WHERE person_id = :person_id", values)
        connection.execute("DELETE FROM browser_logins WHERE person_id = :person_id", values)
        connection.execute(
            "DELETE FROM reading_consents WHERE :person_id IN (person_id, reader_id)", values
        )
        ledger.empty(connection, person_id=person_id, actor=_ACTOR)


def erase_conversations(connection: Connection, *, subject: DataSubject) -> None:
    """Erase the places, titles and prompts of their conversations and turns."""
    connection.execute(
        "UPDATE conversations SET key = 'erased:' || id, kind = 'erased', agent = '',"
        " room_id = NULL, created_at = 0"
        f" WHERE person_id IN {_PEOPLE}",
        subject.values,
    )
    connection.execute(
        "UPDATE sessions SET title = '', plan = '', prompt_hash = NULL, account_id = NULL,"
        f" ended_at = COALESCE(ended_at, last_at) WHERE conversation_id IN {_CONVERSATIONS}",
        subject.values,
    )
    connection.execute(
        "UPDATE turns SET chat = '', answers = NULL, prompt_hash = NULL, account_id = NULL,"
        f" reason = '', detail = '' WHERE person_id IN {_PEOPLE}",
        subject.values,
    )
    connection.execute(
        f"DELETE FROM compactions WHERE session_id IN (SELECT id FROM sessions"
        f" WHERE conversation_id IN {_CONVERSATIONS})",
        subject.values,
    )
    connection.execute(
        f"UPDATE usage SET turn_id = NULL, request_hash = NULL WHERE person_id IN {_PEOPLE}",
        subject.values,
    )


def erase_steps(connection: Connection, *, subject: DataSubject) -> None:
    """Delete the tool results of their turns, and the files that they made."""
    for table in ("steps", "turn_files"):
        connection.execute(f"DELETE FROM {table} WHERE turn_id IN {_TURNS}", subject.values)
    connection.execute(
        f"DELETE FROM page_fetches WHERE turn_id IN {_TURNS} OR caller_id IN {_TURNS}",
        subject.values,
    )


def erase_jobs(connection: Connection, *, subject: DataSubject) -> None:
    """Delete their jobs, with the runs and deferred messages."""
    mine = f"SELECT id FROM jobs WHERE person_id IN {_PEOPLE}"
    connection.execute(
        f"DELETE FROM deferred_messages WHERE person_id IN {_PEOPLE} OR run_id IN"
        f" (SELECT id FROM job_runs WHERE job_id IN ({mine}))",
        subject.values,
    )
    for row in connection.execute(mine, subject.values).fetchall():
        jobs.redact(connection, job_id=JobId(row[0]))


def erase_processes(connection: Connection, *, subject: DataSubject) -> None:
    """Delete their long-running commands; the process that runs one then notices and kills it."""
    connection.execute(
        f"DELETE FROM processes WHERE conversation_id IN {_CONVERSATIONS}", subject.values
    )


def enqueue_external(connection: Connection, *, subject: DataSubject, now: int) -> None:
    """Queue the erasure in every external memory that ever received something about them."""
    connection.execute(
        "INSERT INTO external_sync (provider, person_id, kind, key, payload, state, due_at,"
        " created_at)"
        " SELECT DISTINCT provider, person_id, 'erase', 'person:' || person_id, '{}', 'owed', :now,"
        f" :now FROM external_sync WHERE person_id IN {_PEOPLE} ON CONFLICT DO NOTHING",
        {"now": now, **subject.values},
    )


def erase_requests(connection: Connection, *, subject: DataSubject) -> None:
    """Delete link requests, codes, and the state of their chats."""
    for platform, user_id in subject.accounts:
        account = {"platform": platform, "user_id": user_id}
        connection.execute(
            "DELETE FROM link_codes WHERE platform = :platform AND user_id = :user_id", account
        )
        connection.execute(
            "DELETE FROM guesses WHERE platform = :platform AND user_id = :user_id", account
        )
        # The group still counts as one in which others were noticed.
        connection.execute(
            "UPDATE room_presence SET user_id = '', others_at = COALESCE(others_at, 0)"
            " WHERE platform = :platform AND user_id = :user_id",
            account,
        )
        connection.execute(
            "DELETE FROM strangers WHERE platform = :platform AND user_id = :user_id", account
        )
        connection.execute(
            "DELETE FROM link_requests WHERE other_platform = :platform"
            " AND other_user_id = :user_id",
            account,
        )
    connection.execute(
        f"DELETE FROM link_requests WHERE person_id IN {_PEOPLE} OR other_person IN {_PEOPLE}",
        subject.values,
    )
    connection.executemany(
        "DELETE FROM unreachable_chats WHERE platform = :platform AND chat = :chat",
        [{"platform": platform, "chat": chat} for platform, chat in subject.chats],
    )


def erase_audit(connection: Connection, *, subject: DataSubject) -> None:
    """Reduce audit entries about them, and by them, to action and time."""
    actors = [f"account:{platform}:{user_id}" for platform, user_id in subject.accounts]
    actors += [f"person:{person_id}" for person_id in subject.person_ids]
    names = [f"{platform}:{user_id}" for platform, user_id in subject.accounts]
    values = {"actors": json.dumps(actors), "names": json.dumps(names), **subject.values}
    connection.execute(
        f"UPDATE audit SET actor = '{_ACTOR}', detail = '', person_id = NULL"
        f" WHERE person_id IN {_PEOPLE}",
        values,
    )
    connection.execute(
        f"UPDATE audit SET detail = '', actor = CASE WHEN actor IN"
        f" (SELECT value FROM json_each(:actors)) THEN '{_ACTOR}' ELSE actor END"
        " WHERE actor IN (SELECT value FROM json_each(:actors)) OR EXISTS"
        " (SELECT 1 FROM json_each(:names) WHERE instr(audit.detail, json_each.value) > 0)",
        values,
    )


def transfer_ownership(connection: Connection, *, subject: DataSubject, to: PersonId) -> None:
    """Give their rooms, and blocks that others see, to another owner; end consents to `full`."""
    values = {"to": to, **subject.values}
    connection.execute(
        "UPDATE rooms SET mode = 'person', set_by = NULL"
        f" WHERE mode = 'full' AND set_by IN {_PEOPLE}",
        subject.values,
    )
    connection.execute(f"UPDATE rooms SET set_by = :to WHERE set_by IN {_PEOPLE}", values)
    connection.execute(f"UPDATE blocks SET made_by = :to WHERE made_by IN {_PEOPLE}", values)


def list_unshared_blocks(
    connection: Connection, *, subject: DataSubject
) -> list[tuple[PersonId, str]]:
    """List (row in `people`, slug) of the blocks that they made and that nobody else sees."""
    dropped = connection.execute(
        "SELECT id, slug FROM people WHERE kind = 'block' AND joined_to IS NULL"
        " AND NOT EXISTS (SELECT 1 FROM blocks WHERE person_id = people.id)"
        " AND EXISTS (SELECT 1 FROM audit WHERE person_id = people.id AND action = 'block.new'"
        " AND actor IN (SELECT value FROM json_each(:actors)))",
        subject.values,
    ).fetchall()
    rows = connection.execute(
        "SELECT people.id, people.slug FROM blocks JOIN people ON people.id = blocks.person_id"
        f" WHERE blocks.made_by IN {_PEOPLE} AND NOT EXISTS (SELECT 1 FROM block_readers"
        f" WHERE block_id = blocks.id AND person_id NOT IN {_PEOPLE})",
        subject.values,
    ).fetchall()
    return [(PersonId(row[0]), row[1]) for row in (*rows, *dropped)]


def drop_block(connection: Connection, *, person_id: PersonId) -> None:
    """Delete a block and the name of its row in `people`, `person_id`."""
    values = {"person_id": person_id}
    connection.execute(
        "DELETE FROM block_readers WHERE block_id IN"
        " (SELECT id FROM blocks WHERE person_id = :person_id)",
        values,
    )
    connection.execute("DELETE FROM blocks WHERE person_id = :person_id", values)
    erase_identity(connection, person_ids=[person_id])


def list_slugs(connection: Connection, *, subject: DataSubject) -> list[str]:
    """List the slugs of their memory folders."""
    rows = connection.execute(
        f"SELECT slug FROM people WHERE id IN {_PEOPLE} ORDER BY id", subject.values
    )
    return [row[0] for row in rows]


def list_sessions(connection: Connection, *, subject: DataSubject) -> list[SessionId]:
    """List the sessions of the conversations that they own."""
    rows = connection.execute(
        f"SELECT id FROM sessions WHERE conversation_id IN {_CONVERSATIONS} ORDER BY id",
        subject.values,
    )
    return [SessionId(row[0]) for row in rows]


def list_messages(
    connection: Connection, *, session_id: SessionId, limit: int
) -> list[tuple[MessageId, tuple[ImagePart, ...]]]:
    """List (id, pictures) of the first messages of a session."""
    rows = connection.execute(
        "SELECT id, parts FROM messages WHERE session_id = :session_id ORDER BY id LIMIT :limit",
        {"session_id": session_id, "limit": limit},
    ).fetchall()
    return [
        (MessageId(row[0]), Message(role="user", parts=load_parts(row[1])).images) for row in rows
    ]


def list_messages_elsewhere(
    connection: Connection, *, subject: DataSubject
) -> list[tuple[MessageId, SessionId]]:
    """List (id, session) of the unredacted messages of their turns in conversations of rooms."""
    rows = connection.execute(
        "SELECT messages.id, messages.session_id FROM turns JOIN messages"
        f" ON messages.turn_id = turns.id WHERE turns.person_id IN {_PEOPLE}"
        f" AND turns.conversation_id NOT IN {_CONVERSATIONS} AND messages.forgotten_at IS NULL",
        subject.values,
    )
    return [(MessageId(row[0]), SessionId(row[1])) for row in rows]


def list_turn_files(connection: Connection, *, subject: DataSubject) -> list[str]:
    """List the keys of files that their turns made, and of pictures in tool results."""
    rows = connection.execute(
        f"SELECT file_key FROM turn_files WHERE turn_id IN {_TURNS}", subject.values
    )
    returned = connection.execute(
        f"SELECT images FROM steps WHERE images <> '[]' AND turn_id IN {_TURNS}", subject.values
    )
    keys = [one.file_key for (images,) in returned for one in read_images(images)]
    return [*(row[0] for row in rows), *keys]


def delete_sent(connection: Connection, *, outbox_ids: Sequence[int]) -> None:
    """Delete messages of the outbox that were sent to the person."""
    connection.executemany(
        "DELETE FROM outbox WHERE id = :outbox_id",
        [{"outbox_id": outbox_id} for outbox_id in outbox_ids],
    )


def delete_questions(connection: Connection, *, question_ids: Sequence[int]) -> None:
    """Delete questions to them, with the messages that asked."""
    values = [{"question_id": question_id} for question_id in question_ids]
    connection.executemany("DELETE FROM outbox WHERE question_id = :question_id", values)
    connection.executemany("DELETE FROM questions WHERE id = :question_id", values)


def erase_answers(connection: Connection, *, subject: DataSubject) -> None:
    """Delete their approvals, and their names from answers that they gave to others' questions."""
    connection.execute(f"DELETE FROM approvals WHERE person_id IN {_PEOPLE}", subject.values)
    connection.execute(
        f"UPDATE approvals SET decided_by = NULL WHERE decided_by IN {_PEOPLE}", subject.values
    )
    connection.execute(
        f"UPDATE questions SET answered_by = NULL WHERE answered_by IN {_PEOPLE}", subject.values
    )


def has_sending(connection: Connection, *, subject: DataSubject) -> bool:
    """Return whether a message of their conversations is being sent."""
    row = connection.execute(
        "SELECT 1 FROM outbox WHERE state IN ('owed', 'sending', 'unsure') AND state <> 'owed'"
        f" AND (person_id IN {_PEOPLE} OR turn_id IN {_TURNS}) LIMIT 1",
        subject.values,
    ).fetchone()
    return row is not None


def is_erased(connection: Connection, *, person_id: PersonId) -> bool:
    """Return whether a person was erased."""
    row = connection.execute(
        "SELECT 1 FROM people WHERE id = :person_id AND joined_to = id", {"person_id": person_id}
    ).fetchone()
    return row is not None


def delete_rows(connection: Connection, *, tasks: Sequence[int], sync_items: Sequence[int]) -> None:
    """Delete background work about them, and their queue for external memories."""
    connection.executemany("DELETE FROM tasks WHERE id = :id", [{"id": one} for one in tasks])
    connection.executemany(
        "DELETE FROM external_sync WHERE id = :id", [{"id": one} for one in sync_items]
    )


def find_successor(connection: Connection, *, subject: DataSubject) -> PersonId | None:
    """Return the owner who takes over their rooms and blocks; None if there is no other owner.

    Without any owner, everything stays with the person.
    """
    row = connection.execute(
        "SELECT id FROM people WHERE role = 'owner' AND kind = 'human' AND joined_to IS NULL"
        f" AND id NOT IN {_PEOPLE} ORDER BY id LIMIT 1",
        subject.values,
    ).fetchone()
    if row:
        return PersonId(row[0])
    is_owner = connection.execute(
        f"SELECT 1 FROM people WHERE role = 'owner' AND id IN {_PEOPLE}", subject.values
    ).fetchone()
    return None if is_owner else subject.person_ids[0]


def has_other_owner(connection: Connection, *, person_id: PersonId) -> bool:
    """Return whether there is an owner besides this one."""
    row = connection.execute(
        "SELECT 1 FROM people WHERE role = 'owner' AND kind = 'human' AND joined_to IS NULL"
        " AND id <> :person_id LIMIT 1",
        {"person_id": person_id},
    ).fetchone()
    return row is not None


def has_queued(connection: Connection, *, person_id: PersonId) -> bool:
    """Return whether a message or question to a person is still waiting to be sent."""
    row = connection.execute(
        "SELECT 1 FROM outbox WHERE state IN ('owed', 'sending', 'unsure')"
        " AND person_id = :person_id LIMIT 1",
        {"person_id": person_id},
    ).fetchone()
    return row is not None
