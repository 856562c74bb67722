"""Turns the neutral form of a request into the Messages API's JSON; pure."""

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from agent_core.ids import CallId
from agent_core.models.contract import ModelRequest
from agent_core.models.images import ImageSelection
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
_OPEN_ENTRIES = 4
"""At a talk's end, whose rendering may change when it goes on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefix:
    """The beginning of a talk as it is rendered in every longer request.

    `count` messages are rendered as `text`, the encoded entries of a list. `names` are those
    that calls have in it.
    """

    count: int = 0
    names: frozenset[str] = frozenset()
    text: bytes = b""


@dataclass(slots=True)
class _Entry:
    """One message to the API, made of the request's from `start` on."""

    start: int
    role: str
    content: list[Block]

    @property
    def body(self) -> Block:
        return {"role": self.role, "content": self.content}


def render_request(request: ModelRequest, *, cache_ttl: str = "5m", effort: str = "") -> bytes:
    """The request's body. The same request gives the same bytes, and a longer conversation
    the same bytes up to where it grew (breakpoints apart), so that the prefix cache holds.
    """
    return render_behind(Prefix(), request, cache_ttl=cache_ttl, effort=effort)[0]


def render_behind(
    prefix: Prefix, request: ModelRequest, *, cache_ttl: str = "5m", effort: str = ""
) -> tuple[bytes, Prefix]:
    """The same body, where the request's first messages are those of `prefix`, and the longest
    beginning that longer requests have in common with it.
    """
    mark = _mark("" if cache_ttl == "5m" else cache_ttl)
    head: Block = {"model": request.model, "max_tokens": request.max_output_tokens}
    tail: Block = {"output_config": {"effort": effort}} if effort else {}
    messages, longer = _render_messages(prefix, request, mark)
    body = (
        _encode_frozen(head, request, mark),
        b',"messages":[',
        messages,
        b"],",
        _encode({**tail, "stream": True})[1:],
    )
    return b"".join(body), longer


def render_count(request: ModelRequest) -> bytes:
    """The body of the question how many tokens the request's input is."""
    mark = _mark("")
    messages, _ = _render_messages(Prefix(), request, mark)
    head = _encode_frozen({"model": request.model}, request, mark)
    return b"".join((head, b',"messages":[', messages, b"]}"))


def _encode(body: Block | list[Block]) -> bytes:
    # A lone surrogate can't be sent; the API reads a question mark instead.
    return _ENCODE(body).encode(errors="replace")


def _encode_frozen(head: Block, request: ModelRequest, mark: Block) -> bytes:
    """The body up to its messages: tools and system text, each with a breakpoint of the cache."""
    text = _encode(head)[:-1]
    if request.tools:
        text += b',"tools":' + _encode_tools(request.tools, mark.get("ttl", ""))
    if request.system.strip():
        text += b',"system":' + _encode_system(request.system, mark.get("ttl", ""))
    return text


@lru_cache(maxsize=64)
def _encode_tools(tools: tuple[ToolSpec, ...], ttl: str) -> bytes:
    """They come again in every call, and are half of the bytes of most."""
    rendered = [_render_tool(tool) for tool in tools]
    rendered[-1]["cache_control"] = _mark(ttl)
    return _encode(rendered)


@lru_cache(maxsize=64)
def _encode_system(system: str, ttl: str) -> bytes:
    """It comes again in every call of a talk."""
    return _encode([{"type": "text", "text": system, "cache_control": _mark(ttl)}])


def _mark(ttl: str) -> Block:
    """A breakpoint of the cache, for the API's own five minutes unless `ttl` says otherwise."""
    return {"type": "ephemeral", **({"ttl": ttl} if ttl else {})}


def _render_tool(tool: ToolSpec) -> Block:
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": json.loads(tool.schema),
    }


def _render_messages(prefix: Prefix, request: ModelRequest, mark: Block) -> tuple[bytes, Prefix]:
    """The encoded entries of the list of messages, with breakpoints; see `render_behind`."""
    entries = _lay_out(prefix, request)
    closed = _count_closed(entries)
    start = entries[closed].start if closed else 0
    longer = prefix
    # A picture is shown once, at its first place: what follows one is rendered with it.
    has_pictures = any(one.images for one in request.messages[prefix.count : start])
    if start > prefix.count and not has_pictures:
        used = (
            block["id"] for entry in entries[:closed] for block in entry.content if _is_call(block)
        )
        texts = [prefix.text] if prefix.count else []
        texts.append(_encode([entry.body for entry in entries[:closed]])[1:-1])
        longer = Prefix(count=start, names=prefix.names.union(used), text=b",".join(texts))
        entries = entries[closed:]
    _mark_entries(entries, mark)
    # In one go, without the list's brackets: to begin takes longer than a message.
    rest = _encode([entry.body for entry in entries])[1:-1]
    texts = [longer.text] if longer.count else []
    return b",".join([*texts, *([rest] if rest else [])]), longer


def _count_closed(entries: list[_Entry]) -> int:
    """How many entries stay as they are however the talk goes on: breakpoints stand in the
    last three only. What follows begins with an answer: results belong to the calls before them.
    """
    for number in range(len(entries) - _OPEN_ENTRIES, 0, -1):
        if entries[number].role == "assistant":
            return number
    return 0


def _is_call(block: Block) -> bool:
    return bool(block["type"] == "tool_use")


def _lay_out(prefix: Prefix, request: ModelRequest) -> list[_Entry]:
    """Entries of alternating roles; in a user's, the tool results come first."""
    entries: list[_Entry] = []
    names = _CallNames(prefix.names)
    gallery = ImageSelection(request.images)
    for place, message in enumerate(request.messages[prefix.count :], start=prefix.count):
        if message.role == "assistant":
            role, blocks = "assistant", _render_assistant(message, request.model, names)
        else:
            role, blocks = "user", _render_user(message, names, gallery)
        if not blocks:
            continue
        if entries and entries[-1].role == role:
            entries[-1].content += blocks
        else:
            entries.append(_Entry(place, role, blocks))
    for number, entry in enumerate(entries):
        if entry.role == "user":
            entry.content.sort(key=lambda block: block["type"] != "tool_result")
        elif number < len(entries) - 1:
            entry.content = _without_last_thoughts(entry.content)
    if not prefix.count and entries and entries[0].role == "assistant":
        # The API wants the user to speak first; after a digest it was the assistant.
        entries.insert(0, _Entry(0, "user", [{"type": "text", "text": _OPENING}]))
    return entries


def _render_user(message: Message, names: "_CallNames", gallery: ImageSelection) -> list[Block]:
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


def _render_image(part: ImagePart, gallery: ImageSelection) -> Block:
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

    def __init__(self, before: frozenset[str]) -> None:
        """`before` are the names that are taken already."""
        self._before = before
        self._used: set[str] = set()
        self._current: dict[CallId, str] = {}

    def begin(self) -> None:
        """A new answer: its calls are the ones that the next results belong to."""
        self._current = {}

    def add(self, call_id: CallId) -> str:
        name: str = call_id
        if self._is_taken(name) or not _CALL_ID.fullmatch(name):
            name = f"call_{len(self._before) + len(self._used)}"
            while self._is_taken(name):
                name += "x"
        self._used.add(name)
        self._current[call_id] = name
        return name

    def find(self, call_id: CallId) -> str:
        return self._current.get(call_id, call_id)

    def _is_taken(self, name: str) -> bool:
        return name in self._used or name in self._before


def _mark_entries(entries: list[_Entry], mark: Block) -> None:
    """Set breakpoints on the last message and on the user's one before it.

    The former call wrote its prefix up to what was then the last message, which is now the
    user's before: marked again, it is found however many blocks have come since (the API
    looks back over 20 blocks only).
    """
    if not entries:
        return
    before = [entry for entry in entries[:-1] if entry.role == "user"]
    for entry in (entries[-1], *before[-1:]):
        for place in range(len(entry.content) - 1, -1, -1):
            block = entry.content[place]
            if block["type"] not in _THOUGHTS:
                # A copy: blocks of raw parts are not ours to change.
                entry.content[place] = {**block, "cache_control": mark}
                break
