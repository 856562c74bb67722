"""Bring an agent in from an agent file of Letta, and write one: its blocks and messages, too."""

import asyncio
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from agent_core.agent.named.agent_files import dump_rule
from agent_core.agent.named.definition import NamedAgent
from agent_core.agent.named.editor import AgentEditor, Author
from agent_core.agent.named.letta_file import OWN, CarriedAgent, CarriedBlock, read_agent_file
from agent_core.agent.named.letta_messages import write_messages
from agent_core.agent.named.letta_tools import find_kind, find_name, write_model, write_rules
from agent_core.agent.named.past_conversation import PastConversation
from agent_core.errors import AgentRefused
from agent_core.ids import PersonId, SessionId
from agent_core.memory.sync import MemoryList, find_list, record
from agent_core.state.conversations import past_import, sessions, staged_import
from agent_core.state.conversations.past_import import PastTurn
from agent_core.state.conversations.sessions import NewConversation
from agent_core.state.engine.database import Connection
from agent_core.state.memory import blocks
from agent_core.state.memory.blocks import Block, NewBlock
from agent_core.state.memory.ledger import Change, Origin
from agent_core.transcript import Message, make_source

_LONGEST_LABEL = 40
_LONGEST_SLUG = 40
_Said = Sequence[tuple[Message, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class BroughtAgent:
    """Lists what came in: the agent, its blocks, the number of its messages; and what did not."""

    name: str
    blocks: tuple[str, ...]
    messages: int
    left_out: tuple[str, ...]


async def import_agent(
    editor: AgentEditor,
    data: bytes,
    person_id: PersonId,
    author: Author,
    *,
    name: str = "",
    chosen: str = "",
) -> BroughtAgent:
    """Make the agent of a file, with its blocks and its messages for a person: all or nothing.

    `name` is its name here, "" for its own. `chosen` is one of several agents of the file. It sees
    its own blocks only. Its messages become an earlier conversation of the person with it.

    Raises `AgentRefused` with a clause, `AgentBroken`, and `StoreError`.
    """
    agents, now = editor.files.agents, editor.now()

    def read() -> CarriedAgent:
        return read_agent_file(data, agents.known, agents.check_skill, chosen=chosen, now=now)

    found = await asyncio.to_thread(read)
    name = name or found.name
    labels = _name_blocks(name, found.blocks, await editor.database.read(blocks.list_all))
    title = f"{name}.af"

    turns = [
        PastTurn(
            began_at=one.began_at,
            ended_at=one.ended_at,
            said=tuple((message, one.began_at) for message in one.messages),
        )
        for one in found.turns
    ]
    past = PastConversation(person_id=person_id, title=title, turns=turns) if turns else None

    def carry(connection: Connection, session_id: SessionId | None) -> None:
        for label, block in zip(labels, found.blocks, strict=True):
            _insert_block(connection, label, block, person_id, title, now)
        into = NewConversation(
            key=sessions.name_conversation(name, sessions.name_direct(person_id)),
            kind="direct",
            agent=name,
            person_id=person_id,
            is_direct=True,
        )
        if session_id and not staged_import.publish(
            connection, session_id=session_id, into=into, now=now
        ):
            raise AgentRefused("the conversation was erased while it came in")

    change = replace(found.change, blocks=tuple(labels))
    await editor.bring(name, change, carry, past, author)
    return BroughtAgent(
        name=name,
        blocks=tuple(labels),
        messages=sum(len(one.messages) for one in found.turns),
        left_out=found.left_out,
    )


async def export_agent(editor: AgentEditor, name: str, person_id: PersonId) -> bytes:
    """Write an agent as a file: its blocks, and what this person and it said. No secrets.

    Raises `AgentRefused` with a clause, and `StoreError`.
    """
    agent = await asyncio.to_thread(editor.files.read, name)

    def read(connection: Connection) -> tuple[list[tuple[Block, tuple[str, ...]]], _Said]:
        seen = blocks.list_visible(connection, person_id=person_id)
        found = [
            (
                one,
                find_list(
                    connection, MemoryList(person_id=one.person_id, target="memory", limit=0)
                ),
            )
            for one in seen
            if agent.may_see(one.label)
        ]
        key = sessions.name_conversation(name, sessions.name_direct(person_id))
        conversation = sessions.find_conversation(connection, key=key, person_id=person_id)
        said = (
            past_import.walk_said(connection, conversation_id=conversation.id, person_id=person_id)
            if conversation
            else ()
        )
        return found, list(said)

    found, said = await editor.database.browse(read)
    model = agent.model or next(iter(editor.files.agents.known.models), "")
    return await asyncio.to_thread(_write, agent, found, said, model)


def _name_blocks(name: str, found: Sequence[CarriedBlock], known: Sequence[Block]) -> list[str]:
    """Return free labels: the agent's name and a block's own, and a number if there are two."""
    taken, labels = {one.label for one in known}, []
    for block in found:
        own = re.sub(r"[^\w-]+", "-", block.label.casefold()).strip("-")
        wanted = f"{name}-{own.removeprefix(f'{name}-')}"[:_LONGEST_LABEL].rstrip("-")
        label, number = wanted, 2
        while label in taken:
            end = f"-{number}"
            label, number = f"{wanted[: _LONGEST_LABEL - len(end)]}{end}", number + 1
        taken.add(label)
        labels.append(label)
    return labels


def _insert_block(
    connection: Connection,
    label: str,
    block: CarriedBlock,
    person_id: PersonId,
    title: str,
    now: int,
) -> None:
    if blocks.find(connection, label=label):
        raise AgentRefused(f"there is a memory block {label} now; try again")
    slug = re.sub(r"[^a-z0-9]+", "-", label.casefold()).strip("-")[:_LONGEST_SLUG] or "block"
    new = NewBlock(
        slug=slug,
        label=label,
        description=block.description or f"A block of {title}",
        limit=block.limit,
        made_by=person_id,
    )
    made = blocks.insert(connection, new, now=now)
    blocks.share(connection, block_id=made.id, person_id=person_id)
    if block.is_read_only:
        blocks.set_read_only(connection, block_id=made.id, is_read_only=True)
    memory_list = MemoryList(person_id=made.person_id, target="memory", limit=block.limit)
    origin = Origin(
        actor="house",
        now=now,
        evidence=f"imported from {title}",
        sources=(make_source("file", title),),
    )
    for position, entry in enumerate(block.entries):
        change = Change(operation="add", position=position, before=None, after=entry)
        record(connection, memory_list, change, origin)


def _write(
    agent: NamedAgent,
    found: Sequence[tuple[Block, tuple[str, ...]]],
    said: _Said,
    model: str,
) -> bytes:
    ids = [f"block-{number}" for number in range(len(found))]
    equal = dict.fromkeys(one for one in map(find_name, agent.tools or ()) if one)
    tools = [
        {"id": f"tool-{number}", "name": name, "tool_type": find_kind(name)}
        for number, name in enumerate(equal)
    ]
    own = {
        "version": 1,
        "tools": agent.tools,
        "disabled": agent.disabled,
        "skills": agent.skills,
        "model": agent.model,
        "rules": list(map(dump_rule, agent.rules)),
    }
    messages = write_messages(said, "agent-0")
    document: dict[str, Any] = {
        "agents": [
            {
                "id": "agent-0",
                "name": agent.name,
                "system": agent.soul,
                "description": agent.description or None,
                "agent_type": "letta_v1_agent",
                "tags": list(agent.tags),
                "block_ids": ids,
                "tool_ids": [one["id"] for one in tools],
                "tool_rules": write_rules(agent.rules),
                "messages": messages,
                "in_context_message_ids": [],
                "llm_config": write_model(model),
                "metadata": {OWN: own},
            }
        ],
        "groups": [],
        "blocks": [
            {
                "id": key,
                "label": block.label.removeprefix(f"{agent.name}-"),
                "description": block.description,
                "value": "\n\n".join(entries),
                "limit": block.limit,
                "read_only": block.is_read_only,
            }
            for key, (block, entries) in zip(ids, found, strict=True)
        ],
        "files": [],
        "sources": [],
        "tools": tools,
        "mcp_servers": [],
        "metadata": {"made_by": "Talaria"},
    }
    return f"{json.dumps(document, ensure_ascii=False, indent=1)}\n".encode()
