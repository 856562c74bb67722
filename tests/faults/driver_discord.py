"""Drive Discord: direct chats, one channel of a server, and its threads."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Self

from tests.emulators import discord_faults as faults
from tests.emulators.discord import DiscordEmulator
from tests.faults.drivers import CHATS, PEOPLE, assign_messages, choose_unfinished, kind_of

_BYSTANDERS = (1, 2, 3)
_FIRST_PERSON = 10
_CALLS = (faults.SEND, faults.SEND, faults.EDIT, faults.HISTORY)
_FAULT_KINDS = (faults.LOSE, faults.DROP, faults.ERROR, faults.LIMIT)
_HIDDEN_SECONDS = 60.0


class DiscordDriver:
    """People who own the chats from 1000 on."""

    platform = "discord"
    first_chat = CHATS

    def __init__(self) -> None:
        self.api = DiscordEmulator()
        self._guild = self.api.guild("House", _BYSTANDERS)
        self._channel = self.api.channel(self._guild)
        self._threads: dict[int, int] = {}

    async def __aenter__(self) -> Self:
        await self.api.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.api.__aexit__(None, None, None)

    def environ(self) -> Mapping[str, str]:
        return {
            "DISCORD_BOT_TOKEN": self.api.token,
            "DISCORD_API_BASE_URL": self.api.api_base_url,
            "DISCORD_GATEWAY_URL": self.api.gateway_url,
            "TALARIA_DISCORD__MESSAGES_PER_SECOND": "0",
            "TALARIA_DISCORD__EDIT_INTERVAL": "0.2",
        }

    async def says(self, chat: int, text: str) -> None:
        person = _number(chat)
        if kind_of(chat) == "direct":
            await self.api.says(person, text)
            return
        channel = self._channel
        if kind_of(chat) == "thread":
            if chat not in self._threads:
                self._threads[chat] = await self.api.thread(channel, f"Thread {chat}", person)
            channel = self._threads[chat]
        await self.api.says(person, text, channel=channel, mentions=[self.api.user_id])

    def shown(self, chats: Sequence[int]) -> Mapping[int, Sequence[str]]:
        shown = {}
        for chat in chats:
            if kind_of(chat) == "direct":
                shown[chat] = self.api.texts(self.api.dm(_number(chat)))
            elif kind_of(chat) == "thread":
                shown[chat] = self.api.texts(self._threads[chat])
        residents = [chat for chat in chats if kind_of(chat) == "room"]
        if residents:
            shown |= assign_messages(self.api.texts(self._channel), residents)
        return shown

    def inject_fault(self, chance: Random) -> None:
        kind, call = chance.choice(_FAULT_KINDS), chance.choice(_CALLS)
        self.api.fail(call, kind=kind, retry_after=1.0)

    def refuse_change(self, chance: Random) -> None:
        kind, call = chance.choice(_FAULT_KINDS), chance.choice((faults.EDIT, faults.DELETE))
        self.api.fail(call, kind=kind, retry_after=1.0)

    async def delete_unfinished(self, chance: Random) -> int:
        ours = [m for m in self.api.world.messages.values() if m.author_id == self.api.user_id]
        chosen = choose_unfinished(chance, ours, lambda m: m.content)
        for one in chosen:
            await self.api.deletes(one.id)
        return len(chosen)

    def clear_faults(self) -> None:
        self.api.clear_faults()

    async def break_connection(self, chance: Random) -> None:
        """Break or close the connection, request a reconnect, or also invalidate the session."""
        match chance.choice(("break", "break", "close", "ask", "lose")):
            case "close":
                await self.api.drop_gateway(4000)
            case "ask":
                await self.api.reconnect_gateway()
            case "lose":
                self.api.lose_session()
                await self.api.drop_gateway()
            case _:
                await self.api.drop_gateway()

    async def redeliver(self, last: int) -> None:
        """Redeliver like a RESUME from an earlier sequence number."""
        for line in self.api.gateway.lines:
            if line.session is not None:
                reported = [one for one in line.session.sent if one["t"] == "MESSAGE_CREATE"]
                for payload in reported[-last:]:
                    line.send(payload)

    def hide_history(self) -> None:
        self.api.fail(faults.HISTORY, kind=faults.SLOW, seconds=_HIDDEN_SECONDS, times=1000)

    @property
    def history_calls(self) -> int:
        return sum(
            method == "GET" and path.endswith("/messages") for method, path in self.api.calls
        )


def _number(chat: int) -> int:
    return _FIRST_PERSON + chat % PEOPLE
