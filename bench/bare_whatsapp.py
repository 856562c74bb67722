"""The baseline on WhatsApp: an echo bot on Meta's webhooks, storing nothing."""

import asyncio
import hashlib
import hmac
import json
import os
from typing import Any

import aiohttp
from aiohttp import web
from anthropic import AsyncAnthropic

BASE = os.environ.get("WHATSAPP_API_BASE_URL", "")
PHONE = os.environ.get("WHATSAPP_PHONE_NUMBER_ID", "")
SECRET = os.environ.get("WHATSAPP_APP_SECRET", "").encode()
PORT = int(os.environ.get("TALARIA_HTTP__PORT", "0"))


class Bot:
    """Answers each message with what the model says."""

    def __init__(self, session: aiohttp.ClientSession, model: AsyncAnthropic) -> None:
        self._session = session
        self._model = model
        self._tasks: set[asyncio.Task[None]] = set()

    async def take(self, request: web.Request) -> web.Response:
        """Check who calls, and answer beside the request."""
        body = await request.read()
        wanted = hmac.new(SECRET, body, hashlib.sha256).hexdigest()
        given = request.headers.get("X-Hub-Signature-256", "")
        if not hmac.compare_digest(f"sha256={wanted}", given):
            return web.Response(status=401)
        for entry in json.loads(body)["entry"]:
            for change in entry["changes"]:
                for message in change["value"].get("messages", ()):
                    task = asyncio.create_task(self._answer(message))
                    self._tasks.add(task)
                    task.add_done_callback(self._tasks.discard)
        return web.Response()

    async def _answer(self, message: dict[str, Any]) -> None:
        """One turn."""
        said: Any = await self._model.messages.create(
            model="claude-sonnet-5-5",
            max_tokens=1024,
            messages=[{"role": "user", "content": message["text"]["body"]}],
        )
        text = "".join(part.text for part in said.content if part.type == "text")
        request = {"messaging_product": "whatsapp", "to": message["from"], "type": "text"}
        call = request | {"text": {"body": text}}
        async with self._session.post(f"{BASE}/{PHONE}/messages", json=call) as done:
            await done.read()


async def main() -> None:
    """Answer until killed."""
    model = AsyncAnthropic(api_key="key", base_url=os.environ["ANTHROPIC_BASE_URL"])
    headers = {"Authorization": f"Bearer {os.environ['WHATSAPP_ACCESS_TOKEN']}"}
    async with aiohttp.ClientSession(headers=headers) as session:
        app = web.Application()
        app.router.add_post("/hooks/whatsapp", Bot(session, model).take)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", PORT).start()
        async with session.get(f"{BASE}/{PHONE}") as known:
            await known.read()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
