"""Assemble an answer from the Messages API's stream events; pure."""

import json
from collections import deque
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import anthropic
import httpx2

from agent_core.errors import ModelUnknown
from agent_core.ids import CallId
from agent_core.models.anthropic.translate import PROVIDER
from agent_core.models.arguments import join_arguments, read_object
from agent_core.models.contract import ModelAnswer, StopReason, Usage
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
_TEXTS = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}


@dataclass(slots=True)
class _PartialBlock:
    """An incomplete content block."""

    head: dict[str, Any]
    pieces: dict[str, list[str]] = field(default_factory=dict)
    is_whole: bool = False

    def joined(self, key: str) -> str:
        return str(self.head.get(key) or "") + "".join(self.pieces.get(key, ()))

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
        if self.head["type"] != "tool_use":
            return False
        return self.is_whole or read_object(self.arguments) is not None


class AnswerReader:
    """Reads a stream's events in order; `finish` returns the answer.

    Ignores unknown events and blocks: the API documents that it adds new ones.
    """

    def __init__(self, model: str) -> None:
        """`model` is the requested name; raw parts carry it."""
        self._asked = model
        self._answered = model
        self._blocks: list[_PartialBlock] = []
        self._open: dict[int, _PartialBlock] = {}
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
            return self._take(cast(dict[str, Any], event))
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"an event lacks what its kind must have: {error!r}") from error

    def _take(self, event: dict[str, Any]) -> str:
        match event["type"]:
            case "content_block_delta":
                return self._grow(self._open[event["index"]], event["delta"])
            case "content_block_start":
                block = _PartialBlock(head=event["content_block"])
                # Some servers use an index twice: both blocks count.
                self._blocks.append(block)
                self._open[event["index"]] = block
                return block.joined("text") if block.head["type"] == "text" else ""
            case "content_block_stop":
                self._open[event["index"]].is_whole = True
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
    for index, block in enumerate(message["content"]):
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
            if chunk is not None:
                self._take(chunk)
            elif self._rest.strip():
                self._take_rest()
            else:
                return None
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
        if data.strip() not in (b"", _DONE) and name != _PING:
            event = json.loads(data.decode())
            if not name and isinstance(event, dict) and event.get("type") == "error":
                raise make_error(self._response, data)
            self._ready.append(event)

    def _take_rest(self) -> None:
        """Read the end of the body: no event stream at all, or an event that was cut off."""
        rest, self._rest = self._rest.strip(), b""
        if rest[:1] not in (b"{", b"<"):
            return
        try:
            message = json.loads(rest)
        except ValueError as error:
            first = rest.splitlines()[0].decode(errors="replace")[:_SHOWN]
            raise ModelUnknown(
                f"The address of Anthropic gives no answer of a model, but: {first}"
            ) from error
        if not isinstance(message, dict) or "content" not in message:
            raise make_error(self._response, rest)
        self._ready.extend(_list_events(message))


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
