"""People on an emulated platform: their messages, and when answers reach the server."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol, Self

from tests.emulators.discord import DiscordEmulator
from tests.emulators.signal import SignalEmulator
from tests.emulators.signal_world import ACCOUNT, Person
from tests.emulators.slack import SlackEmulator
from tests.emulators.telegram import TelegramEmulator

_FIRST_USER = 10_000
_FIRST_NUMBER = 10
_PATIENCE = 120.0
DELIVERS = frozenset({"sendMessage", "editMessageText"})


class Population(Protocol):
    """A platform's server in this process, and people whose answers are timed."""

    async def __aenter__(self) -> Self:
        """Open the server."""

    async def __aexit__(self, *_: object) -> None:
        """Close it."""

    def environ(self) -> Mapping[str, str]:
        """Return a bot's settings without rate limits, because bare bots have none."""

    async def wait_for_poll(self) -> float:
        """Wait for the bot's first connection; return its monotonic seconds."""

    async def ask(self, words: Mapping[int, str]) -> list[float]:
        """Let each person write their text at once; return the seconds until each answer.

        Raises `TimeoutError` if an answer is missing.
        """

    def answers(self, person: int) -> list[str]:
        """Return the bot's current messages to one person."""


class TelegramPopulation:
    """People on Telegram."""

    def __init__(self) -> None:
        self.api = TelegramEmulator()
        self.api.before = self._watch
        self._words: dict[int, str] = {}
        self._arrived: dict[int, float] = {}
        self._all_arrived = asyncio.Event()
        self._has_polled = asyncio.Event()
        self._polled_at = 0.0

    async def __aenter__(self) -> Self:
        await self.api.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.api.__aexit__(None, None, None)

    def environ(self) -> Mapping[str, str]:
        return {
            "TELEGRAM_BOT_TOKEN": self.api.token,
            "TELEGRAM_API_BASE_URL": self.api.base_url,
            "TALARIA_TELEGRAM__MESSAGES_PER_SECOND": "0",
        }

    async def wait_for_poll(self) -> float:
        async with asyncio.timeout(_PATIENCE):
            await self._has_polled.wait()
        return self._polled_at

    async def ask(self, words: Mapping[int, str]) -> list[float]:
        self._words = {_FIRST_USER + person: word for person, word in words.items()}
        self._arrived = {}
        self._all_arrived.clear()
        for user in self._words:
            self.api.user(user, f"Person {user}")
        asked = {}
        for user, text in self._words.items():
            asked[user] = time.monotonic()
            await self.api.says(user, text)
        async with asyncio.timeout(_PATIENCE):
            await self._all_arrived.wait()
        return [self._arrived[user] - asked[user] for user in self._words]

    def answers(self, person: int) -> list[str]:
        return [message.text for message in self.api.messages(_FIRST_USER + person)]

    async def _watch(self, method: str, params: dict[str, Any]) -> None:
        if method in DELIVERS:
            user = int(params["chat_id"])
            word = self._words.get(user)
            if word is not None and user not in self._arrived and word in params["text"]:
                self._arrived[user] = time.monotonic()
                if len(self._arrived) == len(self._words):
                    self._all_arrived.set()
        elif method == "getUpdates" and not self._has_polled.is_set():
            self._polled_at = time.monotonic()
            self._has_polled.set()


class DiscordPopulation:
    """People on Discord."""

    def __init__(self) -> None:
        self.api = DiscordEmulator()

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
        }

    async def wait_for_poll(self) -> float:
        await self.api.wait_for(lambda: self.api.live_sessions, _PATIENCE)
        return time.monotonic()

    async def ask(self, words: Mapping[int, str]) -> list[float]:
        return await _time(self, words, self.api.says)

    def answers(self, person: int) -> list[str]:
        return self.api.texts(self.api.dm(_FIRST_NUMBER + person))


class SlackPopulation:
    """People on Slack, where the app is a classic one: so is the bare bot."""

    def __init__(self) -> None:
        self.api = SlackEmulator()
        self.api.is_agent = self.api.is_assistant = self.api.can_stream = False

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
        }

    async def wait_for_poll(self) -> float:
        await self.api.wait_for(lambda: self.api.sockets, _PATIENCE)
        return time.monotonic()

    async def ask(self, words: Mapping[int, str]) -> list[float]:
        return await _time(self, words, self.api.says)

    def answers(self, person: int) -> list[str]:
        return self.api.texts(self.api.dm(_FIRST_NUMBER + person))


async def _time(
    population: "DiscordPopulation | SlackPopulation | SignalPopulation",
    words: Mapping[int, str],
    says: Callable[[int, str], Awaitable[object]],
) -> list[float]:
    asked: dict[int, float] = {}
    arrived: dict[int, float] = {}
    for person, word in words.items():
        asked[person] = time.monotonic()
        await says(_FIRST_NUMBER + person, word)

    def are_all_there() -> bool:
        for person in words.keys() - arrived.keys():
            if any(words[person] in text for text in population.answers(person)[-1:]):
                arrived[person] = time.monotonic()
        return len(arrived) == len(words)

    await population.api.wait_for(are_all_there, _PATIENCE)
    return [arrived[person] - asked[person] for person in words]


class SignalPopulation:
    """People on Signal."""

    def __init__(self) -> None:
        self.api = SignalEmulator()

    async def __aenter__(self) -> Self:
        await self.api.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.api.__aexit__(None, None, None)

    def environ(self) -> Mapping[str, str]:
        return {
            "SIGNAL_ACCOUNT": ACCOUNT,
            "SIGNAL_RPC_URL": self.api.url,
            "TALARIA_SIGNAL__MESSAGES_PER_SECOND": "0",
        }

    async def wait_for_poll(self) -> float:
        await self.api.wait_for(lambda: self.api.is_connected, _PATIENCE)
        return time.monotonic()

    async def ask(self, words: Mapping[int, str]) -> list[float]:
        return await _time(self, words, self.says)

    def answers(self, person: int) -> list[str]:
        uuid = self._person(_FIRST_NUMBER + person).uuid
        return [one.text for one in self.api.world.sent if one.chat == uuid]

    async def says(self, number: int, text: str) -> None:
        """Write as one person."""
        self.api.world.says(self._person(number), text)

    def _person(self, number: int) -> Person:
        return self.api.world.person(f"+49170{number:06}", f"Person {number}")


POPULATIONS: Mapping[
    str,
    type[TelegramPopulation]
    | type[DiscordPopulation]
    | type[SlackPopulation]
    | type[SignalPopulation],
] = {
    "telegram": TelegramPopulation,
    "discord": DiscordPopulation,
    "slack": SlackPopulation,
    "signal": SignalPopulation,
}
