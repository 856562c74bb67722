"""Translate requests to the Messages API's JSON; pure."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from agent_core.ids import CallId
from agent_core.models.answer_schema import ask_in_words, choose_in_words, parse_schema
from agent_core.models.arguments import read_object
from agent_core.models.call_names import make_valid
from agent_core.models.contract import ModelRequest
from agent_core.models.dialect import ServerDialect, unfold
from agent_core.models.images import ImageSelection
from agent_core.transcript import (
    DocumentPart,
    ImagePart,
    Message,
    Part,
    PdfPart,
    RawPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    ToolSpec,
)

PROVIDER = "anthropic"

ContentBlock = dict[str, Any]

_EFFORTS = {"none": "low", "minimal": "low"}
_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_CALL_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_THOUGHTS = ("thinking", "redacted_thinking")
_NO_WORDS = "(a message without words)"
OPTIONS = ("cache_ttl", "effort")
_OFF = "off"
"""The lifetime of a cache that the server does not have."""
CLOSED_SCHEMA = "closed_schema"
"""Where a shape holds the wished schema as the API takes it; without it, words ask for it."""
_OPENING = "(The conversation begins with your message.)"
_OPEN_ENTRIES = 4
"""Entries at a conversation's end that may still be rendered differently when it continues."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefix:
    """The rendered beginning of a conversation, which all its longer requests share.

    `count` messages are rendered as `text`, the encoded list entries. `names` are the call ids in
    it.
    """

    count: int = 0
    names: frozenset[str] = frozenset()
    text: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagesDialect(ServerDialect):
    """The options in which servers of the Messages API differ."""

    returns_unsigned: bool = True
    """True if the server takes back thoughts that it did not sign."""
    returns_thoughts: bool = True
    """False where the signatures of another server are refused."""
    takes_breakpoints: bool = True
    """True if the server takes `cache_control`."""
    takes_schemas: bool = True
    takes_choices: bool = True


@dataclass(slots=True)
class _Entry:
    """An API message; it begins with the request's message number `start`."""

    start: int
    role: str
    content: list[ContentBlock]

    @property
    def body(self) -> ContentBlock:
        return {"role": self.role, "content": self.content}


def read_shaped(request: ModelRequest) -> tuple[ModelRequest, dict[str, str]]:
    """Return a request as its shape says, and the options of its rendering.

    Also an old one whose dialect was forgotten since.
    """
    request, dialect, values = unfold(request, MessagesDialect())
    if not dialect.returns_unsigned:
        request = leave_out_unsigned(request)
    if not dialect.returns_thoughts:
        request = leave_out_thoughts(request)
    if request.response_schema:
        closed = values.get(CLOSED_SCHEMA)
        request = replace(request, response_schema=closed) if closed else ask_in_words(request)
    if request.tool_choice and not dialect.takes_choices:
        request = choose_in_words(request)
    options = {name: values[name] for name in OPTIONS if name in values}
    if not dialect.takes_breakpoints:
        request, options = replace(request, caches_messages=False), {**options, "cache_ttl": _OFF}
    return request, options


def render_shaped(request: ModelRequest) -> bytes:
    """Render the body of a shaped request; equal requests give equal bytes."""
    request, options = read_shaped(request)
    return render_request(request, **options)


def render_request(request: ModelRequest, *, cache_ttl: str = "5m", effort: str = "") -> bytes:
    """Render a request's body; equal requests give equal bytes.

    A longer conversation begins with the same bytes, except for breakpoints, so the provider can
    use its prefix cache.
    """
    return render_behind(Prefix(), request, cache_ttl=cache_ttl, effort=effort)[0]


def render_behind(
    prefix: Prefix, request: ModelRequest, *, cache_ttl: str = "5m", effort: str = ""
) -> tuple[bytes, Prefix]:
    """Render the same body after a known beginning; also return the new beginning."""
    mark = _mark("" if cache_ttl == "5m" else cache_ttl)
    head: ContentBlock = {"model": request.model, "max_tokens": request.max_output_tokens}
    tail = _render_wishes(request, effort)
    messages, longer = _render_messages(prefix, request, mark)
    body = (
        _encode_frozen(head, request, mark),
        b',"messages":[',
        messages,
        b"],",
        _encode({**tail, "stream": True})[1:],
    )
    return b"".join(body), longer


def _render_wishes(request: ModelRequest, effort: str) -> ContentBlock:
    """Render how the answer has to come: the effort, its form, and how words are chosen."""
    effort = _EFFORTS.get(request.sampling.effort, request.sampling.effort) or effort
    output: ContentBlock = {"effort": effort} if effort else {}
    if request.response_schema:
        schema = parse_schema(request.response_schema)
        output["format"] = {"type": "json_schema", "schema": schema}
    tail: ContentBlock = {"output_config": output} if output else {}
    if request.tool_choice and request.tools:
        named = {"type": "tool", "name": request.tool_choice}
        tail["tool_choice"] = {"type": "any"} if request.tool_choice == "required" else named
    wishes = request.sampling.list_rendered()
    if stop := wishes.pop("stop", None):
        tail["stop_sequences"] = stop
    # Some models take no temperature: then the API's refusal tells so.
    return {**tail, **wishes}


def render_count(request: ModelRequest) -> bytes:
    """Render the body for counting the request's input tokens."""
    mark = _mark("")
    messages, _ = _render_messages(Prefix(), request, mark)
    head = _encode_frozen({"model": request.model}, request, mark)
    return b"".join((head, b',"messages":[', messages, b"]}"))


def _encode(body: ContentBlock | list[ContentBlock]) -> bytes:
    # A lone surrogate can't be sent; it is replaced by a question mark.
    return _ENCODE(body).encode(errors="replace")


def _encode_frozen(head: ContentBlock, request: ModelRequest, mark: ContentBlock) -> bytes:
    """Encode the body up to its messages: tools and system prompt, each with a cache breakpoint."""
    text = _encode(head)[:-1]
    if request.tools:
        text += b',"tools":' + _encode_tools(request.tools, mark.get("ttl", ""))
    if request.system.strip():
        text += b',"system":' + _encode_system(request.system, mark.get("ttl", ""))
    return text


@lru_cache(maxsize=64)
def _encode_tools(tools: tuple[ToolSpec, ...], ttl: str) -> bytes:
    """Encode the tools; cached, because they are half of most requests."""
    rendered = [_render_tool(tool) for tool in tools]
    rendered[-1] |= _mark_of(ttl)
    return _encode(rendered)


@lru_cache(maxsize=64)
def _encode_system(system: str, ttl: str) -> bytes:
    """Encode the system prompt; cached, because every call repeats it."""
    return _encode([{"type": "text", "text": system, **_mark_of(ttl)}])


def _mark_of(ttl: str) -> ContentBlock:
    return {} if ttl == _OFF else {"cache_control": _mark(ttl)}


def _mark(ttl: str) -> ContentBlock:
    """Make a cache breakpoint; its default lifetime is five minutes."""
    return {"type": "ephemeral", **({"ttl": ttl} if ttl else {})}


def _render_tool(tool: ToolSpec) -> ContentBlock:
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": tool.parse_shown_schema(),
    }


def _render_messages(
    prefix: Prefix, request: ModelRequest, mark: ContentBlock
) -> tuple[bytes, Prefix]:
    """Encode the messages with breakpoints; see `render_behind`."""
    entries = _lay_out(prefix, request)
    closed = _count_closed(entries)
    start = entries[closed].start if closed else 0
    longer = prefix
    # A picture is shown only at its first place, so messages after a picture are rendered together
    # with it.
    has_pictures = any(one.images for one in request.messages[prefix.count : start])
    if start > prefix.count and not has_pictures:
        used = (
            block["id"] for entry in entries[:closed] for block in entry.content if _is_call(block)
        )
        texts = [prefix.text] if prefix.count else []
        texts.append(_encode([entry.body for entry in entries[:closed]])[1:-1])
        longer = Prefix(count=start, names=prefix.names.union(used), text=b",".join(texts))
        entries = entries[closed:]
    if request.caches_messages:
        _mark_entries(entries, mark)
    # All entries in one call, without the list's brackets: starting the encoder takes longer than
    # encoding a message.
    rest = _encode([entry.body for entry in entries])[1:-1]
    texts = [longer.text] if longer.count else []
    return b",".join([*texts, *([rest] if rest else [])]), longer


def _count_closed(entries: list[_Entry]) -> int:
    """Return the number of entries that no longer change.

    Breakpoints are only in the last three entries, and results belong to the calls before them.
    """
    for number in range(len(entries) - _OPEN_ENTRIES, 0, -1):
        if entries[number].role == "assistant":
            return number
    return 0


def _is_call(block: ContentBlock) -> bool:
    return bool(block["type"] == "tool_use")


def _lay_out(prefix: Prefix, request: ModelRequest) -> list[_Entry]:
    """Group messages into entries of alternating roles; a user entry begins with tool results."""
    entries: list[_Entry] = []
    names = _CallNames(prefix.names)
    selection = ImageSelection(request.images)
    for place, message in enumerate(request.messages[prefix.count :], start=prefix.count):
        if message.role == "assistant":
            role, blocks = "assistant", _render_assistant(message, request.model, names)
        else:
            role, blocks = "user", _render_user(message, names, selection)
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
        # The API requires a user's message first, but after a digest, an assistant's may be first.
        entries.insert(0, _Entry(0, "user", [{"type": "text", "text": _OPENING}]))
    return entries


def _render_user(
    message: Message, names: "_CallNames", selection: ImageSelection
) -> list[ContentBlock]:
    """Render a person's message (facts, text and files, one block each) or tool results."""
    blocks: list[ContentBlock] = []
    for part in message.parts:
        if isinstance(part, ImagePart):
            is_returned = blocks and blocks[-1]["type"] == "tool_result"
            into = blocks[-1].setdefault("content", []) if is_returned else blocks
            into.append(_render_image(part, selection))
        elif isinstance(part, TextPart | DocumentPart):
            if part.text.strip():
                blocks.append({"type": "text", "text": part.text})
        elif isinstance(part, ToolResultPart):
            block: ContentBlock = {"type": "tool_result", "tool_use_id": names.find(part.call_id)}
            if part.text.strip():
                has_images = message.role == "tool" and bool(message.images)
                block["content"] = (
                    [{"type": "text", "text": part.text}] if has_images else part.text
                )
            if part.is_error:
                block["is_error"] = True
            blocks.append(block)
    # The API refuses empty text, but the message still needs an answer.
    return blocks or [{"type": "text", "text": _NO_WORDS}]


def _render_image(part: ImagePart, selection: ImageSelection) -> ContentBlock:
    data, instead = selection.show(part)
    if instead:
        return {"type": "text", "text": instead}
    source = {"type": "base64", "media_type": part.media_type, "data": data}
    return {"type": "document" if isinstance(part, PdfPart) else "image", "source": source}


def _render_assistant(message: Message, model: str, names: "_CallNames") -> list[ContentBlock]:
    """Render the model's own message, without the thoughts of another model."""
    names.begin()
    blocks: list[ContentBlock] = []
    for part in message.parts:
        if isinstance(part, TextPart):
            if part.text.strip():
                blocks.append({"type": "text", "text": part.text})
        elif isinstance(part, ToolCallPart):
            blocks.append(
                {
                    "type": "tool_use",
                    "id": names.add(part.call_id),
                    "name": make_valid(part.name),
                    "input": _parse_arguments(part.arguments),
                }
            )
        elif isinstance(part, RawPart) and part.provider == PROVIDER and part.model == model:
            blocks.append(json.loads(part.payload))
    if all(block["type"] in _THOUGHTS for block in blocks):
        return []
    return blocks


def leave_out_unsigned(request: ModelRequest) -> ModelRequest:
    """Return the request without the thoughts that no server signed; the same if it has none."""
    return _leave_out(request, _is_unsigned)


def leave_out_thoughts(request: ModelRequest) -> ModelRequest:
    """Return the request without any thoughts; the same if it has none."""
    return _leave_out(request, lambda part: _read_raw(part).get("type") in _THOUGHTS)


def _leave_out(request: ModelRequest, is_refused: Callable[[Part], bool]) -> ModelRequest:
    messages = tuple(
        replace(one, parts=tuple(part for part in one.parts if not is_refused(part)))
        if any(map(is_refused, one.parts))
        else one
        for one in request.messages
    )
    return request if messages == request.messages else replace(request, messages=messages)


def _is_unsigned(part: Part) -> bool:
    payload = _read_raw(part)
    return payload.get("type") == "thinking" and not payload.get("signature")


def _read_raw(part: Part) -> ContentBlock:
    """Return the block in a raw part of this provider; {} for any other part."""
    if not isinstance(part, RawPart) or part.provider != PROVIDER:
        return {}
    payload: ContentBlock = json.loads(part.payload)
    return payload


def _without_last_thoughts(blocks: list[ContentBlock]) -> list[ContentBlock]:
    """Remove trailing thoughts: the API refuses a finished message that ends with a thought."""
    end = len(blocks)
    while end and blocks[end - 1]["type"] in _THOUGHTS:
        end -= 1
    return blocks[:end]


def _parse_arguments(arguments: str) -> ContentBlock:
    """Parse arguments to an object, even if the model wrote no object."""
    parsed = read_object(arguments)
    return {"unreadable_arguments": arguments} if parsed is None else parsed


class _CallNames:
    """Gives each call an id that the API accepts.

    The API requires `[a-zA-Z0-9_-]`, and ids that are unique in the conversation. Other providers
    count from the start in every answer.
    """

    def __init__(self, before: frozenset[str]) -> None:
        """`before` are the ids already in use."""
        self._before = before
        self._used: set[str] = set()
        self._current: dict[CallId, str] = {}

    def begin(self) -> None:
        """Start a new answer: the next results belong to its calls."""
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


def _mark_entries(entries: list[_Entry], mark: ContentBlock) -> None:
    """Set breakpoints on the last message and on the user message before it.

    The previous call cached its prefix up to its last message, which is now the earlier user
    message. A breakpoint there lets the API find that prefix, although it looks back only 20
    blocks.
    """
    if not entries:
        return
    before = [entry for entry in entries[:-1] if entry.role == "user"]
    for entry in (entries[-1], *before[-1:]):
        for place in range(len(entry.content) - 1, -1, -1):
            block = entry.content[place]
            if block["type"] not in _THOUGHTS:
                # Copy the block: a raw part's block must not be changed.
                entry.content[place] = {**block, "cache_control": mark}
                break
