"""The baseline: the echo bot of the two SDKs' documentation, which stores nothing.

python-telegram-bot's `Application` with concurrent updates and anthropic's plain
(non-streaming) `messages.create`, on asyncio's own loop.
"""

import os
from typing import Any

from anthropic import AsyncAnthropic
from telegram import Update
from telegram.ext import Application, ContextTypes, MessageHandler, filters


class Bot:
    """Sends each text to the model, and returns the model's text."""

    def __init__(self, base_url: str) -> None:
        self._client = AsyncAnthropic(api_key="key", base_url=base_url)

    async def answer(self, update: Update, _: ContextTypes.DEFAULT_TYPE) -> None:
        """One turn."""
        message = update.message
        if message is None or message.text is None:
            return
        said = await self._client.messages.create(
            model="claude-sonnet-5-5",
            max_tokens=1024,
            messages=[{"role": "user", "content": message.text}],
        )
        await message.reply_text("".join(part.text for part in said.content if part.type == "text"))


def make_application(model_url: str) -> Any:
    """The bot, not running yet."""
    application = (
        Application.builder()
        .token(os.environ["TELEGRAM_BOT_TOKEN"])
        .base_url(f"{os.environ['TELEGRAM_API_BASE_URL']}/bot")
        .concurrent_updates(True)
        .build()
    )
    application.add_handler(MessageHandler(filters.TEXT, Bot(model_url).answer))
    return application


def main() -> None:
    """Poll until a signal."""
    make_application(os.environ["ANTHROPIC_BASE_URL"]).run_polling()


if __name__ == "__main__":
    main()
