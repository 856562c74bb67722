"""Anthropic's Messages API on loopback: streaming, tools, cache accounting, faults.

`async with AnthropicEmulator() as api:` in a test, or `python -m tests.emulators.anthropic`.
"""

import asyncio
import itertools
import json
import time
from collections.abc import Iterable
from typing import Any

from aiohttp import web

from tests.emulators.anthropic_batches import PATH as BATCHES
from tests.emulators.anthropic_batches import Batches
from tests.emulators.anthropic_cache import PrefixCache, as_blocks, measure
from tests.emulators.anthropic_rules import complain, sign
from tests.emulators.streaming import (
    FACTS,
    WORDS_JOINT,
    Answer,
    Emulator,
    Fault,
    Json,
    count_tokens,
    cut,
    main,
    text_answer,
)

MODELS = ("claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5", "claude-fable-5-2")
WINDOW = 1_000_000
"""Tokens that a model can read."""
LARGEST = 32 * 1024 * 1024
"""Bytes of a request."""
STATUS_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    409: "conflict_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


class AnthropicEmulator(Emulator):
    """The server. `move` advances the clock by which cached prefixes expire."""

    def __init__(self, *, models: Iterable[str] = MODELS, **options: Any) -> None:
        super().__init__(**options)
        self.models = set(models)
        self.window = WINDOW
        self._moved = 0.0
        self._cache = PrefixCache(lambda: time.monotonic() + self._moved)
        self._numbers = itertools.count(1)
        self._paused: set[str] = set()
        self.batches = Batches(self._compose_alone)

    def move(self, seconds: float) -> None:
        """Advance the cache's clock."""
        self._moved += seconds

    async def respond(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one HTTP request."""
        refused = self._refuse_entry(request)
        if refused is not None:
            return refused
        if request.path.startswith(BATCHES):
            return await self.batches.respond(request)
        match (request.method, request.path):
            case ("POST", "/v1/messages"):
                return await self._messages(request)
            case ("POST", "/v1/messages/count_tokens"):
                body = await request.json()
                # Counting takes the same request without `max_tokens`.
                said = complain({"max_tokens": 1, **body})
                if said:
                    return _error(400, said)
                return web.json_response({"input_tokens": measure(body).tokens})
            case ("GET", "/v1/models"):
                data = [_describe(name) for name in sorted(self.models)]
                return web.json_response(
                    {"data": data, "has_more": False, "first_id": None, "last_id": None}
                )
            case ("GET", path) if path.startswith("/v1/models/"):
                name = path.removeprefix("/v1/models/")
                if name not in self.models:
                    return _error(404, f"model: {name}")
                return web.json_response(_describe(name))
        return _error(404, "Not found")

    def _refuse_entry(self, request: web.BaseRequest) -> web.Response | None:
        given = request.headers.get("x-api-key") or request.headers.get(
            "Authorization", ""
        ).removeprefix("Bearer ")
        if not given or (self.key is not None and given != self.key):
            return _error(401, "invalid x-api-key")
        if "anthropic-version" not in request.headers:
            return _error(400, "anthropic-version: header is required")
        return None

    async def _messages(self, request: web.BaseRequest) -> web.StreamResponse:
        payload = await request.read()
        if len(payload) > LARGEST:
            return _error(413, "Request exceeds the maximum size")
        try:
            body: Json = json.loads(payload)
        except ValueError:
            return _error(400, "The request body is not valid JSON")
        self.note(body, request.headers)
        if body.get("model") not in self.models:
            return _error(404, f"model: {body.get('model')}")
        said = complain(body) or self._complain_of_prefill(body)
        if said is not None:
            return _error(400, said)
        measured = measure(body)
        if measured.tokens > self.window:
            return _error(
                400, f"prompt is too long: {measured.tokens} tokens > {self.window} maximum"
            )
        if self.before is not None:
            await self.before(body)
        reply = self.take_reply(body, echo)
        if isinstance(reply, Fault) and reply.status:
            return _error(
                reply.status,
                reply.message,
                kind=reply.error if reply.error != "api_error" else None,
                code=reply.error_code,
                retry_after=reply.retry_after,
            )
        if self.latency:
            await asyncio.sleep(self.latency)
        fault = reply if isinstance(reply, Fault) else None
        answer = reply.answer or text_answer("half") if isinstance(reply, Fault) else reply
        usage = self._cache.account(measured)
        message = self.compose(body["model"], answer, usage)
        self.usages.append(message["usage"])
        if body.get("stream") is not True:
            if fault is not None:
                raise ConnectionResetError
            return web.json_response(message)
        events = render_events(message, answer.deltas or self.deltas)
        if fault is not None and fault.then == "error":
            place = fault.after_events or 0
            events = [*events[:place], _error_event(fault)]
            fault = Fault(then="end", after_events=len(events))
        return await self.stream(request, body, events, fault)

    def _compose_alone(self, body: Json) -> Json:
        """Return the message that answers a request of a batch."""
        reply = self.take_reply(body, echo)
        assert isinstance(reply, Answer), "end a batch as errored instead"
        return self.compose(body["model"], reply, self._cache.account(measure(body)))

    def _complain_of_prefill(self, body: Json) -> str | None:
        """Only a paused answer may come last, unchanged, to be continued."""
        last = body["messages"][-1]
        if last["role"] == "user" or _bare(as_blocks(last["content"])) in self._paused:
            return None
        return "This model does not support assistant message prefill."

    def compose(self, model: str, answer: Answer, usage: Json) -> Json:
        """Return the whole message, as a call without streaming would."""
        number = next(self._numbers)
        blocks = [
            _finish(block, f"{number}_{place}", model) for place, block in enumerate(answer.blocks)
        ]
        if answer.stop == "pause_turn":
            self._paused.add(_bare(blocks))
        spent = count_tokens("".join(_words(block) for block in blocks))
        return {
            "id": f"msg_{number:08d}",
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": blocks,
            "stop_reason": answer.stop,
            "stop_sequence": None,
            "stop_details": answer.stop_details,
            "usage": {**usage, "output_tokens": max(1, spent), "service_tier": "standard"},
        }


def echo(body: Json) -> Answer:
    """The default answer: the text since the last answer, cut at `max_tokens`."""
    said: list[str] = []
    for message in reversed(body["messages"]):
        if message["role"] == "assistant":
            break
        said[:0] = [
            _say(block)
            for block in as_blocks(message["content"])
            if not block.get("text", "").startswith(FACTS)
        ]
    text = f"echo: {WORDS_JOINT.join(said)}"
    limit = body["max_tokens"] * 4
    if len(text) > limit:
        return text_answer(text[:limit], stop="max_tokens")
    return text_answer(text)


def _say(block: Json) -> str:
    if block["type"] == "tool_result":
        return "".join(part.get("text", "") for part in as_blocks(block.get("content", "")))
    return str(block.get("text", f"[{block['type']}]"))


def _finish(block: Json, mark: str, model: str) -> Json:
    """Return a block with the ids and signatures that the API adds."""
    if block["type"] == "tool_use":
        return {"id": f"toolu_{mark}", "input": {}, **block}
    if block["type"] == "thinking":
        return {"signature": sign(block["thinking"], model), **block}
    return block


def _bare(blocks: list[Json]) -> str:
    """Return blocks as text, without their breakpoints."""
    return json.dumps(
        [{key: block[key] for key in sorted(block) if key != "cache_control"} for block in blocks]
    )


def _words(block: Json) -> str:
    if block["type"] == "tool_use":
        return str(block["name"]) + _arguments(block)
    return str(block.get("text") or block.get("thinking") or block.get("data") or "")


def _arguments(block: Json) -> str:
    given = block.get("input_json")
    return given if isinstance(given, str) else json.dumps(block["input"], ensure_ascii=False)


def render_events(message: Json, deltas: int) -> list[bytes]:
    """Return a message as server-sent events."""
    head = {**message, "content": [], "stop_reason": None, "stop_details": None}
    head["usage"] = {**message["usage"], "output_tokens": 1}
    events = [_sse("message_start", {"message": head}), _sse("ping", {})]
    for index, block in enumerate(message["content"]):
        events.append(
            _sse("content_block_start", {"index": index, "content_block": _start_block(block)})
        )
        events.extend(
            _sse("content_block_delta", {"index": index, "delta": delta})
            for delta in _stream_block(block, deltas)
        )
        events.append(_sse("content_block_stop", {"index": index}))
    change = {key: message[key] for key in ("stop_reason", "stop_sequence", "stop_details")}
    usage = {key: value for key, value in message["usage"].items() if key.endswith("tokens")}
    events.append(_sse("message_delta", {"delta": change, "usage": usage}))
    events.append(_sse("message_stop", {}))
    return events


def _start_block(block: Json) -> Json:
    """Return a block as it starts."""
    match block["type"]:
        case "text":
            return {"type": "text", "text": ""}
        case "thinking":
            return {"type": "thinking", "thinking": "", "signature": ""}
        case "tool_use":
            return {"type": "tool_use", "id": block["id"], "name": block["name"], "input": {}}
    return block


def _stream_block(block: Json, deltas: int) -> list[Json]:
    match block["type"]:
        case "text":
            return [{"type": "text_delta", "text": piece} for piece in cut(block["text"], deltas)]
        case "thinking":
            pieces = cut(block["thinking"], deltas)
            return [
                *({"type": "thinking_delta", "thinking": piece} for piece in pieces),
                {"type": "signature_delta", "signature": block["signature"]},
            ]
        case "tool_use":
            pieces = ["", *cut(_arguments(block), deltas)]
            return [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
    return []


def _sse(name: str, data: Json) -> bytes:
    text = json.dumps({"type": name, **data}, ensure_ascii=False, separators=(",", ":"))
    return f"event: {name}\ndata: {text}\n\n".encode()


def _error_event(fault: Fault) -> bytes:
    return _sse("error", {"error": {"type": fault.error, "message": fault.message}})


def _describe(name: str) -> Json:
    return {
        "id": name,
        "type": "model",
        "display_name": name,
        "created_at": "2026-09-01T00:00:00Z",
        "lifecycle": "active",
        "max_input_tokens": WINDOW,
        "max_tokens": 128_000,
    }


def _error(
    status: int, message: str, *, kind: str | None = None, code: str = "", retry_after: str = ""
) -> web.Response:
    error: Json = {"type": kind or STATUS_TYPES.get(status, "api_error"), "message": message}
    if code:
        error["details"] = {"error_code": code}
    body = {"type": "error", "error": error, "request_id": "req_emulated"}
    headers = {"retry-after": retry_after} if retry_after else None
    return web.json_response(body, status=status, headers=headers)


if __name__ == "__main__":
    main(AnthropicEmulator, "anthropic")
