"""The model of all compared bots: a script behind OpenAI's and Anthropic's APIs.

It answers `say WORD.` with `heard WORD.`, each word since its last answer, and `What is the code
of NAME?` with the code if the request holds it. If it does not, it asks whatever search of past
conversations the bot offers, whatever its name, and then says that it does not know. A search in a
catalog that the prompt lists is asked through the catalog. It counts what it is asked.
"""

import asyncio
import json
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Self

from aiohttp import web

_SAY = re.compile(r"say (\w+)\.")
_ASKED = re.compile(r"What is the code of (\w+)\?")
_SEARCHES = re.compile(r"recall|(sessions?|conversation|history)_search|search_(memory|past)")
_LISTED = re.compile(rf"^- (\w*(?:{_SEARCHES.pattern})\w*) \(", re.MULTILINE)
_CATALOG = "tool_call"
_QUOTED = re.compile(r"<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>.*", re.DOTALL)
"""What OpenClaw adds behind a message: excerpts of the conversation, which ask for nothing."""
_CHARACTERS_PER_TOKEN = 4


@dataclass(slots=True)
class Counts:
    """What the model was asked: requests, and their tokens at four characters each."""

    requests: int = 0
    tokens: int = 0
    largest: int = 0

    def add(self, text: str) -> None:
        """Count one request by its JSON."""
        tokens = len(text) // _CHARACTERS_PER_TOKEN
        self.requests += 1
        self.tokens += tokens
        self.largest = max(self.largest, tokens)


@dataclass(slots=True)
class ScriptedModel:
    """The server; each answer waits `seconds`."""

    seconds: float = 0.0
    counts: Counts = field(default_factory=Counts)
    url: str = ""
    _runner: web.AppRunner | None = None

    async def __aenter__(self) -> Self:
        application = web.Application(client_max_size=64 * 2**20)
        application.router.add_post("/v1/chat/completions", self._complete)
        application.router.add_post("/v1/messages", self._answer_anthropic)
        application.router.add_get("/v1/models", self._list_models)
        self._runner = web.AppRunner(application)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        port = self._runner.addresses[0][1]
        self.url = f"http://127.0.0.1:{port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    async def _list_models(self, _: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": "gpt-5-mini"}]})

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        raw = await request.text()
        body = json.loads(raw)
        self.counts.add(raw)
        await asyncio.sleep(self.seconds)
        text, call = _decide(body["messages"], body.get("tools") or ())
        message: dict[str, Any] = {"role": "assistant", "content": text or None}
        if call:
            message["tool_calls"] = [call]
        reason = "tool_calls" if call else "stop"
        usage = {
            "prompt_tokens": len(raw) // _CHARACTERS_PER_TOKEN,
            "completion_tokens": 10,
            "total_tokens": len(raw) // _CHARACTERS_PER_TOKEN + 10,
        }
        head = {"id": "chatcmpl-1", "created": 1, "model": body["model"]}
        if not body.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": reason}
            return web.json_response(
                {**head, "object": "chat.completion", "choices": [choice], "usage": usage}
            )
        answer = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        delta = {**message, **({"tool_calls": [{"index": 0, **call}]} if call else {})}
        chunks: tuple[tuple[list[dict[str, Any]], dict[str, int] | None], ...] = (
            ([{"index": 0, "delta": delta, "finish_reason": None}], None),
            ([{"index": 0, "delta": {}, "finish_reason": reason}], None),
            ([], usage),
        )
        with suppress(ConnectionResetError):  # who asked was killed meanwhile
            await answer.prepare(request)
            for choices, counted in chunks:
                chunk = {**head, "object": "chat.completion.chunk", "choices": choices}
                line = json.dumps({**chunk, "usage": counted})
                await answer.write(f"data: {line}\n\n".encode())
            await answer.write(b"data: [DONE]\n\n")
            await answer.write_eof()
        return answer

    async def _answer_anthropic(self, request: web.Request) -> web.Response:
        """Answer the bare bot, which neither streams nor calls tools."""
        raw = await request.text()
        body = json.loads(raw)
        self.counts.add(raw)
        await asyncio.sleep(self.seconds)
        text, _ = _decide(body["messages"], ())
        return web.json_response(
            {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "model": body["model"],
                "content": [{"type": "text", "text": text}],
                "stop_reason": "end_turn",
                "stop_sequence": None,
                "usage": {"input_tokens": len(raw) // _CHARACTERS_PER_TOKEN, "output_tokens": 10},
            }
        )


def make_fact(name: str) -> str:
    """Return a sentence that tells a code; it asks for no note, since recall needs none."""
    return f"By the way, the code of {name} is {make_code(name)}. say {name}."


def make_code(name: str) -> str:
    """Return the code of a name."""
    return f"zx{sum(map(ord, name)) % 97:02}{name[::-1]}"


def _decide(
    messages: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]]
) -> tuple[str, dict[str, Any] | None]:
    """Return an answer, or a call of a tool."""
    words = "\n".join(_list_unanswered(messages))
    if found := _ASKED.findall(words):
        name = found[-1]
        if make_code(name) in json.dumps(messages):
            return f"The code of {name} is {make_code(name)}.", None
        if messages[-1]["role"] != "tool" and (call := _search(messages, tools, name)):
            return "", call
        return f"I don't know the code of {name}.", None
    if found := _SAY.findall(words):
        return " ".join(f"heard {one}." for one in dict.fromkeys(found)), None
    return "Nothing to do.", None


def _list_unanswered(messages: Sequence[dict[str, Any]]) -> list[str]:
    """List what people wrote since the last answer; bots add messages with context of their own."""
    found: list[str] = []
    for one in reversed(messages):
        if one["role"] == "assistant" and not one.get("tool_calls"):
            break
        if one["role"] == "user":
            found.append(_QUOTED.sub("", _read(one)))
    return found[::-1]


def _search(
    messages: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]], name: str
) -> dict[str, Any] | None:
    wanted = {"query": f"code {name}"}
    for tool in tools:
        function = tool.get("function") or {}
        required = (function.get("parameters") or {}).get("required") or []
        properties = (function.get("parameters") or {}).get("properties") or {}
        if not _SEARCHES.search(function.get("name", "")) or "query" not in properties:
            continue
        if set(required) <= {"query"}:
            return _call(function["name"], wanted)
    if any((tool.get("function") or {}).get("name") == _CATALOG for tool in tools):
        for one in messages:
            if one["role"] == "system" and (listed := _LISTED.search(_read(one))):
                return _call(_CATALOG, {"id": listed[1], "args": wanted})
    return None


def _call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    called = {"name": name, "arguments": json.dumps(arguments)}
    return {"id": "call_1", "type": "function", "function": called}


def _read(message: dict[str, Any]) -> str:
    content = message["content"]
    if isinstance(content, str):
        return content
    return " ".join(part.get("text", "") for part in content)
