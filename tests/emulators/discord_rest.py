"""The REST API of the emulated Discord: routes, bodies and responses."""

import asyncio
import json
import mimetypes
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from aiohttp import BodyPartReader, web

from tests.emulators.discord_faults import Fault, Kind, PlannedFaults
from tests.emulators.discord_interactions import Interactions
from tests.emulators.discord_limits import Limits
from tests.emulators.discord_menus import check_commands, leave_out_translations
from tests.emulators.discord_messages import Messages
from tests.emulators.discord_rules import Refusal, unknown
from tests.emulators.discord_shapes import Json, Sent
from tests.emulators.discord_world import Guild, Place

Hook = Callable[[str, str], Awaitable[None]]
VERSION = "/api/v10"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One parsed request."""

    ids: tuple[str, ...]
    """The path's parameters."""
    body: Any
    files: list[Sent]
    query: dict[str, str]

    def number(self, place: int) -> int:
        """Return an id of the path. Raises `Refusal`."""
        try:
            return int(self.ids[place])
        except ValueError:
            raise Refusal(404, 0, "404: Not Found") from None


Act = Callable[[Call], Any]


class Rest:
    """All routes of one world."""

    def __init__(self, interactions: Interactions, token: str, stir: Callable[[], None]) -> None:
        self.interactions = interactions
        self.messages: Messages = interactions.messages
        self.world = interactions.world
        self.limits = Limits()
        self.mishaps = PlannedFaults()
        self.calls: list[tuple[str, str]] = []
        self.before: Hook | None = None
        self.after: Hook | None = None
        self.gateway_url = ""
        self.starts_left = 1000
        self._token = token
        self._stir = stir
        self._routes = [
            (method, re.compile(re.sub(r"\*", "([^/]+)", path)), path, act)
            for (method, path), act in self._table().items()
        ]

    def _table(self) -> dict[tuple[str, str], Act]:
        world, messages, answers = self.world, self.messages, self.interactions
        message = "/channels/*/messages/*"
        hook = "/webhooks/*/*"
        return {
            ("GET", "/gateway"): lambda _: {"url": self.gateway_url},
            ("GET", "/gateway/bot"): lambda _: self._notify_gateway(),
            ("GET", "/users/@me"): lambda _: world.users[world.bot_id],
            ("POST", "/users/@me/channels"): self._open_dm,
            ("GET", "/oauth2/applications/@me"): lambda _: world.show_application(),
            ("GET", "/applications/@me"): lambda _: world.show_application(),
            ("GET", "/applications/*/commands"): self._show_commands,
            ("PUT", "/applications/*/commands"): self._sync,
            ("GET", "/guilds/*"): self._guild,
            ("GET", "/channels/*"): lambda c: world.show_channel(world.reach(c.number(0))),
            ("GET", "/channels/*/messages"): lambda c: [
                messages.show_to_app(one) for one in messages.read(c.number(0), c.query)
            ],
            ("GET", "/channels/*/threads/archived/public"): lambda c: world.show_archived(
                world.reach(c.number(0)), c.query
            ),
            ("POST", "/channels/*/messages"): lambda c: messages.show_to_app(
                messages.send(c.number(0), c.body, c.files), has_nonce=True
            ),
            ("GET", message): lambda c: messages.show_to_app(
                messages.get(c.number(0), c.number(1))
            ),
            ("PATCH", message): lambda c: messages.show_to_app(
                messages.edit(messages.get(c.number(0), c.number(1)), c.body, c.files)
            ),
            ("DELETE", message): lambda c: messages.delete(
                messages.get(c.number(0), c.number(1))
            ),
            ("PUT", f"{message}/reactions/*/@me"): lambda c: self._react(c, is_on=True),
            ("DELETE", f"{message}/reactions/*/@me"): lambda c: self._react(c, is_on=False),
            ("POST", "/channels/*/typing"): lambda c: messages.type_in(c.number(0)),
            ("POST", f"{message}/threads"): self._open_thread,
            ("POST", "/interactions/*/*/callback"): self._call_back,
            ("POST", hook): lambda c: answers.follow_up(c.ids[1], c.body, c.files),
            ("GET", f"{hook}/messages/*"): lambda c: answers.look_up(c.ids[1], c.ids[2]),
            ("PATCH", f"{hook}/messages/*"): lambda c: answers.edit(
                c.ids[1], c.ids[2], c.body, c.files
            ),
            ("DELETE", f"{hook}/messages/*"): lambda c: answers.delete(c.ids[1], c.ids[2]),
        }  # fmt: skip

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Answer one call."""
        path = request.rel_url.raw_path.removeprefix(VERSION)
        self.calls.append((request.method, unquote(path)))
        try:
            return await self._perform(request, path)
        except Refusal as refusal:
            return answer(refusal.body, status=refusal.status)
        finally:
            self._stir()

    async def serve_file(self, request: web.Request) -> web.StreamResponse:
        """Return an attachment; links need no token."""
        file = self.messages.files.get(request.path)
        if file is None:
            return web.Response(status=404, text="This content is no longer available.")
        return web.Response(body=file.data, headers={"Content-Type": file.content_type})

    async def _perform(self, request: web.Request, path: str) -> web.StreamResponse:
        if self.before is not None:
            await self.before(request.method, path)
        fault = self.mishaps.take(request.method, path)
        if fault is not None and fault.kind not in (Kind.LOSE, Kind.SLOW):
            return _break(request, fault)
        is_open = path.startswith(("/webhooks/", "/interactions/"))  # their token is in the path
        if not is_open and request.headers.get("Authorization") != f"Bot {self._token}":
            raise Refusal(401, 0, "401: Unauthorized")
        name, act, ids = self._find(request.method, path)
        verdict = self.limits.judge(
            f"{request.method} {name}", ids[0] if ids else "", is_exempt=is_open
        )
        if verdict.retry_after is not None:
            return limited(verdict.retry_after, verdict.headers, is_global=verdict.is_global)
        body, files = await read_body(request)
        call = Call(ids=ids, body=body, files=files, query=dict(request.query))
        try:
            result = act(call)
        except (KeyError, TypeError, ValueError, AttributeError) as bad:
            raise Refusal(400, 50035, f"Invalid Form Body: {bad!r}") from bad
        self._stir()
        if self.after is not None:
            await self.after(request.method, path)
        if fault is not None and fault.kind is Kind.LOSE:
            return _break(request, fault)
        if fault is not None:
            await asyncio.sleep(fault.seconds)
        if result is None:
            return web.Response(status=204, headers=verdict.headers)
        return answer(result, headers=verdict.headers)

    def _find(self, method: str, path: str) -> tuple[str, Act, tuple[str, ...]]:
        is_known = False
        for wanted, pattern, name, act in self._routes:
            match = pattern.fullmatch(path)
            if match is not None:
                is_known = True
                if wanted == method:
                    return name, act, tuple(unquote(piece) for piece in match.groups())
        if is_known:
            raise Refusal(405, 0, "405: Method Not Allowed")
        raise Refusal(404, 0, "404: Not Found")

    # Single routes

    def _notify_gateway(self) -> Json:
        limit = {
            "total": 1000,
            "remaining": self.starts_left,
            "reset_after": 86_400_000,
            "max_concurrency": 1,
        }
        return {"url": self.gateway_url, "shards": 1, "session_start_limit": limit}

    def _open_dm(self, call: Call) -> Json:
        user_id = int(call.body["recipient_id"])
        if user_id not in self.world.users:
            raise unknown("User", 10013)
        if user_id == self.world.bot_id:
            raise Refusal(400, 50007, "Cannot send messages to this user")
        return self.world.show_channel(self.world.dm(user_id))

    def _reach_guild(self, call: Call) -> Guild:
        guild = self.world.guilds.get(call.number(0))
        if guild is None or not guild.has_bot:
            raise unknown("Guild", 10004)
        return guild

    def _guild(self, call: Call) -> Json:
        guild = self._reach_guild(call)
        shown = self.world.show_guild(guild)
        inside = ("channels", "threads", "members", "member_count", "presences", "voice_states")
        has_counts = "with_counts" in call.query and not self.world.hides_counts
        hidden = inside if has_counts else (*inside, *_COUNTS)
        return {key: value for key, value in shown.items() if key not in hidden}

    def _show_commands(self, call: Call) -> list[Json]:
        """List the commands; translations only for those who ask for them."""
        if call.query.get("with_localizations") == "true":
            return self.interactions.commands
        return [leave_out_translations(one) for one in self.interactions.commands]

    def _sync(self, call: Call) -> list[Json]:
        check_commands(call.body)
        known = {one["name"]: one["id"] for one in self.interactions.commands}
        self.interactions.commands = [
            {
                "type": 1,
                "default_member_permissions": None,
                "dm_permission": True,
                "nsfw": False,
                **one,
                "id": known.get(one["name"]) or str(self.world.take_id()),
                "application_id": str(self.world.application_id),
                "version": str(self.world.take_id()),
            }
            for one in call.body
        ]
        return self.interactions.commands

    def _react(self, call: Call, *, is_on: bool) -> None:
        message = self.messages.get(call.number(0), call.number(1))
        emoji = call.ids[2]
        if emoji.isascii() and ":" not in emoji:
            raise unknown("Emoji", 10014)
        self.messages.react(message, emoji, self.world.bot_id, is_on=is_on)

    def _open_thread(self, call: Call) -> Json:
        """A thread from a message has the message's id."""
        parent = self.world.reach(call.number(0))
        if parent.guild_id is None or parent.kind == Place.THREAD:
            raise Refusal(400, 50024, "Cannot execute action on this channel type")
        name = str(call.body.get("name") or "")
        if not 1 <= len(name) <= 100:
            raise Refusal(400, 50035, "Invalid Form Body")
        thread_id = self.messages.get(parent.id, call.number(1)).id
        if thread_id in self.world.channels:
            raise Refusal(400, 160004, "A thread has already been created for this message")
        thread = self.world.channel(
            parent.guild_id,
            name,
            Place.THREAD,
            parent_id=parent.id,
            owner_id=self.world.bot_id,
            channel_id=thread_id,
        )
        return self.world.show_channel(thread)

    def _call_back(self, call: Call) -> Json | None:
        shown = self.interactions.call_back(call.number(0), call.ids[1], call.body, call.files)
        return shown if call.query.get("with_response") in ("1", "true") else None


_COUNTS = ("approximate_member_count", "approximate_presence_count")


async def read_body(request: web.Request) -> tuple[Any, list[Sent]]:
    """JSON, or the parts of a form with `payload_json` and files. Raises `Refusal`."""
    if not request.can_read_body:
        return {}, []
    try:
        if request.content_type != "multipart/form-data":
            return json.loads(await request.read() or b"{}"), []
        body: Any = {}
        files = []
        async for part in await request.multipart():
            assert isinstance(part, BodyPartReader)
            if part.name == "payload_json":
                body = json.loads(await part.text())
            elif part.filename is not None:
                kind = _guess(part.filename) or part.headers.get("Content-Type", "")
                files.append(
                    Sent(name=part.filename, data=bytes(await part.read()), content_type=kind)
                )
    except ValueError:
        raise Refusal(400, 50109, "The request body contains invalid JSON.") from None
    return body, files


def _guess(name: str) -> str | None:
    return mimetypes.guess_type(name)[0]


def answer(body: Any, *, status: int = 200, headers: dict[str, str] | None = None) -> web.Response:
    """Answer JSON with the exact type discord.py expects: `application/json`, no charset."""
    return web.Response(
        body=json.dumps(body).encode(),
        status=status,
        headers={"Content-Type": "application/json", **(headers or {})},
    )


def limited(retry_after: float, headers: dict[str, str], *, is_global: bool) -> web.Response:
    """429. Discord's own have a `Via` header; discord.py gives up on others."""
    body = {
        "message": "You are being rate limited.",
        "retry_after": retry_after,
        "global": is_global,
    }
    headers = {**headers, "Via": "1.1 google", "Retry-After": str(int(retry_after) + 1)}
    return answer(body, status=429, headers=headers)


def _break(request: web.Request, fault: Fault) -> web.Response:
    if fault.kind is Kind.LIMIT:
        headers = {"X-RateLimit-Scope": "global" if fault.is_global else "user"}
        if fault.is_global:
            headers["X-RateLimit-Global"] = "true"
        return limited(fault.retry_after, headers, is_global=fault.is_global)
    if fault.kind is Kind.ERROR and fault.code is None:
        text = f"<html><h1>{fault.status}</h1></html>"
        return web.Response(status=fault.status, text=text, content_type="text/html")
    if fault.kind is Kind.ERROR:
        return answer({"message": fault.message, "code": fault.code}, status=fault.status)
    if request.transport is not None:
        request.transport.abort()
    return web.Response()
