"""A session with Discord: its gateway connection and its API calls, each with a timeout."""

import asyncio
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import urlsplit

import aiohttp
from discord.http import Route

from adapters.discord.client import Client, EventListener, SessionLimit
from adapters.discord.errors import WIRE_ERRORS, translate
from adapters.discord.settings import DiscordSettings
from adapters.errors import AdapterError, RateLimited, Rejected, Unreachable, Unsure
from adapters.messages import OutboundFile
from adapters.toolkit.http import make_connector, read_at_most
from adapters.toolkit.text import Json

_ANSWER_TIMEOUT = 20.0
"""discord.py retries a 5xx for up to 25 s; beyond this, the dispatcher retries."""
_UPLOAD_TIMEOUT = 60.0
_CALLS_PER_SECOND, _BURST = 39, 8
"""Discord allows a bot 50 calls in any second, of all kinds."""
_LONGEST_QUEUE = 10.0
_FILE_CONNECTIONS = 8
_URGENT = ("/interactions/", "/webhooks/")
"""Interaction calls are exempt from the bot's limit and due within 3 s."""
_CDN = ("cdn.discordapp.com", "media.discordapp.net")


class Expired(AdapterError):
    """A file's address has expired."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call. `path` has names in braces, filled from `ids`.

    `lost` is raised if the call got no clear answer. A call with `is_single` is made only once:
    discord.py would retry after a 5xx, which would send a message twice if Discord supports no
    nonce for it.
    """

    method: str
    path: str
    ids: Mapping[str, str]
    params: Mapping[str, str] | None = None
    body: Json | list[Json] | None = None
    file: OutboundFile | None = None
    lost: type[AdapterError] = Unreachable
    is_single: bool = False


class Connection:
    """A session. Every method raises `AdapterError`."""

    def __init__(
        self, settings: DiscordSettings, listener: EventListener, session_limit: SessionLimit
    ) -> None:
        self._settings = settings
        self.client = Client(settings, listener, session_limit)
        self._queue = _Queue(_CALLS_PER_SECOND if settings.messages_per_second else 0)
        self._files: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        try:
            async with asyncio.timeout(_ANSWER_TIMEOUT):
                await self.client.login(self._settings.token)
        except BaseException as error:
            await self.client.close()
            if isinstance(error, WIRE_ERRORS):
                raise translate(error) from error
            raise
        self._files = aiohttp.ClientSession(
            connector=make_connector(_FILE_CONNECTIONS), cookie_jar=aiohttp.DummyCookieJar()
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        try:
            await self.client.close()
        finally:
            if self._files is not None:
                await self._files.close()

    async def listen(self) -> None:
        """Deliver gateway events and resume while Discord allows it; then raise."""
        try:
            await self.client.connect(reconnect=False)
        except WIRE_ERRORS as error:
            raise translate(error) from error
        except AttributeError:
            # discord.py reads the position of a connection that it does not have yet.
            if self.client.ws is not None:
                raise
        raise Unreachable("Discord ended the connection.")

    async def call(self, call: Call) -> Any:
        """Make a call and return Discord's answer."""
        if not call.path.startswith(_URGENT):
            await self._queue.wait()
        if self.client.is_closed():
            raise Unreachable("Discord is not connected.")
        options: dict[str, Any] = {"params": call.params} if call.params else {}
        if call.file is not None:
            options["form"] = _form(call.body, call.file)
        elif call.body is not None:
            options["json"] = call.body
        if call.is_single:
            options["raise_for_status"] = _give_up
        route = Route(call.method, call.path, **call.ids)
        try:
            async with asyncio.timeout(_UPLOAD_TIMEOUT if call.file else _ANSWER_TIMEOUT):
                answer = await self.client.http.request(route, **options)
        except WIRE_ERRORS as error:
            raise translate(error, lost=call.lost) from error
        except RuntimeError as error:  # raised by aiohttp if the session is closed
            if not self.client.is_closed():
                raise
            raise call.lost("The connection to Discord ended before the answer came.") from error
        if isinstance(answer, str) and answer:  # not from Discord, which sends JSON or nothing
            raise call.lost("Discord's answer can't be read.")
        return answer

    async def download(self, url: str, *, most_bytes: int) -> bytes | None:
        """Download a file; None if it is too large. Raises `Expired` if the address has expired."""
        if self._files is None:
            raise Unreachable("Discord is not connected.")
        own = urlsplit(self._settings.api_base_url).hostname
        if urlsplit(url).hostname not in (*_CDN, own):
            raise Rejected("The file does not lie at Discord.")
        timeout = aiohttp.ClientTimeout(total=_UPLOAD_TIMEOUT)
        try:
            async with self._files.get(url, timeout=timeout, allow_redirects=False) as answer:
                if answer.status in (401, 403, 404, 410):
                    raise Expired(f"Discord's files answer {answer.status}.")
                if answer.status != 200:
                    raise Unreachable(f"Discord's files answer {answer.status}.")
                return await read_at_most(answer, most_bytes)
        except WIRE_ERRORS as error:
            raise translate(error) from error


async def _give_up(answer: aiohttp.ClientResponse) -> None:
    """Prevent discord.py's retry."""
    if answer.status >= 500:
        raise Unsure(f"Discord is unwell: {answer.status}.")


def _form(body: Any, file: OutboundFile) -> list[dict[str, Any]]:
    return [
        {"name": "payload_json", "value": json.dumps(body)},
        {
            "name": "files[0]",
            "value": file.data,
            "filename": file.name,
            "content_type": file.media_type,
        },
    ]


class _Queue:
    """Paces calls so that they never reach Discord's global limit."""

    def __init__(self, per_second: float) -> None:
        self._interval = 1 / per_second if per_second else 0.0
        self._next = 0.0

    async def wait(self) -> None:
        """Wait for a slot. Raises `RateLimited` if that takes too long."""
        now = time.monotonic()
        turn = max(self._next, now - _BURST * self._interval)
        if turn - now > _LONGEST_QUEUE:
            raise RateLimited("Too much is to be said at once.", retry_after=turn - now)
        self._next = turn + self._interval
        if turn > now:
            await asyncio.sleep(turn - now)
