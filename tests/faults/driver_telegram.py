"""Drive Telegram: direct chats, a group, and its topics."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Self

from tests.emulators import telegram_faults as faults
from tests.emulators.telegram import TelegramEmulator
from tests.faults.drivers import PEOPLE, assign_messages, choose_unfinished, kind_of

_FIRST_USER = 1000
_GROUP = -1_001_000_000_777
_MEMBERS = 50
_CALLS = ("sendMessage", "editMessageText")
_FAULT_KINDS = (faults.LOSE, faults.DROP, faults.internal(), faults.retry_after(1))


class TelegramDriver:
    """People who own the chats from 0 on."""

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
            shown |= assign_messages(said, residents)
        return shown

    def inject_fault(self, chance: Random) -> None:
        self.api.fail(chance.choice(_CALLS), kind=chance.choice(_FAULT_KINDS))

    def refuse_change(self, chance: Random) -> None:
        call = chance.choice(("editMessageText", "deleteMessage"))
        self.api.fail(call, kind=chance.choice(_FAULT_KINDS))

    async def delete_unfinished(self, chance: Random) -> int:
        ours = [m for chat in self.api.world.bot_messages.values() for m in chat.values()]
        chosen = choose_unfinished(chance, ours, lambda m: m.text)
        for one in chosen:
            self.api.world.delete({"chat_id": one.chat_id, "message_id": one.message_id})
        return len(chosen)

    def clear_faults(self) -> None:
        self.api.clear_faults()

    async def break_connection(self, chance: Random) -> None:
        """Break the next two fetches of updates, or one that would have brought all of them."""
        kind = chance.choice((faults.LOSE, faults.DROP, faults.http(502)))
        self.api.fail("getUpdates", kind=kind)

    async def redeliver(self, last: int) -> None:
        """Redeliver with all waiting updates, because updates must stay in order."""
        known = self.api.world.notified
        self.api.world.repeats = known[-max(last, len(self.api.pending)) :]

    def hide_history(self) -> None:
        """Do nothing: Telegram has no history, and keeps unfetched updates."""

    @property
    def history_calls(self) -> int:
        return self.api.calls["getUpdates"]


def _user(chat: int) -> int:
    return _FIRST_USER + chat % PEOPLE
