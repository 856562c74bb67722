"""The real Slack SDK, connected to the emulated Slack."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.app.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from tests.emulators.slack import SlackEmulator
from tests.patience import PATIENCE

ANNA, BEN = 1, 2


def client(slack: SlackEmulator) -> AsyncWebClient:
    """A client without retries."""
    return AsyncWebClient(token=slack.bot_token, base_url=slack.base_url, retry_handlers=[])


async def refusal(call: Awaitable[Any]) -> str:
    """Return the error code of a call that Slack refuses."""
    with pytest.raises(SlackApiError) as caught:
        await call
    return str(caught.value.response["error"])


class Listener:
    """An app that records and acknowledges everything, until told to refuse."""

    def __init__(self, slack: SlackEmulator, *, signing_secret: str | None = None) -> None:
        self.web = client(slack)
        self.app = AsyncApp(token=slack.bot_token, client=self.web, signing_secret=signing_secret)
        self.bodies: list[dict[str, Any]] = []
        self.retries: list[tuple[str, str]] = []
        """Number and reason of each delivery."""
        self.refuses = False
        self.says_nothing = False
        self._changed = asyncio.Event()
        self.app.middleware(self._note)
        self.app.event(re.compile(".*"))(self._take)
        self.app.action(re.compile(".*"))(self._confirm)
        self.app.shortcut(re.compile(".*"))(self._confirm)
        self.app.command(re.compile(".*"))(self._obey)

    @property
    def events(self) -> list[dict[str, Any]]:
        """The events, without envelopes."""
        return [body["event"] for body in self.bodies if "event" in body]

    async def bodies_of(self, number: int, timeout: float = PATIENCE) -> list[dict[str, Any]]:
        """Wait for this many deliveries. Raises `TimeoutError`."""
        async with asyncio.timeout(timeout):
            while len(self.bodies) < number:
                await self._changed.wait()
        return self.bodies

    async def _note(self, req: Any, body: dict[str, Any], next: Any) -> None:  # noqa: A002
        number = req.headers.get("x-slack-retry-num", [""])[0]
        self.retries.append((number, req.headers.get("x-slack-retry-reason", [""])[0]))
        self.bodies.append(body)
        self._changed.set()
        self._changed = asyncio.Event()
        if not self.refuses:
            await next()

    async def _take(self) -> None:
        """Bolt acknowledges an event."""

    async def _confirm(self, ack: Any) -> None:
        await ack()

    async def _obey(self, ack: Any, command: dict[str, str]) -> None:
        await ack(" " if self.says_nothing else f"You said {command['text']}.")


@asynccontextmanager
async def listening(slack: SlackEmulator, sockets: int = 1) -> AsyncIterator[Listener]:
    """A connected listener with this many sockets."""
    listener = Listener(slack)
    handlers = [
        AsyncSocketModeHandler(listener.app, slack.app_token, ping_interval=1)
        for _ in range(sockets)
    ]
    before = slack.connections_opened
    for handler in handlers:
        await handler.connect_async()
    await slack.wait_for(lambda: slack.connections_opened >= before + sockets)
    try:
        yield listener
    finally:
        for handler in handlers:
            await handler.close_async()
