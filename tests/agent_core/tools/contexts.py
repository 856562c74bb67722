"""Contexts of tool calls."""

from typing import Any

from agent_core.ids import CallId, ConversationId, PersonId, TurnId
from agent_core.state.engine.database import Connection, Database
from agent_core.tools.contract import MemoryOwner, ToolContext
from tests.agent_core.state.rows import Dialogue, add_dialogue, add_person, add_turn


def make_context(person_id: int = 1, *, slug: str = "", **more: Any) -> ToolContext:
    """Return the context of a call in a person's turn.

    `slug` names the owner of the memory that it may change; `more` has precedence.
    """
    known = PersonId(person_id)
    fields: dict[str, Any] = {
        "person_id": known,
        "owner_id": known,
        "memory_owner": MemoryOwner(person_id=known, slug=slug) if slug else None,
        "conversation_id": ConversationId(1),
        "scope": "c1",
        "turn_id": TurnId(1),
        "call_id": CallId("c1"),
        "now": 0,
        "evidence": "",
    }
    return ToolContext(**fields | more)


async def begin_turn(database: Database, **more: Any) -> tuple[Dialogue, ToolContext]:
    """Begin a person's turn; return their conversation, and the context of a call in it."""

    def begin(connection: Connection) -> tuple[Dialogue, TurnId]:
        dialogue = add_dialogue(connection, add_person(connection))
        return dialogue, TurnId(add_turn(connection, dialogue))

    dialogue, turn = await database.write("begin", begin)
    place = {"conversation_id": dialogue.conversation.id, "scope": dialogue.conversation.scope}
    return dialogue, make_context(dialogue.person.id, slug="ann", turn_id=turn, **place | more)
