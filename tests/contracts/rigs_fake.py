"""The fake that other tests use has to keep the contract as well, with all abilities or few."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from adapters.abilities import (
    CanEdit,
    CanFind,
    CanShowMenu,
    CanShowSteps,
    CanType,
    CountsTogether,
    SeesAllChats,
    SpellsCommands,
)
from adapters.errors import RateLimited, Unreachable, Unsure
from adapters.ids import Address, PlatformMessageId
from adapters.messages import OutboundFile
from tests.contracts.rig import ABILITIES, Place, Rig, Trait
from tests.fakes.chat import FakeChat, PlainChat, Shown
from tests.patience import until


class FakeRig:
    """Ana, number 1, who repeats what the store refused."""

    traits = frozenset[Trait](
        {"edits", "rooms", "threads", "grows", "limits", "marks", "reactions"}
    )
    address = Address(chat_id="1", is_direct=True)
    room = Address(chat_id="r", is_direct=False)
    room_people = 3
    ways_to_go = ("gone",)

    def __init__(self, make: type[PlainChat], abilities: frozenset[type]) -> None:
        self.abilities = abilities
        self._make = make
        self._unheard: list[tuple[str, Place]] = []
        self._events = 0
        self._newest = ""
        self._shown: list[Shown] = []
        self._redo: list[Callable[[], Awaitable[None]]] = []
        self.renew()

    def renew(self) -> None:
        self.adapter = self._make(shown=self._shown, _shown_ids=len(self._shown))
        if isinstance(self.adapter, FakeChat):
            self.adapter.people = self.room_people

    @asynccontextmanager
    async def looking(self) -> AsyncIterator[None]:
        await until(lambda: self.adapter.inlet is not None)
        await self.clear_faults()
        yield

    async def says(
        self, text: str, *, place: Place = "direct", files: Sequence[OutboundFile] = ()
    ) -> PlatformMessageId:
        self._events += 1
        self._newest = f"m{self._events}"
        where: dict[str, object] = {"chat": "1"}
        if place != "direct":
            thread = "t" if place == "thread" else None
            where = {"chat": "r", "direct": False, "thread": thread}
        attachments = [self._attach(file) for file in files]
        await self._do(self._newest, text, attachments=attachments, **where)
        return PlatformMessageId(self._newest)

    async def says_unheard(self, text: str, *, place: Place = "direct") -> None:
        self._unheard.append((text, place))

    async def edits(self, message_id: PlatformMessageId, text: str) -> None:
        self._events += 1
        await self._do(message_id, text, edit=True)

    async def presses(self, label: str) -> None:
        self._events += 1
        chat, event = self._chat(), f"event {self._events}"
        await self._repeat(lambda: chat.press(label, event=event))

    async def reacts(self, sign: str, *, is_on: bool = True) -> PlatformMessageId:
        self._events += 1
        newest, event = self._shown[-1].id, f"event {self._events}"
        await self._repeat(lambda: self.adapter.reacts(sign, newest, is_on=is_on, event=event))
        return PlatformMessageId(newest)

    async def goes(self, way: str) -> Address:
        self.adapter.gone.add("1")
        return self.address

    def shown(self, place: Place = "direct") -> list[str]:
        chat = "1" if place == "direct" else "r"
        thread = "t" if place == "thread" else None
        return [s.text for s in self._shown if (s.chat_id, s.thread_id) == (chat, thread)]

    def buttons(self) -> list[str]:
        return self._shown[-1].labels

    def files(self) -> list[tuple[str, bytes]]:
        return [(shown.file.name, shown.file.data) for shown in self._shown if shown.file]

    def reactions(self) -> list[str]:
        return ["eyes"] if self._chat().seen.get(self._newest) else []

    def acknowledged(self) -> int:
        return self._chat().acknowledged

    async def redeliver(self) -> None:
        for redo in list(self._redo):
            await redo()

    def limit(self, seconds: int) -> None:
        self.adapter.plan(RateLimited("Too fast.", retry_after=seconds))

    def lose_answer(self, *, is_file: bool = False) -> None:
        self.adapter.plan(Unsure("lost"), lost=True)

    def lose_request(self, *, is_file: bool = False) -> None:
        self.adapter.plan(Unsure("lost"))

    async def cut(self) -> None:
        for _ in range(3):
            self.adapter.plan(Unreachable("cut"))

    async def clear_faults(self) -> None:
        self.adapter.mishaps.clear()
        while self._unheard:
            text, place = self._unheard.pop(0)
            await self.says(text, place=place)

    def _chat(self) -> FakeChat:
        assert isinstance(self.adapter, FakeChat)
        return self.adapter

    def _attach(self, file: OutboundFile) -> dict[str, str]:
        self._chat().attached[file.name] = file.data
        return {"kind": "document", "file_id": file.name, "name": file.name}

    async def _do(self, message_id: str, text: str, **fields: object) -> None:
        fields |= {"id": message_id, "event": f"event {self._events}"}
        fields |= {"channel": "c", "position": f"{self._events:020}"}
        await self._repeat(lambda: self.adapter.says(text, **fields))

    async def _repeat(self, report: Callable[[], Awaitable[None]]) -> None:
        """Tell it until it is taken; it may be told again later."""
        self._redo.append(report)
        while True:
            try:
                await report()
            except Unreachable:
                continue
            return


@asynccontextmanager
async def fake(_: Path) -> AsyncIterator[Rig]:
    """The fake with every ability but lists of steps."""
    yield FakeRig(
        FakeChat,
        frozenset(ABILITIES) - {CanShowSteps, CountsTogether, SeesAllChats, SpellsCommands},
    )


@asynccontextmanager
async def plain(_: Path) -> AsyncIterator[Rig]:
    """The fake of few abilities."""
    yield FakeRig(PlainChat, frozenset({CanEdit, CanFind, CanShowMenu, CanType}))
