"""The three bare bots in one process, to measure the memory of their SDKs."""

import asyncio
import os

from bench import bare_bot, bare_discord, bare_slack


async def main() -> None:
    """Listen on all platforms until a signal."""
    model_url = os.environ["ANTHROPIC_BASE_URL"]
    telegram = bare_bot.make_application(model_url)
    await telegram.initialize()
    await telegram.start()
    assert telegram.updater is not None
    await telegram.updater.start_polling()
    async with asyncio.TaskGroup() as group:
        group.create_task(bare_discord.Bot(model_url).start(os.environ["DISCORD_BOT_TOKEN"]))
        group.create_task(bare_slack.make_handler(model_url).start_async())  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    asyncio.run(main())
