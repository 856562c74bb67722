"""Queries over what people noted in the memories of groups, and the prompts that show it."""

import json
from collections.abc import Collection, Sequence

from agent_core.ids import PersonId, PromptHash
from agent_core.state.engine.database import Connection
from agent_core.state.lifecycle import redact
from agent_core.state.lifecycle.person_data import DEED_WORDS, IS_DEED
from agent_core.transcript import escape

_IN_GROUP = (
    "SELECT id FROM conversations WHERE person_id = :group_id"
    " OR room_id IN (SELECT id FROM rooms WHERE person_id = :group_id)"
)
_PROMPTS = (
    f"SELECT prompt_hash FROM turns WHERE conversation_id IN ({_IN_GROUP})"
    f" UNION SELECT prompt_hash FROM sessions WHERE conversation_id IN ({_IN_GROUP})"
)


def list_own_changes(
    connection: Connection, *, person_ids: Sequence[PersonId]
) -> dict[PersonId, set[int]]:
    """Return the ledger rows that people's turns and commands made for groups, by group.

    An undo is left out: it brings back words of anybody.
    """
    found: dict[PersonId, set[int]] = {}
    for group_id, row_id in connection.execute(
        "SELECT ledger.person_id, ledger.id FROM ledger JOIN people ON people.id = ledger.person_id"
        " WHERE people.kind = 'room' AND ledger.undoes IS NULL AND actor IN"
        " (SELECT 'turn:' || id FROM turns"
        "  WHERE person_id IN (SELECT value FROM json_each(:people))"
        "  UNION ALL SELECT 'person:' || value FROM json_each(:people))",
        {"people": json.dumps(person_ids)},
    ).fetchall():
        found.setdefault(PersonId(group_id), set()).add(row_id)
    return found


def walk_deeds(
    connection: Connection, *, group_id: PersonId, person_ids: Sequence[PersonId] | None
) -> list[tuple[int, str]]:
    """Return the rows of `/undo` in a group with their words: of these people, or of all."""
    return connection.execute(
        f"SELECT id, {DEED_WORDS} FROM audit WHERE {IS_DEED} AND person_id = :group_id AND"
        " (:people IS NULL OR actor IN (SELECT 'person:' || value FROM json_each(:people)))",
        {
            "group_id": group_id,
            "people": None if person_ids is None else json.dumps(person_ids),
        },
    ).fetchall()


def has_running(connection: Connection, *, group_id: PersonId) -> bool:
    """Return whether a turn is running in a group, or waits to continue there."""
    row = connection.execute(
        f"SELECT 1 FROM turns WHERE state = 'running' AND conversation_id IN ({_IN_GROUP}) LIMIT 1",
        {"group_id": group_id},
    ).fetchone()
    return row is not None


def drop_prompts(connection: Connection, *, group_id: PersonId, texts: Collection[str]) -> None:
    """Clear the frozen prompts of a group that show a line of one of the texts.

    A prompt indents and escapes them. The next turns of all its sessions compose a new one: a
    session that learned a text later has it in its messages only.
    """
    connection.execute(
        "UPDATE sessions SET prompt_hash = NULL"
        f" WHERE ended_at IS NULL AND conversation_id IN ({_IN_GROUP})",
        {"group_id": group_id},
    )
    lines = {escape(line.strip()) for text in texts for line in text.splitlines() if line.strip()}
    rows = connection.execute(
        f"SELECT hash, system FROM prompts WHERE hash IN ({_PROMPTS})", {"group_id": group_id}
    ).fetchall()
    for prompt_hash, system in rows:
        if any(line in system for line in lines):
            connection.execute(
                "UPDATE sessions SET prompt_hash = NULL"
                " WHERE ended_at IS NULL AND prompt_hash = :hash",
                {"hash": prompt_hash},
            )
            redact.drop_prompt(connection, prompt_hash=PromptHash(prompt_hash))
