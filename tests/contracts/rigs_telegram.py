"""Telegram for the contract suite: the emulated Bot API and one person on it."""

import contextlib
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from adapters.ids import Address, PlatformMessageId
from adapters.messages import OutboundFile
from adapters.telegram.adapter import TelegramAdapter
from adapters.telegram.settings import TelegramSettings
from tests.contracts.rig import (
    ABILITIES,
    CanShowSteps,
    Place,
    Rig,
    SeesAllChats,
    SpellsCommands,
    Trait,
)
from tests.emulators import telegram_faults as faults
from tests.emulators.telegram import TelegramEmulator
from tests.emulators.telegram_media import document
from tests.emulators.telegram_texts import Refusal
from tests.patience import until

ANNA = 7
ROOM = -1_001_000_000_777
_GONE = {
    "blocked": Refusal(403, "Forbidden: bot was blocked by the user"),
    "kicked": Refusal(403, "Forbidden: bot was kicked from the supergroup chat"),
    "deleted": Refusal(400, "Bad Request: chat not found"),
    "deactivated": Refusal(403, "Forbidden: user is deactivated"),
}


class TelegramRig:
    """Anna, who talks to the bot alone and in a forum."""

    abilities = frozenset(ABILITIES) - {CanShowSteps, SeesAllChats, SpellsCommands}
    traits = frozenset[Trait]({"edits", "rooms", "threads", "grows", "limits", "reactions"})
    room_people = 3
    ways_to_go = tuple(_GONE)

    def __init__(self, api: TelegramEmulator) -> None:
        self.api = api
        self.address = Address(chat_id=str(api.user(ANNA)), is_direct=True)
        self.room = Address(chat_id=str(api.group(ROOM, is_forum=True)), is_direct=False)
        self._topic = api.topic(ROOM, ANNA)
        api.world.members[ROOM] = self.room_people + 1
        self._newest = 0
        self.renew()

    def renew(self) -> None:
        self.adapter = TelegramAdapter(
            TelegramSettings(
                token=self.api.token, base_url=self.api.base_url, poll_timeout=5, longest_pause=0.05
            )
        )

    def looking(self) -> AbstractAsyncContextManager[None]:
        return contextlib.nullcontext()

    async def says(
        self, text: str, *, place: Place = "direct", files: Sequence[OutboundFile] = ()
    ) -> PlatformMessageId:
        if place == "direct":
            for file in files:
                return await self._attaches(text, file)
            self._newest = await self.api.says(ANNA, text)
            return PlatformMessageId(str(self._newest))
        thread = self._topic if place == "thread" else None
        said = await self.api.says(ANNA, f"@talaria_bot {text}", chat=ROOM, thread=thread)
        return PlatformMessageId(str(said))

    async def _attaches(self, text: str, file: OutboundFile) -> PlatformMessageId:
        file_id = f"from-anna-{len(self.api.world.contents)}"
        self.api.world.contents[file_id] = file.data
        about = document(file.name, file.media_type, file_id=file_id, size=len(file.data))
        self._newest = await self.api.says(ANNA, None, caption=text, **about)
        return PlatformMessageId(str(self._newest))

    async def says_unheard(self, text: str, *, place: Place = "direct") -> None:
        await self.says(text, place=place)

    async def edits(self, message_id: PlatformMessageId, text: str) -> None:
        await self.api.edits(ANNA, int(message_id), text)

    async def presses(self, label: str) -> None:
        await self.api.presses(ANNA, label)

    async def reacts(self, sign: str, *, is_on: bool = True) -> PlatformMessageId:
        newest = self.api.messages(ANNA)[-1].message_id
        await self.api.reacts(ANNA, newest, *([sign] if is_on else []))
        return PlatformMessageId(str(newest))

    async def goes(self, way: str) -> Address:
        chat_id = ROOM if way == "kicked" else ANNA
        self.api.close_chat(chat_id, _GONE[way])
        return self.room if way == "kicked" else self.address

    def shown(self, place: Place = "direct") -> list[str]:
        if place == "direct":
            return self.api.texts(ANNA)
        thread = self._topic if place == "thread" else None
        return [m.text for m in self.api.messages(ROOM) if m.thread_id == thread]

    def buttons(self) -> list[str]:
        return self.api.messages(ANNA)[-1].labels

    def files(self) -> list[tuple[str, bytes]]:
        files = [message.file for message in self.api.messages(ANNA)]
        return [(file.name, file.data) for file in files if file]

    def reactions(self) -> list[str]:
        return self.api.world.reactions.get((ANNA, self._newest), [])

    def acknowledged(self) -> int:
        return len(self.api.world.answered)

    async def redeliver(self) -> None:
        self.api.redeliver()

    def limit(self, seconds: int) -> None:
        self.api.fail("sendMessage", kind=faults.retry_after(seconds))

    def lose_answer(self, *, is_file: bool = False) -> None:
        self.api.fail("sendDocument" if is_file else "sendMessage", kind=faults.LOSE)

    def lose_request(self, *, is_file: bool = False) -> None:
        self.api.fail("sendDocument" if is_file else "sendMessage", kind=faults.DROP)

    async def cut(self) -> None:
        await self.api.stop()
        await until(lambda: self.adapter.health().state != "connected")

    async def clear_faults(self) -> None:
        await self.api.start()


@asynccontextmanager
async def telegram(_: Path) -> AsyncIterator[Rig]:
    """The rig of Telegram."""
    async with TelegramEmulator() as api:
        yield TelegramRig(api)
