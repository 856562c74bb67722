"""The baseline on Signal: an echo bot on signal-cli's events, storing nothing."""

import asyncio
import json
import os
from typing import Any

import aiohttp
from anthropic import AsyncAnthropic

URL = os.environ.get("SIGNAL_RPC_URL", "")
ACCOUNT = os.environ.get("SIGNAL_ACCOUNT", "")


async def answer(
    session: aiohttp.ClientSession, model: AsyncAnthropic, notice: dict[str, Any]
) -> None:
    """One turn."""
    envelope = notice["envelope"]
    words = envelope.get("dataMessage", {}).get("message")
    if not words:
        return
    said: Any = await model.messages.create(
        model="claude-sonnet-5-5",
        max_tokens=1024,
        messages=[{"role": "user", "content": words}],
    )
    text = "".join(part.text for part in said.content if part.type == "text")
    params = {"account": ACCOUNT, "recipient": [envelope["sourceUuid"]], "message": text}
    call = {"jsonrpc": "2.0", "id": 1, "method": "send", "params": params}
    async with session.post(f"{URL}/api/v1/rpc", json=call) as done:
        await done.read()


async def main() -> None:
    """Answer until killed."""
    model = AsyncAnthropic(api_key="key", base_url=os.environ["ANTHROPIC_BASE_URL"])
    tasks: set[asyncio.Task[None]] = set()
    timeout = aiohttp.ClientTimeout(total=None)
    query = {"account": ACCOUNT}
    async with (
        aiohttp.ClientSession(timeout=timeout) as session,
        session.get(f"{URL}/api/v1/events", params=query) as events,
    ):
        async for line in events.content:
            if line.startswith(b"data:"):
                notice = json.loads(line.removeprefix(b"data:"))
                task = asyncio.create_task(answer(session, model, notice))
                tasks.add(task)
                task.add_done_callback(tasks.discard)


if __name__ == "__main__":
    asyncio.run(main())
