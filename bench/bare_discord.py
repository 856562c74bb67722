"""The baseline on Discord: the echo bot of discord.py's documentation, storing nothing."""

import os
from typing import Any

import discord
from anthropic import AsyncAnthropic
from discord.gateway import DiscordWebSocket
from discord.http import Route
from yarl import URL

Route.BASE = os.environ["DISCORD_API_BASE_URL"]
DiscordWebSocket.DEFAULT_GATEWAY = URL(os.environ["DISCORD_GATEWAY_URL"])


class Bot(discord.Client):
    """Sends each text to the model, and returns the model's text."""

    def __init__(self, base_url: str) -> None:
        intents = discord.Intents.default()
        intents.message_content = True
        super().__init__(intents=intents)
        self._anthropic = AsyncAnthropic(api_key="key", base_url=base_url)

    async def on_message(self, message: discord.Message) -> None:
        """One turn."""
        if message.author == self.user:
            return
        said: Any = await self._anthropic.messages.create(
            model="claude-sonnet-5-5",
            max_tokens=1024,
            messages=[{"role": "user", "content": message.content}],
        )
        words = "".join(part.text for part in said.content if part.type == "text")
        await message.channel.send(words)


if __name__ == "__main__":
    Bot(os.environ["ANTHROPIC_BASE_URL"]).run(os.environ["DISCORD_BOT_TOKEN"])
