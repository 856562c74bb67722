"""The console page's line to the house: a WebSocket that passes the console's JSON lines."""

import asyncio
from pathlib import Path

from aiohttp import WSCloseCode, WSMsgType, web

LONGEST_LINE = 8_000_000
"""Bytes of one line, as the console's socket takes them: a message of a million characters."""
_HEARTBEAT = 30.0
_CONNECT = 5.0


class Bridge:
    """Joins each browser to the console's socket, and lets go of all of them at the end."""

    def __init__(self, socket: Path) -> None:
        self._socket = socket
        self._open: set[web.WebSocketResponse] = set()

    async def join(self, request: web.Request) -> web.StreamResponse:
        """Pass lines both ways until either side leaves."""
        page = web.WebSocketResponse(heartbeat=_HEARTBEAT, max_msg_size=LONGEST_LINE)
        await page.prepare(request)
        self._open.add(page)
        try:
            async with asyncio.timeout(_CONNECT):
                reader, writer = await asyncio.open_unix_connection(
                    str(self._socket), limit=LONGEST_LINE
                )
        except (OSError, TimeoutError):
            self._open.discard(page)
            await page.close(code=WSCloseCode.TRY_AGAIN_LATER, message=b"the console is not on")
            return page
        try:
            await _pass_both_ways(page, reader, writer)
        finally:
            self._open.discard(page)
            writer.close()
            await page.close()
        return page

    async def close(self, _: web.Application) -> None:
        """Tell every page that the gateway goes; they come back by themselves."""
        for page in list(self._open):
            await page.close(code=WSCloseCode.GOING_AWAY, message=b"the gateway stops")


async def _pass_both_ways(
    page: web.WebSocketResponse, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    down = asyncio.create_task(_pass_down(page, reader))
    up = asyncio.create_task(_pass_up(page, writer))
    try:
        await asyncio.wait((down, up), return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (down, up):
            task.cancel()
        await asyncio.gather(down, up, return_exceptions=True)


async def _pass_down(page: web.WebSocketResponse, reader: asyncio.StreamReader) -> None:
    """From the house to the page, until the house leaves or sends a line that is too long."""
    try:
        while line := await reader.readline():
            await page.send_str(line.decode("utf-8", "replace").rstrip("\n"))
    except (OSError, ValueError):
        return  # the socket broke: the page is closed and connects anew


async def _pass_up(page: web.WebSocketResponse, writer: asyncio.StreamWriter) -> None:
    """From the page to the house, until the page leaves."""
    async for message in page:
        if message.type is not WSMsgType.TEXT:
            continue
        # A line break in a frame would make two lines of one.
        line = " ".join(message.data.splitlines())
        try:
            writer.write(line.encode("utf-8", "replace") + b"\n")
            await writer.drain()
        except OSError:
            return
