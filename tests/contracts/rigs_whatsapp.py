"""WhatsApp for the contract suite: the emulated number, one person, and our side of the hooks."""

import contextlib
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from adapters.abilities import (
    CanAsk,
    CanCount,
    CanFetch,
    CanFind,
    CanPreview,
    CanReact,
    CanSendFiles,
    CanShowMenu,
    CanType,
)
from adapters.contract import ChatAdapter
from adapters.ids import Address, PlatformMessageId
from adapters.messages import OutboundFile
from adapters.whatsapp.adapter import WhatsAppAdapter
from adapters.whatsapp.settings import WhatsAppSettings
from tests.contracts.rig import Place, Rig, Trait
from tests.emulators import whatsapp as emulated
from tests.emulators.whatsapp import NUMBER, Sent, WhatsAppEmulator
from tests.emulators.whatsapp_hooks import HookServer
from tests.patience import until

ANNA = "16505551234"
GROUP = "Y2FwaV9ncm91cDoxNzA1NTU1MDEzOToxMjAzNjM0MDQ2OTQyMzM4MjAZD"


class WhatsAppRig:
    """Anna, who writes to the number alone and in a group.

    WhatsApp can change nothing that was sent.
    """

    abilities = frozenset[type](
        {
            CanAsk,
            CanCount,
            CanFetch,
            CanFind,
            CanPreview,
            CanReact,
            CanSendFiles,
            CanShowMenu,
            CanType,
        }
    )
    traits = frozenset[Trait]({"edits", "rooms", "reactions"})
    room_people = 2
    ways_to_go: tuple[str, ...] = ("left WhatsApp",)

    def __init__(self, meta: WhatsAppEmulator, hooks: HookServer) -> None:
        self.meta = meta
        self.hooks = hooks
        meta.callback = hooks.callback
        meta.last_heard[ANNA] = 2e9
        meta.groups[GROUP] = 3
        self.address = Address(chat_id=ANNA, is_direct=True)
        self.room: Address | None = Address(chat_id=GROUP, is_direct=False)
        self._newest = ""
        self.renew()

    def renew(self) -> None:
        self.adapter: ChatAdapter = WhatsAppAdapter(make_settings(self.meta))
        self.hooks.adapter = self.adapter
        self.meta.release()

    def looking(self) -> AbstractAsyncContextManager[None]:
        return contextlib.nullcontext()

    async def says(
        self, text: str, *, place: Place = "direct", files: Sequence[OutboundFile] = ()
    ) -> PlatformMessageId:
        if place == "room":
            return PlatformMessageId(self.meta.says(ANNA, f"@{NUMBER} {text}", group=GROUP))
        if files:
            (file,) = files
            self._newest = self.meta.attaches(ANNA, text, file.name, file.data, file.media_type)
        else:
            self._newest = self.meta.says(ANNA, text)
        return PlatformMessageId(self._newest)

    async def says_unheard(self, text: str, *, place: Place = "direct") -> None:
        await self.says(text, place=place)

    async def edits(self, message_id: PlatformMessageId, text: str) -> None:
        self.meta.edits(ANNA, message_id, text)

    async def presses(self, label: str) -> None:
        for message in reversed(self._own()):
            for key, shown in message.buttons.items():
                if shown == label:
                    self.meta.presses(ANNA, message, key)
                    return
        raise LookupError(f"there is no button {label!r}")

    async def reacts(self, sign: str, *, is_on: bool = True) -> PlatformMessageId:
        newest = self._own()[-1].id
        self.meta.reacts(ANNA, newest, sign if is_on else "")
        return PlatformMessageId(newest)

    async def goes(self, way: str) -> Address:
        self.meta.gone.add(ANNA)
        return self.address

    def shown(self, place: Place = "direct") -> list[str]:
        chat = {"direct": ANNA, "room": GROUP}.get(place)
        return [one.text for one in self.meta.sent if one.to == chat]

    def buttons(self) -> list[str]:
        return list(self._own()[-1].buttons.values())

    def files(self) -> list[tuple[str, bytes]]:
        found = [(one.request["document"], one) for one in self._own() if one.is_media]
        return [(content["filename"], self.meta.media[content["id"]][1]) for content, _ in found]

    def reactions(self) -> list[str]:
        sign = self.meta.reactions.get(self._newest, "")
        return [sign] if sign else []

    def acknowledged(self) -> int:
        return self.meta.acknowledged("press")

    async def redeliver(self) -> None:
        await self.meta.redeliver()

    def limit(self, seconds: int) -> None:
        raise NotImplementedError

    def lose_answer(self, *, is_file: bool = False) -> None:
        self.meta.faults.append(("lose", None))

    def lose_request(self, *, is_file: bool = False) -> None:
        self.meta.faults.append(("drop", None))

    async def cut(self) -> None:
        await self.meta.stop()
        await until(lambda: self.adapter.health().state != "connected")

    async def clear_faults(self) -> None:
        await self.meta.start()

    def _own(self) -> list[Sent]:
        return [one for one in self.meta.sent if one.to == ANNA]


def make_settings(meta: WhatsAppEmulator, **changes: object) -> WhatsAppSettings:
    """Settings of an adapter that talks to the emulator."""
    given: dict[str, object] = {
        "token": emulated.TOKEN,
        "phone_number_id": emulated.PHONE_ID,
        "app_secret": emulated.SECRET,
        "verify_token": emulated.VERIFY,
        "base_url": meta.base_url,
        "check_interval": 0.05,
        "longest_pause": 0.05,
        "report_seconds": 1.0,
    }
    return WhatsAppSettings.model_validate(given | changes)


@asynccontextmanager
async def whatsapp(_: Path) -> AsyncIterator[Rig]:
    """The rig of WhatsApp."""
    async with WhatsAppEmulator() as meta, HookServer() as hooks:
        yield WhatsAppRig(meta, hooks)
