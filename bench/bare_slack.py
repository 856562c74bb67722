"""The baseline on Slack: the echo bot of slack-bolt's documentation, storing nothing."""

import asyncio
import os
from typing import Any

from anthropic import AsyncAnthropic
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.app.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient


def make_handler(model_url: str) -> AsyncSocketModeHandler:
    """A bot that sends each text to the model, and returns the model's text."""
    token = os.environ["SLACK_BOT_TOKEN"]
    client = AsyncWebClient(token=token, base_url=os.environ["SLACK_API_BASE_URL"])
    app = AsyncApp(token=token, client=client)
    model = AsyncAnthropic(api_key="key", base_url=model_url)

    @app.event("message")
    async def answer(event: dict[str, Any], say: Any) -> None:
        """One turn."""
        if event.get("bot_id"):
            return
        said: Any = await model.messages.create(
            model="claude-sonnet-5-5",
            max_tokens=1024,
            messages=[{"role": "user", "content": event["text"]}],
        )
        await say("".join(part.text for part in said.content if part.type == "text"))

    return AsyncSocketModeHandler(app, os.environ["SLACK_APP_TOKEN"])


async def main() -> None:
    """Listen until a signal."""
    await make_handler(os.environ["ANTHROPIC_BASE_URL"]).start_async()  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    asyncio.run(main())
