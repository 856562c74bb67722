"""The emulated gateway: sessions, heartbeats, resuming, and ways to fall silent."""

import asyncio
import contextlib
import json
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Any

from aiohttp import WSMsgType, web

from tests.emulators.discord_messages import hide
from tests.emulators.discord_shapes import Json
from tests.emulators.discord_world import PRIVILEGED, Event, Intents, World

DISPATCH, HEARTBEAT, RECONNECT, INVALID_SESSION, HELLO, ACK = 0, 1, 7, 9, 10, 11
_ALL_INTENTS = (1 << 26) - 1
_ENDED = (1000, 1001)
"""Codes of a client's close that end its session."""
_MOST_ASLEEP = 8
"""Sessions kept without a connection; a client that died never resumes its own."""


class Line:
    """One connection. Frames are sent in order, through one zlib context if requested."""

    def __init__(self, socket: web.WebSocketResponse, request: web.Request) -> None:
        self.socket = socket
        self.session: Session | None = None
        self.is_muted = False
        self.is_ours_to_end = False
        """Closed by the server, so that the session stays."""
        self._request = request
        self._queue: asyncio.Queue[Json | int] = asyncio.Queue()
        is_zlib = request.query.get("compress") == "zlib-stream"
        self._packer = zlib.compressobj() if is_zlib else None

    def send(self, payload: Json) -> None:
        """Send a payload, unless the connection is muted."""
        if not self.is_muted:
            self._queue.put_nowait(payload)

    def close(self, code: int) -> None:
        """Close after the frames sent before; 1006 breaks the connection at once."""
        self.is_ours_to_end = True
        if code == 1006:
            if self._request.transport is not None:
                self._request.transport.abort()
        else:
            self._queue.put_nowait(code)

    async def write(self) -> None:
        """Send the queued frames until the connection is closed."""
        while True:
            payload = await self._queue.get()
            if isinstance(payload, int):
                await self.socket.close(code=payload)
                return
            text = json.dumps(payload, separators=(",", ":"))
            try:
                if self._packer is None:
                    await self.socket.send_str(text)
                    continue
                packed = self._packer.compress(text.encode())
                await self.socket.send_bytes(packed + self._packer.flush(zlib.Z_SYNC_FLUSH))
            except ConnectionError:
                return


@dataclass(kw_only=True)
class Session:
    """The numbered events of one client; it survives its connections."""

    id: str
    intents: Intents
    line: Line | None = None
    is_lost: bool = False
    sent: list[Json] = field(default_factory=list)

    def notify(self, name: str, data: Json) -> None:
        """Number an event, keep it for a RESUME, and send it if there is a connection."""
        payload = {"op": DISPATCH, "t": name, "s": len(self.sent) + 1, "d": data}
        self.sent.append(payload)
        if self.line is not None:
            self.line.send(payload)


class Gateway:
    """All sessions of the bot."""

    def __init__(self, world: World, token: str, stir: Callable[[], None]) -> None:
        self.world = world
        self.url = ""
        self.heartbeat_interval = 41.25
        self.hellos = 0
        self.identifies = 0
        self.resumes = 0
        self.heartbeats = 0
        self.closing_codes: list[int] = []
        """Codes that close the next IDENTIFY or RESUME."""
        self.presences: list[Json] = []
        self.lines: list[Line] = []
        self._token = token
        self._stir = stir
        self._sessions: dict[str, Session] = {}

    @property
    def live(self) -> list[Session]:
        """Sessions with a connection."""
        return [session for session in self._sessions.values() if session.line is not None]

    def lose_sessions(self) -> None:
        """Make all current sessions impossible to resume."""
        for session in self._sessions.values():
            session.is_lost = True

    def notify(self, event: Event) -> None:
        """Send an event to every session that asked for its kind."""
        for session in self._sessions.values():
            if event.intent and not event.intent & session.intents:
                continue
            data = event.data
            if event.is_masked and not session.intents & Intents.MESSAGE_CONTENT:
                data = hide(data, self.world.bot_id, is_direct=False)
            session.notify(event.name, data)
        self._stir()

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Serve one connection from HELLO to its end."""
        socket = web.WebSocketResponse(timeout=1, max_msg_size=0, compress=False)
        await socket.prepare(request)
        line = Line(socket, request)
        self.lines.append(line)
        writer = asyncio.create_task(line.write())
        try:
            if request.query.get("v") != "10":
                line.close(4012)
            else:
                beat = {"heartbeat_interval": int(self.heartbeat_interval * 1000)}
                line.send({"op": HELLO, "d": beat, "s": None, "t": None})
                self.hellos += 1
            async for frame in socket:
                if frame.type == WSMsgType.TEXT and not line.is_muted:
                    self._hear(line, frame.data)
                    self._stir()
        finally:
            writer.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await writer
            self._hang_up(line)
        return socket

    def _hang_up(self, line: Line) -> None:
        self.lines.remove(line)
        session = line.session
        if session is not None and session.line is line:
            session.line = None
            if not line.is_ours_to_end and line.socket.close_code in _ENDED:
                self._sessions.pop(session.id, None)
        asleep = [one for one in self._sessions.values() if one.line is None]
        for forgotten in asleep[:-_MOST_ASLEEP]:
            del self._sessions[forgotten.id]
        self._stir()

    def _hear(self, line: Line, text: str) -> None:
        try:
            said = json.loads(text)
            number, data = said["op"], said["d"]
        except (ValueError, KeyError, TypeError):
            return line.close(4002)
        match number:
            case 1:
                self.heartbeats += 1
                line.send({"op": ACK, "d": None, "s": None, "t": None})
            case 2:
                self._identify(line, data)
            case 6:
                self._resume(line, data)
            case _ if line.session is None:
                line.close(4003)
            case 3:
                self.presences.append(data)
            case 4:
                pass
            case _:
                line.close(4001)
        return None

    def _refuses(self, line: Line, data: Any) -> bool:
        """Close a connection that may not start."""
        if self.closing_codes:
            line.close(self.closing_codes.pop(0))
        elif line.session is not None:
            line.close(4005)
        elif data.get("token") != self._token:
            line.close(4004)
        else:
            return False
        return True

    def _identify(self, line: Line, data: Any) -> None:
        self.identifies += 1
        if self._refuses(line, data):
            return
        wanted = data.get("intents")
        if not isinstance(wanted, int) or wanted & ~_ALL_INTENTS:
            line.close(4013)
            return
        if wanted & PRIVILEGED & ~self.world.portal:
            line.close(4014)
            return
        session = Session(id=token_hex(16), intents=Intents(wanted), line=line)
        self._sessions[session.id] = session
        line.session = session
        world = self.world
        guilds = [guild for guild in world.guilds.values() if guild.has_bot]
        ready = {
            "v": 10,
            "user": world.users[world.bot_id]
            | {"email": None, "mfa_enabled": True, "verified": True},
            "user_settings": {},
            "session_type": "normal",
            "session_id": session.id,
            "resume_gateway_url": self.url,
            "relationships": [],
            "private_channels": [],
            "presences": [],
            "guilds": [{"id": str(guild.id), "unavailable": True} for guild in guilds],
            "guild_join_requests": [],
            "geo_ordered_rtc_regions": [],
            "shard": data.get("shard", [0, 1]),
            "application": {
                "id": str(world.application_id),
                "flags": world.show_application()["flags"],
            },
            "_trace": [],
        }
        session.notify("READY", ready)
        if session.intents & Intents.GUILDS:
            for guild in guilds:
                session.notify("GUILD_CREATE", world.show_guild(guild) | {"unavailable": False})

    def _resume(self, line: Line, data: Any) -> None:
        self.resumes += 1
        if self._refuses(line, data):
            return
        session = self._sessions.get(str(data.get("session_id")))
        if session is None or session.is_lost:
            self._sessions.pop(str(data.get("session_id")), None)
            line.send({"op": INVALID_SESSION, "d": False, "s": None, "t": None})
            return
        heard = data.get("seq") or 0
        if heard > len(session.sent):
            line.close(4007)
            return
        if session.line is not None:
            session.line.close(4000)
        session.line, line.session = line, session
        for payload in session.sent[heard:]:
            line.send(payload)
        session.notify("RESUMED", {"_trace": []})
