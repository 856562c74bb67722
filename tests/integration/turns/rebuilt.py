"""Requests rebuilt from the file alone."""

import json
import sqlite3
from dataclasses import dataclass
from pathlib import Path

from agent_core.models.contract import ModelRequest
from agent_core.state.conversations import compactions
from agent_core.state.conversations.messages import StoredMessage
from agent_core.transcript import Message, ToolSpec, dump_parts, load_parts
from tests.agent_core.agent.compaction.seeing import view


@dataclass(frozen=True, slots=True)
class Sent:
    """A request in bytes."""

    system: str
    tools: str
    messages: tuple[tuple[str, str], ...]


def see(request: ModelRequest) -> Sent:
    return Sent(
        system=request.system,
        tools=json.dumps([[s.name, s.description, s.schema] for s in request.tools]),
        messages=tuple((m.role, dump_parts(m.parts)) for m in request.messages),
    )


def rebuild(home: Path) -> list[Sent]:
    """The requests of all model calls, oldest first, by nothing but the file.

    A call is a message of the assistant that the model gave: what it was sent is the frozen
    prompt of its turn, and its session up to there, under the fold that counted then.
    """
    connection = sqlite3.connect(home / "state.db")
    sent = []
    answers = connection.execute(
        "SELECT messages.id, messages.session_id, messages.person_id, prompts.system,"
        " prompts.tools FROM messages"
        " JOIN turns ON turns.id = messages.turn_id JOIN prompts ON prompts.hash = prompt_hash"
        " WHERE messages.role = 'assistant' ORDER BY messages.id"
    ).fetchall()
    for message_id, session_id, person_id, system, tools in answers:
        rows = connection.execute(
            "SELECT id, turn_id, role, parts, text FROM messages WHERE session_id = ? AND id < ?"
            " ORDER BY id",
            (session_id, message_id),
        ).fetchall()
        before = [
            StoredMessage(
                id=key, turn_id=turn, message=Message(role=role, parts=load_parts(parts, text))
            )
            for key, turn, role, parts, text in rows
        ]
        made = compactions.list_of_session(connection, session_id=session_id, person_id=person_id)
        sent.append(
            see(
                ModelRequest(
                    model="",
                    system=system,
                    tools=tuple(ToolSpec(**fields) for fields in json.loads(tools)),
                    messages=view(before, made),
                    max_output_tokens=0,
                )
            )
        )
    connection.close()
    return sent
