"""Assemble an answer from the Messages API's stream events; pure."""

import json
from collections import deque
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import anthropic
import httpx2

from agent_core.ids import CallId
from agent_core.models.anthropic.translate import PROVIDER
from agent_core.models.contract import ModelAnswer, StopReason, Usage
from agent_core.transcript import Message, Part, RawPart, TextPart, ToolCallPart

_STOPS: Mapping[str, StopReason] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "tools",
    "max_tokens": "length",
    "pause_turn": "pause",
    "refusal": "refusal",
    "model_context_window_exceeded": "overflow",
}
_COUNTS = (
    "input_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "output_tokens",
)
_TEXTS = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}


@dataclass(slots=True)
class _PartialBlock:
    """An incomplete content block."""

    head: dict[str, Any]
    pieces: dict[str, list[str]] = field(default_factory=dict)
    is_whole: bool = False

    def joined(self, key: str) -> str:
        return str(self.head.get(key) or "") + "".join(self.pieces.get(key, ()))


class AnswerReader:
    """Reads a stream's events in order; `finish` returns the answer.

    Ignores unknown events and blocks: the API documents that it adds new ones.
    """

    def __init__(self, model: str) -> None:
        """`model` is the requested name; raw parts carry it."""
        self._asked = model
        self._answered = model
        self._blocks: dict[int, _PartialBlock] = {}
        self._counts = dict.fromkeys(_COUNTS, 0)
        self._stop = ""
        self._refusal = ""
        self.has_begun = False
        self.has_ended = False

    @property
    def is_whole(self) -> bool:
        """True once the stop reason is known and no block is open."""
        return self.has_ended or (
            bool(self._stop) and all(block.is_whole for block in self._blocks.values())
        )

    def read(self, event: object) -> str:
        """Read one event; return the text that it adds to the answer, or "".

        Raises `ValueError` for an event that lacks a required field.
        """
        self.has_begun = True
        try:
            return self._take(cast(dict[str, Any], event))
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"an event lacks what its kind must have: {error!r}") from error

    def _take(self, event: dict[str, Any]) -> str:
        match event["type"]:
            case "content_block_delta":
                return self._grow(self._blocks[event["index"]], event["delta"])
            case "content_block_start":
                block = _PartialBlock(head=event["content_block"])
                self._blocks[event["index"]] = block
                return block.joined("text") if block.head["type"] == "text" else ""
            case "content_block_stop":
                self._blocks[event["index"]].is_whole = True
            case "message_start":
                message = event["message"]
                self._answered = message.get("model") or self._asked
                self._count(message.get("usage") or {})
            case "message_delta":
                delta = event["delta"]
                self._stop = delta.get("stop_reason") or self._stop
                self._refusal = (delta.get("stop_details") or {}).get("category") or ""
                self._count(event.get("usage") or {})
            case "message_stop":
                self.has_ended = True
        return ""

    def finish(self) -> ModelAnswer:
        """Return the answer so far. It contains calls only if they may run."""
        stop = _STOPS.get(self._stop, "unknown")
        parts = [
            part
            for _, block in sorted(self._blocks.items())
            for part in self._translate(block, stop)
        ]
        if stop == "tools" and not any(isinstance(part, ToolCallPart) for part in parts):
            stop = "unknown"
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

    def _grow(self, block: _PartialBlock, delta: dict[str, Any]) -> str:
        kind = delta["type"]
        if kind == "input_json_delta":
            block.pieces.setdefault("input", []).append(delta["partial_json"])
        elif kind in _TEXTS:
            key = _TEXTS[kind]
            text: str = delta[key]
            block.pieces.setdefault(key, []).append(text)
            return text if kind == "text_delta" else ""
        return ""

    def _count(self, usage: dict[str, Any]) -> None:
        """Take the latest counts: they are cumulative."""
        for key in _COUNTS:
            if usage.get(key) is not None:
                self._counts[key] = int(usage[key])

    def _translate(self, block: _PartialBlock, stop: StopReason) -> list[Part]:
        match block.head["type"]:
            case "text":
                text = block.joined("text")
                return [TextPart(text=text)] if text else []
            case "tool_use":
                # The calls of an interrupted answer may not run, and get no results.
                return [_translate_call(block)] if stop == "tools" and block.is_whole else []
            case "thinking":
                payload = {
                    **block.head,
                    "thinking": block.joined("thinking"),
                    "signature": block.joined("signature"),
                }
                # The API accepts a thought in a later request only with its signature.
                return [self._keep(payload)] if payload["signature"] else []
        return [self._keep(block.head)] if block.is_whole else []

    def _keep(self, payload: dict[str, Any]) -> RawPart:
        text = json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
        return RawPart(provider=PROVIDER, model=self._asked, payload=text)


def _translate_call(block: _PartialBlock) -> ToolCallPart:
    arguments = "".join(block.pieces.get("input", ()))
    if not arguments:
        arguments = json.dumps(block.head.get("input") or {}, ensure_ascii=False)
    return ToolCallPart(
        call_id=CallId(block.head["id"]), name=block.head["name"], arguments=arguments
    )


def read_message(message: dict[str, Any], model: str) -> ModelAnswer:
    """Return the answer of a whole message, as batches send it; `model` is the requested name.

    Raises `ValueError` if the message lacks a required field.
    """
    try:
        content, taken = message["content"], message["usage"]
    except KeyError as error:
        raise ValueError(f"a message lacks {error}") from error
    reader = AnswerReader(model)
    reader.read({"type": "message_start", "message": message})
    for index, block in enumerate(content):
        reader.read({"type": "content_block_start", "index": index, "content_block": block})
        reader.read({"type": "content_block_stop", "index": index})
    reader.read({"type": "message_delta", "delta": message, "usage": taken})
    return reader.finish()


_ERROR = b"error"
_PING = b"ping"


class EventStream:
    """The events of one call, in order.

    The SDK's own reader parses each line separately, which takes twice as long.
    """

    def __init__(self, response: httpx2.Response) -> None:
        """Take over `response`, whose body must be unread."""
        self._response = response
        self._chunks = _iterate(response)
        self._rest = b""
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
            if chunk is None:
                return None
            self._take(chunk)
        return self._ready.popleft()

    async def close(self) -> None:
        """Close the call; idempotent."""
        await self._response.aclose()

    def _take(self, chunk: bytes) -> None:
        """Parse the complete events; an event is complete after its blank line."""
        text = self._rest + chunk
        if b"\r" in text:  # JSON contains no raw carriage return
            text = text.replace(b"\r\n", b"\n")
        *whole, self._rest = text.split(b"\n\n")
        try:
            for lines in whole:
                self._read(lines)
        except (anthropic.APIStatusError, ValueError) as error:
            self._fault = error  # events before the fault are still returned

    def _read(self, lines: bytes) -> None:
        name, data = b"", b""
        for line in lines.split(b"\n"):
            if line.startswith(b"data:"):
                data += line[5:]
            elif line.startswith(b"event:"):
                name = line[6:].strip()
        if name == _ERROR:
            raise make_error(self._response, data)
        if data and name != _PING:
            self._ready.append(json.loads(data.decode()))


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
        body = json.loads(text)
    except ValueError:
        body = text
    return anthropic.APIStatusError(str(body), response=response, body=body)
