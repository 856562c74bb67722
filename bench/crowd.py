"""People on an emulated Telegram: what they write, and when the answer reaches the server."""

import asyncio
import time
from collections.abc import Mapping
from typing import Any, Self

from tests.emulators.telegram import TelegramEmulator

_FIRST_USER = 10_000
_PATIENCE = 120.0
_DELIVERS = frozenset({"sendMessage", "editMessageText"})


class Crowd:
    """A Telegram server in this process, with people whose answers are timed and counted."""

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

    async def wait_for_poll(self) -> float:
        """Monotonic seconds at which the bot asked for updates first; waits for it."""
        async with asyncio.timeout(_PATIENCE):
            await self._has_polled.wait()
        return self._polled_at

    async def ask(self, words: Mapping[int, str]) -> list[float]:
        """Each person writes their word, all at once; seconds until the answer with it arrived.

        Raises `TimeoutError` if an answer stays out.
        """
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
        """The bot's messages to one person, as they stand."""
        return [message.text for message in self.api.messages(_FIRST_USER + person)]

    async def _watch(self, method: str, params: dict[str, Any]) -> None:
        if method in _DELIVERS:
            user = int(params["chat_id"])
            word = self._words.get(user)
            if word is not None and user not in self._arrived and word in params["text"]:
                self._arrived[user] = time.monotonic()
                if len(self._arrived) == len(self._words):
                    self._all_arrived.set()
        elif method == "getUpdates" and not self._has_polled.is_set():
            self._polled_at = time.monotonic()
            self._has_polled.set()
