"""The requests that Anthropic's Messages API refuses, and its error messages."""

import hashlib
import re
from typing import Any

from tests.emulators.anthropic_cache import as_blocks
from tests.emulators.pictures import MEDIA_TYPES, count_pages, decode, look

Json = dict[str, Any]

KEYS = frozenset(
    {"model", "max_tokens", "messages", "system", "tools", "stream", "thinking", "output_config"}
    | {"stop_sequences", "tool_choice", "metadata", "service_tier"}
)
GONE = frozenset({"temperature", "top_p", "top_k"})
"""Sampling parameters that the 5.5 generation no longer takes."""
BLOCKS = {
    "user": {"text", "image", "document", "tool_result"},
    "assistant": {"text", "tool_use", "thinking", "redacted_thinking"},
}
MOST_IMAGES = 100
MANY_IMAGES = 20
"""With more pictures, each may have only 2,000 pixels a side."""
LARGEST_IMAGE = 5 * 1024 * 1024
"""Characters of base64."""
MOST_PAGES = 100
"""Pages of all PDF files, where the model's window has 200,000 tokens."""
BREAKPOINTS = 4
EFFORTS = {"low", "medium", "high", "xhigh", "max"}
TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")


def sign(thinking: str, model: str) -> str:
    """Sign a thinking block, so that only this model's own text is accepted."""
    return hashlib.sha256(f"{model}\n{thinking}".encode()).hexdigest()


def complain(body: Json) -> str | None:
    """Return why a request gets 400 invalid_request_error; None for a valid one."""
    return (
        _complain_of_keys(body)
        or _complain_of_tools(body)
        or _complain_of_messages(body)
        or _complain_of_images(body)
        or _complain_of_documents(body)
        or _complain_of_pairs(body)
        or _complain_of_breakpoints(body)
    )


def _complain_of_keys(body: Json) -> str | None:
    for key in body:
        if key in GONE:
            return f"{key}: not supported by this model"
        if key not in KEYS:
            return f"{key}: Extra inputs are not permitted"
    tokens = body.get("max_tokens")
    if not isinstance(tokens, int):
        return "max_tokens: Field required"
    if tokens < 1 or tokens > 128_000:
        return f"max_tokens: {tokens} is not between 1 and 128000"
    if not isinstance(body.get("messages"), list) or not body["messages"]:
        return "messages: at least one message is required"
    if body.get("output_config", {}).get("effort", "high") not in EFFORTS:
        return "output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'"
    return None


def _complain_of_tools(body: Json) -> str | None:
    names: set[str] = set()
    for place, tool in enumerate(body.get("tools", ())):
        name = tool.get("name", "")
        if not TOOL_NAME.fullmatch(name):
            return f"tools.{place}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
        if name in names:
            return "tools: Tool names must be unique."
        names.add(name)
        schema = tool.get("input_schema")
        if not isinstance(schema, dict) or schema.get("type") != "object":
            return f"tools.{place}.input_schema.type: Field required"
    return None


def _complain_of_messages(body: Json) -> str | None:
    for place, message in enumerate(body["messages"]):
        role = message.get("role")
        if role not in BLOCKS:
            return f"messages.{place}.role: Input should be 'user' or 'assistant'"
        if place == 0 and role != "user":
            return 'messages: first message must use the "user" role'
        blocks = as_blocks(message.get("content", ()))
        if not blocks:
            return f"messages.{place}: all messages must have non-empty content"
        for number, block in enumerate(blocks):
            where = f"messages.{place}.content.{number}"
            said = _complain_of_block(block, role, str(body.get("model")))
            if said:
                return f"{where}: {said}"
    return None


def _complain_of_block(block: Json, role: str, model: str) -> str | None:
    kind = block.get("type")
    if kind not in BLOCKS[role]:
        return f"block of type {kind!r} is not allowed in a message of the {role}"
    if kind == "text" and not str(block.get("text", "")).strip():
        return "text content blocks must be non-empty and contain non-whitespace text"
    if kind == "tool_use" and not isinstance(block.get("input"), dict):
        return "tool_use.input: Input should be a valid dictionary"
    if kind == "thinking" and block.get("signature") != sign(block.get("thinking", ""), model):
        return "Invalid `signature` in `thinking` block"
    if kind == "tool_result":
        for part in as_blocks(block.get("content", "")):
            if part.get("type") not in ("text", "image", "document"):
                return "tool_result.content: unknown type"
    if "cache_control" in block and kind in ("thinking", "redacted_thinking"):
        return "cache_control cannot be set for thinking blocks"
    return None


def _complain_of_images(body: Json) -> str | None:
    images = _find_sources(body, "image")
    if len(images) > MOST_IMAGES:
        return f"messages: too many images: {len(images)} > {MOST_IMAGES}"
    side = 2000 if len(images) > MANY_IMAGES else 8000
    for where, source in images:
        said = _complain_of_image(source, side)
        if said:
            return f"{where}{said}"
    return None


def _find_sources(body: Json, kind: str) -> list[tuple[str, Any]]:
    """Return the place and the source of each block of a kind, also within results."""
    return [
        (f"messages.{place}.content.{number}.{kind}.source.base64", one.get("source"))
        for place, message in enumerate(body["messages"])
        for number, block in enumerate(as_blocks(message["content"]))
        for one in (block, *as_blocks(block.get("content", "")))
        if one["type"] == kind
    ]


def _complain_of_documents(body: Json) -> str | None:
    pages = 0
    for where, source in _find_sources(body, "document"):
        if not isinstance(source, dict) or set(source) != {"type", "media_type", "data"}:
            return f"{where}: Field required"
        if source["type"] != "base64" or source["media_type"] != "application/pdf":
            return f"{where}.media_type: Input should be 'application/pdf'"
        count = count_pages(decode(source["data"]) or b"")
        if not count:
            return f"{where}.data: The PDF specified was not valid."
        pages += count
    if pages > MOST_PAGES:
        return f"A maximum of {MOST_PAGES} PDF pages may be provided."
    return None


def _complain_of_image(source: Any, side: int) -> str | None:
    if not isinstance(source, dict) or set(source) != {"type", "media_type", "data"}:
        return ": Field required"
    if source["type"] != "base64" or source["media_type"] not in MEDIA_TYPES:
        return ".media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'"
    size = len(source["data"])
    if size > LARGEST_IMAGE:
        return f": image exceeds 5 MB maximum: {size} bytes > {LARGEST_IMAGE} bytes"
    data = decode(source["data"])
    if data is None:
        return ": invalid base64 data"
    found = look(data)
    if found is None:
        return ": Could not process image"
    media_type, width, height = found
    if media_type != source["media_type"]:
        given = source["media_type"]
        return f": Image does not match the provided media type {given}, it is {media_type}"
    if max(width, height) > side:
        return f".data: At least one of the image dimensions exceed max allowed size: {side} pixels"
    return None


def _complain_of_pairs(body: Json) -> str | None:
    """Each tool_use needs its result at once, and nothing else does."""
    asked: list[str] = []
    seen: set[str] = set()
    for place, (role, blocks) in enumerate(_turns(body)):
        if role == "assistant":
            asked = [block["id"] for block in blocks if block["type"] == "tool_use"]
            if len(set(asked)) < len(asked) or seen & set(asked):
                return f"messages.{place}: `tool_use` ids must be unique"
            seen.update(asked)
            continue
        kinds = [block["type"] == "tool_result" for block in blocks]
        answered = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        for call in answered:
            if call not in asked:
                return (
                    f"messages.{place}: unexpected `tool_use_id` found in `tool_result` blocks: "
                    f"{call}. Each `tool_result` block must have a corresponding `tool_use` block "
                    "in the previous message."
                )
        missing = [call for call in asked if call not in answered]
        if missing or kinds != sorted(kinds, reverse=True):
            return (
                f"messages.{place}: `tool_use` ids were found without `tool_result` blocks "
                f"immediately after: {', '.join(missing or asked)}."
            )
        if len(set(answered)) < len(answered):
            return f"messages.{place}: each tool_use must have a single result"
        asked = []
    if asked:
        return (
            "messages: `tool_use` ids were found without `tool_result` blocks immediately after: "
            + ", ".join(asked)
        )
    return None


def _turns(body: Json) -> list[tuple[str, list[Json]]]:
    """Join neighbouring messages of one role, like the API."""
    turns: list[tuple[str, list[Json]]] = []
    for message in body["messages"]:
        blocks = as_blocks(message["content"])
        if turns and turns[-1][0] == message["role"]:
            turns[-1][1].extend(blocks)
        else:
            turns.append((message["role"], blocks))
    return turns


def _complain_of_breakpoints(body: Json) -> str | None:
    marks = [
        block["cache_control"]
        for block in (
            *body.get("tools", ()),
            *as_blocks(body.get("system", ())),
            *(block for _, blocks in _turns(body) for block in blocks),
        )
        if "cache_control" in block
    ]
    if len(marks) > BREAKPOINTS:
        return f"A maximum of 4 blocks with cache_control may be provided. Found {len(marks)}."
    lives = [mark.get("ttl", "5m") for mark in marks]
    if any(mark.get("type") != "ephemeral" for mark in marks) or set(lives) - {"5m", "1h"}:
        return "cache_control: Input should be 'ephemeral' with a ttl of '5m' or '1h'"
    if lives != sorted(lives):
        return "cache_control: a ttl='1h' block must not come after a ttl='5m' block"
    return None
