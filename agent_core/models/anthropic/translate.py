"""Turns the neutral form of a request into the Messages API's JSON; pure."""

import json
import re
from functools import lru_cache
from typing import Any

from agent_core.ids import CallId
from agent_core.models.contract import ModelRequest
from agent_core.models.images import Gallery
from agent_core.transcript import (
    DocumentPart,
    ImagePart,
    Message,
    RawPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    ToolSpec,
)

PROVIDER = "anthropic"

Block = dict[str, Any]

_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_CALL_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_THOUGHTS = ("thinking", "redacted_thinking")
_NO_WORDS = "(a message without words)"
_OPENING = "(The conversation begins with your message.)"


def render_request(request: ModelRequest, *, cache_ttl: str = "5m", effort: str = "") -> bytes:
    """The request's body. The same request gives the same bytes, and a longer conversation
    the same bytes up to where it grew (breakpoints apart), so that the prefix cache holds.
    """
    mark: Block = {"type": "ephemeral"}
    if cache_ttl != "5m":
        mark["ttl"] = cache_ttl
    body = {
        "model": request.model,
        "max_tokens": request.max_output_tokens,
        **_render_input(request, mark),
    }
    if effort:
        body["output_config"] = {"effort": effort}
    body["stream"] = True
    return _encode(body)


def render_count(request: ModelRequest) -> bytes:
    """The body of the question how many tokens the request's input is."""
    return _encode({"model": request.model, **_render_input(request, {"type": "ephemeral"})})


def _encode(body: Block) -> bytes:
    # A lone surrogate can't be sent; the API reads a question mark instead.
    return _ENCODE(body).encode(errors="replace")


def _render_input(request: ModelRequest, mark: Block) -> Block:
    """What the model reads, with breakpoints of the cache."""
    body: Block = {}
    if request.tools:
        tools = [_render_tool(tool) for tool in request.tools]
        tools[-1]["cache_control"] = mark
        body["tools"] = tools
    if request.system.strip():
        body["system"] = [{"type": "text", "text": request.system, "cache_control": mark}]
    messages = _render_messages(request)
    _mark_messages(messages, mark)
    body["messages"] = messages
    return body


def _render_tool(tool: ToolSpec) -> Block:
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": _parse_schema(tool.schema),
    }


@lru_cache(maxsize=512)
def _parse_schema(schema: str) -> Block:
    """Tools come again in every call; their schemas are parsed once."""
    parsed: Block = json.loads(schema)
    return parsed


def _render_messages(request: ModelRequest) -> list[Block]:
    """Messages of alternating roles; in a user's, the tool results come first."""
    rendered: list[Block] = []
    names = _CallNames()
    gallery = Gallery(request.images)
    for message in request.messages:
        if message.role == "assistant":
            role, blocks = "assistant", _render_assistant(message, request.model, names)
        else:
            role, blocks = "user", _render_user(message, names, gallery)
        if not blocks:
            continue
        if rendered and rendered[-1]["role"] == role:
            rendered[-1]["content"] += blocks
        else:
            rendered.append({"role": role, "content": blocks})
    for number, turn in enumerate(rendered):
        if turn["role"] == "user":
            turn["content"].sort(key=lambda block: block["type"] != "tool_result")
        elif number < len(rendered) - 1:
            turn["content"] = _without_last_thoughts(turn["content"])
    if rendered and rendered[0]["role"] == "assistant":
        # The API wants the user to speak first; after a digest it was the assistant.
        rendered.insert(0, {"role": "user", "content": [{"type": "text", "text": _OPENING}]})
    return rendered


def _render_user(message: Message, names: "_CallNames", gallery: Gallery) -> list[Block]:
    """A person's message: facts, words and files, a block each; or the results of tools."""
    blocks: list[Block] = []
    for part in message.parts:
        if isinstance(part, ImagePart):
            blocks.append(_render_image(part, gallery))
        elif isinstance(part, TextPart | DocumentPart):
            if part.text.strip():
                blocks.append({"type": "text", "text": part.text})
        elif isinstance(part, ToolResultPart):
            block: Block = {"type": "tool_result", "tool_use_id": names.find(part.call_id)}
            if part.text.strip():
                block["content"] = part.text
            if part.is_error:
                block["is_error"] = True
            blocks.append(block)
    # Empty text is refused, and a message has to be answered all the same.
    return blocks or [{"type": "text", "text": _NO_WORDS}]


def _render_image(part: ImagePart, gallery: Gallery) -> Block:
    data, instead = gallery.show(part)
    if instead:
        return {"type": "text", "text": instead}
    source = {"type": "base64", "media_type": part.media_type, "data": data}
    return {"type": "image", "source": source}


def _render_assistant(message: Message, model: str, names: "_CallNames") -> list[Block]:
    """The model's own message; thoughts of another model are left out."""
    names.begin()
    blocks: list[Block] = []
    for part in message.parts:
        if isinstance(part, TextPart):
            if part.text.strip():
                blocks.append({"type": "text", "text": part.text})
        elif isinstance(part, ToolCallPart):
            blocks.append(
                {
                    "type": "tool_use",
                    "id": names.add(part.call_id),
                    "name": part.name,
                    "input": _parse_arguments(part.arguments),
                }
            )
        elif isinstance(part, RawPart) and part.provider == PROVIDER and part.model == model:
            blocks.append(json.loads(part.payload))
    if all(block["type"] in _THOUGHTS for block in blocks):
        return []
    return blocks


def _without_last_thoughts(blocks: list[Block]) -> list[Block]:
    """The API refuses a message that ends in a thought, unless it is to be gone on with."""
    end = len(blocks)
    while end and blocks[end - 1]["type"] in _THOUGHTS:
        end -= 1
    return blocks[:end]


def _parse_arguments(arguments: str) -> Block:
    """Arguments as the object that the API takes, also where a model gave no such thing."""
    try:
        parsed = json.loads(arguments)
    except ValueError:
        parsed = None
    return parsed if isinstance(parsed, dict) else {"unreadable_arguments": arguments}


class _CallNames:
    """Gives each call a name the API takes: its own, or a new one for a foreign model's.

    The API wants `[a-zA-Z0-9_-]` and each name once in a conversation; other providers count
    from zero in every answer.
    """

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._current: dict[CallId, str] = {}

    def begin(self) -> None:
        """A new answer: its calls are the ones that the next results belong to."""
        self._current = {}

    def add(self, call_id: CallId) -> str:
        name: str = call_id
        if name in self._used or not _CALL_ID.fullmatch(name):
            name = f"call_{len(self._used)}"
            while name in self._used:
                name += "x"
        self._used.add(name)
        self._current[call_id] = name
        return name

    def find(self, call_id: CallId) -> str:
        return self._current.get(call_id, call_id)


def _mark_messages(messages: list[Block], mark: Block) -> None:
    """Set breakpoints on the last message and on the user's one before it.

    The former call wrote its prefix up to what was then the last message, which is now the
    user's before: marked again, it is found however many blocks have come since (the API
    looks back over 20 blocks only).
    """
    if not messages:
        return
    before = [message for message in messages[:-1] if message["role"] == "user"]
    for message in (messages[-1], *before[-1:]):
        for place in range(len(message["content"]) - 1, -1, -1):
            block = message["content"][place]
            if block["type"] not in _THOUGHTS:
                # A copy: blocks of raw parts are not ours to change.
                message["content"][place] = {**block, "cache_control": mark}
                break
