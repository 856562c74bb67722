"""Turn what a server's tool returns into text for the model."""

import json
from collections.abc import Iterable

from mcp import types

from agent_core.tools.mcp.contract import CallOutcome
from agent_core.tools.untrusted_text import flatten, strip_controls

_MOST = 400_000
"""Characters of a result that are looked at; the toolbox keeps fewer of them."""
_LINK = 300
_EMPTY = "The tool returned nothing."


def read_result(result: types.CallToolResult) -> CallOutcome:
    """Return the text of a result; what is no text is described."""
    parts = [_describe(block) for block in result.content]
    if not any(parts) and result.structured_content is not None:
        parts = [json.dumps(result.structured_content, ensure_ascii=False)]
    return CallOutcome(text=strip_controls(_join(parts)) or _EMPTY, is_error=result.is_error)


def _join(parts: Iterable[str]) -> str:
    text = "\n".join(part for part in parts if part)
    if len(text) <= _MOST:
        return text
    return f"{text[:_MOST]}\n[The server sent {len(text):,} characters; the rest is cut off.]"


def _describe(block: types.ContentBlock) -> str:
    match block:
        case types.TextContent():
            return block.text
        case types.ImageContent() | types.AudioContent():
            kind = flatten(block.mime_type, _LINK)
            return f"[{kind}, {len(block.data) * 3 // 4:,} bytes, which can't be shown here]"
        case types.ResourceLink():
            return f"[{flatten(block.name, _LINK)}: {flatten(block.uri, _LINK)}]"
        case types.EmbeddedResource():
            found = block.resource
            if isinstance(found, types.TextResourceContents):
                return found.text
            return f"[{flatten(str(found.uri), _LINK)}, which is no text]"
