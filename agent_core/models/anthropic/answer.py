"""Assemble an answer from the Messages API's stream events; pure."""

import json
from collections import deque
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, cast

import anthropic
import httpx2

from agent_core.errors import ModelMisplaced, ModelUnknown
from agent_core.ids import CallId
from agent_core.models.anthropic.translate import PROVIDER
from agent_core.models.arguments import join_arguments, read_object
from agent_core.models.contract import ModelAnswer, StopReason, Usage
from agent_core.models.http import MOST_BYTES, TOO_LONG, parse_json
from agent_core.transcript import Message, Part, RawPart, TextPart, ToolCallPart

_STOPS: Mapping[str, StopReason] = {
    "tool_use": "tools",
    "max_tokens": "length",
    "pause_turn": "pause",
    "refusal": "refusal",
    "model_context_window_exceeded": "overflow",
}
"""The reasons that say more than that an answer has ended, in lower case."""
_COUNTS = (
    "input_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "output_tokens",
)
_USE = "tool_use"
_PIECES = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "signature_delta": ("signature", "signature"),
    "input_json_delta": ("input", "partial_json"),
}
"""The field of a block that a piece adds to, and the field of the event that holds it."""
_WORDS = ("id", "name", "text", "thinking", "signature")
"""Fields of a block that hold words, if they are there; some servers put something else in."""
_BLOCKS = {"text": "text", "thinking": "thinking", "signature": "thinking", "input": _USE}
_MOST_TOKENS = 2**53


@dataclass(slots=True)
class _PartialBlock:
    """An incomplete content block."""

    head: dict[str, Any]
    pieces: dict[str, list[str]] = field(default_factory=dict)
    is_whole: bool = False

    def joined(self, key: str) -> str:
        head, pieces = str(self.head.get(key) or ""), "".join(self.pieces.get(key, ()))
        # Some servers put all words into the head, and send them once more in pieces.
        return head if head.startswith(pieces) else head + pieces

    def add(self, key: str, piece: str) -> str:
        """Add a piece; return the words that it adds."""
        before = self.joined(key) if key == "text" and self.head.get(key) else ""
        self.pieces.setdefault(key, []).append(piece)
        if key != "text":
            return ""
        return self.joined(key)[len(before) :] if before else piece

    @property
    def arguments(self) -> str:
        """The input of a call, which comes in pieces, or whole in the block's head."""
        pieces = [piece for piece in self.pieces.get("input", ()) if piece]
        if pieces:
            return join_arguments(pieces)
        given = self.head.get("input") or {}
        return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)

    @property
    def is_call(self) -> bool:
        """True for a call that has arrived; some servers don't end their blocks."""
        if self.head["type"] != _USE:
            return False
        return self.is_whole or read_object(self.arguments) is not None


class AnswerReader:
    """Reads a stream's events in order; `finish` returns the answer.

    Ignores unknown events and blocks: the API documents that it adds new ones.
    """

    def __init__(self, model: str, most_letters: int | None = None) -> None:
        """`model` is the requested name; raw parts carry it."""
        self._most_letters = most_letters
        self._letters = 0
        self._asked = model
        self._answered = model
        self._blocks: list[_PartialBlock] = []
        self._open: dict[object, _PartialBlock] = {}
        self._counts = dict.fromkeys(_COUNTS, 0)
        self._stop = ""
        self._refusal = ""
        self.has_begun = False
        self.has_ended = False

    @property
    def is_whole(self) -> bool:
        """True once the stop reason is known and no block is open."""
        return self.has_ended or (
            bool(self._stop) and all(block.is_whole for block in self._blocks)
        )

    @property
    def is_too_long(self) -> bool:
        """True if the server wrote on far beyond its limit; no more should be read."""
        return self._most_letters is not None and self._letters > self._most_letters

    @property
    def has_content(self) -> bool:
        """True if what came can be used: whole calls, or words without a call."""
        calls = [block for block in self._blocks if block.head["type"] == "tool_use"]
        if calls:
            return all(block.is_whole and block.is_call for block in calls)
        return bool(self.words)

    @property
    def words(self) -> str:
        """The words so far; "" if a call has begun, which would be lost."""
        if any(block.head["type"] == "tool_use" for block in self._blocks):
            return ""
        texts = (block.joined("text") for block in self._blocks if block.head["type"] == "text")
        return "".join(texts)

    def read(self, event: object) -> str:
        """Read one event; return the text that it adds to the answer, or "".

        Raises `ValueError` for an event that lacks a required field.
        """
        self.has_begun = True
        try:
            text = self._take(cast(dict[str, Any], event))
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"an event lacks what its kind must have: {error!r}") from error
        if self.is_too_long:
            self._stop, self.has_ended = "max_tokens", True
        return text

    def _take(self, event: dict[str, Any]) -> str:
        match event.get("type"):
            case "content_block_delta":
                return self._grow(event.get("index"), event["delta"])
            case "content_block_start":
                return self._begin(event.get("index"), event["content_block"])
            case "content_block_stop":
                if ended := self._open.get(event.get("index")):
                    ended.is_whole = True
            case "message_start":
                message = event["message"]
                self._answered = str(message.get("model") or self._asked)
                self._count(message.get("usage"))
            case "message_delta":
                delta = event["delta"]
                self._stop = str(delta.get("stop_reason") or self._stop)
                details = delta.get("stop_details")
                if isinstance(details, dict):
                    self._refusal = str(details.get("category") or "")
                self._count(event.get("usage"))
            case "message_stop":
                self.has_ended = True
        return ""

    def finish(self, *, is_broken: bool = False) -> ModelAnswer:
        """Return the answer so far. It contains calls only if they may run.

        `is_broken` means that the server never said that the answer has ended.
        """
        stop = self._judge_stop()
        if is_broken and stop == "end":
            stop = "unknown"
        parts = [part for block in self._blocks for part in self._translate(block, stop)]
        return ModelAnswer(
            message=Message(role="assistant", parts=tuple(parts)),
            stop=stop,
            usage=Usage(
                input_tokens=self._counts["input_tokens"],
                cache_read_tokens=self._counts["cache_read_input_tokens"],
                cache_write_tokens=self._counts["cache_creation_input_tokens"],
                output_tokens=self._counts["output_tokens"],
            ),
            model=self._answered,
            refusal=self._refusal,
        )

    def _judge_stop(self) -> StopReason:
        """Return the reason of the end. Whole calls decide, unless the answer may not be used."""
        stop = _STOPS.get(self._stop.lower(), "end")
        if stop not in ("tools", "end"):
            return stop
        calls = [block for block in self._blocks if block.head["type"] == "tool_use"]
        if any(block.is_call for block in calls) and (
            stop == "tools" or all(block.is_call and block.head.get("name") for block in calls)
        ):
            return "tools"
        # An answer without words is asked for again; words may be an announcement of a lost call.
        has_words = any(block.joined("text") for block in self._blocks)
        return "unknown" if stop == "tools" and has_words else "end"

    def _begin(self, index: object, head: dict[str, Any]) -> str:
        """Begin a block; return its words. Some servers use an index twice: both blocks count."""
        if not isinstance(head.get("type"), str):
            raise TypeError("a block without a type")
        head |= {key: "" for key in _WORDS if not isinstance(head.get(key, ""), str)}
        block = _PartialBlock(head=head)
        self._blocks.append(block)
        self._open[index] = block
        return block.joined("text") if head["type"] == "text" else ""

    def _grow(self, index: object, delta: dict[str, Any]) -> str:
        """Add a piece to its block; return the words that it adds."""
        kind = delta.get("type")
        if kind not in _PIECES:
            return ""
        key, field_name = _PIECES[kind]
        piece = delta.get(field_name)
        if not piece or not isinstance(piece, str):
            return ""
        self._letters += len(piece)
        block = self._find_open(index, _BLOCKS[key])
        return block.add(key, piece) if block else ""

    def _find_open(self, index: object, kind: str) -> "_PartialBlock | None":
        """Return the block of a kind that a piece belongs to; words and thoughts may begin one.

        Some servers send a piece with the index of another block, or without any beginning.
        """
        block = self._open.get(index)
        if block and (block.head["type"] == kind or (kind == _USE and _takes_input(block))):
            return block
        same = (one for one in reversed(self._blocks) if one.head["type"] == kind)
        if kind == _USE:
            return next(same, None)
        if block is None:
            self._begin(index, {"type": kind, kind: ""})
            return self._open[index]
        found = next(same, None)
        if found is None:
            found = _PartialBlock(head={"type": kind, kind: ""})
            self._blocks.append(found)
        return found

    def _count(self, usage: object) -> None:
        """Take the latest counts: they are cumulative."""
        for key in _COUNTS:
            count = usage.get(key) if isinstance(usage, dict) else None
            if isinstance(count, int | float) and 0 <= count < _MOST_TOKENS:
                self._counts[key] = int(count)

    def _translate(self, block: _PartialBlock, stop: StopReason) -> list[Part]:
        match block.head["type"]:
            case "text":
                text = block.joined("text")
                return [TextPart(text=text)] if text else []
            case "tool_use":
                # The calls of an interrupted answer may not run, and get no results.
                return [_translate_call(block)] if stop == "tools" and block.is_call else []
            case "thinking":
                said, signature = block.joined("thinking"), block.joined("signature")
                payload = {**block.head, "thinking": said}
                if signature:
                    payload["signature"] = signature
                # Some compatible servers sign no thoughts, but want them back. Anthropic refuses
                # an unsigned one, which is the rest of an answer that was cut off.
                is_done = block.is_whole and bool(said) and stop in ("tools", "end", "pause")
                return [self._keep(payload)] if signature or is_done else []
        if not block.is_whole:
            return []
        payload = block.head
        if block.pieces.get("input"):  # a tool that the server itself runs
            payload = {**payload, "input": read_object(block.arguments) or {}}
        return [self._keep(payload)]

    def _keep(self, payload: dict[str, Any]) -> RawPart:
        text = json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
        return RawPart(provider=PROVIDER, model=self._asked, payload=text)


def _translate_call(block: _PartialBlock) -> ToolCallPart:
    return ToolCallPart(
        call_id=CallId(block.head.get("id") or ""),
        name=block.head.get("name") or "",
        arguments=block.arguments,
    )


def _takes_input(block: _PartialBlock) -> bool:
    """True for a call of any tool, also of one that the server itself runs."""
    return "input" in block.head or str(block.head["type"]).endswith("tool_use")


def read_message(message: dict[str, Any], model: str) -> ModelAnswer:
    """Return the answer of a whole message, as batches send it; `model` is the requested name.

    Raises `ValueError` if the message lacks a required field.
    """
    if missing := {"content", "usage"} - message.keys():
        raise ValueError(f"a message lacks {' and '.join(sorted(missing))}")
    reader = AnswerReader(model)
    for event in _list_events(message):
        reader.read(event)
    return reader.finish()


def _list_events(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Return the events in which a whole message would have come."""
    yield {"type": "message_start", "message": message}
    content = message.get("content") or []
    if isinstance(content, str):  # as some compatible servers send it
        content = [{"type": "text", "text": content}]
    for index, block in enumerate(content):
        yield {"type": "content_block_start", "index": index, "content_block": block}
        yield {"type": "content_block_stop", "index": index}
    yield {"type": "message_delta", "delta": message, "usage": message.get("usage")}
    yield {"type": "message_stop"}


_ERROR = b"error"
_PING = b"ping"
_DONE = b"[DONE]"
_SHOWN = 200


class EventStream:
    """The events of one call, in order.

    The SDK's own reader parses each line separately, which takes twice as long.
    """

    def __init__(self, response: httpx2.Response) -> None:
        """Take over `response`, whose body must be unread."""
        self._response = response
        self._chunks = _iterate(response)
        self._rest: list[bytes] = []
        self._tail = b""
        self._open = 0
        """Bytes of the event that is not complete."""
        self._size = 0
        self._ready: deque[object] = deque()
        self._fault: Exception | None = None

    async def next(self) -> object | None:
        """Return the next event; None at the end.

        Raises `anthropic.APIStatusError` for an error event, `ValueError` for invalid JSON, and any
        error of reading.
        """
        while not self._ready:
            if self._fault:
                raise self._fault
            chunk = await anext(self._chunks, None)
            if chunk is not None:
                self._take(chunk)
            elif self._rest:
                self._take_rest()
            else:
                return None
        return self._ready.popleft()

    async def close(self) -> None:
        """Close the call; idempotent."""
        await self._response.aclose()

    def _take(self, chunk: bytes) -> None:
        """Parse the complete events; an event is complete after its blank line."""
        self._size += len(chunk)
        self._open += len(chunk)
        if self._size > MOST_BYTES or self._open > MOST_BYTES // 4:
            raise ModelUnknown(TOO_LONG)
        joint = self._tail + chunk
        self._tail = joint[-3:]
        self._rest.append(chunk)
        if b"\n\n" not in joint and b"\r\n\r" not in joint:
            return  # joining a long event at each piece would take a time that grows squared
        text = b"".join(self._rest)
        if b"\r" in text:  # JSON contains no raw carriage return
            text = text.replace(b"\r\n", b"\n")
        *whole, rest = text.split(b"\n\n")
        self._rest, self._open, self._tail = [rest] if rest else [], len(rest), rest[-3:]
        try:
            for lines in whole:
                self._read(lines)
        except (anthropic.APIStatusError, ValueError, RecursionError) as error:
            self._fault = error  # events before the fault are still returned

    def _read(self, lines: bytes) -> None:
        name, parts = b"", []
        for line in lines.split(b"\n"):
            if line.startswith(b"data:"):
                parts.append(line[5:])
            elif line.startswith(b"event:"):
                name = line[6:].strip()
        data = b"\n".join(parts).strip()
        if name == _ERROR:
            raise make_error(self._response, data)
        if data in (b"", _DONE) or name == _PING:
            return
        for event in _parse_events(data):
            if not isinstance(event, dict):
                continue  # some servers keep the connection alive with `null`
            if not name and event.get("type") == "error":
                raise make_error(self._response, data)
            self._ready.append(event)

    def _take_rest(self) -> None:
        """Read the end of the body: no event stream at all, or an event that was cut off."""
        rest, self._rest = b"".join(self._rest).strip(), []
        if rest[:1] not in (b"{", b"<"):
            with suppress(ValueError):  # an event that was cut off
                self._read(rest)
            return
        try:
            message = json.loads(rest)
        except ValueError as error:
            first = rest.splitlines()[0].decode(errors="replace")[:_SHOWN]
            raise ModelMisplaced(first) from error
        if not isinstance(message, dict) or "content" not in message:
            raise make_error(self._response, rest)
        self._ready.extend(_list_events(message))


def _parse_events(data: bytes) -> list[object]:
    """Return the values in an event; some servers put several lines into one."""
    try:
        return [json.loads(data.decode())]
    except (ValueError, RecursionError):
        lines = [line for line in data.split(b"\n") if line.strip() not in (b"", _DONE)]
        if len(lines) < 2:
            raise
        return [json.loads(line.decode()) for line in lines]


def _iterate(response: httpx2.Response) -> AsyncIterator[bytes]:
    """Return the pieces of a body; only an encoded body passes the generators that decode it."""
    stream = response.stream
    if "Content-Encoding" in response.headers or not isinstance(stream, httpx2.AsyncByteStream):
        return response.aiter_bytes()
    return aiter(stream)


def make_error(response: httpx2.Response, said: bytes) -> anthropic.APIStatusError:
    """Make the SDK's error for a response or a stream event, with the API's message."""
    text = said.decode(errors="replace").strip()
    try:
        body = parse_json(text)
    except ValueError:
        body = text
    return anthropic.APIStatusError(str(body), response=response, body=body)
