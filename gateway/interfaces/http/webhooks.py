"""Requests to the web addresses of jobs."""

import hashlib
from http import HTTPStatus

from aiohttp import web

from agent_core.errors import StoreError
from gateway.bootstrap.lifecycle import Gateway

GATEWAY = web.AppKey("gateway", Gateway)
"""Where an application keeps the gateway that it serves."""

_DELIVERY = ("Idempotency-Key", "X-GitHub-Delivery", "webhook-id")
"""Headers that name a delivery, so that a repeated one starts its job once."""
_MINUTE = 60_000
_RETRY_AFTER = "3600"
_MOST_KEY = 200


async def receive(request: web.Request) -> web.Response:
    """Start the job of an address, and answer 202 once that is on disk.

    404 for an unknown address, 413 for more than 64 KB, 429 if the job was started too often in an
    hour, and 503 while the store is unavailable.
    """
    gateway, data = request.app[GATEWAY], await request.read()
    named = next((request.headers[name] for name in _DELIVERY if name in request.headers), "")
    key = named[:_MOST_KEY] or _name_body(data, gateway.now())
    body = data.decode(errors="replace").replace("\0", "")
    try:
        outcome = await gateway.event_jobs.call(request.match_info["secret"], key, body)
    except StoreError:
        return _answer(HTTPStatus.SERVICE_UNAVAILABLE, "The request was not stored. Repeat it.")
    if outcome == "unknown":
        return _answer(HTTPStatus.NOT_FOUND, "There is no such address.")
    if outcome == "crowded":
        answer = _answer(HTTPStatus.TOO_MANY_REQUESTS, "The job was started too often this hour.")
        answer.headers["Retry-After"] = _RETRY_AFTER
        return answer
    return _answer(HTTPStatus.ACCEPTED, "The job starts.")


def _name_body(data: bytes, now: int) -> str:
    """Name a delivery without a name: equal bodies within a minute are one."""
    return hashlib.sha256(b"%d:%b" % (now // _MINUTE, data)).hexdigest()


def _answer(status: HTTPStatus, sentence: str) -> web.Response:
    return web.Response(status=status, text=f"{sentence}\n")
