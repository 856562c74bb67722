"""The console page: its files, and its connection to the console's socket."""

import asyncio
import json
from collections.abc import Coroutine, Mapping
from importlib import resources
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from gateway.interfaces.http.page_data import PageData, PageNews
from gateway.interfaces.http.readers import Reader, Readers

LONGEST_LINE = 8_000_000
"""Most bytes of one line, as on the console's socket; enough for a million characters."""
_CONNECT = 5.0
_WATCH = 1.0
"""Seconds between two checks of an open page's login and conversation."""
_TRY_AGAIN_LATER = 1013
_GOING_AWAY = 1001


class Bridge:
    """Connects each browser to the console's socket. A page reconnects by itself."""

    def __init__(self, socket: Path, readers: Readers, page_data: PageData) -> None:
        self._socket = socket
        self._readers = readers
        self._page_data = page_data

    async def join(self, page: WebSocket) -> None:
        """Pass lines in both directions until either side leaves or the login ends."""
        await page.accept()
        reader = await self._readers.find(page)
        if reader is None:
            await page.close(_GOING_AWAY)
            return
        try:
            async with asyncio.timeout(_CONNECT):
                answers, writer = await asyncio.open_unix_connection(
                    str(self._socket), limit=LONGEST_LINE
                )
        except (OSError, TimeoutError):
            await page.close(_TRY_AGAIN_LATER, "the console is not on")
            return
        try:
            # The first line says whose conversation it is, so no line of the page can.
            writer.write(json.dumps({"type": "open", "user": reader.user}).encode() + b"\n")
            watch = self._watch(page, reader)
            await _pass_until_over(watch, _pass_down(page, answers), _pass_up(page, writer))
        finally:
            writer.close()
        await _close(page)

    async def _watch(self, page: WebSocket, reader: Reader) -> None:
        """Tell a page about new turns on any platform; return when its login has ended.

        Any process may end a login, and a person may lose their access or their own chat, so no
        signal covers that.
        """
        seen, now = await self._page_data.find_news(reader), await self._readers.find(page)
        if seen.elsewhere:
            await page.send_text(_tell(seen))
        while now is not None and now.user == reader.user:
            news = await self._page_data.find_news(now)
            if news != seen:
                seen = news
                await page.send_text(_tell(news))
            await asyncio.sleep(_WATCH)
            now = await self._readers.find(page)


def _tell(news: PageNews) -> str:
    return json.dumps({"type": "news", "elsewhere": news.elsewhere})


async def _close(page: WebSocket) -> None:
    """Close a page's connection, unless the page has already left."""
    if WebSocketState.DISCONNECTED in (page.application_state, page.client_state):
        return
    try:
        await page.close(_GOING_AWAY)
    except (RuntimeError, WebSocketDisconnect):
        return  # the page has just left


async def _pass_until_over(*work: Coroutine[object, object, None]) -> None:
    """Run until one of the coroutines ends, then cancel the others."""
    tasks = [asyncio.create_task(one) for one in work]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _pass_down(page: WebSocket, reader: asyncio.StreamReader) -> None:
    """Pass lines to the page, until the gateway leaves or sends a line that is too long."""
    try:
        while line := await reader.readline():
            await page.send_text(line.decode("utf-8", "replace").rstrip("\n"))
    except (OSError, ValueError, WebSocketDisconnect):
        return  # the socket broke: the page is closed and reconnects


async def _pass_up(page: WebSocket, writer: asyncio.StreamWriter) -> None:
    """Pass lines to the gateway, until the page leaves."""
    while (message := await page.receive())["type"] == "websocket.receive":
        text = message.get("text")
        if not isinstance(text, str):
            continue
        # The socket's protocol has one message per line.
        line = " ".join(text.splitlines())
        try:
            writer.write(line.encode("utf-8", "replace") + b"\n")
            await writer.drain()
        except OSError:
            return


_FILES: Mapping[str, tuple[str, str]] = {
    "/console.css": ("console.css", "text/css"),
    "/console.js": ("console.js", "text/javascript"),
    "/choices.js": ("choices.js", "text/javascript"),
    "/commands.js": ("commands.js", "text/javascript"),
    "/files.js": ("files.js", "text/javascript"),
    "/markdown.js": ("markdown.js", "text/javascript"),
    "/messages.js": ("messages.js", "text/javascript"),
    "/reading.css": ("reading.css", "text/css"),
    "/recorder.js": ("recorder.js", "text/javascript"),
    "/reading.js": ("reading.js", "text/javascript"),
    "/texts.js": ("texts.js", "text/javascript"),
    "/api/docs": ("api_docs.html", "text/html"),
    "/api/docs.css": ("api_docs.css", "text/css"),
    "/api/docs.js": ("api_docs.js", "text/javascript"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class ChatFiles:
    """The static files of the chat and of the API's description, read once."""

    def __init__(self) -> None:
        folder = resources.files("gateway.interfaces.http") / "static"
        self._bodies = {
            path: (folder.joinpath(name).read_bytes(), kind)
            for path, (name, kind) in _FILES.items()
        }

    def list_routes(self) -> list[BaseRoute]:
        """List a route for each file."""
        return [Route(path, self._show) for path in self._bodies]

    async def _show(self, request: Request) -> Response:
        body, kind = self._bodies[request.scope["path"]]
        headers = {"Content-Security-Policy": _POLICY}
        return Response(body, media_type=f"{kind}; charset=utf-8", headers=headers)
