"""The rigs of all platforms by name; what a rig has to be able to do stands in `rig`."""

import asyncio
import contextlib
import json
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Protocol

from adapters.abilities import CanEdit, CanFind, CanType
from adapters.console.adapter import ConsoleAdapter
from adapters.console.settings import ConsoleSettings
from adapters.contract import ChatAdapter
from adapters.errors import Unreachable, Unsure
from adapters.ids import Address
from adapters.telegram.adapter import TelegramAdapter
from adapters.telegram.settings import TelegramSettings
from tests.emulators import telegram_faults as faults
from tests.emulators.telegram import TelegramEmulator
from tests.fakes.chat import FakeChat


class FullAdapter(ChatAdapter, CanEdit, CanFind, CanType, Protocol):
    """The abilities that all platforms of these rigs have."""


class Rig(Protocol):
    """One platform with one person on it."""

    adapter: FullAdapter
    address: Address
    """Where the person is."""

    async def says(self, text: str) -> None:
        """The person writes; where the platform asks for it, until it was taken."""

    def shown(self) -> list[str]:
        """The texts that the person sees now."""

    def lose_answer(self) -> None:
        """The next message gets through, and its answer does not."""

    def lose_request(self) -> None:
        """The next message does not get through, and nobody can tell."""

    async def cut(self) -> None:
        """From now on nothing gets through, and the adapter can tell."""


class TelegramRig:
    """The Bot API emulator."""

    def __init__(self, api: TelegramEmulator) -> None:
        self.api = api
        self.adapter = TelegramAdapter(
            TelegramSettings(
                token=api.token, base_url=api.base_url, poll_timeout=5, longest_pause=0.05
            )
        )
        self.address = Address(chat_id=str(api.user(7)), is_direct=True)

    async def says(self, text: str) -> None:
        await self.api.says(7, text)

    def shown(self) -> list[str]:
        return self.api.texts(7)

    def lose_answer(self) -> None:
        self.api.fail("sendMessage", kind=faults.LOSE)

    def lose_request(self) -> None:
        self.api.fail("sendMessage", kind=faults.DROP)

    async def cut(self) -> None:
        await self.api.stop()
        async with asyncio.timeout(5):
            while self.adapter.health().state == "connected":
                await asyncio.sleep(0.01)


class ConsoleRig:
    """A terminal of few lines: repeats what was not acknowledged, shows each key once."""

    address = Address(chat_id="local", is_direct=True)

    def __init__(self, path: Path) -> None:
        self.adapter = ConsoleAdapter(ConsoleSettings(socket=path))
        self._path = path
        self._screen: dict[str, str] = {}
        self._deaf = 0
        self._mute = 0
        self._acks: dict[str, asyncio.Future[bool]] = {}

    @asynccontextmanager
    async def looking(self) -> AsyncIterator[None]:
        """Keep the terminal open."""
        while not self._path.is_socket():
            await asyncio.sleep(0)
        self._reader, self._writer = await asyncio.open_unix_connection(self._path, limit=2**24)
        self._write(type="hello")
        reading = asyncio.create_task(self._read())
        try:
            yield
        finally:
            reading.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await reading
            self._writer.close()

    async def says(self, text: str) -> None:
        name = uuid.uuid4().hex
        while True:
            self._acks[name] = asyncio.get_running_loop().create_future()
            self._write(type="message", id=name, text=text)
            if await self._acks[name]:
                return

    def shown(self) -> list[str]:
        return [*self._screen.values()]

    def lose_answer(self) -> None:
        self._mute += 1

    def lose_request(self) -> None:
        self._deaf += 1

    async def cut(self) -> None:
        self._writer.close()
        await self._writer.wait_closed()
        for _ in range(10):  # the server needs a few turns of the loop to see it
            await asyncio.sleep(0)

    async def _read(self) -> None:
        while line := await self._reader.readline():
            said = json.loads(line)
            match said["type"]:
                case "ack":
                    self._acks[said["id"]].set_result(True)
                case "error":
                    next(a for a in self._acks.values() if not a.done()).set_result(False)
                case "message" | "edit" if self._deaf:
                    self._deaf -= 1
                case "message" | "edit":
                    self._screen[said["id"]] = said["text"]
                    if self._mute:
                        self._mute -= 1
                    else:
                        self._write(type="got", key=said["key"])

    def _write(self, **said: str) -> None:
        self._writer.write(json.dumps(said).encode() + b"\n")


class FakeRig:
    """The fake that other tests use has to keep the contract as well."""

    address = Address(chat_id="1", is_direct=True)

    def __init__(self) -> None:
        self.fake = FakeChat()
        self.adapter = self.fake

    async def says(self, text: str) -> None:
        event = uuid.uuid4().hex
        while True:
            try:
                await self.fake.says(text, event=event)
            except Unreachable:
                continue
            return

    def shown(self) -> list[str]:
        return [shown.text for shown in self.fake.shown]

    def lose_answer(self) -> None:
        self.fake.plan(Unsure("lost"), lost=True)

    def lose_request(self) -> None:
        self.fake.plan(Unsure("lost"))

    async def cut(self) -> None:
        for _ in range(3):
            self.fake.plan(Unreachable("cut"))


@asynccontextmanager
async def _telegram(_: Path) -> AsyncIterator[Rig]:
    async with TelegramEmulator() as api:
        yield TelegramRig(api)


@asynccontextmanager
async def _console(folder: Path) -> AsyncIterator[Rig]:
    yield ConsoleRig(folder / "console.sock")


@asynccontextmanager
async def _fake(_: Path) -> AsyncIterator[Rig]:
    yield FakeRig()


RIGS: dict[str, Callable[[Path], AbstractAsyncContextManager[Rig]]] = {
    "telegram": _telegram,
    "console": _console,
    "fake": _fake,
}
