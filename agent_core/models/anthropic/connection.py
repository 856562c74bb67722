"""The connection to Anthropic's Messages API: its headers, its errors, and its stream of events."""

import json
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from typing import Protocol

import aiohttp
from yarl import URL

from agent_core.models.http import find_proxy
from agent_core.models.images import chunk_large

VERSION = "2026-10-21"
"""The version of the API whose requests and events this package knows."""
_CONNECT_SECONDS = 10.0
_CONNECTIONS = 10_000
"""The most concurrent turns; aiohttp's default of 100 would make people wait."""
_KEPT_SECONDS = 30.0
"""Seconds to keep an idle connection: a new handshake per message costs more."""
_MOST_ERROR_BYTES = 65_536
_MOST_QUOTED = 500

_ERROR = b"error"
_PING = b"ping"


class ApiError(Exception):
    """An error that the API answered: as a status, or as an event of a stream, whose status is 200.

    The text is what the API said.
    """

    def __init__(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        self.status = status
        self.retry_after = headers.get("retry-after")
        self.request_id = headers.get("request-id", "")
        text = body.decode(errors="replace").strip()
        try:
            error = json.loads(text)["error"]
        except (ValueError, TypeError, KeyError):
            error = None
        self.kind = _read(error, "type")
        self.code = _read(error.get("details"), "error_code") if isinstance(error, dict) else ""
        super().__init__(_read(error, "message") or text[:_MOST_QUOTED])


def _read(value: object, key: str) -> str:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""


class Connection:
    """A pool of connections that authenticates its requests with one key."""

    def __init__(self, address: str, api_key: str, timeout: float) -> None:
        """`timeout` is the seconds of silence that end a call."""
        url = URL(address)
        sign_in = aiohttp.BasicAuth.from_url(url)
        self._address = str(url.with_user(None)).rstrip("/")
        self._proxy = find_proxy(address)
        self._headers = {
            "Accept": "application/json",
            "Content-Type": "application/json",
            # An address with a name and a password is of a server in front of the API.
            "Authorization": sign_in.encode() if sign_in else f"Bearer {api_key}",
            "anthropic-version": VERSION,
        }
        self._timeout = aiohttp.ClientTimeout(
            total=None,
            connect=timeout,
            sock_connect=min(timeout, _CONNECT_SECONDS),
            sock_read=timeout,
        )
        self._session: aiohttp.ClientSession | None = None

    async def get(self, path: str) -> aiohttp.ClientResponse:
        """Make a request. Raises `ApiError`, and what aiohttp raises."""
        return await self._request("GET", path, None)

    async def post(self, path: str, body: bytes) -> aiohttp.ClientResponse:
        """Make a request with JSON. Raises `ApiError`, and what aiohttp raises."""
        return await self._request("POST", path, body)

    async def close(self) -> None:
        """Close every connection."""
        if self._session is not None:
            await self._session.close()

    async def _request(self, method: str, path: str, body: bytes | None) -> aiohttp.ClientResponse:
        if self._session is None:  # it belongs to the running loop
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=_CONNECTIONS, keepalive_timeout=_KEPT_SECONDS),
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=self._timeout,
            )
        headers = self._headers
        if body is not None:
            headers = {**headers, "Content-Length": str(len(body))}
        response = await self._session.request(
            method,
            URL(f"{self._address}{path}", encoded=True),
            data=None if body is None else chunk_large(body),
            headers=headers,
            proxy=self._proxy,
        )
        if response.status < 400:
            return response
        raise ApiError(response.status, await _read_error(response), response.headers)


async def _read_error(response: aiohttp.ClientResponse) -> bytes:
    """Read the beginning of an error's body; the status counts even if the body breaks off."""
    said = b""
    with suppress(aiohttp.ClientError, OSError):
        async with response:
            while len(said) < _MOST_ERROR_BYTES and (chunk := await response.content.readany()):
                said += chunk
    return said


class Body(Protocol):
    """The part of aiohttp's reader of a body that a stream of events needs."""

    async def readany(self) -> bytes:
        """The bytes that have arrived; empty at the end."""


class EventStream:
    """The events of one call, in order."""

    def __init__(self, body: Body, headers: Mapping[str, str]) -> None:
        """Takes over `body`, unread; `headers` are those of its answer."""
        self._body = body
        self._headers = headers
        self._rest = b""
        self._ready: deque[object] = deque()
        self._fault: Exception | None = None

    async def next(self) -> object | None:
        """The next event; None at the end.

        Raises `ApiError` for an error event, `ValueError` for invalid JSON, and what reading
        raises.
        """
        while not self._ready:
            if self._fault:
                raise self._fault
            chunk = await self._body.readany()
            if not chunk:
                return None
            self._take(chunk)
        return self._ready.popleft()

    def _take(self, chunk: bytes) -> None:
        """Parse the complete events; an event is complete after its blank line."""
        text = self._rest + chunk
        if b"\r" in text:  # JSON holds none of its own
            text = text.replace(b"\r\n", b"\n")
        *whole, self._rest = text.split(b"\n\n")
        try:
            for lines in whole:
                self._read(lines)
        except (ApiError, ValueError) as error:
            self._fault = error  # what came before it counts

    def _read(self, lines: bytes) -> None:
        name, data = b"", b""
        for line in lines.split(b"\n"):
            if line.startswith(b"data:"):
                data += line[5:]
            elif line.startswith(b"event:"):
                name = line[6:].strip()
        if name == _ERROR:
            raise ApiError(200, data, self._headers)
        if data and name != _PING:
            self._ready.append(json.loads(data.decode()))
