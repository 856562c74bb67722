"""Turn what a server's tool returns into text and pictures for the model."""

import base64
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress

from mcp import Client, MCPError, types

from agent_core.state.conversations.images import PDF, find_fault, find_type, is_pdf
from agent_core.tools.contract import RESULT_LIMIT
from agent_core.tools.mcp.contract import CallOutcome
from agent_core.tools.results import describe_image
from agent_core.transcript import flatten, strip_controls

_MOST = 3 * RESULT_LIMIT
"""Characters of a result that are read; fewer of them are kept."""
_LINK = 300
_MOST_IMAGES = 5
"""Pictures of one result; a request can show twenty."""
Seen = tuple[bytes, str]
"""The bytes and the type of a picture or a PDF file."""
_EMPTY, _NOTHING = "The tool returned nothing.", "There is nothing."


def read_result(result: types.CallToolResult) -> CallOutcome:
    """Return the text of a result; other content is described."""
    parts = [_describe(block) for block in result.content]
    if not any(parts) and result.structured_content is not None:
        parts = [json.dumps(result.structured_content, ensure_ascii=False)]
    text = strip_controls(_join(parts)) or _EMPTY
    if result.is_error:  # model providers refuse pictures in an error
        return CallOutcome(text=text, is_error=True)
    return CallOutcome(text=text, images=_see_all(result.content))


def _see_all(blocks: Iterable[object]) -> tuple[Seen, ...]:
    return tuple([one for block in blocks if (one := _see(block))][:_MOST_IMAGES])


def _see(block: object) -> Seen | None:
    """Return a picture or a PDF file if a model can be shown it."""
    match block:
        case types.ImageContent():
            encoded = block.data
        case types.EmbeddedResource():
            return _see(block.resource)
        case types.BlobResourceContents():
            encoded = block.blob
        case _:
            return None
    try:
        data = base64.b64decode(encoded, validate=True)
    except ValueError:
        return None
    # The type that the server claims is ignored.
    media_type = PDF if is_pdf(data) else find_type(data)
    return None if media_type != PDF and find_fault(data, media_type) else (data, media_type)


async def get_offer(client: Client, kind: str, name: str, values: Mapping[str, str]) -> CallOutcome:
    """Get a resource or a prompt, or the list of them. Raises what the SDK raises."""
    if kind == "resource":
        return await _read_resource(client, name) if name else _clean(await _list(client))
    if name:
        prompt = await client.get_prompt(name, dict(values))
        texts = [f"{one.role}: {_describe(one.content)}" for one in prompt.messages]
        return _clean(texts, [one.content for one in prompt.messages])
    page = await client.list_prompts()
    return _clean(
        [
            f"{one.name}({', '.join(word.name for word in one.arguments or ())}):"
            f" {flatten(one.description or '', _LINK)}"
            for one in page.prompts
        ]
    )


async def _read_resource(client: Client, uri: str) -> CallOutcome:
    found = await client.read_resource(uri)
    return _clean([_describe_resource(one) for one in found.contents], found.contents)


def _describe_resource(found: types.TextResourceContents | types.BlobResourceContents) -> str:
    if isinstance(found, types.TextResourceContents):
        return found.text
    uri, size = flatten(str(found.uri), _LINK), len(found.blob) * 3 // 4
    if seen := _see(found):
        return f"[{uri}: {_describe_seen(*seen)}]"
    return f"[{uri}, {size:,} bytes, which is no text]"


def _describe_seen(data: bytes, media_type: str) -> str:
    return "A PDF file." if media_type == PDF else describe_image(data, media_type)


async def _list(client: Client) -> list[str]:
    """List the resources, and the server's templates for further ones if it has any."""
    page = await client.list_resources()
    lines = [f"{one.uri}: {flatten(one.title or one.name, _LINK)}" for one in page.resources]
    with suppress(MCPError):
        patterns = await client.list_resource_templates()
        lines += [
            f"{one.uri_template}: {flatten(one.title or one.name, _LINK)}"
            for one in patterns.resource_templates
        ]
    return lines


def _clean(parts: Iterable[str], shown: Iterable[object] = ()) -> CallOutcome:
    return CallOutcome(text=strip_controls(_join(parts)) or _NOTHING, images=_see_all(shown))


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
            kind, size = flatten(block.mime_type, _LINK), len(block.data) * 3 // 4
            if seen := _see(block):
                return f"[{_describe_seen(*seen)}]"
            return f"[{kind}, {size:,} bytes, which can't be shown here]"
        case types.ResourceLink():
            return f"[{flatten(block.name, _LINK)}: {flatten(block.uri, _LINK)}]"
        case types.EmbeddedResource():
            return _describe_resource(block.resource)
