"""Telegram's quarter: direct talks, a group, and topics of it."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Self

from tests.emulators import telegram_faults as faults
from tests.emulators.telegram import TelegramEmulator
from tests.faults.drivers import PEOPLE, kind_of, share_out

_FIRST_USER = 1000
_GROUP = -1_001_000_000_777
_MEMBERS = 50
_CALLS = ("sendMessage", "editMessageText")
_WEATHER = (faults.LOSE, faults.DROP, faults.internal(), faults.retry_after(1))


class TelegramDriver:
    """People whom chats 0 and following belong to."""

    platform = "telegram"
    first_chat = 0

    def __init__(self) -> None:
        self.api = TelegramEmulator()
        self._topics: dict[int, int] = {}

    async def __aenter__(self) -> Self:
        await self.api.__aenter__()
        self.api.group(_GROUP, is_forum=True)
        self.api.world.members[_GROUP] = _MEMBERS
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.api.__aexit__(None, None, None)

    def environ(self) -> Mapping[str, str]:
        return {
            "TELEGRAM_BOT_TOKEN": self.api.token,
            "TELEGRAM_API_BASE_URL": self.api.base_url,
            "TALARIA_TELEGRAM__MESSAGES_PER_SECOND": "0",
            "TALARIA_TELEGRAM__EDIT_INTERVAL": "0.2",
        }

    async def says(self, chat: int, text: str) -> None:
        user = self.api.user(_user(chat), f"Person {chat % PEOPLE}")
        if kind_of(chat) == "direct":
            await self.api.says(user, text)
            return
        thread = None
        if kind_of(chat) == "thread":
            if chat not in self._topics:
                self._topics[chat] = self.api.topic(_GROUP, user, f"Topic {chat}")
            thread = self._topics[chat]
        await self.api.says(user, f"@talaria_bot {text}", chat=_GROUP, thread=thread)

    def shown(self, chats: Sequence[int]) -> Mapping[int, Sequence[str]]:
        shown = {}
        for chat in chats:
            if kind_of(chat) == "direct":
                shown[chat] = self.api.texts(_user(chat))
            elif kind_of(chat) == "thread":
                topic = self._topics[chat]
                shown[chat] = [m.text for m in self.api.messages(_GROUP, thread=topic)]
        residents = [chat for chat in chats if kind_of(chat) == "room"]
        if residents:
            said = [m.text for m in self.api.messages(_GROUP) if m.thread_id is None]
            shown |= share_out(said, residents)
        return shown

    def spoil(self, chance: Random) -> None:
        self.api.fail(chance.choice(_CALLS), kind=chance.choice(_WEATHER))

    def mend(self) -> None:
        self.api.mend()

    async def split(self, chance: Random) -> None:
        """The next fetches of updates break: twice, or once with all that it was to bring."""
        kind = chance.choice((faults.LOSE, faults.DROP, faults.http(502)))
        self.api.fail("getUpdates", kind=kind)

    async def repeat(self, last: int) -> None:
        """With all that waits already: what comes first may not be passed over."""
        known = self.api.world.notified
        self.api.world.repeats = known[-max(last, len(self.api.pending)) :]

    def hush(self) -> None:
        """There is no history to be asked for: what was not fetched waits at the server."""

    @property
    def asked(self) -> int:
        return self.api.calls["getUpdates"]


def _user(chat: int) -> int:
    return _FIRST_USER + chat % PEOPLE
