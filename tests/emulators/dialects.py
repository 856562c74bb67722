"""A server that plays what model servers do besides their documents, over either API.

It judges each request as the strictest of them, so a row also proves that the next message works.
"""

import json
import re
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from aiohttp import web

from tests.emulators.streaming import Emulator, Json

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
NEXT = "The next answer."
Rule = Callable[[Json], str]
"""Returns the complaint about a request, or ""."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """One response as it goes over the wire."""

    body: str
    status: int = 200
    media_type: str = "text/event-stream"


def chat(*deltas: Json | str, finish: str | None = "stop", done: bool = True) -> Wire:
    """Chunks of a chat completion: a text, a delta, or a whole chunk with `choices`."""
    chunks = [_chunk(one) for one in deltas]
    if finish is not None:
        chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    body = "".join(f"data: {json.dumps(one)}\n\n" for one in chunks)
    return Wire(body=body + ("data: [DONE]\n\n" if done else ""))


def tool(
    name: str | None, arguments: object, call_id: str | None = "call_1", index: int | None = 0
) -> Json:
    """A delta with one piece of a call; None leaves a field out."""
    given = {} if name is None else {"name": name}
    piece: Json = {"type": "function", "function": {**given, "arguments": arguments}}
    piece |= {} if call_id is None else {"id": call_id}
    piece |= {} if index is None else {"index": index}
    return {"tool_calls": [piece]}


def messages(*events: Json, stop: str | None = "end_turn", end: bool = True) -> Wire:
    """Events of the Messages API, within the usual start and end."""
    start = {"type": "message_start", "message": {"model": "m", "usage": {"input_tokens": 9}}}
    ends: list[Json] = []
    if stop is not None:
        ends.append({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {}})
    if end:
        ends.append({"type": "message_stop"})
    lines = (f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in (start, *events, *ends))
    return Wire(body="".join(lines))


def block(index: int, head: Json, *deltas: Json, stops: bool = True) -> list[Json]:
    """The events of one content block."""
    return [
        {"type": "content_block_start", "index": index, "content_block": head},
        *({"type": "content_block_delta", "index": index, "delta": one} for one in deltas),
        *([{"type": "content_block_stop", "index": index}] if stops else []),
    ]


def text_block(index: int, text: str) -> list[Json]:
    """The events of a block of words."""
    return block(index, {"type": "text", "text": ""}, {"type": "text_delta", "text": text})


def use_block(
    index: int, name: str, arguments: str, call_id: str = "toolu_1", stops: bool = True
) -> list[Json]:
    """The events of a call."""
    head = {"type": "tool_use", "id": call_id, "name": name, "input": {}}
    delta = {"type": "input_json_delta", "partial_json": arguments}
    return block(index, head, delta, stops=stops)


class DialectServer(Emulator):
    """Plays `script`, one response a turn's call; then answers by itself in the plain form."""

    def __init__(self) -> None:
        super().__init__()
        self.script: deque[Wire] = deque()
        self.rule: Rule = lambda _: ""
        self.trouble: Wire | None = None
        """Answers every call of a turn while it is set."""
        self.complaints: list[str] = []

    async def respond(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one HTTP request."""
        if request.method != "POST":
            return web.json_response({"id": request.path.rpartition("/")[2], "type": "model"})
        body: Json = json.loads(await request.read())
        is_chat = request.path.endswith("/chat/completions")
        if "tools" not in body:
            return _send(_say(is_chat, "A title"))
        self.note(body, request.headers)
        said = (_judge_chat(body) if is_chat else _judge_messages(body)) or self.rule(body)
        if said:
            self.complaints.append(said)
            error = {"message": said, "type": "invalid_request_error"}
            return web.json_response({"type": "error", "error": error}, status=400)
        if self.trouble:
            return _send(self.trouble)
        if self.script:
            return _send(self.script.popleft())
        found = _last_results(body)
        return _send(_say(is_chat, f"Done: {' | '.join(found)}" if found else NEXT))


def _send(wire: Wire) -> web.Response:
    return web.Response(text=wire.body, status=wire.status, content_type=wire.media_type)


def _say(is_chat: bool, text: str) -> Wire:
    return chat({"content": text}) if is_chat else messages(*text_block(0, text))


def _chunk(one: Json | str) -> Json:
    if isinstance(one, str):
        one = {"content": one}
    return one if "choices" in one or "error" in one else {"choices": [{"index": 0, "delta": one}]}


def _judge_chat(body: Json) -> str:
    open_calls: list[str] = []
    for place, message in enumerate(body["messages"]):
        if message["role"] == "tool":
            if message["tool_call_id"] not in open_calls:
                return f"messages.{place}: no such call"
            open_calls.remove(message["tool_call_id"])
            continue
        if open_calls:
            return f"messages.{place}: calls without results"
        for call in message.get("tool_calls") or ():
            if not NAME.fullmatch(call["function"]["name"]):
                return (
                    f"Invalid 'messages[{place}].tool_calls[0].function.name': string does not"
                    " match pattern '^[a-zA-Z0-9_-]{1,64}$'."
                )
            if not isinstance(json.loads(call["function"]["arguments"]), dict):
                return "invalid tool call arguments"
            open_calls.append(call["id"])
    return "calls without results" if open_calls else ""


def _judge_messages(body: Json) -> str:
    open_calls: set[str] = set()
    for place, message in enumerate(body["messages"]):
        if isinstance(message["content"], str):
            continue
        given = {b["tool_use_id"] for b in message["content"] if b["type"] == "tool_result"}
        if given != open_calls:
            return f"messages.{place}: `tool_use` ids without `tool_result` blocks"
        uses = [b for b in message["content"] if b["type"] == "tool_use"]
        for use in uses:
            if not NAME.fullmatch(use["name"]):
                return f"messages.{place}.content.0.tool_use.name: String should match pattern"
        open_calls = {b["id"] for b in uses}
        if len(open_calls) != len(uses):
            return "`tool_use` ids must be unique"
    return ""


def _last_results(body: Json) -> list[str]:
    """The results since the last answer."""
    found: list[str] = []
    for message in reversed(body["messages"]):
        if message["role"] == "assistant":
            break
        if message["role"] == "tool":
            found.insert(0, str(message["content"]))
        elif isinstance(message["content"], list):
            found += [_flat(b) for b in message["content"] if b["type"] == "tool_result"]
    return [text[:80] for text in found]


def _flat(result: Json) -> str:
    content = result.get("content") or ""
    return content if isinstance(content, str) else "".join(b.get("text", "") for b in content)
