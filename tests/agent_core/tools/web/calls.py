"""Calls of the tools of the web."""

import json

from agent_core.ids import CallId, ConversationId, PersonId, TurnId
from agent_core.tools.contract import ToolContext
from agent_core.transcript import ToolCallPart

CONTEXT = ToolContext(
    person_id=PersonId(1),
    owner_id=PersonId(1),
    memory_owner=None,
    conversation_id=ConversationId(1),
    scope="c1",
    turn_id=TurnId(1),
    call_id=CallId("c1"),
    now=0,
    evidence="",
)


def make_call(name: str, arguments: object) -> ToolCallPart:
    return ToolCallPart(call_id=CallId("c1"), name=name, arguments=json.dumps(arguments))
