"""A server that makes pictures, on loopback, in OpenAI's wire format.

https://platform.openai.com/docs/api-reference/images/create
"""

import asyncio
import base64
import json
from collections import deque
from dataclasses import dataclass, field
from typing import Literal

from aiohttp import web

from tests.emulators.pictures import make_png
from tests.emulators.server import LoopbackServer

KEY = "sk-right"
MODEL = "gpt-image-2.5-flare"
FAULTS: dict[str, tuple[int, dict[str, object]]] = {
    "refused": (
        400,
        {
            "message": "Your request was rejected by the safety system. Request ID: req_1.",
            "type": "image_generation_user_error",
            "param": None,
            "code": "moderation_blocked",
        },
    ),
    "crowded": (
        429,
        {
            "message": "Rate limit reached for gpt-image-2.5-flare on images per min.",
            "type": "requests",
            "param": None,
            "code": "rate_limit_exceeded",
        },
    ),
    "poor": (
        400,
        {
            "message": "Billing hard limit has been reached.",
            "type": "image_generation_user_error",
            "param": None,
            "code": "billing_hard_limit_reached",
        },
    ),
    "broken": (
        500,
        {
            "message": "The server had an error while processing your request.",
            "type": "server_error",
            "param": None,
            "code": None,
        },
    ),
    "size": (
        400,
        {
            "message": "Invalid value: '7x7'.",
            "type": "invalid_request_error",
            "param": "size",
            "code": "invalid_value",
        },
    ),
}
"""Answers to requests that get no picture: status and `error`."""


@dataclass
class ImageServer(LoopbackServer):
    """Makes the same `picture` for each request. `asked` holds the requests.

    `faults` names the answers to the next requests, `body` replaces every answer. `way` is how the
    picture comes: inside the answer, or as an address, on this server or elsewhere.
    """

    host: str = "127.0.0.1"
    picture: bytes = field(default_factory=lambda: make_png(64, 64, fill=90))
    way: Literal["b64_json", "url", "data", "elsewhere"] = "b64_json"
    faults: deque[str] = field(default_factory=deque)
    body: bytes | None = None
    asked: list[dict[str, object]] = field(default_factory=list)
    released: asyncio.Event | None = None
    """Each request waits for it, if there is one."""

    def __post_init__(self) -> None:
        super().__init__(host=self.host)

    @property
    def base_url(self) -> str:
        """The address that a client gets."""
        return f"{self.url}/v1"

    def application(self) -> web.Application:
        application = web.Application()
        application.router.add_post("/v1/images/generations", self._make)
        application.router.add_get("/made/{name}", self._give)
        return application

    async def _make(self, request: web.Request) -> web.Response:
        wanted = json.loads(await request.read())
        self.asked.append(wanted)
        self._stir()
        if self.released:
            await self.released.wait()
        if request.headers.get("Authorization") != f"Bearer {KEY}":
            return _refuse(401, {"message": "Incorrect API key provided.", "type": "", "code": ""})
        if self.faults:
            return _refuse(*FAULTS[self.faults.popleft()])
        if wanted["model"] != MODEL:
            return _refuse(
                400,
                {
                    "message": f"The model '{wanted['model']}' does not exist.",
                    "type": "invalid_request_error",
                    "param": "model",
                    "code": "model_not_found",
                },
            )
        if self.body is not None:
            return web.Response(body=self.body, content_type="application/json")
        inside = base64.b64encode(self.picture).decode()
        found = {
            "b64_json": {"b64_json": inside},
            "url": {"url": f"{self.url}/made/1.png", "revised_prompt": "x"},
            "data": {"url": f"data:image/png;base64,{inside}"},
            "elsewhere": {"url": "http://127.0.0.2:9/made/1.png"},
        }[self.way]
        usage = {"input_tokens": 12, "output_tokens": 1056, "total_tokens": 1068}
        return web.json_response({"created": 1764374400, "data": [found], "usage": usage})

    async def _give(self, request: web.Request) -> web.Response:
        return web.Response(body=self.picture, content_type="image/png")


def _refuse(status: int, error: dict[str, object]) -> web.Response:
    return web.json_response({"error": error}, status=status)
