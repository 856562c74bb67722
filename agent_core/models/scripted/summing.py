"""Sums up a talk without a language model: what was said last, word for word; pure."""

import json

from agent_core.models.contract import ModelRequest

_OPENING = "<talk>\n"
_TOLD = ("earlier summary: ", "person: ", "assistant: ")
_CHARACTERS = 2
"""Of a summary, for each token that the answer may have: half of what would fit."""
_LONGEST = 300


def sum_up(request: ModelRequest) -> str:
    """The newest lines of a talk that is to be summed up; empty for any other request."""
    text = request.messages[-1].text if request.messages else ""
    if request.tools or not text.startswith(_OPENING):
        return ""
    lines = [line for line in map(_read, text.splitlines()) if line]
    room = request.max_output_tokens * _CHARACTERS
    kept: list[str] = []
    while lines and len(lines[-1]) < room:
        kept.append(lines.pop())
        room -= len(kept[-1])
    return "\n".join(reversed(kept))


def _read(line: str) -> str:
    """A line of words as it is told on; empty for calls, outputs and facts."""
    lead = next((lead for lead in _TOLD if line.startswith(lead)), "")
    if not lead:
        return ""
    try:
        words = json.loads(line.removeprefix(lead))
    except ValueError:
        return ""
    said = " ".join(str(words).split())[:_LONGEST]
    return said if lead == _TOLD[0] else f"{lead}{said}"
