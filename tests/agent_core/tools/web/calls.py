"""Calls of the tools of the web."""

import json

from agent_core.ids import CallId
from agent_core.transcript import ToolCallPart
from tests.agent_core.tools.contexts import make_context

CONTEXT = make_context()


def make_call(name: str, arguments: object) -> ToolCallPart:
    return ToolCallPart(call_id=CallId("c1"), name=name, arguments=json.dumps(arguments))
