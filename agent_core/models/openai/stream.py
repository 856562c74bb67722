"""Read the body of a chat-completions call, whatever form a server gives it."""

import json
from collections.abc import AsyncIterator
from typing import Any

from openai import AsyncStream
from openai._streaming import ServerSentEvent

from agent_core.errors import ModelMisplaced, ModelUnknown
from agent_core.models.http import MOST_BYTES, TOO_LONG

_LARGEST = 16 * 1024 * 1024
_SHOWN = 200
_BLANK = b" \t\r\n\xef\xbb\xbf"
_DONE = "[DONE]"


class ChunkStream(AsyncStream[object]):
    """The chunks of one call.

    A body that is no event stream is read as the answer or the error that it holds.
    """

    has_ended = False
    """True once the server said that nothing follows."""
    _is_over = False
    """True once the body has ended."""

    async def _iter_events(self) -> AsyncIterator[ServerSentEvent]:
        pieces = self.response.aiter_bytes()
        head = b""
        while not head.strip(_BLANK) and (piece := await anext(pieces, None)) is not None:
            head += piece
        if head.strip(_BLANK)[:1] in (b"{", b"[", b"<"):
            for value in await _read_body(head, pieces):
                self.has_ended = True
                yield ServerSentEvent(data=json.dumps(value))
            return
        async for event in self._decoder.aiter_bytes(self._chain(head, pieces)):
            for data in _split(event.data.strip()):
                if self._is_over and not (data.startswith(_DONE) or _is_json(data)):
                    return  # an event that was cut off
                if data.startswith(_DONE):
                    self.has_ended = True
                elif not data.startswith("{") and _is_json(data):
                    continue  # some servers keep the connection alive with `null`
                is_error = event.event == "error" or data.startswith('{"error":')
                yield ServerSentEvent(data=_restate(data)) if is_error else _name(event, data)

    async def _chain(self, head: bytes, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """Return the pieces of a body, with the end of its last event.

        Raises `ModelUnknown` if it never ends.
        """
        yield head
        size = len(head)
        async for piece in pieces:
            size += len(piece)
            if size > MOST_BYTES:
                raise ModelUnknown(TOO_LONG)
            yield piece
        self._is_over = True
        yield b"\n\n"


def _name(event: ServerSentEvent, data: str) -> ServerSentEvent:
    return event if event.data == data else ServerSentEvent(data=data)


def _split(data: str) -> list[str]:
    """Return the values in the data of an event; some servers put several into one."""
    if not data:  # some servers send empty events to keep the connection alive
        return []
    if data.startswith("data:"):
        data = data.removeprefix("data:").lstrip()
    if "\n" not in data or _is_json(data):
        return [data]
    return [one for line in data.split("\n") if (one := line.removeprefix("data:").strip())]


def _is_json(data: str) -> bool:
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True


async def _read_body(head: bytes, pieces: AsyncIterator[bytes]) -> list[dict[str, Any]]:
    """Return the objects in a body that is no event stream.

    Raises `ModelMisplaced` with its first line if it holds none, such as a web page.
    """
    body = bytearray(head)
    async for piece in pieces:
        body += piece
        if len(body) > _LARGEST:
            break
    text = body.decode("utf-8-sig", errors="replace").strip()
    values = _parse(text) or [
        value
        for line in text.splitlines()
        if _DONE not in line
        for value in _parse(line.removeprefix("data:"))
    ]
    if not values:
        first = text.splitlines()[0][:_SHOWN]
        raise ModelMisplaced(first)
    return [value if "choices" in value else _explain(value) for value in values]


def _parse(text: str) -> list[dict[str, Any]]:
    """Return the JSON object in a text, or the objects of a list; empty for anything else."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return []
    return [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, dict)]


def _restate(data: str) -> str:
    """Return an error event in the form that the SDK reads."""
    values = _parse(data) or [{"message": data}]
    return json.dumps(_explain(values[0]))


def _explain(value: dict[str, Any]) -> dict[str, Any]:
    """Return an object that is no answer as OpenAI's own form of an error."""
    error = value.get("error") or value.get("detail") or value
    if not isinstance(error, dict):
        error = {**value, "message": error}
    said = error.get("message") or error.get("msg") or error
    code = error.get("code") or value.get("code") or value.get("status_code")
    return {
        "error": {
            "message": said if isinstance(said, str) else json.dumps(said, ensure_ascii=False),
            "code": None if code is None else str(code),
            "type": error.get("type"),
            "param": error.get("param"),
        }
    }
