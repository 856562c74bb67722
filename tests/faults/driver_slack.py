"""Slack's quarter: direct talks, mentions in a channel, and threads that go on without one."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Self

from tests.emulators import slack_faults as faults
from tests.emulators.slack import SlackEmulator
from tests.faults.drivers import CHATS, PEOPLE, kind_of, share_out

_BYSTANDERS = (1, 2, 3)
_FIRST_PERSON = 10
_HISTORY = ("conversations.history", "conversations.replies")
_CALLS = (
    *("chat.postMessage", "chat.postMessage", "chat.update", "chat.startStream"),
    *("chat.appendStream", "chat.stopStream", *_HISTORY),
)
_WEATHER = (faults.LOSE, faults.DROP, faults.LIMIT, faults.UNWELL)
_HUSH = 60.0


class SlackDriver:
    """People whom chats 2000 and following belong to.

    An app that is an agent gets every direct message as a thread and answers by streams; a
    classic one has neither. Slack is forgetful when it keeps no event for an app that is away.
    """

    platform = "slack"
    first_chat = 2 * CHATS

    def __init__(self, *, is_agent: bool, is_forgetful: bool) -> None:
        self.api = SlackEmulator()
        if is_forgetful:
            self.api.holds_seconds = 0
        self.api.is_agent = self.api.is_assistant = self.api.can_stream = is_agent
        self._channel = self.api.channel("general", _BYSTANDERS)
        self._threads: dict[int, str] = {}

    async def __aenter__(self) -> Self:
        await self.api.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.api.__aexit__(None, None, None)

    def environ(self) -> Mapping[str, str]:
        return {
            "SLACK_BOT_TOKEN": self.api.bot_token,
            "SLACK_APP_TOKEN": self.api.app_token,
            "SLACK_API_BASE_URL": self.api.base_url,
            "TALARIA_SLACK__MESSAGES_PER_SECOND": "0",
            "TALARIA_SLACK__EDIT_INTERVAL": "0.2",
        }

    async def says(self, chat: int, text: str) -> None:
        """A mention in the channel begins a thread, and so a talk of its own, each time."""
        person, channel = _number(chat), self._channel
        if kind_of(chat) == "direct":
            await self.api.says(person, text)
        elif kind_of(chat) == "room" or chat not in self._threads:
            self._threads[chat] = await self.api.says(person, text, channel=channel, mention=True)
        else:
            await self.api.says(person, text, channel=channel, thread_ts=self._threads[chat])

    def shown(self, chats: Sequence[int]) -> Mapping[int, Sequence[str]]:
        """By thread, and in it by age: what stands in two threads has no order."""
        shown: dict[int, Sequence[str]] = {}
        for chat in chats:
            if kind_of(chat) == "direct":
                shown[chat] = self._texts(self.api.dm(_number(chat)))
        residents = [chat for chat in chats if kind_of(chat) != "direct"]
        if residents:
            shown |= share_out(self._texts(self._channel), residents)
        return shown

    def _texts(self, channel: str) -> list[str]:
        messages = [one for one in self.api.messages(channel) if one.bot is not None]
        messages.sort(key=lambda one: (one.thread_ts or "", one.ts))
        return [one.shown for one in messages]

    def spoil(self, chance: Random) -> None:
        self.api.fail(chance.choice(_CALLS), kind=chance.choice(_WEATHER))

    def mend(self) -> None:
        self.api.mend()

    async def split(self, chance: Random) -> None:
        """Broken, or asked to connect anew."""
        if chance.random() < 0.5:
            await self.api.drop_sockets()
        else:
            await self.api.send_disconnect(chance.choice(("refresh_requested", "warning")))

    async def repeat(self, last: int) -> None:
        """Once in the same clothes, and once under a new event id."""
        known = [parcel for parcel in self.api.delivery.parcels if parcel.kind == "events_api"]
        for parcel in known[-last:]:
            self.api.delivery.again(parcel)
            fresh = parcel.payload | {"event_id": self.api.world.next_id("Ev")}
            self.api.delivery.again(parcel, fresh)

    def hush(self) -> None:
        for method in _HISTORY:
            self.api.fail(method, kind=faults.SLOW, seconds=_HUSH, times=1000)

    @property
    def asked(self) -> int:
        return sum(method in _HISTORY for method, _ in self.api.calls)


def _number(chat: int) -> int:
    return _FIRST_PERSON + chat % PEOPLE
