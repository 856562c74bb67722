"""Socket Mode: the websockets of one app, each with its own queue of frames."""

import asyncio
import itertools
import json
import secrets
from collections.abc import Callable

from aiohttp import WSMsgType, web

from tests.emulators.slack_delivery import OutboxDispatcher, Parcel
from tests.emulators.slack_shapes import Json, Refusal

MOST = 10
"""Connections that one app may hold."""
_CLOSE_AFTER = 0.1
"""Seconds for a client to disconnect once told to; Slack gives about ten."""


class Socket:
    """One connection. A mute one accepts frames and sends none, not even pongs."""

    def __init__(self, ws: web.WebSocketResponse, request: web.Request) -> None:
        self.ws = ws
        self.is_mute = False
        self.is_leaving = False
        self.may_close: asyncio.Event | None = None
        """Set once a leaving connection closes; without one, it closes soon."""
        self.frames: asyncio.Queue[Json] = asyncio.Queue()
        self._transport = request.transport

    def break_off(self) -> None:
        """Reset the connection without a close frame."""
        if self._transport is not None:
            self._transport.abort()


class Sockets:
    """The open connections. Each event goes to one of them, in turn."""

    def __init__(self, app_id: str, stir: Callable[[], None]) -> None:
        self.open: list[Socket] = []
        self.opened = 0
        self.refusal: str | None = None
        """Why new connections are refused: an error code, or "too_many_websockets"."""
        self.delivery: OutboxDispatcher | None = None
        self._app_id = app_id
        self._stir = stir
        self._tickets: set[str] = set()
        """Unused addresses, each valid for one connection."""
        self._turn = itertools.count()

    def carry(self, parcel: Parcel) -> bool:
        """Queue the parcel on the next socket; False if none is open."""
        takers = [socket for socket in self.open if not socket.is_leaving]
        if not takers:
            return False
        takers[next(self._turn) % len(takers)].frames.put_nowait(parcel.envelope())
        return True

    def ask(self, address: str) -> Json:
        """apps.connections.open. Raises `Refusal`."""
        if self.refusal not in (None, "too_many_websockets"):
            raise Refusal(self.refusal)
        ticket = secrets.token_hex(8)
        self._tickets.add(ticket)
        return {"url": f"ws{address.removeprefix('http')}/link/?ticket={ticket}"}

    async def serve(self, request: web.Request) -> web.WebSocketResponse:
        """Serve one connection from its hello to its end; it uses up its ticket."""
        ticket = request.query.get("ticket", "")
        if ticket not in self._tickets:
            raise web.HTTPForbidden
        self._tickets.remove(ticket)
        ws = web.WebSocketResponse(autoping=False)
        await ws.prepare(request)
        if self.refusal == "too_many_websockets" or len(self.open) >= MOST:
            await ws.send_json({"type": "disconnect", "reason": "too_many_websockets"})
            await ws.close()
            return ws
        socket = Socket(ws, request)
        await ws.send_json(self._hello())
        self.open.append(socket)
        self.opened += 1
        writer = asyncio.create_task(self._write(socket))
        try:
            self._stir()
            assert self.delivery is not None
            self.delivery.resume()
            await self._read(socket)
        finally:
            if socket in self.open:
                self.open.remove(socket)
            writer.cancel()
            await asyncio.wait([writer])
            self._stir()
        return ws

    async def leave(self, reason: str, may_close: asyncio.Event | None) -> None:
        """Tell every client to disconnect; all but a warning close the connection.

        They do so once the event is set, or soon after without one.
        """
        for socket in list(self.open):
            frame = {"type": "disconnect", "reason": reason, "debug_info": {"host": "emulated"}}
            socket.frames.put_nowait(frame)
            socket.may_close = may_close
            socket.is_leaving = reason != "warning"

    def close(self) -> None:
        """Break every connection."""
        for socket in list(self.open):
            socket.break_off()

    async def _write(self, socket: Socket) -> None:
        while True:
            frame = await socket.frames.get()
            if socket.is_mute:
                continue
            try:
                await socket.ws.send_json(frame)
            except ConnectionError:
                return
            if frame["type"] == "disconnect" and socket.is_leaving:
                if socket.may_close is None:
                    await asyncio.sleep(_CLOSE_AFTER)
                else:
                    await socket.may_close.wait()
                await socket.ws.close()

    async def _read(self, socket: Socket) -> None:
        async for message in socket.ws:
            if socket.is_mute:
                continue
            if message.type is WSMsgType.PING:
                await socket.ws.pong(message.data)
            elif message.type is WSMsgType.TEXT:
                self._take(json.loads(message.data))

    def _take(self, frame: Json) -> None:
        assert self.delivery is not None
        if "envelope_id" in frame:
            self.delivery.acknowledge(frame["envelope_id"], frame.get("payload"))

    def _hello(self) -> Json:
        return {
            "type": "hello",
            "num_connections": len(self.open) + 1,
            "debug_info": {"host": "emulated", "approximate_connection_time": 18060},
            "connection_info": {"app_id": self._app_id},
        }
