"""A model server that sends any bytes for one request, and good answers for all others."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self

from tests.emulators.dialects import NEXT, chat, messages, text_block
from tests.emulators.streaming import Json

End = Literal["close", "reset", "hang"]
POISON = "zyzzyva"
"""The word of a message that gets the raw answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RawAnswer:
    """The bytes after a request, in pieces with pauses, and what happens to the connection."""

    pieces: Sequence[bytes]
    pause: float = 0.0
    end: End = "close"
    repeats: int = 1
    """How many times the last piece is sent."""


def respond(body: bytes, *, status: str = "200 OK", kind: str = "text/event-stream") -> RawAnswer:
    """Return a whole response."""
    return RawAnswer(pieces=[make_head(status, kind, len(body)), body])


def make_head(status: str, kind: str, length: int | None, more: str = "") -> bytes:
    """Return a head; without a length, the body ends with the connection."""
    size = "" if length is None else f"Content-Length: {length}\r\n"
    return (
        f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{size}{more}Connection: close\r\n\r\n"
    ).encode()


class RawServer:
    """Sends `answer` to the requests whose newest message holds `POISON`, `most` times."""

    def __init__(self) -> None:
        self.answer: RawAnswer | None = None
        self.most = 0
        self.requests: list[Json] = []
        self.sent = 0
        self.port = 0
        self._server: asyncio.Server | None = None
        self._lines: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=2**26)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server
        self._server.close()
        for task in self._lines:
            task.cancel()
        await asyncio.gather(*self._lines, return_exceptions=True)

    @property
    def url(self) -> str:
        """The address without a path."""
        return f"http://127.0.0.1:{self.port}"

    def plan(self, answer: RawAnswer, most: int = 1) -> None:
        """Answer the next poisoned requests like this."""
        self.answer, self.most = answer, most

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._lines.add(task)
        try:
            await self._respond(reader, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._lines.discard(task)
            writer.close()

    async def _respond(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        method, path, _ = head.split(" ", 2)
        fields = dict(
            line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line
        )
        body: Json = json.loads(
            await reader.readexactly(int(fields.get("content-length", 0))) or "{}"
        )
        if method != "POST":
            await self._send(writer, respond(b'{"id": "m"}', kind="application/json"))
            return
        is_chat = path.endswith("/chat/completions")
        text = NEXT if "tools" in body else "A title"
        good = (chat(text) if is_chat else messages(*text_block(0, text))).body.encode()
        if "tools" in body:
            self.requests.append(body)
        newest = json.dumps(body["messages"][-1:])
        if "tools" in body and POISON in newest and self.answer and self.sent < self.most:
            self.sent += 1
            await self._send(writer, self.answer)
        else:
            await self._send(writer, respond(good))

    async def _send(self, writer: asyncio.StreamWriter, answer: RawAnswer) -> None:
        *pieces, last = answer.pieces or [b""]
        for piece in (*pieces, *(last for _ in range(answer.repeats))):
            writer.write(piece)
            await writer.drain()
            if answer.pause:
                await asyncio.sleep(answer.pause)
        if answer.end == "hang":
            await asyncio.Event().wait()
        if answer.end == "reset":
            writer.transport.abort()
