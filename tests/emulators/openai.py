"""A chat-completions server on loopback: streaming, tools, usage, quirks, faults.

`async with OpenAIEmulator() as api:` in a test, or `python -m tests.emulators.openai`.
"""

import asyncio
import itertools
import json
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from aiohttp import web

from tests.emulators.pictures import MEDIA_TYPES, count_pages, decode, look
from tests.emulators.streaming import (
    FACTS,
    IMAGE_TOKENS,
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

MODELS = ("gpt-5-mini", "openai/gpt-5-mini", "llama3:latest")
KEYS = frozenset(
    {"model", "messages", "tools", "stream", "stream_options", "max_tokens", "temperature"}
    | {"max_completion_tokens", "reasoning_effort", "tool_choice", "stop", "seed", "user"}
    | {"response_format", "top_p", "presence_penalty", "frequency_penalty"}
)
LARGEST_RECORDING = 25 * 1024 * 1024
CACHE_STEP = 128
"""Cached tokens are counted in steps, from 1,024 on."""
CACHE_LEAST = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """An uploaded recording to transcribe."""

    name: str
    media_type: str
    data: bytes
    model: str


class OpenAIEmulator(Emulator):
    """The server.

    `unknown_fields` are refused as servers do that don't know them; `routes` says which of
    `retrieve` and `list` there are for models; `sends_usage` is false for servers that never
    count. The blocks of an `Answer` are Anthropic's: text, refusal, thinking (sent as
    `reasoning_content`) and tool_use. Models in `blind` take no pictures. `recordings` came to
    `/audio/transcriptions`; `transcripts` answers the next of them: words, or a fault.
    """

    def __init__(self, *, models: Iterable[str] = MODELS, **options: Any) -> None:
        super().__init__(**options)
        self.models = set(models)
        self.window = 400_000
        self.unknown_fields: set[str] = set()
        self.routes = {"retrieve", "list"}
        self.sends_usage = True
        self.gives_index = True
        self.blind: set[str] = set()
        self.recordings: deque[Recording] = deque()
        self.transcripts: deque[str | Fault] = deque()
        self._seen: set[str] = set()
        self._numbers = itertools.count(1)

    @property
    def base_url(self) -> str:
        """The address as clients want it."""
        return f"{self.url}/v1"

    async def respond(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one HTTP request."""
        key = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if self.key is not None and key != self.key:
            return _error(401, "Incorrect API key provided.", code="invalid_api_key")
        match (request.method, request.path):
            case ("POST", "/v1/chat/completions"):
                return await self._complete(request)
            case ("POST", "/v1/audio/transcriptions"):
                return await self._transcribe(request)
            case ("GET", "/v1/models") if "list" in self.routes:
                data = [{"id": name, "object": "model"} for name in sorted(self.models)]
                return web.json_response({"object": "list", "data": data})
            case ("GET", path) if path.startswith("/v1/models/") and "retrieve" in self.routes:
                name = unquote(request.rel_url.raw_path.removeprefix("/v1/models/"))
                if name in self.models:
                    return web.json_response({"id": name, "object": "model"})
                return _no_model(name)
        return web.Response(status=404, text="404 page not found")

    async def _complete(self, request: web.BaseRequest) -> web.StreamResponse:
        body: Json = json.loads(await request.read())
        self.note(body, request.headers)
        refused = self._refuse(body)
        if refused is not None:
            return refused
        if self.before is not None:
            await self.before(body)
        reply = self.take_reply(body, echo)
        if isinstance(reply, Fault) and reply.status:
            return _error(
                reply.status,
                reply.message,
                code=reply.error_code or None,
                kind=reply.error,
                retry_after=reply.retry_after,
            )
        if self.latency:
            await asyncio.sleep(self.latency)
        fault = reply if isinstance(reply, Fault) else None
        answer = reply.answer or text_answer("half") if isinstance(reply, Fault) else reply
        usage = self._count(body, answer)
        self.usages.append(usage)
        chunks = self.render(body, answer, usage)
        if fault is not None and fault.then == "error":
            error = {"message": fault.message, "code": fault.error_code, "type": fault.error}
            place = fault.after_events or 0
            chunks = [*chunks[:place], _sse({"error": error})]
            fault = Fault(then="end", after_events=len(chunks))
        return await self.stream(request, body, chunks, fault)

    async def _transcribe(self, request: web.BaseRequest) -> web.StreamResponse:
        form = await request.post()
        file, model = form.get("file"), form.get("model")
        if not isinstance(file, web.FileField) or not isinstance(model, str):
            return _error(400, "you must provide a model and a file parameter", code=None)
        with file.file as opened:
            data = opened.read()
        if len(data) > LARGEST_RECORDING:
            return _error(413, "Maximum content size limit (26214400) exceeded", code=None)
        if "." not in file.filename:
            return _error(400, "Unrecognized file format.", code=None, param="file")
        self.recordings.append(
            Recording(name=file.filename, media_type=file.content_type, data=data, model=model)
        )
        if self.latency:
            await asyncio.sleep(self.latency)
        said = self.transcripts.popleft() if self.transcripts else f"{len(data)} bytes of speech"
        if isinstance(said, Fault):
            if said.then == "hang" and not said.status:
                await self._ended.wait()
            return _error(said.status or 500, said.message, code=said.error_code or None)
        return web.json_response({"text": said, "usage": {"type": "duration", "seconds": 1}})

    def _refuse(self, body: Json) -> web.Response | None:
        for key in body:
            if key not in KEYS or key in self.unknown_fields:
                said = f"Unsupported parameter: '{key}' is not supported with this model."
                return _error(400, said, code="unsupported_parameter", param=key)
        if body.get("model") not in self.models:
            return _no_model(str(body.get("model")))
        said = complain(body)
        if said is not None:
            return _error(400, said, code=None)
        if body["model"] in self.blind and any(_images(message) for message in body["messages"]):
            return _error(404, "No endpoints found that support image input", code=None)
        tokens = sum(_measure(message) for message in body["messages"])
        if tokens > self.window:
            said = (
                f"This model's maximum context length is {self.window} tokens. However, your"
                f" messages resulted in {tokens} tokens."
            )
            return _error(400, said, code="context_length_exceeded", param="messages")
        return None

    def _count(self, body: Json, answer: Answer) -> Json:
        """Usage, with the longest prefix of messages that was sent before as cached."""
        prefix = json.dumps(body.get("tools", []))
        prompt, cached = count_tokens(prefix), 0
        for message in body["messages"]:
            prefix += json.dumps(message)
            prompt += _measure(message)
            if prefix in self._seen and prompt >= CACHE_LEAST:
                cached = prompt // CACHE_STEP * CACHE_STEP
            self._seen.add(prefix)
        said = count_tokens("".join(_text_of(block) for block in answer.blocks))
        return {
            "prompt_tokens": prompt,
            "completion_tokens": max(1, said),
            "total_tokens": prompt + max(1, said),
            "prompt_tokens_details": {"cached_tokens": cached},
        }

    def render(self, body: Json, answer: Answer, usage: Json) -> list[bytes]:
        """An answer as the chunks in which it would arrive."""
        number = next(self._numbers)
        head = {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion.chunk",
            "created": 0,
            "model": body["model"],
        }

        def chunk(delta: Json, reason: str | None = None) -> bytes:
            choice = {"index": 0, "delta": delta, "finish_reason": reason}
            return _sse({**head, "choices": [choice]})

        chunks = [chunk({"role": "assistant", "content": ""})]
        place = 0
        for block in answer.blocks:
            if block["type"] == "tool_use":
                chunks += [chunk({"tool_calls": [call]}) for call in self._grow(block, place)]
                place += 1
            else:
                key = {"text": "content", "thinking": "reasoning_content"}.get(block["type"])
                pieces = cut(_text_of(block), answer.deltas or self.deltas)
                chunks += [chunk({key or "refusal": piece}) for piece in pieces]
        chunks.append(chunk({}, answer.stop if answer.stop != "end_turn" else "stop"))
        if self.sends_usage and (body.get("stream_options") or {}).get("include_usage"):
            chunks.append(_sse({**head, "choices": [], "usage": usage}))
        return [*chunks, b"data: [DONE]\n\n"]

    def _grow(self, block: Json, place: int) -> list[Json]:
        """A call's deltas: id and name first, then its arguments in pieces."""
        index = {"index": place} if self.gives_index else {}
        call_id = block.get("id", f"call_{place}_{next(self._numbers)}")
        head = {"id": call_id, "type": "function"}
        function = {"name": block["name"], "arguments": ""}
        return [
            {**index, **head, "function": function},
            *(
                {**index, "function": {"arguments": piece}}
                for piece in cut(_text_of(block), self.deltas)
            ),
        ]


def complain(body: Json) -> str | None:
    """Why a request is answered with 400; None for a good one."""
    open_calls: list[str] = []
    if not body.get("messages"):
        return "[] is too short - 'messages'"
    for place, message in enumerate(body["messages"]):
        role = message.get("role")
        if role == "tool":
            if message.get("tool_call_id") not in open_calls:
                return (
                    "messages with role 'tool' must be a response to a preceding message with"
                    " 'tool_calls'."
                )
            open_calls.remove(message["tool_call_id"])
            continue
        if open_calls:
            return (
                "An assistant message with 'tool_calls' must be followed by tool messages"
                f" responding to each 'tool_call_id': {', '.join(open_calls)}"
            )
        if role not in ("system", "developer", "user", "assistant"):
            return f"Invalid value: '{role}'. messages[{place}].role"
        said = next(filter(None, map(_complain_of_image, _images(message))), None)
        if said:
            return said
        if message.get("content") is None and not message.get("tool_calls"):
            return f"Invalid value for 'content': expected a string, got null. messages[{place}]"
        for call in message.get("tool_calls", ()):
            if not isinstance(json.loads(call["function"]["arguments"]), dict):
                return "tool call arguments must be an object"
            open_calls.append(call["id"])
    return "tool calls without responses" if open_calls else None


def echo(body: Json) -> Answer:
    """The default answer: what was said since the last answer, without facts."""
    said: list[str] = []
    for message in reversed(body["messages"]):
        if message["role"] in ("assistant", "system"):
            break
        words = _words(message).split("\n\n")
        said[:0] = [word for word in words if not word.startswith(FACTS)]
    return text_answer(f"echo: {WORDS_JOINT.join(said)}")


def _words(message: Json) -> str:
    """A message's text; a block that is none is named."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n\n".join(block.get("text", f"[{block['type']}]") for block in content)


def _images(message: Json) -> list[Json]:
    content = message.get("content")
    return [] if not isinstance(content, list) else [b for b in content if b["type"] != "text"]


def _measure(message: Json) -> int:
    images = len(_images(message))
    bare = {**message, "content": _words(message)} if images else message
    return count_tokens(json.dumps(bare)) + images * IMAGE_TOKENS


def _complain_of_image(block: Json) -> str | None:
    if block["type"] == "file":
        head, _, data = str(block["file"].get("file_data")).partition(";base64,")
        is_read = head == "data:application/pdf" and count_pages(decode(data) or b"")
        return None if is_read and block["file"].get("filename") else "Invalid file data."
    if block["type"] != "image_url":
        return (
            f"Invalid value: '{block['type']}'. Supported values are: 'text', 'image_url', 'file'."
        )
    head, _, data = str(block["image_url"]["url"]).partition(";base64,")
    found = look(decode(data) or b"")
    if head.removeprefix("data:") not in MEDIA_TYPES or found is None:
        return "You uploaded an unsupported image. Please make sure your image is valid."
    return None


def _text_of(block: Json) -> str:
    if block["type"] == "tool_use":
        given = block.get("input_json")
        return given if isinstance(given, str) else json.dumps(block["input"])
    return str(block.get("text") or block.get("thinking") or "")


def _sse(data: Json) -> bytes:
    return f"data: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


def _no_model(name: str) -> web.Response:
    said = f"The model '{name}' does not exist or you do not have access to it."
    return _error(404, said, code="model_not_found")


def _error(
    status: int,
    message: str,
    *,
    code: str | None,
    param: str | None = None,
    kind: str = "invalid_request_error",
    retry_after: str = "",
) -> web.Response:
    error = {"message": message, "type": kind, "param": param, "code": code}
    headers = {"retry-after": retry_after} if retry_after else None
    return web.json_response({"error": error}, status=status, headers=headers)


if __name__ == "__main__":
    main(OpenAIEmulator, "openai")
