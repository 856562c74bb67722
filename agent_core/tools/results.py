"""Bound what a tool returns, add pictures to it, and word the failures of a call."""

from dataclasses import replace

from agent_core.state.conversations import files
from agent_core.state.conversations.images import measure
from agent_core.tools.contract import RESULT_LIMIT, ToolResult
from agent_core.transcript import ImagePart, escape

_MOST_TAIL = 5_000
"""Characters kept for the end, where a command reports its outcome; at most half of a result."""


def fail(sentence: str) -> ToolResult:
    """Make the result of a call that failed."""
    return ToolResult(text=bound(sentence), is_error=True)


def end_sentence(reason: object) -> str:
    """Return a reason that ends like a sentence."""
    text = str(reason)
    return text if text.endswith((".", "!", "?")) else f"{text}."


def bound(text: str, limit: int = RESULT_LIMIT, where: str = "ask for a part") -> str:
    """Return a result that a transcript can hold: bounded, free of our own tags and of characters
    that can't be stored. `where` tells how to get the rest.
    """
    left_out = len(text) - limit
    if left_out > 0:
        ending = min(limit // 2, _MOST_TAIL)
        head, tail = text[: limit - ending], text[-ending:]
        text = f"{head}\n[… {left_out:,} characters left out: {where} …]\n{tail}"
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair, from a file name for instance
        text = text.encode("utf-8", "replace").decode()
    return escape(text)


def add_image(result: ToolResult, data: bytes, media_type: str) -> ToolResult:
    """Return a result with one more picture; see `images.find_fault` for those that can't be."""
    image = ImagePart(file_key=files.make_key(data), media_type=media_type, size=len(data))
    return replace(
        result,
        images=(*result.images, image),
        image_data={**result.image_data, image.file_key: data},
    )


def describe_image(data: bytes, media_type: str) -> str:
    """Describe a picture beside the picture itself."""
    size = measure(data, media_type)
    pixels = f"{size[0]:,} × {size[1]:,} pixels, " if size else ""
    return f"A picture ({media_type}, {pixels}{len(data):,} bytes)."
