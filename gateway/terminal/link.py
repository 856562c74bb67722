"""One client of the console's socket: says, hears, and connects again by itself."""

import asyncio
import json
import re
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_LONGEST_LINE = 8_000_000
_PAUSE = 0.5
"""Seconds between attempts to connect, and before a message that was refused is repeated."""
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A message, or its new text. `is_live` means that more will follow in it."""

    id: str
    text: str
    is_live: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Typing:
    """The house is at work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Complaint:
    """Something that was said could not be taken; it is repeated."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Whether the house can be heard."""

    is_up: bool


News = Shown | Typing | Complaint | Line


class ConsoleLink:
    """Speaks the console's protocol, as `adapters/console` describes it."""

    def __init__(self, socket: Path, hear: Callable[[News], Awaitable[None]]) -> None:
        """`hear` is given all news in order; a message counts as shown when it returns."""
        self._socket = socket
        self._hear = hear
        self._writer: asyncio.StreamWriter | None = None
        self._unstored: dict[str, tuple[str, asyncio.Future[None]]] = {}

    async def say(self, text: str) -> None:
        """Say something; returns once the house has stored it.

        It is repeated under the same id until then, whatever happens to the line.
        """
        name = uuid.uuid4().hex
        stored = asyncio.get_running_loop().create_future()
        self._unstored[name] = text, stored
        self._write({"type": "message", "id": name, "text": text})
        try:
            await stored
        finally:
            del self._unstored[name]

    async def run(self) -> None:
        """Keep the line until cancelled."""
        while True:
            try:
                reader, writer = await asyncio.open_unix_connection(
                    str(self._socket), limit=_LONGEST_LINE
                )
            except OSError:
                await asyncio.sleep(_PAUSE)
                continue
            self._writer = writer
            try:
                self._write({"type": "hello"})
                self._repeat()
                await self._hear(Line(is_up=True))
                await self._listen(reader)
            except OSError:
                pass  # the line broke; say so and connect again
            finally:
                self._writer = None
                writer.close()
            await self._hear(Line(is_up=False))
            await asyncio.sleep(_PAUSE)

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        while line := await reader.readline():
            fields = json.loads(line)
            kind = fields["type"]
            if kind == "ack":
                _, stored = self._unstored.get(fields["id"], ("", None))
                if stored and not stored.done():
                    stored.set_result(None)
            elif kind == "typing":
                await self._hear(Typing())
            elif kind == "error":
                await self._hear(Complaint(text=_clean(fields["text"])))
                asyncio.get_running_loop().call_later(_PAUSE, self._repeat)
            else:
                text = _clean(fields["text"])
                await self._hear(Shown(id=fields["id"], text=text, is_live=fields["live"]))
                self._write({"type": "got", "key": fields["key"]})

    def _repeat(self) -> None:
        for name, (text, _) in self._unstored.items():
            self._write({"type": "message", "id": name, "text": text})

    def _write(self, fields: dict[str, Any]) -> None:
        """Send a line if there is somebody; what has to arrive is repeated."""
        if self._writer is not None and not self._writer.is_closing():
            self._writer.write(json.dumps(fields).encode() + b"\n")


def _clean(text: str) -> str:
    """Without control characters: a terminal would obey them."""
    return _CONTROLS.sub("", text)
