"""Drive Slack: direct chats, mentions in a channel, and replies in threads."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Self

from tests.emulators import slack_faults as faults
from tests.emulators.slack import SlackEmulator
from tests.faults.drivers import CHATS, PEOPLE, assign_messages, choose_unfinished, kind_of

_BYSTANDERS = (1, 2, 3)
_FIRST_PERSON = 10
_HISTORY = ("conversations.history", "conversations.replies")
_CALLS = (
    *("chat.postMessage", "chat.postMessage", "chat.update", "chat.startStream"),
    *("chat.appendStream", "chat.stopStream", *_HISTORY),
)
_FAULT_KINDS = (faults.LOSE, faults.DROP, faults.LIMIT, faults.UNWELL)
_HIDDEN_SECONDS = 60.0


class SlackDriver:
    """People who own the chats from 2000 on.

    An agent app gets every direct message as a thread and streams its answers; a classic app
    does neither. A forgetful Slack drops events while the app is away.
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
        """Write. Each mention in the channel starts a thread, and so a conversation."""
        person, channel = _number(chat), self._channel
        if kind_of(chat) == "direct":
            await self.api.says(person, text)
        elif kind_of(chat) == "room" or chat not in self._threads:
            self._threads[chat] = await self.api.says(person, text, channel=channel, mention=True)
        else:
            await self.api.says(person, text, channel=channel, thread_ts=self._threads[chat])

    def shown(self, chats: Sequence[int]) -> Mapping[int, Sequence[str]]:
        """Sort by thread, then by age: messages of different threads have no order."""
        shown: dict[int, Sequence[str]] = {}
        for chat in chats:
            if kind_of(chat) == "direct":
                shown[chat] = self._texts(self.api.dm(_number(chat)))
        residents = [chat for chat in chats if kind_of(chat) != "direct"]
        if residents:
            shown |= assign_messages(self._texts(self._channel), residents)
        return shown

    def _texts(self, channel: str) -> list[str]:
        messages = [one for one in self.api.messages(channel) if one.bot is not None]
        messages.sort(key=lambda one: (one.thread_ts or "", one.ts))
        return [one.shown for one in messages]

    def inject_fault(self, chance: Random) -> None:
        self.api.fail(chance.choice(_CALLS), kind=chance.choice(_FAULT_KINDS))

    def refuse_change(self, chance: Random) -> None:
        call = chance.choice(("chat.update", "chat.delete", "chat.stopStream"))
        self.api.fail(call, kind=chance.choice(_FAULT_KINDS))

    async def delete_unfinished(self, chance: Random) -> int:
        ours = [m for c in self.api.world.channels for m in self.api.messages(c) if m.bot]
        chosen = choose_unfinished(chance, ours, lambda m: m.shown)
        for one in chosen:
            await self.api.deletes(one.channel, one.ts)
        return len(chosen)

    def clear_faults(self) -> None:
        self.api.clear_faults()

    async def break_connection(self, chance: Random) -> None:
        """Break the connection, or request a reconnect."""
        if chance.random() < 0.5:
            await self.api.drop_sockets()
        else:
            await self.api.send_disconnect(chance.choice(("refresh_requested", "warning")))

    async def redeliver(self, last: int) -> None:
        """Redeliver each event once unchanged, and once under a new event id."""
        known = [parcel for parcel in self.api.delivery.parcels if parcel.kind == "events_api"]
        for parcel in known[-last:]:
            self.api.delivery.again(parcel)
            fresh = parcel.payload | {"event_id": self.api.world.next_id("Ev")}
            self.api.delivery.again(parcel, fresh)

    def hide_history(self) -> None:
        for method in _HISTORY:
            self.api.fail(method, kind=faults.SLOW, seconds=_HIDDEN_SECONDS, times=1000)

    @property
    def history_calls(self) -> int:
        return sum(method in _HISTORY for method, _ in self.api.calls)


def _number(chat: int) -> int:
    return _FIRST_PERSON + chat % PEOPLE
