"""The real discord.Client, connected to the emulator."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from typing import Any

import discord
import yarl
from discord.gateway import DiscordWebSocket
from discord.http import Route

from tests.emulators.discord import DiscordEmulator
from tests.patience import PATIENCE

ANNA, BEN = 1, 2


@contextlib.contextmanager
def pointed_at(api: DiscordEmulator) -> Iterator[None]:
    """Replace discord.py's addresses, which have no setting but are class attributes."""
    former = Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY
    Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY = api.api_base_url, yarl.URL(api.gateway_url)
    try:
        yield
    finally:
        Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY = former


class Listener(discord.Client):
    """A client that records its events."""

    def __init__(self, **options: Any) -> None:
        given: dict[str, Any] = {"guild_ready_timeout": 0.05, "max_messages": None} | options
        intents = given.pop("intents", discord.Intents(guilds=True, messages=True, reactions=True))
        super().__init__(intents=intents, **given)
        self.heard: list[tuple[str, Any]] = []
        self.running: asyncio.Task[None] | None = None

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """Skip discord.py's five seconds before every IDENTIFY but the first."""

    def dispatch(self, event: str, /, *args: Any, **kwargs: Any) -> None:
        """Record every event, in order."""
        self.heard.append((event, args[0] if args else None))
        super().dispatch(event, *args, **kwargs)

    def all(self, event: str) -> list[Any]:
        """Return the arguments of an event, in order."""
        return [what for name, what in self.heard if name == event]

    def said(self) -> list[str]:
        """The texts of people, in the order received."""
        return [one.content for one in self.all("message") if one.author.id != self.application_id]

    async def person(self, api: DiscordEmulator, number: int) -> discord.DMChannel:
        """Return the direct channel with a person."""
        return await self.create_dm(discord.Object(api.user(number)))


@contextlib.asynccontextmanager
async def connected(
    api: DiscordEmulator, *, client: Listener | None = None, **options: Any
) -> AsyncIterator[Listener]:
    """A ready client, closed at the end."""
    with pointed_at(api):
        client = client or Listener(**options)
        async with client:
            await client.login(api.token)
            client.running = asyncio.create_task(client.connect())
            try:
                await asyncio.wait_for(client.wait_until_ready(), PATIENCE)
                yield client
            finally:
                await client.close()
                await client.running
