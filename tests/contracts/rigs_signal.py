"""Signal for the contract suite: an emulated signal-cli and one person on Signal."""

import contextlib
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from adapters.ids import Address, PlatformMessageId
from adapters.messages import OutboundFile
from adapters.signal.adapter import SignalAdapter
from adapters.signal.places import group_address, name_message, person_address
from adapters.signal.settings import SignalSettings
from tests.contracts.rig import (
    ABILITIES,
    CanAsk,
    CanShowMenu,
    CanShowSteps,
    CountsTogether,
    Place,
    Rig,
    SpellsCommands,
    Trait,
)
from tests.emulators.signal import SignalEmulator
from tests.emulators.signal_world import ACCOUNT
from tests.patience import until

_LACKS = {CanAsk, CanShowMenu, CanShowSteps, CountsTogether, SpellsCommands}


class SignalRig:
    """Ana, who writes to the account alone and in a group."""

    abilities = frozenset(ABILITIES) - _LACKS
    traits = frozenset[Trait]({"edits", "rooms", "limits", "marks", "reactions"})
    room_people = 3
    ways_to_go = ("unregistered", "removed")

    def __init__(self, signal: SignalEmulator) -> None:
        self.signal = signal
        world = signal.world
        self.ana = world.person("+4915111111111", "Ana")
        others = [world.person(f"+491512222222{n}", f"Other {n}") for n in range(2)]
        self._group = world.group("Family", [self.ana, *others])
        self.address = person_address(self.ana.uuid)
        self.room = group_address(self._group.id)
        self._newest = 0
        self.renew()

    def renew(self) -> None:
        self.adapter = SignalAdapter(
            SignalSettings(
                account=ACCOUNT,
                rpc_url=self.signal.url,
                longest_pause=0.05,
                receipt_wait=1.0,
                receipt_grace=0.05,
            )
        )

    def looking(self) -> AbstractAsyncContextManager[None]:
        return contextlib.nullcontext()

    async def says(
        self, text: str, *, place: Place = "direct", files: Sequence[OutboundFile] = ()
    ) -> PlatformMessageId:
        world = self.signal.world
        if place == "direct":
            attached = [world.attach(one.name, one.media_type, one.data) for one in files]
            self._newest = world.says(self.ana, text, attachments=attached or None)
            return name_message(self._newest, self.ana.uuid)
        mentions = [world.mention()]
        said = world.says(self.ana, f"\ufffc {text}", group=self._group, mentions=mentions)
        return name_message(said, self.ana.uuid)

    async def says_unheard(self, text: str, *, place: Place = "direct") -> None:
        await self.says(text, place=place)

    async def edits(self, message_id: PlatformMessageId, text: str) -> None:
        self.signal.world.edits(self.ana, int(message_id.partition(":")[0]), text)

    async def presses(self, label: str) -> None:
        raise LookupError(label)

    async def reacts(self, sign: str, *, is_on: bool = True) -> PlatformMessageId:
        newest = self.signal.world.sent[-1].sent_at
        self.signal.world.reacts(self.ana, sign, newest, is_on=is_on)
        return PlatformMessageId(str(newest))

    async def goes(self, way: str) -> Address:
        if way == "removed":
            self._group.is_member = False
            return self.room
        self.ana.outcome = "UNREGISTERED_FAILURE"
        return self.address

    def shown(self, place: Place = "direct") -> list[str]:
        chat = {"direct": self.ana.uuid, "room": self._group.id}.get(place)
        sent = self.signal.world.sent
        return [one.text for one in sent if one.chat == chat and not one.is_deleted]

    def buttons(self) -> list[str]:
        return []

    def files(self) -> list[tuple[str, bytes]]:
        left = [one for one in self.signal.world.sent if not one.is_deleted]
        return [(name, data) for one in left for name, data, _ in one.files]

    def reactions(self) -> list[str]:
        return self.signal.world.reactions.get((self._newest, self.ana.uuid), [])

    def acknowledged(self) -> int:
        return 0

    async def redeliver(self) -> None:
        self.signal.redeliver()

    def limit(self, seconds: int) -> None:
        address = {"uuid": self.ana.uuid, "number": self.ana.number}
        result = {
            "recipientAddress": address,
            "type": "RATE_LIMIT_FAILURE",
            "retryAfterSeconds": seconds,
        }
        response = {"timestamp": 1, "results": [result]}
        error = {
            "code": -5,
            "message": "Failed to send message due to rate limiting",
            "data": {"response": response},
        }
        self.signal.fail("send", "refuse", error)

    def lose_answer(self, *, is_file: bool = False) -> None:
        self.signal.fail("send+file" if is_file else "send", "lose")

    def lose_request(self, *, is_file: bool = False) -> None:
        self.signal.fail("send+file" if is_file else "send", "drop")

    async def cut(self) -> None:
        await self.signal.stop()
        await until(lambda: self.adapter.health().state != "connected")

    async def clear_faults(self) -> None:
        await self.signal.start()


@asynccontextmanager
async def signal(_: Path) -> AsyncIterator[Rig]:
    """The rig of Signal."""
    async with SignalEmulator() as daemon:
        yield SignalRig(daemon)
