"""The console for the contract suite: a terminal of few lines and its owner."""

import asyncio
import base64
import contextlib
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from adapters.abilities import (
    CanAsk,
    CanDelete,
    CanEdit,
    CanFind,
    CanPreview,
    CanReact,
    CanSendFiles,
    CanType,
)
from adapters.console.adapter import ConsoleAdapter
from adapters.console.settings import ConsoleSettings
from adapters.ids import Address, PlatformMessageId
from adapters.messages import OutboundFile
from tests.contracts.rig import Place, Rig, Trait


class ConsoleRig:
    """A terminal that repeats what was not acknowledged, and shows each id once."""

    abilities = frozenset[type](
        {CanAsk, CanDelete, CanEdit, CanFind, CanPreview, CanReact, CanSendFiles, CanType}
    )
    traits = frozenset[Trait]({"grows"})
    address = Address(chat_id="local", is_direct=True)
    room = None
    room_people = 0
    ways_to_go = ()

    def __init__(self, path: Path) -> None:
        self._path = path
        self._screen: dict[str, dict[str, Any]] = {}
        self._said: dict[str, dict[str, str]] = {}
        self._unstored: dict[str, asyncio.Event] = {}
        self._stored: set[str] = set()
        self._seen: set[str] = set()
        self._deaf = 0
        self._mute = 0
        self._reading: asyncio.Task[None] | None = None
        self.renew()

    def renew(self) -> None:
        self.adapter = ConsoleAdapter(ConsoleSettings(socket=self._path, confirm=0.2))

    @asynccontextmanager
    async def looking(self) -> AsyncIterator[None]:
        await self.clear_faults()
        try:
            yield
        finally:
            await self._hang_up()

    async def says(
        self, text: str, *, place: Place = "direct", files: Sequence[OutboundFile] = ()
    ) -> PlatformMessageId:
        return PlatformMessageId(await self._say_until_stored(type="message", text=text))

    async def says_unheard(self, text: str, *, place: Place = "direct") -> None:
        self._say(type="message", text=text)

    async def edits(self, message_id: PlatformMessageId, text: str) -> None:
        raise NotImplementedError

    async def presses(self, label: str) -> None:
        for message_id, line in reversed(self._screen.items()):
            for button in line["buttons"]:
                if button["label"] == label:
                    await self._say_until_stored(
                        type="press", message=message_id, key=button["key"]
                    )
                    return
        raise LookupError(f'nothing shows a button "{label}"')

    async def goes(self, way: str) -> Address:
        raise NotImplementedError

    def shown(self, place: Place = "direct") -> list[str]:
        return [line["text"] for line in self._screen.values()]

    def buttons(self) -> list[str]:
        newest = [*self._screen.values()][-1]
        return [button["label"] for button in newest["buttons"]]

    def files(self) -> list[tuple[str, bytes]]:
        found = [line["file"] for line in self._screen.values() if line["file"]]
        return [(file["name"], base64.b64decode(file["data"])) for file in found]

    def reactions(self) -> list[str]:
        newest = [name for name, line in self._said.items() if line["type"] == "message"][-1]
        return ["eyes"] * (newest in self._seen)

    def acknowledged(self) -> int:
        return sum(self._said[name]["type"] == "press" for name in self._stored)

    async def redeliver(self) -> None:
        stored = [asyncio.Event() for _ in self._said]
        self._unstored = dict(zip(self._said, stored, strict=True))
        self._repeat()
        for event in stored:
            await event.wait()

    def limit(self, seconds: int) -> None:
        raise NotImplementedError

    def lose_answer(self, *, is_file: bool = False) -> None:
        self._mute += 1

    def lose_request(self, *, is_file: bool = False) -> None:
        self._deaf += 1

    async def cut(self) -> None:
        await self._hang_up()
        for _ in range(10):  # the server needs a few turns of the loop to see it
            await asyncio.sleep(0)

    async def clear_faults(self) -> None:
        reader, self._writer = await asyncio.open_unix_connection(self._path, limit=2**24)
        self._reading = asyncio.create_task(self._read(reader))
        self._heard = asyncio.Event()
        self._write(type="hello", buttons=True)
        self._write(type="is anybody there?")
        await self._heard.wait()
        self._repeat()

    async def _hang_up(self) -> None:
        if self._reading is None:
            return
        self._reading.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._reading
        self._reading = None
        self._writer.close()
        await self._writer.wait_closed()

    async def _say_until_stored(self, **line: str) -> str:
        name = self._say(**line)
        await self._unstored[name].wait()
        return name

    def _say(self, **line: str) -> str:
        name = f"line-{len(self._said)}"
        self._said[name] = {"id": name, **line}
        self._unstored[name] = asyncio.Event()
        if self._reading:
            self._write(**self._said[name])
        return name

    def _repeat(self) -> None:
        for name in self._unstored:
            self._write(**self._said[name])

    async def _read(self, reader: asyncio.StreamReader) -> None:
        while line := await reader.readline():
            said = json.loads(line)
            match said["type"]:
                case "ack":
                    self._stored.add(said["id"])
                    if stored := self._unstored.pop(said["id"], None):
                        stored.set()
                case "error" if self._heard.is_set():
                    self._repeat()
                case "error":
                    self._heard.set()
                case "seen" if said["seen"]:
                    self._seen.add(said["id"])
                case "seen":
                    self._seen.discard(said["id"])
                case "delete":
                    self._screen.pop(said["id"], None)
                    self._write(type="got", key=said["key"])
                case "message" | "edit" if self._deaf:
                    self._deaf -= 1
                case "message" | "edit":
                    self._screen[said["id"]] = said
                    if self._mute:
                        self._mute -= 1
                    else:
                        self._write(type="got", key=said["key"])

    def _write(self, **said: Any) -> None:
        self._writer.write(json.dumps(said).encode() + b"\n")


@asynccontextmanager
async def console(folder: Path) -> AsyncIterator[Rig]:
    """The rig of the console."""
    yield ConsoleRig(folder / "console.sock")
