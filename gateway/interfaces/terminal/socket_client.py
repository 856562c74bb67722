"""A client of the console's socket that reconnects automatically."""

import asyncio
import base64
import itertools
import json
import os
import re
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from agent_core.tools.pictures.descriptions import read_description
from gateway.texts.console_page import FILE_NOT_SAVED, FILE_ON_PAGE, FILE_SAVED

_LONGEST_LINE = 8_000_000
_PAUSE = 0.5
"""Seconds before it connects again, and before it repeats a refused message."""
_LONGEST_NAME = 60
"""Most characters of a file name's stem or suffix; most file systems allow 255 bytes in all."""
_FENCE = "```\n"
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A button; pressing it sends its key. `label` is one line."""

    key: str
    label: str
    style: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A new message, or a new text of an earlier one. `is_live` means that more text follows."""

    id: str
    text: str
    is_live: bool
    choices: tuple[Choice, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Gone:
    """A message was deleted."""

    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Typing:
    """The gateway is working on an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Complaint:
    """The gateway has refused a message; the client will repeat it."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """The state of the connection."""

    is_up: bool


News = Shown | Gone | Typing | Complaint | Line


@dataclass(slots=True)
class ConsoleLink:
    """Speaks the console's protocol; see `adapters.console`."""

    socket: Path
    hear: Callable[[News], Awaitable[None]]
    """Receives all news in order. When it returns, a message counts as shown."""
    shows_buttons: bool = False
    """If false, the gateway lists the choices of a question in its text."""
    saves_to: Path | None = None
    """An existing folder for files of answers; without it, only the names of files are shown."""
    _files: dict[str, str] = field(default_factory=dict, init=False)
    """The line about the file of each message, so that a repeated message saves no second file."""
    _writer: asyncio.StreamWriter | None = field(default=None, init=False)
    _unstored: dict[str, tuple[dict[str, str], asyncio.Future[None]]] = field(
        default_factory=dict, init=False
    )

    async def say(self, text: str) -> None:
        """Send a message; return once the gateway has stored it.

        Until then, repeats the message under the same id, even after reconnecting.
        """
        await self._insist({"type": "message", "text": text})

    async def press(self, message_id: str, key: str) -> None:
        """Press a button below a message, as reliably as `say`."""
        await self._insist({"type": "press", "message": message_id, "key": key})

    def list_unsent(self) -> list[str]:
        """Return the messages that no gateway has stored yet."""
        return [line["text"] for line, _ in self._unstored.values() if "text" in line]

    async def _insist(self, said: dict[str, str]) -> None:
        name = uuid.uuid4().hex
        line = {"id": name, **said}
        stored = asyncio.get_running_loop().create_future()
        self._unstored[name] = line, stored
        self._write(line)
        try:
            await stored
        finally:
            del self._unstored[name]

    async def run(self) -> None:
        """Keep the connection until cancelled."""
        while True:
            try:
                reader, writer = await asyncio.open_unix_connection(
                    str(self.socket), limit=_LONGEST_LINE
                )
            except OSError:
                await asyncio.sleep(_PAUSE)
                continue
            self._writer = writer
            try:
                self._write({"type": "hello", "buttons": self.shows_buttons})
                self._repeat()
                await self.hear(Line(is_up=True))
                await self._listen(reader)
            except OSError:
                pass  # the connection broke; report it and reconnect
            finally:
                self._writer = None
                writer.close()
            await self.hear(Line(is_up=False))
            await asyncio.sleep(_PAUSE)

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        while line := await reader.readline():
            fields = json.loads(line)
            match fields["type"]:
                case "ack":
                    _, stored = self._unstored.get(fields["id"], ({}, None))
                    if stored and not stored.done():
                        stored.set_result(None)
                case "typing":
                    await self.hear(Typing())
                case "error":
                    await self.hear(Complaint(text=_clean(fields["text"])))
                    asyncio.get_running_loop().call_later(_PAUSE, self._repeat)
                case "message" | "edit":
                    await self.hear(self._read_shown(fields))
                    self._write({"type": "got", "key": fields["key"]})
                case "delete":
                    await self.hear(Gone(id=fields["id"]))
                    self._write({"type": "got", "key": fields["key"]})

    def _read_shown(self, fields: dict[str, Any]) -> Shown:
        shown = _read_shown(fields)
        if not (file := fields["file"]):
            return shown
        if shown.id not in self._files:
            self._files[shown.id] = self._take_file(file)
        described = self._files[shown.id]
        is_said = described.startswith(f"{_FENCE}{shown.text}")  # the caption is its title again
        return replace(shown, text=described if is_said else f"{shown.text}\n\n{described}".strip())

    def _take_file(self, file: dict[str, str]) -> str:
        """Save a file if there is a folder for files; return the line about it.

        A picture that carries a description, as charts do, is shown by it.
        """
        name, data = _clean(file["name"]), base64.b64decode(file["data"])
        line = self._save(name, data)
        words = _clean(read_description(data)).replace("```", "``")
        return f"{_FENCE}{words}\n```\n\n{line}" if words else line

    def _save(self, name: str, data: bytes) -> str:
        if self.saves_to is None:
            return FILE_ON_PAGE(name=name)
        try:
            path = save_file(self.saves_to, name, data)
        except OSError as error:
            return FILE_NOT_SAVED(name=name, reason=error.strerror or str(error))
        return FILE_SAVED(name=name, path=path)

    def _repeat(self) -> None:
        for line, _ in self._unstored.values():
            self._write(line)

    def _write(self, fields: dict[str, Any]) -> None:
        """Send a line if connected; callers repeat important lines."""
        if self._writer is not None and not self._writer.is_closing():
            self._writer.write(json.dumps(fields).encode() + b"\n")


def _read_shown(fields: dict[str, Any]) -> Shown:
    choices = tuple(
        Choice(key=one["key"], label=" ".join(_clean(one["label"]).split()), style=one["style"])
        for one in fields["buttons"]
    )
    text = _clean(fields["text"])
    return Shown(id=fields["id"], text=text, is_live=fields["live"], choices=choices)


def save_file(folder: Path, name: str, data: bytes) -> Path:
    """Write a new file into a folder; return its path. Raises `OSError`.

    The model chose the name. So the name can't lead out of the folder, and if it is taken, the file
    gets a number.
    """
    bare = Path(name.replace("\\", "/")).name.lstrip(".") or "file"
    stem, suffix = Path(bare).stem[:_LONGEST_NAME], Path(bare).suffix[:_LONGEST_NAME]
    for number in itertools.count(1):
        path = folder / (f"{stem}{suffix}" if number == 1 else f"{stem}-{number}{suffix}")
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            continue
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        return path
    raise AssertionError("there are numbers enough")


def _clean(text: str) -> str:
    """Remove control characters, which a terminal would obey."""
    return _CONTROLS.sub("", text)
