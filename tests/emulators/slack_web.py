"""HTTP endpoints of the emulated Slack: Web API, files, response_url, websockets."""

import asyncio
import contextlib
import json
import time
from collections import deque
from collections.abc import Callable

from aiohttp import web

from tests.emulators import (
    slack_chat,
    slack_files,
    slack_reads,
    slack_streams,
    slack_surfaces,
)
from tests.emulators.slack_faults import DROP, ERROR, LATE, LIMIT, LOSE, SLOW, UNWELL, Fault
from tests.emulators.slack_shapes import Json, Refusal
from tests.emulators.slack_sockets import Sockets
from tests.emulators.slack_world import World

_BODY_LIMIT = 100_000_000
_STRUCTURES = ("attachments", "blocks", "chunks", "files", "loading_messages", "metadata", "view")
_LOGIN_PAGE = "<!DOCTYPE html><html><title>Sign in</title></html>"
Method = Callable[[World, Json], Json]

_METHODS: dict[str, Method] = {
    "auth.test": slack_reads.auth,
    "bots.info": slack_reads.bot,
    "users.info": slack_reads.user,
    "users.conversations": slack_reads.own_channels,
    "conversations.info": slack_reads.info,
    "conversations.members": slack_reads.members,
    "conversations.history": slack_reads.history,
    "conversations.replies": slack_reads.replies,
    "chat.postMessage": slack_chat.post,
    "chat.update": slack_chat.update,
    "chat.delete": slack_chat.delete,
    "chat.startStream": slack_streams.start,
    "chat.appendStream": slack_streams.append,
    "chat.stopStream": slack_streams.stop,
    "reactions.add": slack_surfaces.react,
    "reactions.remove": slack_surfaces.unreact,
    "views.publish": slack_surfaces.publish,
    "agents.sessions.setStatus": slack_surfaces.set_session,
    "assistant.threads.setStatus": slack_surfaces.set_assistant,
    "files.getUploadURLExternal": slack_files.ask_upload,
    "files.completeUploadExternal": slack_files.complete,
    "files.info": slack_files.info,
}


class Endpoints:
    """Everything that an app may call over HTTP."""

    def __init__(self, world: World, sockets: Sockets, stir: Callable[[], None]) -> None:
        self.world = world
        self.sockets = sockets
        self.calls: list[tuple[str, Json]] = []
        self.faults: dict[str, list[Fault]] = {}
        self.closed: dict[str, str] = {}
        """Refused methods, with their error codes."""
        self.response_urls: dict[str, slack_chat.ResponseUrl] = {}
        self.late = 0
        """Calls not applied yet, see `slack_faults.LATE`."""
        self.limits: dict[str, tuple[int, float]] = {}
        """By method: calls within seconds; chat.postMessage is counted by channel."""
        self.closing = asyncio.Event()
        """Set while it stops, to cancel slow answers."""
        self._taken: dict[tuple[str, str], deque[float]] = {}
        self._stir = stir

    def application(self) -> web.Application:
        """All routes."""
        application = web.Application(client_max_size=_BODY_LIMIT)
        application.router.add_route("*", "/api/{method}", self._serve)
        application.router.add_post("/upload/v1/{file_id}", self._upload)
        application.router.add_get("/files-pri/{file_id}/{rest:.*}", self._download)
        application.router.add_post("/response/{ticket}", self._answer)
        application.router.add_get("/link/", self.sockets.serve)
        return application

    def response_url(self, url: slack_chat.ResponseUrl) -> str:
        """Open a response_url."""
        ticket = self.world.next_id("R")
        self.response_urls[ticket] = url
        return f"{self.world.address}/response/{ticket}"

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        method = request.match_info["method"]
        try:
            parameters = await _read(request)
            token = _token(request, parameters)
            self.calls.append((method, parameters))
            fault = self._next_fault(method, parameters)
            if fault is not None and fault.kind in (DROP, LIMIT, UNWELL, ERROR):
                return self._break(request, fault)
            if not self._fits(method, parameters):
                return self._break(request, Fault(kind=LIMIT))
            if fault is not None and fault.kind is LATE:
                self._postpone(fault.seconds, method, token, parameters)
                return self._break(request, fault)
            answer = {"ok": True} | self._perform(method, token, parameters)
        except Refusal as refusal:
            return _refused(refusal)
        finally:
            self._stir()
        if fault is not None and fault.kind is LOSE:
            return self._break(request, fault)
        if fault is not None and fault.kind is SLOW:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(fault.seconds):
                    await self.closing.wait()
        scopes = (
            {"X-OAuth-Scopes": ",".join(self.world.app.scopes)} if self.world.app.scopes else {}
        )
        return web.json_response(answer, headers=scopes)

    def _postpone(self, seconds: float, method: str, token: str, parameters: Json) -> None:
        self.late += 1

        def perform() -> None:
            self.late -= 1
            with contextlib.suppress(Refusal):
                self._perform(method, token, parameters)
            self._stir()

        asyncio.get_running_loop().call_later(seconds, perform)

    def _perform(self, method: str, token: str, parameters: Json) -> Json:
        app = self.world.app
        if not token:
            raise Refusal("not_authed")
        if method == "apps.connections.open":
            if token != app.app_token:
                raise Refusal(
                    "not_allowed_token_type" if token == app.bot_token else "invalid_auth"
                )
            return self.sockets.ask(self.world.address)
        if token != app.bot_token:
            raise Refusal("not_allowed_token_type" if token == app.app_token else "invalid_auth")
        self._check_open(method)
        if method == "chat.stopStream" and parameters.get("session_status"):
            self._check_open("agents.sessions.setStatus")
        if method not in _METHODS:
            raise Refusal("unknown_method")
        return _METHODS[method](self.world, parameters)

    def _check_open(self, method: str) -> None:
        if method in self.closed:
            raise Refusal(self.closed[method])

    def _next_fault(self, method: str, parameters: Json) -> Fault | None:
        channel = parameters.get("channel") or parameters.get("channel_id")
        for planned in (self.faults.get(method, []), self.faults.get("*", [])):
            for index, fault in enumerate(planned):
                if fault.channel in (None, channel):
                    return planned.pop(index)
        return None

    def _fits(self, method: str, parameters: Json) -> bool:
        """Count the call, and return whether the limit allows it."""
        if method not in self.limits:
            return True
        most, seconds = self.limits[method]
        channel = str(parameters.get("channel")) if method == "chat.postMessage" else ""
        taken = self._taken.setdefault((method, channel), deque())
        now = time.monotonic()
        while taken and taken[0] <= now - seconds:
            taken.popleft()
        if len(taken) >= most:
            return False
        taken.append(now)
        return True

    def _break(self, request: web.Request, fault: Fault) -> web.Response:
        match fault.kind:
            case "error":
                return _refused(Refusal(fault.code))
            case "limit":
                body = {"ok": False, "error": "ratelimited"}
                headers = {"Retry-After": str(fault.retry_after)}
                return web.json_response(body, status=429, headers=headers)
            case "unwell":
                return web.Response(status=fault.status, text="upstream connect error")
            case _:
                if request.transport is not None:
                    request.transport.abort()
                return web.Response()

    async def _upload(self, request: web.Request) -> web.Response:
        file_id = request.match_info["file_id"]
        if request.content_type == "multipart/form-data":
            form = await request.post()
            (field,) = form.values()
            content = field.file.read() if isinstance(field, web.FileField) else str(field).encode()
        else:
            content = await request.read()
        self.calls.append(("upload", {"file_id": file_id, "length": len(content)}))
        fault = self._next_fault("upload", {})
        if fault is not None and fault.kind is not LOSE:
            return self._break(request, fault)
        try:
            slack_files.upload(self.world, file_id, content)
        except Refusal as refusal:
            return web.Response(status=404, text=refusal.code)
        if fault is not None:
            return self._break(request, fault)
        return web.Response(text=f"OK - {len(content)}")

    async def _download(self, request: web.Request) -> web.Response:
        file_id = request.match_info["file_id"].rpartition("-")[2]
        fault = self._next_fault("download", {})
        if fault is not None:
            return self._break(request, fault)
        if request.headers.get("Authorization") != f"Bearer {self.world.app.bot_token}":
            return web.Response(text=_LOGIN_PAGE, content_type="text/html")
        if file_id not in self.world.contents:
            raise web.HTTPNotFound
        kind = self.world.files[file_id]["mimetype"]
        return web.Response(body=self.world.contents[file_id], content_type=kind)

    async def _answer(self, request: web.Request) -> web.Response:
        url = self.response_urls.get(request.match_info["ticket"])
        parameters = await _read(request)
        self.calls.append(("response_url", parameters))
        fault = self._next_fault("response_url", parameters)
        if fault is not None:
            return self._break(request, fault)
        try:
            if url is None:
                raise Refusal("expired_url")
            slack_chat.answer(self.world, url, parameters)
        except Refusal as refusal:
            body = {"ok": False, "error": refusal.code}
            return web.json_response(body, status=404 if refusal.code.endswith("_url") else 200)
        finally:
            self._stir()
        return web.Response(text="ok")


def _refused(refusal: Refusal) -> web.Response:
    body: Json = {"ok": False, "error": refusal.code}
    if refusal.messages:
        body["response_metadata"] = {"messages": list(refusal.messages)}
        body["errors"] = [message.removeprefix("[ERROR] ") for message in refusal.messages]
    return web.json_response(body)


async def _read(request: web.Request) -> Json:
    """Return parameters from the address, a form or JSON, decoded. Raises `Refusal`."""
    parameters: Json = dict(request.query)
    if request.can_read_body:
        if request.content_type == "application/json":
            try:
                body = json.loads(await request.read())
            except ValueError:
                raise Refusal("invalid_json") from None
            if not isinstance(body, dict):
                raise Refusal("json_not_object")
            parameters |= body
        else:
            parameters |= dict(await request.post())
    for key in _STRUCTURES:
        if isinstance(parameters.get(key), str):
            try:
                parameters[key] = json.loads(parameters[key])
            except ValueError:
                raise Refusal("invalid_arguments", f"[ERROR] {key} is no JSON") from None
    return parameters


def _token(request: web.Request, parameters: Json) -> str:
    bearer = request.headers.get("Authorization", "")
    return bearer.removeprefix("Bearer ") or str(parameters.pop("token", ""))
