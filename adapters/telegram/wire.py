"""The SDK's seam for HTTP, on aiohttp: requests, uploads, downloads, with a limit on every wait."""

import asyncio
import io
import json
from typing import Any

import aiohttp
from telegram.error import NetworkError, TimedOut
from telegram.request import BaseRequest, RequestData

_CONNECT_TIMEOUT = 10.0
_SILENCE = 25.0
"""Seconds without a byte after which a download is given up."""
_IDLE = 30.0
"""Seconds after which an unused connection is closed, before a server or router does so
unseen, which would make the next message an unsure one."""
_DEFAULT_WAIT = 5.0
"""Seconds to wait on a 429 that does not say for how long."""


class NeverLeft(NetworkError):
    """No connection came about, therefore nothing was sent."""


class Unwell(NetworkError):
    """The server answered that it can't answer."""


class TooFast(NetworkError):
    """The server asks for a pause. The SDK's own class for it warns whenever it is made."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"Telegram asks to wait for {seconds:g} s")
        self.seconds = seconds


class NotThere(Exception):
    """The server has no such file."""


class TooLong(Exception):
    """The file has more bytes than were wanted."""


class Wire(BaseRequest):
    """The SDK's seam for HTTP: less than half the CPU of its own, and it tells a request that
    never left from one that got no answer.
    """

    __slots__ = ("_connections", "_session", "_slots", "_timeout")

    def __init__(self, *, connections: int, timeout: float) -> None:
        """At most so many requests at once, each of at most `timeout` seconds by itself."""
        self._connections = connections
        self._timeout = timeout
        self._session: aiohttp.ClientSession | None = None
        self._slots = asyncio.Semaphore(connections)

    @property
    def read_timeout(self) -> float:
        """Seconds that a request may take where nothing else is said."""
        return self._timeout

    async def initialize(self) -> None:
        """Get ready to connect; may be called again after `shutdown`."""
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=self._connections, keepalive_timeout=_IDLE),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"User-Agent": self.USER_AGENT},
        )

    async def shutdown(self) -> None:
        """Close every connection."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def do_request(  # noqa: PLR0913 - the SDK's signature
        self,
        url: str,
        method: str,
        request_data: RequestData | None = None,
        read_timeout: Any = BaseRequest.DEFAULT_NONE,
        write_timeout: Any = BaseRequest.DEFAULT_NONE,
        connect_timeout: Any = BaseRequest.DEFAULT_NONE,
        pool_timeout: Any = BaseRequest.DEFAULT_NONE,
    ) -> tuple[int, bytes]:
        """Make one request. Raises the `NetworkError`s of this module and `TimedOut`.

        Of the timeouts only `read_timeout` is heeded: it bounds the call as a whole, once it
        is its turn.
        """
        total = read_timeout if isinstance(read_timeout, int | float) else self._timeout
        timeout = aiohttp.ClientTimeout(total=total, connect=_CONNECT_TIMEOUT)
        body, headers = _write_body(request_data)
        async with self._slots:
            if self._session is None:
                raise NeverLeft("not connected yet, or not any more")
            try:
                async with self._session.request(
                    method, url, data=body, headers=headers, timeout=timeout, allow_redirects=False
                ) as response:
                    payload = await response.read()
            except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
                raise NeverLeft(str(error)) from error
            except TimeoutError as error:
                raise TimedOut from error
            except aiohttp.ClientError as error:  # its text may hold the address with the token
                raise NetworkError(type(error).__name__) from error
        if response.status == 429:
            raise TooFast(_read_wait(payload, response.headers.get("Retry-After", "")))
        if response.status >= 500:
            raise Unwell(f"{response.status} {response.reason}")
        return response.status, payload

    async def download(self, url: str, *, most_bytes: int, timeout: float) -> bytes:
        """A file, read no further than `most_bytes`, within `timeout` seconds.

        Raises `NotThere`, `TooLong`, the `NetworkError`s of this module and `TimedOut`.
        """
        limits = aiohttp.ClientTimeout(total=timeout, connect=_CONNECT_TIMEOUT, sock_read=_SILENCE)
        async with self._slots:
            if self._session is None:
                raise NeverLeft("not connected yet, or not any more")
            try:
                async with self._session.get(url, timeout=limits, allow_redirects=False) as answer:
                    _check_status(answer)
                    return await _read_at_most(answer, most_bytes)
            except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
                raise NeverLeft(str(error)) from error
            except TimeoutError as error:
                raise TimedOut from error
            except aiohttp.ClientError as error:
                raise NetworkError(type(error).__name__) from error


def _write_body(data: RequestData | None) -> tuple[bytes | aiohttp.FormData, dict[str, str]]:
    """The body of a request and its headers: JSON, or a form where there are files in it."""
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
        raise TooFast(_read_wait(b"", answer.headers.get("Retry-After", "")))
    if answer.status >= 500:
        raise Unwell(f"{answer.status} {answer.reason}")
    if answer.status != 200:
        raise NotThere


async def _read_at_most(answer: aiohttp.ClientResponse, most_bytes: int) -> bytes:
    if answer.content_length is not None and answer.content_length > most_bytes:
        raise TooLong
    data = bytearray()
    async for chunk in answer.content.iter_chunked(65_536):
        data += chunk
        if len(data) > most_bytes:
            raise TooLong
    return bytes(data)


def _read_wait(payload: bytes, header: str) -> float:
    """The seconds that a 429 asks for, in its body or, from a proxy, in its header."""
    try:
        answer = json.loads(payload)
    except ValueError:
        answer = None
    parameters = answer.get("parameters") if isinstance(answer, dict) else None
    wait = parameters.get("retry_after") if isinstance(parameters, dict) else None
    if isinstance(wait, int | float):
        return float(wait)
    return float(header) if header.isdecimal() else _DEFAULT_WAIT
