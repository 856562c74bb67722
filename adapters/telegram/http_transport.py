"""The SDK's HTTP transport on aiohttp, with a timeout on every wait."""

import asyncio
import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import aiohttp

from adapters.telegram.library import BaseRequest, NetworkError, RequestData, TimedOut
from adapters.toolkit.http import CONNECT_TIMEOUT, make_connector, read_at_most, read_wait

_SILENCE = 25.0
"""Seconds without a byte after which a download is abandoned."""
_DEFAULT_WAIT = 5.0
"""Seconds to wait after a 429 that names no time."""


class NeverLeft(NetworkError):
    """No connection was established, so nothing was sent."""


class Unwell(NetworkError):
    """The server answered with an error of its own (5xx)."""


class TooFast(NetworkError):
    """The server asks for a pause. Replaces the SDK's class, which warns whenever it is created."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"Telegram asks to wait for {seconds:g} s")
        self.seconds = seconds


class NotThere(Exception):
    """The server has no such file."""


class TooLong(Exception):
    """The file exceeds the limit."""


class HttpTransport(BaseRequest):
    """The SDK's transport interface.

    It uses less than half the CPU of the SDK's own, and distinguishes a request that was never
    sent from one without an answer.
    """

    __slots__ = ("_connections", "_session", "_slots", "_timeout")

    def __init__(self, *, connections: int, timeout: float) -> None:
        """Allow `connections` concurrent requests, each of at most `timeout` seconds by default."""
        self._connections = connections
        self._timeout = timeout
        self._session: aiohttp.ClientSession | None = None
        self._slots = asyncio.Semaphore(connections)

    @property
    def read_timeout(self) -> float:
        """Seconds that a request may take by default."""
        return self._timeout

    async def initialize(self) -> None:
        """Prepare to connect; may be called again after `shutdown`."""
        self._session = aiohttp.ClientSession(
            connector=make_connector(self._connections),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"User-Agent": self.USER_AGENT},
        )

    async def shutdown(self) -> None:
        """Close every connection."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def do_request(
        self,
        url: str,
        method: str,
        request_data: RequestData | None = None,
        read_timeout: Any = BaseRequest.DEFAULT_NONE,
        write_timeout: Any = BaseRequest.DEFAULT_NONE,
        connect_timeout: Any = BaseRequest.DEFAULT_NONE,
        pool_timeout: Any = BaseRequest.DEFAULT_NONE,
    ) -> tuple[int, bytes]:
        """Make one request. Raises this module's `NetworkError`s and `TimedOut`.

        Only `read_timeout` is used: it bounds the whole call once a connection is free.
        """
        total = read_timeout if isinstance(read_timeout, int | float) else self._timeout
        timeout = aiohttp.ClientTimeout(total=total, connect=CONNECT_TIMEOUT)
        body, headers = _write_body(request_data)
        async with self._slots:
            with self._open_session() as session:
                async with session.request(
                    method, url, data=body, headers=headers, timeout=timeout, allow_redirects=False
                ) as response:
                    payload = await response.read()
        if response.status == 429:
            raise TooFast(_wait_of(payload, response.headers.get("Retry-After", "")))
        if response.status >= 500:
            raise Unwell(f"{response.status} {response.reason}")
        return response.status, payload

    async def download(self, url: str, *, most_bytes: int, timeout: float) -> bytes:
        """Download a file of at most `most_bytes` within `timeout` seconds.

        Raises `NotThere`, `TooLong`, this module's `NetworkError`s and `TimedOut`.
        """
        limits = aiohttp.ClientTimeout(total=timeout, connect=CONNECT_TIMEOUT, sock_read=_SILENCE)
        async with self._slots:
            with self._open_session() as session:
                async with session.get(url, timeout=limits, allow_redirects=False) as answer:
                    _check_status(answer)
                    data = await read_at_most(answer, most_bytes)
        if data is None:
            raise TooLong
        return data

    @contextmanager
    def _open_session(self) -> Iterator[aiohttp.ClientSession]:
        """Yield the session and map its errors to the SDK's."""
        if self._session is None:
            raise NeverLeft("not connected yet, or not any more")
        try:
            yield self._session
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            raise NeverLeft(str(error)) from error
        except TimeoutError as error:
            raise TimedOut from error
        except aiohttp.ClientError as error:  # the error's text may hold the address with the token
            raise NetworkError(type(error).__name__) from error


def _write_body(data: RequestData | None) -> tuple[bytes | aiohttp.FormData, dict[str, str]]:
    """Build a request's body and headers: JSON, or a form if it contains files."""
    if data is None or not data.contains_files:
        body = json.dumps(data.parameters).encode() if data else b"{}"
        return body, {"Content-Type": "application/json"}
    form = aiohttp.FormData(quote_fields=False, default_to_multipart=True)
    for name, value in data.json_parameters.items():
        form.add_field(name, value)
    for name, (filename, content, media_type) in data.multipart_data.items():
        file = io.BytesIO(content) if isinstance(content, bytes) else content
        form.add_field(name, file, filename=filename, content_type=media_type)
    return form, {}


def _check_status(answer: aiohttp.ClientResponse) -> None:
    if answer.status == 429:
        raise TooFast(_wait_of(b"", answer.headers.get("Retry-After", "")))
    if answer.status >= 500:
        raise Unwell(f"{answer.status} {answer.reason}")
    if answer.status != 200:
        raise NotThere


def _wait_of(payload: bytes, header: str) -> float:
    """Read the seconds that a 429 asks for, from its body or a proxy's header."""
    try:
        answer = json.loads(payload)
    except ValueError:
        answer = None
    parameters = answer.get("parameters") if isinstance(answer, dict) else None
    wait = parameters.get("retry_after") if isinstance(parameters, dict) else None
    if isinstance(wait, int | float):
        return float(wait)
    return read_wait(header, default=_DEFAULT_WAIT)
