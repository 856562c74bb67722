"""Discord for the contract suite: the emulated gateway and API, and one person there."""

import contextlib
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

from adapters.discord.adapter import DiscordAdapter
from adapters.discord.settings import DiscordSettings
from adapters.ids import Address, PlatformMessageId
from adapters.messages import OutboundFile
from tests.contracts.rig import (
    ABILITIES,
    CanShowSteps,
    CountsTogether,
    Place,
    Rig,
    SeesAllChats,
    SpellsCommands,
    Trait,
)
from tests.emulators import discord_faults as faults
from tests.emulators.discord import DiscordEmulator
from tests.emulators.discord_shapes import Sent
from tests.patience import until

ANNA, BEN, CLEO = 1, 2, 3
_AT_GATEWAY = ("MESSAGE_CREATE", "MESSAGE_UPDATE", "INTERACTION_CREATE")
_DEFERRED_UPDATE = 6


class DiscordRig:
    """Anna, who talks to the bot alone and in a server."""

    abilities = frozenset(ABILITIES) - {CanShowSteps, CountsTogether, SeesAllChats, SpellsCommands}
    traits = frozenset[Trait](
        {"edits", "rooms", "threads", "grows", "limits", "marks", "reactions"}
    )
    room_people = 3
    ways_to_go = ("blocked", "deleted", "kicked")

    def __init__(self, api: DiscordEmulator) -> None:
        self.api = api
        self._guild = api.guild("House", [ANNA, BEN, CLEO])
        self._channel = api.channel(self._guild)
        self._thread = 0
        self.address = Address(chat_id=str(api.dm(ANNA)), is_direct=True)
        self.room = Address(chat_id=str(self._channel), is_direct=False)
        self._newest = 0
        self.renew()

    def renew(self) -> None:
        self.adapter = DiscordAdapter(
            DiscordSettings(
                token=self.api.token,
                api_base_url=self.api.api_base_url,
                gateway_url=self.api.gateway_url,
                messages_per_second=0,
                longest_pause=0.05,
            )
        )

    def looking(self) -> AbstractAsyncContextManager[None]:
        return contextlib.nullcontext()

    async def says(
        self, text: str, *, place: Place = "direct", files: Sequence[OutboundFile] = ()
    ) -> PlatformMessageId:
        sent = [Sent(name=f.name, data=f.data, content_type=f.media_type) for f in files]
        if place == "direct":
            self._newest = await self.api.says(ANNA, text, files=sent)
            return PlatformMessageId(str(self._newest))
        if place == "thread" and not self._thread:
            self._thread = await self.api.thread(self._channel, "A thread", ANNA)
        channel = self._thread if place == "thread" else self._channel
        said = await self.api.says(ANNA, text, channel=channel, mentions=[self.api.user_id])
        return PlatformMessageId(str(said))

    async def says_unheard(self, text: str, *, place: Place = "direct") -> None:
        await self.says(text, place=place)

    async def edits(self, message_id: PlatformMessageId, text: str) -> None:
        await self.api.edits(int(message_id), text)

    async def presses(self, label: str) -> None:
        for message in reversed(self.api.messages(self._direct)):
            for custom_id, button in message.buttons().items():
                if button["label"] == label:
                    await self.api.presses(ANNA, message.id, custom_id)
                    return
        raise LookupError(label)

    async def reacts(self, sign: str, *, is_on: bool = True) -> PlatformMessageId:
        newest = self.api.messages(self._direct)[-1].id
        await self.api.reacts(ANNA, newest, sign, is_on=is_on)
        return PlatformMessageId(str(newest))

    async def goes(self, way: str) -> Address:
        if way == "blocked":
            self.api.block(ANNA)
            return self.address
        if way == "deleted":
            gone = self.api.channel(self._guild, "short-lived")
            self.api.delete_channel(gone)
            return Address(chat_id=str(gone), is_direct=False)
        self.api.kick(self._guild)
        return self.room

    def shown(self, place: Place = "direct") -> list[str]:
        places = {"direct": self._direct, "room": self._channel, "thread": self._thread}
        return self.api.texts(places[place])

    def buttons(self) -> list[str]:
        newest = self.api.messages(self._direct)[-1]
        return [button["label"] for button in newest.buttons().values()]

    def files(self) -> list[tuple[str, bytes]]:
        attached = [one for m in self.api.messages(self._direct) for one in m.attachments]
        found = self.api.wire.files
        return [(a["filename"], found[urlsplit(a["url"]).path].data) for a in attached]

    def reactions(self) -> list[str]:
        return self.api.reactions(self._newest)

    def acknowledged(self) -> int:
        return sum(one.type == _DEFERRED_UPDATE for one in self.api.interactions)

    async def redeliver(self) -> None:
        """A RESUME from an early number repeats events; here they simply come again."""
        for line in self.api.gateway.lines:
            assert line.session
            for payload in list(line.session.sent):
                if payload["t"] in _AT_GATEWAY:
                    line.send(payload)

    def limit(self, seconds: int) -> None:
        self.api.fail(faults.SEND, kind=faults.LIMIT, retry_after=seconds)

    def lose_answer(self, *, is_file: bool = False) -> None:
        self.api.fail(faults.SEND, kind=faults.LOSE)

    def lose_request(self, *, is_file: bool = False) -> None:
        self.api.fail(faults.SEND, kind=faults.DROP)

    async def cut(self) -> None:
        await self.api.stop()
        await until(lambda: self.adapter.health().state != "connected")

    async def clear_faults(self) -> None:
        await self.api.start()

    @property
    def _direct(self) -> int:
        return self.api.dm(ANNA)


@asynccontextmanager
async def discord(_: Path) -> AsyncIterator[Rig]:
    """The rig of Discord."""
    async with DiscordEmulator() as api:
        yield DiscordRig(api)
