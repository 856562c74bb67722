"""A Honcho server on loopback: the routes of its API v3 that Talaria uses, and faults."""

import asyncio
import itertools
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from aiohttp import web

from tests.emulators.server import LoopbackServer

Json = dict[str, Any]
Fault = Literal["hang", "cut", "late hang", "late cut", "garbage", "html"] | int
"""It never answers, or drops the connection before or after the work was done, or answers
something else, or a status.
"""

WHEN = "2026-11-01T12:00:00Z"
MOST_CHARACTERS = 25_000
MOST_MESSAGES = 100


@dataclass
class Session:
    """One session: who is in it, and what was said."""

    peers: dict[str, Json] = field(default_factory=dict)
    messages: list[Json] = field(default_factory=list)


class HonchoEmulator(LoopbackServer):
    """The server.

    `faults` is called with each request's method and route name, and returns what goes wrong.
    Routes in `missing` do not exist, as on an older server. A peer's representation is its
    messages and its conclusions, one line each.
    """

    def __init__(self) -> None:
        super().__init__()
        self.workspaces: set[str] = set()
        self.peers: dict[str, Json] = {}
        self.cards: dict[str, list[str]] = {}
        self.sessions: dict[str, Session] = {}
        self.conclusions: dict[str, Json] = {}
        self.calls: Counter[str] = Counter()
        self.questions: list[tuple[str, str]] = []
        self.missing: set[str] = set()
        self.faults: Callable[[str, Json], Fault | None] = lambda route, body: None
        self.key: str | None = None
        self.hanging = 0
        self.retry_after = ""
        self._numbers = itertools.count(1)
        self._ended = asyncio.Event()

    @property
    def said(self) -> list[str]:
        """All messages of all sessions, in the order of their arrival."""
        notified = [one for session in self.sessions.values() for one in session.messages]
        return [one["content"] for one in sorted(notified, key=lambda one: int(one["id"][1:]))]

    def concluded(self) -> list[str]:
        """The words of all conclusions."""
        return [one["content"] for one in self.conclusions.values()]

    def application(self) -> web.Application:
        self._ended.clear()
        app = web.Application()
        base = "/v3/workspaces"
        inside = base + "/{workspace}"
        session = inside + "/sessions/{session}"
        peer = inside + "/peers/{peer}"
        for method, path, name, work in (
            ("POST", base, "workspaces", self._make_workspace),
            ("POST", inside + "/peers", "peers", self._make_peer),
            ("POST", inside + "/sessions", "sessions", self._make_session),
            ("DELETE", session, "session", self._delete_session),
            ("POST", session + "/messages", "messages", self._add_messages),
            ("POST", session + "/messages/list", "messages/list", self._list_messages),
            ("POST", peer + "/sessions", "peer/sessions", self._list_sessions),
            ("POST", peer + "/representation", "representation", self._represent),
            ("POST", peer + "/chat", "chat", self._chat),
            ("PUT", peer + "/card", "card", self._set_card),
            ("POST", inside + "/conclusions", "conclusions", self._conclude),
            ("POST", inside + "/conclusions/list", "conclusions/list", self._list_conclusions),
            ("DELETE", inside + "/conclusions/{name}", "conclusion", self._delete_conclusion),
        ):
            app.router.add_route(method, path, self._serve(name, work))
        return app

    async def stop(self) -> None:
        """Cancel hanging requests and close the port."""
        self._ended.set()
        await super().stop()

    def _serve(self, name: str, work: Callable[[web.Request, Json], web.Response]) -> Any:
        async def handle(request: web.Request) -> web.StreamResponse:
            try:
                return await self._answer(request, name, work)
            finally:
                self._stir()

        return handle

    async def _answer(
        self, request: web.Request, name: str, work: Callable[[web.Request, Json], web.Response]
    ) -> web.StreamResponse:
        self.calls[name] += 1
        raw = await request.read()
        body = json.loads(raw) if raw else {}
        if self.key and request.headers.get("Authorization") != f"Bearer {self.key}":
            return _refuse(401, "Invalid key")
        if name in self.missing:
            return _refuse(404, "Not Found")
        fault = self.faults(name, body)
        if fault == "hang":
            await self._hang()
        if fault == "cut":
            return self._cut(request)
        if fault == "garbage":
            return web.json_response([{"words": 1}])
        if fault == "html":
            return web.Response(text="<html>", content_type="text/html")
        if isinstance(fault, int):
            headers = {"Retry-After": self.retry_after} if self.retry_after else None
            return _refuse(fault, f"an emulated fault over {body}", headers)
        answer = work(request, body)
        if fault == "late hang":
            await self._hang()
        return self._cut(request) if fault == "late cut" else answer

    async def _hang(self) -> None:
        self.hanging += 1
        self._stir()
        await self._ended.wait()

    @staticmethod
    def _cut(request: web.Request) -> web.StreamResponse:
        assert request.transport
        request.transport.abort()
        return web.Response()

    def _make_workspace(self, request: web.Request, body: Json) -> web.Response:
        self.workspaces.add(body["id"])
        return _give({"id": body["id"], "created_at": WHEN, "metadata": {}, "configuration": {}})

    def _make_peer(self, request: web.Request, body: Json) -> web.Response:
        return _give(self._peer(body["id"], request))

    def _peer(self, name: str, request: web.Request) -> Json:
        workspace = request.match_info["workspace"]
        return self.peers.setdefault(
            name, {"id": name, "workspace_id": workspace, "created_at": WHEN, "metadata": {}}
        )

    def _make_session(self, request: web.Request, body: Json) -> web.Response:
        session = self.sessions.setdefault(body["id"], Session())
        for name, options in body.get("peers", {}).items():
            self._peer(name, request)
            session.peers[name] = options
        return _give(self._show_session(body["id"], request))

    @staticmethod
    def _show_session(name: str, request: web.Request) -> Json:
        return {
            "id": name,
            "is_active": True,
            "workspace_id": request.match_info["workspace"],
            "created_at": WHEN,
        }

    def _delete_session(self, request: web.Request, body: Json) -> web.Response:
        name = request.match_info["session"]
        if self.sessions.pop(name, None) is None:
            return _refuse(404, f"Session {name} not found")
        for key, one in list(self.conclusions.items()):
            if one["session_id"] == name:
                del self.conclusions[key]
        return web.json_response({"message": "accepted"}, status=202)

    def _add_messages(self, request: web.Request, body: Json) -> web.Response:
        name = request.match_info["session"]
        session = self.sessions.get(name)
        if session is None:
            return _refuse(404, f"Session {name} not found")
        notified = body["messages"]
        if len(notified) > MOST_MESSAGES or any(
            len(one["content"]) > MOST_CHARACTERS for one in notified
        ):
            return _refuse(422, "too long")
        made = [
            {
                "id": f"m{next(self._numbers)}",
                "content": one["content"],
                "peer_id": one["peer_id"],
                "session_id": name,
                "metadata": one.get("metadata", {}),
                "created_at": one.get("created_at", WHEN),
                "workspace_id": request.match_info["workspace"],
                "token_count": 1,
            }
            for one in notified
        ]
        session.messages += made
        return web.json_response(made, status=201)

    def _list_messages(self, request: web.Request, body: Json) -> web.Response:
        name = request.match_info["session"]
        session = self.sessions.get(name)
        if session is None:
            return _refuse(404, f"Session {name} not found")
        step = -1 if request.query.get("reverse") == "true" else 1
        return _page(request, session.messages[::step])

    def _list_sessions(self, request: web.Request, body: Json) -> web.Response:
        name = request.match_info["peer"]
        if name not in self.peers:
            return _refuse(404, f"Peer {name} not found")
        mine = [key for key, session in self.sessions.items() if name in session.peers]
        return _page(request, [self._show_session(key, request) for key in mine])

    def _represent(self, request: web.Request, body: Json) -> web.Response:
        name = request.match_info["peer"]
        if name not in self.peers:
            return _refuse(404, f"Peer {name} not found")
        said = [
            one["content"]
            for session in self.sessions.values()
            for one in session.messages
            if one["peer_id"] == name
        ]
        known = [one["content"] for one in self.conclusions.values() if one["observed_id"] == name]
        return _give({"representation": "\n".join([*known, *said])})

    def _chat(self, request: web.Request, body: Json) -> web.Response:
        name = request.match_info["peer"]
        self.questions.append((name, body["query"]))
        return _give({"content": f"of {name}: {body['query']}"})

    def _set_card(self, request: web.Request, body: Json) -> web.Response:
        self.cards[request.match_info["peer"]] = body["peer_card"]
        return _give({"peer_card": body["peer_card"]})

    def _conclude(self, request: web.Request, body: Json) -> web.Response:
        made = []
        for one in body["conclusions"]:
            if one["observer_id"] not in self.peers:
                return _refuse(404, f"Peer {one['observer_id']} not found")
            name = f"c{next(self._numbers)}"
            self.conclusions[name] = {
                "id": name,
                "content": one["content"],
                "observer_id": one["observer_id"],
                "observed_id": one["observed_id"],
                "session_id": one.get("session_id"),
                "created_at": WHEN,
            }
            made.append(self.conclusions[name])
        return web.json_response(made, status=201)

    def _list_conclusions(self, request: web.Request, body: Json) -> web.Response:
        filters = body.get("filters") or {}
        return _page(
            request,
            [
                one
                for one in self.conclusions.values()
                if all(one[key] == value for key, value in filters.items())
            ],
        )

    def _delete_conclusion(self, request: web.Request, body: Json) -> web.Response:
        if self.conclusions.pop(request.match_info["name"], None) is None:
            return _refuse(404, "Conclusion not found")
        return web.Response(status=204)


def _give(body: Json) -> web.Response:
    return web.json_response(body)


def _refuse(status: int, detail: str, headers: dict[str, str] | None = None) -> web.Response:
    return web.json_response({"detail": detail}, status=status, headers=headers)


def _page(request: web.Request, items: list[Json]) -> web.Response:
    page, size = int(request.query.get("page", 1)), int(request.query.get("size", 50))
    pages = -(-len(items) // size)
    shown = items[(page - 1) * size : page * size]
    return _give({"items": shown, "total": len(items), "page": page, "size": size, "pages": pages})
