"""Answers requests to the web addresses of jobs."""

import hashlib
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import Response

from agent_core.errors import StoreError
from gateway.app.lifecycle import Gateway
from gateway.interfaces.api.responses import read_body, refuse

_DELIVERY = ("Idempotency-Key", "X-GitHub-Delivery", "webhook-id")
"""Headers that identify a delivery, so that a repeated delivery starts its job only once."""
_MINUTE = 60_000
_CROWDED = "The job was started too often this hour."
_RETRY_AFTER = "3600"
_MOST_KEY = 200
_MOST_BYTES = 64 * 1024


class Webhooks:
    """Answers below `/hooks/`."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    async def receive(self, request: Request) -> Response:
        """Start the job of an address, and answer 202 once the start is on disk.

        404 for an unknown address, 413 for more than 64 KB, 429 if the job was started too often in
        an hour, and 503 while the store is unavailable.
        """
        gateway, data = self._gateway, await read_body(request, _MOST_BYTES)
        named = next((request.headers[name] for name in _DELIVERY if name in request.headers), "")
        key = named[:_MOST_KEY] or _name_body(data, gateway.now())
        body = data.decode(errors="replace").replace("\0", "")
        try:
            outcome = await gateway.event_jobs.call(request.path_params["secret"], key, body)
        except StoreError:
            return refuse(HTTPStatus.SERVICE_UNAVAILABLE, "The request was not stored. Repeat it.")
        if outcome == "unknown":
            return refuse(HTTPStatus.NOT_FOUND, "There is no such address.")
        if outcome == "crowded":
            answer = refuse(HTTPStatus.TOO_MANY_REQUESTS, _CROWDED)
            answer.headers["Retry-After"] = _RETRY_AFTER
            return answer
        return refuse(HTTPStatus.ACCEPTED, "The job starts.")


def _name_body(data: bytes, now: int) -> str:
    """Identify a delivery without an id: equal bodies within the same minute are one delivery."""
    return hashlib.sha256(b"%d:%b" % (now // _MINUTE, data)).hexdigest()
