"""A receiver of webhooks on loopback, which checks signatures with the specification's library."""

import asyncio
import json
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from standardwebhooks import Webhook

from tests.emulators.server import LoopbackServer


@dataclass(frozen=True)
class Received:
    """One request: its event id, its body, and the answer that it got."""

    id: str
    told: Mapping[str, Any]
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def kind(self) -> str:
        return str(self.told["type"])

    def verify(self, secret: str) -> None:
        """Raise the library's error if the signature is wrong."""
        Webhook(secret).verify(self.body, dict(self.headers))


@dataclass
class Plan:
    """How to answer one request; with `hangs`, never."""

    status: int = 204
    headers: Mapping[str, str] = field(default_factory=dict)
    hangs: bool = False
    body: bytes = b""


class Receiver(LoopbackServer):
    """Answers by its plans, then by the last one; `received` has every request."""

    def __init__(self) -> None:
        super().__init__()
        self.received: list[Received] = []
        self.plans: deque[Plan] = deque([Plan()])
        self.refused: set[str] = set()
        """Ids of events that are never accepted."""
        self.secret = ""
        """If set, each request is checked at once, since its time may be five minutes old at most;
        one with a wrong signature is not received."""

    def answer(self, *plans: Plan) -> None:
        """Answer the next requests so; the last one answers all that follow."""
        self.plans = deque(plans)

    @property
    def url(self) -> str:
        return f"{super().url}/hook"

    @property
    def kinds(self) -> list[str]:
        return [one.kind for one in self.received]

    async def gets(self, count: int) -> list[Received]:
        """Wait for so many requests, and return all."""
        await self.wait_for(lambda: len(self.received) >= count)
        return self.received

    def application(self) -> web.Application:
        application = web.Application()
        application.router.add_route("*", "/{path:.*}", self._receive)
        return application

    async def _receive(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        plan = self.plans.popleft() if len(self.plans) > 1 else self.plans[0]
        headers = {name.lower(): value for name, value in request.headers.items()}
        if headers.get("webhook-id") in self.refused:
            plan = Plan(400)
        told = json.loads(body) if body else {}
        one = Received(headers.get("webhook-id", ""), told, plan.status, headers, body)
        if self.secret:
            one.verify(self.secret)
        self.received.append(one)
        self._stir()
        if plan.hangs:
            with suppress(asyncio.CancelledError):
                await asyncio.Event().wait()
        return web.Response(status=plan.status, headers=dict(plan.headers), body=plan.body)
