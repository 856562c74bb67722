"""Bound what a tool returns, and word the failures of a call."""

from agent_core.tools.contract import RESULT_LIMIT, ToolResult
from agent_core.tools.untrusted_text import escape

_RESULT_TAIL = 4_000
"""The part of them kept for the end, where a command reports its outcome."""


def fail(sentence: str) -> ToolResult:
    """Make the result of a call that failed."""
    return ToolResult(text=bound(sentence), is_error=True)


def end_sentence(reason: object) -> str:
    """Return a reason that ends like a sentence."""
    text = str(reason)
    return text if text.endswith((".", "!", "?")) else f"{text}."


def bound(text: str) -> str:
    """Return a result that a transcript can hold: bounded, free of our own tags and of characters
    that can't be stored.
    """
    left_out = len(text) - RESULT_LIMIT
    if left_out > 0:
        head, tail = text[: RESULT_LIMIT - _RESULT_TAIL], text[-_RESULT_TAIL:]
        text = f"{head}\n[… {left_out:,} characters left out: ask for a part …]\n{tail}"
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair, from a file name for instance
        text = text.encode("utf-8", "replace").decode()
    return escape(text)
