"""The built-in tools: where each is offered, and which of them every prompt lists.

The tools are made elsewhere, with what they need. What only needs their names, such as the command
line, reads them here and stays quick.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """Says where people and prompts get a tool, besides private conversations.

    A tool `in_prompt` stays in the prompt; others are found by search, even if there is room. A
    tool `in_rooms` shows nobody's private data. One that `needs_backend` exists with
    `tools.backend` only.
    """

    in_prompt: bool = False
    in_rooms: bool = False
    needs_backend: bool = False


SKILL_TOOL = "skill_view"
"""The tool that reads a skill: without it, no prompt lists skills, and their texts stay whole."""
BUILT_IN: Mapping[str, Offer] = {
    "memory": Offer(in_prompt=True, in_rooms=True),
    "recall": Offer(in_prompt=True, in_rooms=True),
    "archive": Offer(in_prompt=True, in_rooms=True),
    "gather": Offer(in_prompt=True, in_rooms=True),
    "remind": Offer(in_prompt=True, in_rooms=True),
    "schedule_job": Offer(in_prompt=True, in_rooms=True),
    "manage_jobs": Offer(in_prompt=True, in_rooms=True),
    "terminal": Offer(in_prompt=True, needs_backend=True),
    "read_file": Offer(in_prompt=True, needs_backend=True),
    "write_file": Offer(in_prompt=True, needs_backend=True),
    "patch": Offer(in_prompt=True, needs_backend=True),
    "search_files": Offer(in_prompt=True, needs_backend=True),
    "web_search": Offer(in_prompt=True, in_rooms=True),
    "web_fetch": Offer(in_prompt=True, in_rooms=True),
    SKILL_TOOL: Offer(in_prompt=True, in_rooms=True),
    "settings": Offer(in_prompt=True),
    "ask": Offer(in_prompt=True, in_rooms=True),
    "todo": Offer(in_rooms=True),
    "send_message": Offer(),
    "send_file": Offer(in_rooms=True),
    "propose_identity": Offer(),
    "ask_memory": Offer(),
    "process": Offer(needs_backend=True),
    "execute_code": Offer(needs_backend=True),
    "delegate_task": Offer(needs_backend=True),
    "message_agent": Offer(in_rooms=True),
    "manage_agents": Offer(),
    "chart": Offer(in_rooms=True),
    "image_generate": Offer(in_rooms=True),
    "skills_search": Offer(in_rooms=True),
    "skill_manage": Offer(),
    "group_titles": Offer(in_rooms=True),
}
"""Every built-in tool; those of the prompt first, in their order there.

`gather` exists in jobs only, in the place of `ask`: a job can't ask a person.
"""
PROMPT_TOOLS = tuple(name for name, offer in BUILT_IN.items() if offer.in_prompt)
"""The tools that stay in the prompt, in their order there; others follow while there is room."""
RARE_TOOLS = frozenset(BUILT_IN).difference(PROMPT_TOOLS)
"""Tools that few turns need: they are found by search, even if there is room in the prompt."""


def is_in_rooms(name: str) -> bool:
    """Return whether rooms have a built-in tool; False for a tool that is not listed."""
    return name in BUILT_IN and BUILT_IN[name].in_rooms
