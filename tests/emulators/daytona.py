"""Daytona's API on loopback: sandboxes, and the toolbox in each, which really runs commands.

A sandbox is a folder and the processes of one toolbox. As in Daytona, a session's command reads
from a pipe that stays open, its outputs are cut into lines, each with a mark of its stream, and
bytes that are no text get lost. Deleting a session kills the tree of its command, but no process
that left the tree; only stopping the sandbox ends everything.
"""

import asyncio
import itertools
import json
import os
import signal
from asyncio.subprocess import Process
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from aiohttp import web

from agent_core.execution.subprocesses.process_tree import list_below
from tests.emulators.adopted import end_adopter, read_report, start_adopted

Json = dict[str, Any]
Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]
KEY = "dtn-only-a-test"
_OUT, _ERR = b"\x01\x01\x01", b"\x02\x02\x02"
_LONGEST_LINE = 1 << 22


@dataclass(eq=False)
class Command:
    """A command of a session: its log as the toolbox writes it, and its status."""

    id: str
    text: str
    adopter: Process
    log: bytearray = field(default_factory=bytearray)
    status: int | None = None
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    task: asyncio.Task[None] | None = None


@dataclass(eq=False)
class Sandbox:
    """A sandbox: what the API tells about it, its folder and its sessions."""

    id: str
    told: Json
    folder: Path
    sessions: dict[str, list[Command]] = field(default_factory=dict)
    ended: list[Command] = field(default_factory=list)
    """Commands of deleted sessions; something of them may still run."""

    @property
    def commands(self) -> list[Command]:
        """All that were started since it woke."""
        return [*self.ended, *itertools.chain(*self.sessions.values())]


class DaytonaEmulator:
    """The server. `starts` and `stops` count what sandboxes did; `touched` their signs of use."""

    def __init__(self, folder: Path) -> None:
        self.sandboxes: dict[str, Sandbox] = {}
        self.starts = self.stops = self.touched = 0
        self.is_down = False
        self._folder = folder
        self._numbers = itertools.count(1)
        self._sockets: set[web.WebSocketResponse] = set()
        self._runner: web.AppRunner | None = None
        self.url = ""

    async def __aenter__(self) -> Self:
        app = web.Application(middlewares=[self._check], client_max_size=1 << 24)
        sandbox, session = "/api/sandbox/{sandbox}", "/toolbox/{sandbox}/process/session"
        command = session + "/{session}/command/{command}"
        app.add_routes(
            [
                web.get("/api/sandbox", self._list),
                web.post("/api/sandbox", self._create),
                web.get(sandbox, self._get),
                web.post(sandbox + "/start", self._start),
                web.post(sandbox + "/stop", self._stop),
                web.post(sandbox + "/network-settings", self._set_network),
                web.post(sandbox + "/last-activity", self._touch),
                web.get(session, self._list_sessions),
                web.post(session, self._create_session),
                web.delete(session + "/{session}", self._delete_session),
                web.post(session + "/{session}/exec", self._execute),
                web.get(command + "/logs", self._follow),
                web.post(command + "/input", self._send_input),
            ]
        )
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{port}/api"
        return self

    async def __aexit__(self, *_: object) -> None:
        for sandbox in self.sandboxes.values():
            await self.halt(sandbox)
        if self._runner:
            await self._runner.cleanup()

    async def halt(self, sandbox: Sandbox) -> None:
        """Stop a sandbox, as Daytona itself does with an idle one."""
        for command in sandbox.commands:
            await end_adopter(command.adopter)
            if command.task:
                await command.task
        sandbox.sessions.clear()
        sandbox.ended.clear()
        sandbox.told["state"] = "stopped"

    async def cut(self) -> None:
        """Break every stream of a log."""
        for socket in [*self._sockets]:
            await socket.close(code=1011, message=b"the proxy restarts")

    @web.middleware
    async def _check(self, request: web.Request, handler: Answer) -> web.StreamResponse:
        if self.is_down:
            return _fail(503, "no runner is available")
        if request.headers.get("Authorization") != f"Bearer {KEY}":
            return _fail(401, "Unauthorized")
        return await handler(request)

    async def _list(self, request: web.Request) -> web.StreamResponse:
        wanted = json.loads(request.query.get("labels", "{}"))
        items = [
            sandbox.told
            for sandbox in self.sandboxes.values()
            if wanted.items() <= sandbox.told["labels"].items()
        ]
        return web.json_response({"items": items, "nextCursor": None})

    async def _create(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        if any(sandbox.told["name"] == body["name"] for sandbox in self.sandboxes.values()):
            return _fail(409, "a sandbox with this name exists")
        number = f"sandbox-{next(self._numbers)}"
        folder = self._folder / number
        folder.mkdir(parents=True)
        told = {
            "id": number,
            "organizationId": "organization",
            "name": body["name"],
            "user": "daytona",
            "env": body.get("env") or {},
            "labels": body.get("labels") or {},
            "public": False,
            "networkBlockAll": bool(body.get("networkBlockAll")),
            "autoStopInterval": body.get("autoStopInterval", 15),
            "kvm": False,
            "target": body.get("target") or "eu",
            "cpu": body.get("cpu") or 1,
            "gpu": body.get("gpu") or 0,
            "memory": body.get("memory") or 1,
            "disk": 3,
            "toolboxProxyUrl": self.url.removesuffix("/api") + "/toolbox",
            "state": "started",
        }
        if build := body.get("buildInfo"):
            moment = "2026-01-01T00:00:00Z"
            told["buildInfo"] = {
                **build,
                "createdAt": moment,
                "updatedAt": moment,
                "snapshotRef": "daytona-1",
            }
        self.sandboxes[number] = Sandbox(id=number, told=told, folder=folder)
        self.starts += 1
        return web.json_response(told)

    async def _get(self, request: web.Request) -> web.StreamResponse:
        return web.json_response(self._find(request).told)

    async def _start(self, request: web.Request) -> web.StreamResponse:
        sandbox = self._find(request)
        if sandbox.told["state"] == "started":
            return _fail(409, "Sandbox is not in a state to be started")
        sandbox.told["state"] = "started"
        self.starts += 1
        return web.json_response(sandbox.told)

    async def _stop(self, request: web.Request) -> web.StreamResponse:
        sandbox = self._find(request)
        await self.halt(sandbox)
        self.stops += 1
        return web.json_response(sandbox.told)

    async def _set_network(self, request: web.Request) -> web.StreamResponse:
        sandbox = self._find(request)
        sandbox.told["networkBlockAll"] = (await request.json())["networkBlockAll"]
        return web.json_response(sandbox.told)

    async def _touch(self, request: web.Request) -> web.StreamResponse:
        self._find(request)
        self.touched += 1
        return web.Response()

    async def _list_sessions(self, request: web.Request) -> web.StreamResponse:
        sandbox = self._find_running(request)
        return web.json_response(
            [
                {
                    "sessionId": name,
                    "commands": [{"id": command.id, "command": command.text} for command in known],
                }
                for name, known in sandbox.sessions.items()
            ]
        )

    async def _create_session(self, request: web.Request) -> web.StreamResponse:
        sandbox = self._find_running(request)
        name = (await request.json())["sessionId"]
        if name in sandbox.sessions:
            return _fail(409, "session already exists")
        sandbox.sessions[name] = []
        return web.Response(status=201)

    async def _delete_session(self, request: web.Request) -> web.StreamResponse:
        sandbox = self._find_running(request)
        commands = sandbox.sessions.pop(request.match_info["session"], None)
        if commands is None:
            return _fail(404, "session not found")
        sandbox.ended += commands
        for command in commands:
            if command.status is None:
                for shell in list_below(command.adopter.pid)[:1]:
                    await _terminate(shell)
        return web.Response(status=204)

    async def _execute(self, request: web.Request) -> web.StreamResponse:
        sandbox = self._find_running(request)
        commands = sandbox.sessions.get(request.match_info["session"])
        if commands is None:
            return _fail(404, "session not found")
        body = await request.json()
        assert body["runAsync"], "only commands in the background are emulated"
        assert body["suppressInputEcho"], "input would appear in the output"
        adopter, reports = await start_adopted(
            ("bash", "-c", body["command"]), sandbox.folder, sandbox.folder, _LONGEST_LINE
        )
        command = Command(
            id=f"command-{next(self._numbers)}", text=body["command"], adopter=adopter
        )
        command.task = asyncio.create_task(_record(command, reports))
        commands.append(command)
        return web.json_response({"cmdId": command.id}, status=202)

    async def _follow(self, request: web.Request) -> web.StreamResponse:
        command = self._find_command(request)
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        self._sockets.add(socket)
        listening = asyncio.create_task(socket.receive())  # answers pings
        sent = 0
        try:
            while not socket.closed:
                async with command.changed:
                    while len(command.log) == sent and command.status is None:
                        await command.changed.wait()
                    piece, is_over = bytes(command.log[sent:]), command.status is not None
                sent += len(piece)
                if piece:
                    await socket.send_bytes(piece)
                if is_over:
                    await socket.close()
        except ConnectionError:
            pass  # the client has enough
        finally:
            self._sockets.discard(socket)
            listening.cancel()
        return socket

    async def _send_input(self, request: web.Request) -> web.StreamResponse:
        command = self._find_command(request)
        if command.status is not None:
            return _fail(410, "command has already completed")
        data = (await request.json())["data"]
        assert command.adopter.stdin
        command.adopter.stdin.write((data if data.endswith("\n") else f"{data}\n").encode())
        with suppress(ConnectionError):
            await command.adopter.stdin.drain()
        return web.Response(status=204)

    def _find(self, request: web.Request) -> Sandbox:
        wanted = request.match_info["sandbox"]
        for sandbox in self.sandboxes.values():
            if wanted in (sandbox.id, sandbox.told["name"]):
                return sandbox
        raise web.HTTPNotFound(text='{"message": "Sandbox not found", "statusCode": 404}')

    def _find_running(self, request: web.Request) -> Sandbox:
        sandbox = self._find(request)
        if sandbox.told["state"] != "started":
            raise web.HTTPBadRequest(text='{"message": "no IP address found. Is it started?"}')
        return sandbox

    def _find_command(self, request: web.Request) -> Command:
        commands = self._find_running(request).sessions.get(request.match_info["session"], [])
        for command in commands:
            if command.id == request.match_info["command"]:
                return command
        raise web.HTTPNotFound(text='{"message": "command not found", "statusCode": 404}')


async def _record(command: Command, reports: int) -> None:
    """Write the log of a command until it and its outputs have ended."""

    async def label(stream: asyncio.StreamReader | None, mark: bytes) -> None:
        assert stream
        while line := await stream.readline():
            async with command.changed:
                command.log += mark + line.replace(b"\0", b"").rstrip(b"\n") + b"\n"
                command.changed.notify_all()

    status = await asyncio.gather(
        label(command.adopter.stdout, _OUT),
        label(command.adopter.stderr, _ERR),
        read_report(reports),
    )
    async with command.changed:
        command.status = status[2]
        command.changed.notify_all()


async def _terminate(pid: int) -> None:
    """End the tree below a process and itself: kindly at first, as Daytona does."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        for found in (*list_below(pid), pid):
            with suppress(ProcessLookupError):
                os.kill(found, sign)
        if sign == signal.SIGTERM:
            await asyncio.sleep(0.2)


def _fail(status: int, message: str) -> web.Response:
    return web.json_response({"message": message, "statusCode": status}, status=status)
