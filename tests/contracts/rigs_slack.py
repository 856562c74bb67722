"""Slack for the contract suite: the emulated workspace and one person in it."""

import contextlib
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from adapters.ids import Address, PlatformMessageId
from adapters.messages import OutboundFile
from adapters.slack.adapter import SlackAdapter
from adapters.slack.settings import SlackSettings
from tests.contracts.rig import ABILITIES, CountsTogether, Place, Rig, SeesAllChats, Trait
from tests.emulators import slack_faults as faults
from tests.emulators.slack import SlackEmulator, SlackMessage
from tests.patience import until

ANNA = 7
BERT, CLEO = 8, 9

_NAMES = {"👍": "+1", "👎": "thumbsdown"}
"""Slack's names of emoji."""


class SlackRig:
    """Anna, who talks to the bot alone and in a channel; the app is a classic one."""

    abilities = frozenset(ABILITIES) - {CountsTogether, SeesAllChats}
    traits = frozenset[Trait](
        {"edits", "rooms", "threads", "grows", "limits", "marks", "reactions"}
    )
    room_people = 3
    ways_to_go = ("archived", "removed", "deactivated")

    def __init__(self, slack: SlackEmulator) -> None:
        self.slack = slack
        slack.is_agent = slack.is_assistant = False
        slack.after_seconds = 0.5
        slack.holds_seconds = 0
        self.address = Address(chat_id=slack.dm(ANNA), is_direct=True)
        self._channel = slack.channel("general", members=(ANNA, BERT, CLEO))
        self.room = Address(chat_id=self._channel, is_direct=False)
        self._root = self._quietly(BERT, "What a day.")
        self._roots: list[str] = []
        self._newest = ""
        self.renew()

    def _quietly(self, number: int, text: str) -> str:
        """A message of long ago, of which nobody is told any more."""
        world = self.slack.world
        message = SlackMessage(
            channel=self._channel, ts=world.next_ts(), user=self.slack.user(number), text=text
        )
        world.channels[self._channel].messages[message.ts] = message
        return message.ts

    def renew(self) -> None:
        self.adapter = SlackAdapter(
            SlackSettings(
                bot_token=self.slack.bot_token,
                app_token=self.slack.app_token,
                base_url=self.slack.base_url,
                longest_pause=0.05,
            )
        )

    def looking(self) -> AbstractAsyncContextManager[None]:
        return contextlib.nullcontext()

    async def says(
        self, text: str, *, place: Place = "direct", files: Sequence[OutboundFile] = ()
    ) -> PlatformMessageId:
        if place == "direct":
            given = [(file.name, file.data, file.media_type) for file in files]
            self._newest = await self.slack.says(ANNA, text, files=given)
            return PlatformMessageId(self._newest)
        thread = self._root if place == "thread" else None
        said = await self.slack.says(
            ANNA, text, channel=self._channel, thread_ts=thread, mention=True
        )
        if thread is None:
            self._roots.append(said)
        return PlatformMessageId(said)

    async def says_unheard(self, text: str, *, place: Place = "direct") -> None:
        await self.says(text, place=place)

    async def edits(self, message_id: PlatformMessageId, text: str) -> None:
        await self.slack.edits(self.address.chat_id, message_id, text)

    async def presses(self, label: str) -> None:
        for message in reversed(self._own()):
            for action_id, shown in message.buttons.items():
                if shown == label:
                    await self.slack.presses(ANNA, self.address.chat_id, message.ts, action_id)
                    return
        raise LookupError(f"there is no button {label!r}")

    async def reacts(self, sign: str, *, is_on: bool = True) -> PlatformMessageId:
        channel, newest = self.address.chat_id, self._own()[-1].ts
        await self.slack.reacts(ANNA, channel, newest, _NAMES[sign], is_on=is_on)
        return PlatformMessageId(newest)

    async def goes(self, way: str) -> Address:
        if way == "deactivated":
            self.slack.fail("chat.postMessage", kind=faults.ERROR, code="user_disabled")
            return self.address
        if way == "archived":
            channel = self.slack.channel("attic", members=(ANNA,))
            self.slack.archives(channel)
        else:
            channel = self._channel
            self.slack.removes_bot(channel)
        return Address(chat_id=channel, is_direct=False)

    def shown(self, place: Place = "direct") -> list[str]:
        if place == "direct":
            return [message.shown for message in self._own()]
        roots = [self._root] if place == "thread" else self._roots
        return [text for root in roots for text in self.slack.texts(self._channel, root)]

    def buttons(self) -> list[str]:
        return list(self._own()[-1].buttons.values())

    def files(self) -> list[tuple[str, bytes]]:
        contents = self.slack.world.contents
        return [(f["name"], contents[f["id"]]) for message in self._own() for f in message.files]

    def reactions(self) -> list[str]:
        message = self.slack.world.channels[self.address.chat_id].messages[self._newest]
        return [name for name, _ in message.reactions]

    def acknowledged(self) -> int:
        parcels = self.slack.delivery.parcels
        return sum(parcel.is_acked for parcel in parcels if parcel.kind == "interactive")

    async def redeliver(self) -> None:
        await self.slack.redeliver(with_new_event_id=True)

    def limit(self, seconds: int) -> None:
        self.slack.fail("chat.postMessage", kind=faults.LIMIT, retry_after=seconds)

    def lose_answer(self, *, is_file: bool = False) -> None:
        self.slack.fail(_method(is_file=is_file), kind=faults.LOSE)

    def lose_request(self, *, is_file: bool = False) -> None:
        self.slack.fail(_method(is_file=is_file), kind=faults.DROP)

    async def cut(self) -> None:
        await self.slack.stop()
        await until(lambda: self.adapter.health().state != "connected")

    async def clear_faults(self) -> None:
        await self.slack.start()

    def _own(self) -> list[SlackMessage]:
        """What the bot said to Anna alone."""
        return [m for m in self.slack.messages(self.address.chat_id) if m.bot is not None]


def _method(*, is_file: bool) -> str:
    return "files.completeUploadExternal" if is_file else "chat.postMessage"


@asynccontextmanager
async def slack(_: Path) -> AsyncIterator[Rig]:
    """The rig of Slack."""
    async with SlackEmulator() as emulator:
        yield SlackRig(emulator)
