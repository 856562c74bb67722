"""Notices about MCP servers."""

from agent_core.tools.mcp.pins import Judged
from gateway.texts.mcp import describe_waiting


def test_a_notice_names_a_few_tools_and_counts_the_others() -> None:
    fresh = tuple(f"tool_{number}" for number in range(9))
    few = Judged(usable=(), fresh=fresh[:2], changed=(), faulty=())
    assert describe_waiting("notes", few).endswith("approval: tool_0 and tool_1. /mcp shows them.")
    many = Judged(usable=(), fresh=fresh, changed=(), faulty=())
    assert "tool_3, tool_4, and 4 more. /mcp" in describe_waiting("notes", many)
