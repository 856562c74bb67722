"""The loop of one turn: model calls and tool calls, until there is an answer."""

from agent_core.agent.loop.guards import Limits
from agent_core.agent.loop.messages import has_visible_text

__all__ = [
    "Limits",
    "has_visible_text",
]
