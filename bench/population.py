"""People on an emulated platform: their messages, and when answers reach the server."""

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Protocol, Self

from tests.emulators import whatsapp
from tests.emulators.discord import DiscordEmulator
from tests.emulators.server import LoopbackServer
from tests.emulators.signal import SignalEmulator
from tests.emulators.signal_world import ACCOUNT, Person
from tests.emulators.slack import SlackEmulator
from tests.emulators.telegram import TelegramEmulator
from tests.emulators.whatsapp import WhatsAppEmulator
from tests.integration.processes import free_port

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


class Crowd(ABC):
    """People whose answers are looked for on the platform's server."""

    api: LoopbackServer

    async def __aenter__(self) -> Self:
        await self.api.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.api.__aexit__(None, None, None)

    @abstractmethod
    def environ(self) -> Mapping[str, str]:
        """Return a bot's settings; see `Population`."""

    @abstractmethod
    def is_connected(self) -> bool:
        """Return whether the bot has connected."""

    @abstractmethod
    async def says(self, number: int, text: str) -> None:
        """Write as one person."""

    @abstractmethod
    def list_texts(self, number: int) -> list[str]:
        """Return the bot's current messages to one person."""

    async def wait_for_poll(self) -> float:
        await self.api.wait_for(self.is_connected, _PATIENCE)
        return time.monotonic()

    def answers(self, person: int) -> list[str]:
        return self.list_texts(_FIRST_NUMBER + person)

    async def ask(self, words: Mapping[int, str]) -> list[float]:
        asked: dict[int, float] = {}
        arrived: dict[int, float] = {}
        for person, word in words.items():
            asked[person] = time.monotonic()
            await self.says(_FIRST_NUMBER + person, word)

        def are_all_there() -> bool:
            for person in words.keys() - arrived.keys():
                if any(words[person] in text for text in self.answers(person)[-1:]):
                    arrived[person] = time.monotonic()
            return len(arrived) == len(words)

        await self.api.wait_for(are_all_there, _PATIENCE)
        return [arrived[person] - asked[person] for person in words]


class DiscordPopulation(Crowd):
    """People on Discord."""

    def __init__(self) -> None:
        self.api: DiscordEmulator = DiscordEmulator()

    def environ(self) -> Mapping[str, str]:
        return {
            "DISCORD_BOT_TOKEN": self.api.token,
            "DISCORD_API_BASE_URL": self.api.api_base_url,
            "DISCORD_GATEWAY_URL": self.api.gateway_url,
            "TALARIA_DISCORD__MESSAGES_PER_SECOND": "0",
        }

    def is_connected(self) -> bool:
        return bool(self.api.live_sessions)

    async def says(self, number: int, text: str) -> None:
        await self.api.says(number, text)

    def list_texts(self, number: int) -> list[str]:
        return self.api.texts(self.api.dm(number))


class SlackPopulation(Crowd):
    """People on Slack, where the app is a classic one: so is the bare bot."""

    def __init__(self) -> None:
        self.api: SlackEmulator = SlackEmulator()
        self.api.is_agent = self.api.is_assistant = self.api.can_stream = False

    def environ(self) -> Mapping[str, str]:
        return {
            "SLACK_BOT_TOKEN": self.api.bot_token,
            "SLACK_APP_TOKEN": self.api.app_token,
            "SLACK_API_BASE_URL": self.api.base_url,
            "TALARIA_SLACK__MESSAGES_PER_SECOND": "0",
        }

    def is_connected(self) -> bool:
        return bool(self.api.sockets)

    async def says(self, number: int, text: str) -> None:
        await self.api.says(number, text)

    def list_texts(self, number: int) -> list[str]:
        return self.api.texts(self.api.dm(number))


class SignalPopulation(Crowd):
    """People on Signal."""

    def __init__(self) -> None:
        self.api: SignalEmulator = SignalEmulator()

    def environ(self) -> Mapping[str, str]:
        return {
            "SIGNAL_ACCOUNT": ACCOUNT,
            "SIGNAL_RPC_URL": self.api.url,
            "TALARIA_SIGNAL__MESSAGES_PER_SECOND": "0",
        }

    def is_connected(self) -> bool:
        return self.api.is_connected

    async def says(self, number: int, text: str) -> None:
        self.api.world.says(self._person(number), text)

    def list_texts(self, number: int) -> list[str]:
        uuid = self._person(number).uuid
        return [one.text for one in self.api.world.sent if one.chat == uuid]

    def _person(self, number: int) -> Person:
        return self.api.world.person(f"+49170{number:06}", f"Person {number}")


class WhatsAppPopulation(Crowd):
    """People on WhatsApp, whose server calls the bot's."""

    def __init__(self) -> None:
        self.api: WhatsAppEmulator = WhatsAppEmulator()

    def environ(self) -> Mapping[str, str]:
        port = free_port()
        self.api.callback = f"http://127.0.0.1:{port}/hooks/whatsapp"
        return {
            "WHATSAPP_ACCESS_TOKEN": whatsapp.TOKEN,
            "WHATSAPP_PHONE_NUMBER_ID": whatsapp.PHONE_ID,
            "WHATSAPP_APP_SECRET": whatsapp.SECRET,
            "WHATSAPP_VERIFY_TOKEN": whatsapp.VERIFY,
            "WHATSAPP_API_BASE_URL": self.api.base_url,
            "TALARIA_WHATSAPP__MESSAGES_PER_SECOND": "0",
            "TALARIA_HTTP__PORT": str(port),
        }

    def is_connected(self) -> bool:
        return self.api.looks > 0

    async def says(self, number: int, text: str) -> None:
        self.api.says(f"1650555{number:04}", text)

    def list_texts(self, number: int) -> list[str]:
        return [one.text for one in self.api.sent if one.to == f"1650555{number:04}"]


POPULATIONS: Mapping[str, Callable[[], Population]] = {
    "telegram": TelegramPopulation,
    "discord": DiscordPopulation,
    "slack": SlackPopulation,
    "signal": SignalPopulation,
    "whatsapp": WhatsAppPopulation,
}
