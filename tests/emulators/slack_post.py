"""HTTP mode: the same deliveries as signed requests to the app's address."""

import asyncio
import hashlib
import hmac
import json
import time
from urllib.parse import urlencode

import aiohttp

from tests.emulators.slack_delivery import OutboxDispatcher, Parcel
from tests.emulators.slack_shapes import Json

_TIMEOUT = 3.0
"""Seconds that an app has to answer."""
_FORM = "application/x-www-form-urlencoded"


class Unverified(Exception):
    """The address didn't answer the challenge."""


class Post:
    """Sends parcels to one address."""

    def __init__(self, url: str, signing_secret: str, delivery: OutboxDispatcher) -> None:
        self.url = url
        self._secret = signing_secret.encode()
        self._delivery = delivery
        self._tasks: set[asyncio.Task[None]] = set()

    async def verify(self) -> None:
        """Ask the address whether it is the app's. Raises `Unverified`."""
        challenge = "a-challenge-that-comes-back"
        question = {"token": "emulated", "challenge": challenge, "type": "url_verification"}
        status, answer, _ = await self._request(json.dumps(question), "application/json", {})
        if status != 200 or challenge not in answer:
            raise Unverified(f"{status} {answer}")

    def carry(self, parcel: Parcel) -> bool:
        """Start sending."""
        task = asyncio.create_task(self._deliver(parcel, parcel.envelope_ids[-1], parcel.attempt))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return True

    async def close(self) -> None:
        """Cancel running requests."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _deliver(self, parcel: Parcel, envelope_id: str, attempt: int) -> None:
        kind, body = _FORM, urlencode(parcel.payload if parcel.kind == "slash_commands" else {})
        if parcel.kind == "interactive":
            body = urlencode({"payload": json.dumps(parcel.payload)})
        elif parcel.kind == "events_api":
            kind, body = "application/json", json.dumps(parcel.payload)
        retry = {"x-slack-retry-num": str(attempt), "x-slack-retry-reason": "http_timeout"}
        try:
            status, answer, headers = await self._request(body, kind, retry if attempt else {})
        except (aiohttp.ClientError, TimeoutError):
            return
        if 200 <= status < 300 or headers.get("x-slack-no-retry") == "1":
            self._delivery.acknowledge(envelope_id, _payload(answer))

    async def _request(self, body: str, kind: str, headers: Json) -> tuple[int, str, Json]:
        stamp = str(int(time.time()))
        signed = hmac.new(self._secret, f"v0:{stamp}:{body}".encode(), hashlib.sha256)
        headers = headers | {
            "content-type": kind,
            "x-slack-request-timestamp": stamp,
            "x-slack-signature": f"v0={signed.hexdigest()}",
        }
        timeout = aiohttp.ClientTimeout(total=_TIMEOUT)
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.post(self.url, data=body.encode(), headers=headers) as answer,
        ):
            found = {name.lower(): value for name, value in answer.headers.items()}
            return answer.status, await answer.text(), found


def _payload(answer: str) -> Json | None:
    """Return an app's answer to a command: an object, or text."""
    if not answer.strip():
        return None
    try:
        found = json.loads(answer)
    except ValueError:
        return {"text": answer}
    return found if isinstance(found, dict) else None
