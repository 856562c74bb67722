"""signal-cli's daemon on loopback: JSON-RPC over HTTP with server-sent events, TCP and a socket.

What arrives while no client is connected stays at Signal's servers, as with
`--receive-mode=manual`. What was written to a socket is gone; server-sent events are kept
(SseEventBuffer) and sent again after `Last-Event-ID`.
"""

import asyncio
import contextlib
import json
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from aiohttp import web

from tests.emulators.server import LoopbackServer
from tests.emulators.signal_world import ACCOUNT, ACI, Json, Refusal, SignalWorld

_KEPT = 1000
_LONGEST_TEXT = 20_000_000
"""signal-cli closes the connection of a request with a longer text (tried with 0.13.19)."""
FaultKind = Literal["lose", "drop", "refuse", "hang", "late"]
"""Applied without an answer, not applied, refused, never done, or answered after `let_go` only."""
LINK = "sgnl://linkdevice?uuid=Vjk3&pub_key=BSFo"
_MULTI = ("version", "listAccounts", "startLink", "finishLink")


class SignalEmulator(LoopbackServer):
    """The daemon for one account; `path` is its Unix socket."""

    ends_left_requests = True

    def __init__(self, *, path: Path | None = None, keeps_events: bool = True) -> None:
        super().__init__()
        self.world = SignalWorld()
        self.world.notify = self.arrive
        self.path = path
        self.keeps_events = keeps_events
        """Whether events have ids; False before they came (signal-cli 0.13)."""
        self.account = ACCOUNT
        self.phone: str | None = ACCOUNT
        """The account of the phone that scans the code; None if nobody does."""
        self.before: Callable[[str], None] = lambda _: None
        self.after: Callable[[str], None] = lambda _: None
        self.calls: list[tuple[str, Json]] = []
        self.headers: list[str] = []
        """`Last-Event-ID` of each stream."""
        self.breaks = 0
        """How many streams are to break at the next event."""
        self._faults: list[tuple[str, FaultKind, Json | None]] = []
        self._held = asyncio.Event()
        self._start = self.world.now()
        """The first part of an event's id (SseEventBuffer)."""
        self._sequence = 0
        self._kept: deque[tuple[int, str]] = deque(maxlen=_KEPT)
        self._waiting: list[str] = []
        """Notices at Signal's servers."""
        self._told: list[str] = []
        self._streams: list[web.StreamResponse] = []
        self._writers: list[asyncio.StreamWriter] = []
        self._servers: list[asyncio.Server] = []
        self.tcp_port = 0

    # Life

    async def start(self) -> None:
        await super().start()
        tcp = await asyncio.start_server(
            self._serve_socket, self.host, self.tcp_port, limit=2 * _LONGEST_TEXT
        )
        self.tcp_port = tcp.sockets[0].getsockname()[1]
        self._servers = [tcp]
        if self.path:
            self.path.unlink(missing_ok=True)
            unix = await asyncio.start_unix_server(
                self._serve_socket, self.path, limit=2 * _LONGEST_TEXT
            )
            self._servers.append(unix)

    async def stop(self) -> None:
        for server in self._servers:
            server.close()
        await self.break_connections()
        await super().stop()

    async def break_connections(self) -> None:
        """Cut every stream and socket."""
        for writer in self._writers:
            writer.transport.abort()
        for stream in self._streams:
            _abort(stream)
        self._writers.clear()
        self._streams.clear()
        await asyncio.sleep(0)

    def forget_events(self) -> None:
        """Begin again with no kept events, as a daemon that was restarted."""
        self._start = self.world.now()
        self._kept.clear()
        self._sequence = 0

    @property
    def is_connected(self) -> bool:
        """Whether a client receives."""
        return bool(self._streams or self._writers)

    # Faults

    def fail(self, method: str, kind: FaultKind, error: Json | None = None) -> None:
        """Let the next call of a method fail; "send+file" is a send with a file."""
        self._faults.append((method, kind, error))

    def let_go(self) -> None:
        """Answer the calls that are late."""
        self._held.set()

    def clear_faults(self) -> None:
        self._faults.clear()
        self.breaks = 0

    def _take_fault(self, method: str, params: Json) -> tuple[FaultKind, Json | None] | None:
        names = {method, f"{method}+file"} if params.get("attachments") else {method}
        for fault in self._faults:
            if fault[0] in names:
                self._faults.remove(fault)
                return fault[1], fault[2]
        return None

    # What arrives

    def arrive(self, envelope: Json) -> None:
        """Bring an envelope to a client, or keep it until there is one."""
        self.tell({"envelope": envelope, "account": self.account})

    def tell(self, notice: Json) -> None:
        """Bring any notice."""
        self._waiting.append(json.dumps(notice))
        self._flush()
        self._stir()

    def write_raw(self, line: bytes) -> None:
        """Write anything to every socket."""
        for writer in self._writers:
            writer.write(line)

    def redeliver(self, last: int = _KEPT) -> None:
        """Bring the newest notices again."""
        self._waiting += self._told[-last:]
        self._flush()

    def _flush(self) -> None:
        if not self.is_connected:
            return
        waiting, self._waiting = self._waiting, []
        for text in waiting:
            if text not in self._told:
                self._told.append(text)
            self._sequence += 1
            self._kept.append((self._sequence, text))
            if self.breaks:
                self.breaks -= 1
                for stream in self._streams:
                    _abort(stream)
                self._streams.clear()
            for stream in self._streams:
                self._write_event(stream, self._sequence, text)
            for writer in self._writers:
                notice = {"subscription": 0, "result": json.loads(text)}
                message = {"jsonrpc": "2.0", "method": "receive", "params": notice}
                writer.write(json.dumps(message).encode() + b"\n")

    def _write_event(self, stream: web.StreamResponse, sequence: int, text: str) -> None:
        name = f"id:{self._start}-{sequence}\n" if self.keeps_events else ""
        transport = stream._req.transport if stream._req else None
        if transport is not None and not transport.is_closing():
            payload = f"{name}event:receive\ndata:{text}\n\n".encode()
            transport.write(b"%x\r\n%b\r\n" % (len(payload), payload))

    # HTTP

    def application(self) -> web.Application:
        app = web.Application(client_max_size=200_000_000)
        app.router.add_post("/api/v1/rpc", self._post)
        app.router.add_get("/api/v1/events", self._stream)
        app.router.add_get("/api/v1/check", self._check)
        return app

    async def _check(self, _: web.Request) -> web.Response:
        return web.Response()

    async def _post(self, request: web.Request) -> web.StreamResponse:
        if not request.content_type.startswith("application/json"):
            return web.Response(status=415)
        answer = await self._answer((await request.read()).decode())
        if answer is None:
            _abort_request(request)
            await asyncio.sleep(3600)
        return web.json_response(answer)

    async def _stream(self, request: web.Request) -> web.StreamResponse:
        account = request.query.get("account", "")
        if account and account != self.account:
            return web.Response(status=400)
        stream = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        stream.enable_chunked_encoding()
        await stream.prepare(request)
        last = request.headers.get("Last-Event-ID", "")
        self.headers.append(last)
        if last and self.keeps_events:
            start, _, sequence = last.partition("-")
            after = int(sequence) if start == str(self._start) else 0
            for number, text in self._kept:
                if number > after:
                    self._write_event(stream, number, text)
        self._streams.append(stream)
        self._flush()
        self._stir()
        try:
            while True:
                await asyncio.sleep(15)
                await stream.write(b":\n")
        finally:
            if stream in self._streams:
                self._streams.remove(stream)

    # Sockets

    async def _serve_socket(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        with contextlib.suppress(OSError, ValueError, asyncio.CancelledError):
            async with asyncio.TaskGroup() as tasks:
                while line := await reader.readline():
                    tasks.create_task(self._reply(line.decode(), writer))
        if writer in self._writers:
            self._writers.remove(writer)
        writer.close()

    async def _reply(self, line: str, writer: asyncio.StreamWriter) -> None:
        answer = await self._answer(line)
        if answer is None:
            if writer in self._writers:
                self._writers.remove(writer)
            writer.transport.abort()
            return
        writer.write(json.dumps(answer).encode() + b"\n")
        if '"subscribeReceive"' in line and "error" not in answer and writer not in self._writers:
            self._writers.append(writer)
            self._flush()

    # Calls

    async def _answer(self, text: str) -> Json | None:
        """Answer a request; None for one whose connection is to break."""
        try:
            request = json.loads(text)
        except ValueError as error:
            return _failed(None, -32700, str(error))
        number, params = request.get("id"), dict(request.get("params") or {})
        method = request.get("method")
        if any(len(one) > _LONGEST_TEXT for one in params.get("attachments") or ()):
            return None
        if not method:
            return _failed(number, -32600, "method field must be set")
        self.calls.append((method, params))
        self._stir()
        fault = self._take_fault(method, params)
        if fault and fault[0] == "hang":
            await asyncio.sleep(3600)
        if fault and fault[0] == "drop":
            return None
        if fault and fault[0] == "refuse":
            return {"jsonrpc": "2.0", "error": fault[1], "id": number}
        self.before(method)
        try:
            result = self._run(method, params)
        except Refusal as refusal:
            return {"jsonrpc": "2.0", "error": refusal.error, "id": number}
        finally:
            self.after(method)
            self._stir()
        if fault and fault[0] == "late":
            await self._held.wait()
            fault = None
        return None if fault else {"jsonrpc": "2.0", "result": result, "id": number}

    def _run(self, method: str, params: Json) -> Any:
        account = params.pop("account", None)
        if method == "startLink":
            return {"deviceLinkUri": LINK}
        if method == "finishLink":
            if self.phone is None:
                raise Refusal(-1, "Link request timed out, please try again.")
            self.account = self.phone
            return {"number": self.phone, "aci": ACI}
        if method == "listAccounts":
            return [{"number": self.account, "aci": ACI}]
        if account is None and method not in _MULTI:
            raise Refusal(-32602, "Method requires valid account parameter")
        if account not in (None, self.account):
            raise Refusal(-32602, "Specified account does not exist")
        if method == "subscribeReceive":
            return 0
        return self.world.call(method, params)


def _failed(number: object, code: int, message: str) -> Json:
    error = {"code": code, "message": message, "data": None}
    return {"jsonrpc": "2.0", "error": error, "id": number}


def _abort(stream: web.StreamResponse) -> None:
    if stream._req:
        _abort_request(stream._req)


def _abort_request(request: Any) -> None:
    if request.transport is not None:
        request.transport.abort()
