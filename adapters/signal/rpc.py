"""Carries JSON-RPC to signal-cli over a socket or HTTP."""

import asyncio
import io
import itertools
import json
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import aiohttp

from adapters.errors import AdapterError, NotLinked, Unreachable, Unsure
from adapters.signal.settings import RpcAddress, SignalSettings, read_rpc_address
from adapters.toolkit.http import CONNECT_TIMEOUT, make_connector, name_mishap, read_at_most
from adapters.toolkit.text import Json, inside, number_in, words_in

_LONGEST_LINE = 140_000_000
"""The most bytes of a line: an attachment of 100 MB, the largest that Signal has, as base64."""
_CONNECTIONS = 20
_OK, _BAD_REQUEST = 200, 400


class RpcError(Exception):
    """signal-cli refuses a call: the code, its sentence, and the results so far, if any."""

    def __init__(self, error: Json) -> None:
        self.code = number_in(error, "code", default=0)
        self.said = words_in(error, "message").strip() or "no reason given"
        self.response = inside(inside(error, "data"), "response")
        super().__init__(f"{self.said} ({self.code})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """A notification of signal-cli about what it received, with its place in the stream, if any."""

    text: str
    event: str = ""
    """The id of a server-sent event, "start-number"; empty where nothing can be replayed."""


def describe_missing(account: str) -> str:
    """Say that the daemon does not serve the account, and what helps."""
    return (
        f"signal-cli does not know the account {account}. Link it with `talaria setup signal`, or"
        " correct SIGNAL_ACCOUNT, and restart Talaria."
    )


class Rpc(Protocol):
    """A connection to signal-cli."""

    @property
    def is_open(self) -> bool:
        """Whether a call can reach signal-cli now."""

    def connect(self) -> AbstractAsyncContextManager[None]:
        """Connect for calls only. Raises `Unreachable`."""

    def open(self, last_event: str) -> AbstractAsyncContextManager[AsyncIterator[list[Notice]]]:
        """Connect and receive; `last_event` is the newest event that is stored.

        Yields what has gathered. The iterator raises `Unreachable` once the connection ends.
        """

    async def call(self, method: str, params: Json, *, lost: type[AdapterError] = Unsure) -> Any:
        """Call a method and return its result.

        Raises `RpcError` if it is refused, `Unreachable` if it surely did not run, and `lost` if
        nobody knows.
        """


def make_rpc(settings: SignalSettings) -> Rpc:
    """Choose the transport by the address."""
    address = read_rpc_address(settings.rpc_url)
    return HttpRpc(address, settings) if address.kind == "http" else SocketRpc(address, settings)


class SocketRpc:
    """JSON lines over a Unix or TCP socket: answers and notifications on one connection."""

    def __init__(self, address: RpcAddress, settings: SignalSettings) -> None:
        self._address = address
        self._settings = settings
        self._numbers = itertools.count(1)
        self._writer: asyncio.StreamWriter | None = None
        self._arrived: asyncio.Queue[Notice | None] = asyncio.Queue()
        self._waiting: dict[int, asyncio.Future[Json]] = {}

    @asynccontextmanager
    async def open(self, last_event: str) -> AsyncIterator[AsyncIterator[list[Notice]]]:
        """Connect, and subscribe to what arrives; a socket replays nothing."""
        arrived = self._arrived = asyncio.Queue()
        async with self.connect():
            await self._subscribe()
            yield _gather(arrived)

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[None]:
        """Connect, and read until the end."""
        reader, self._writer = await self._open_connection()
        writer = self._writer
        tasks = [
            asyncio.create_task(self._read(reader, self._arrived)),
            asyncio.create_task(self._watch(writer)),
        ]
        try:
            yield
        finally:
            self._writer = None
            for task in tasks:
                task.cancel()
            writer.close()
            self._give_up()

    async def _open_connection(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        place = self._address
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT):
                if place.kind == "unix":
                    return await asyncio.open_unix_connection(place.place, limit=_LONGEST_LINE)
                return await asyncio.open_connection(place.place, place.port, limit=_LONGEST_LINE)
        except (OSError, TimeoutError) as error:
            raise Unreachable(f"signal-cli can't be reached: {error or 'no answer'}.") from error

    async def _subscribe(self) -> None:
        """Ask for what arrives, without which `--receive-mode=manual` receives nothing.

        A daemon that also receives by itself sends everything twice. Raises `RpcError` if it does
        not serve the account.
        """
        account = {"account": self._settings.account}
        await self.call("subscribeReceive", account, lost=Unreachable)

    async def _watch(self, writer: asyncio.StreamWriter) -> None:
        """Close the connection once the daemon answers no more: a socket has no signs of life."""
        while True:
            await asyncio.sleep(self._settings.silence / 2)
            try:
                await self.call("version", {}, lost=Unreachable)
            except RpcError:
                continue
            except AdapterError:
                writer.close()
                return

    async def _read(self, reader: asyncio.StreamReader, arrived: asyncio.Queue[Any]) -> None:
        """Read lines until the connection ends."""
        try:
            while line := await reader.readline():
                self._sort(line.decode("utf-8", "replace"), arrived)
        except (OSError, ValueError):  # ValueError: a line without an end
            pass
        finally:
            self._writer = None
            self._give_up()
            arrived.put_nowait(None)

    def _sort(self, line: str, arrived: asyncio.Queue[Any]) -> None:
        message = _parse(line)
        number = message.get("id") if message else None
        if message is None or message.get("method") == "receive":
            if line.strip():
                arrived.put_nowait(Notice(text=line.strip()))
            return
        answer = self._waiting.pop(number, None) if isinstance(number, int) else None
        if answer and not answer.done():
            answer.set_result(message)

    def _give_up(self) -> None:
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(ConnectionError())
        self._waiting.clear()

    @property
    def is_open(self) -> bool:
        """Whether the socket stands."""
        return self._writer is not None

    async def call(self, method: str, params: Json, *, lost: type[AdapterError] = Unsure) -> Any:
        """Write a request, and wait for the line with its number."""
        writer = self._writer
        if writer is None:
            raise Unreachable("There is no connection to signal-cli.")
        number = next(self._numbers)
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        try:
            writer.write(_request(number, method, params))
            async with asyncio.timeout(self._settings.answer_timeout):
                await writer.drain()
                return _result(await answer)
        except TimeoutError as error:
            raise lost("signal-cli did not answer in time.") from error
        except OSError as error:
            raise lost("The connection to signal-cli broke.") from error
        finally:
            self._waiting.pop(number, None)


class HttpRpc:
    """Requests by POST, and what arrives as server-sent events."""

    def __init__(self, address: RpcAddress, settings: SignalSettings) -> None:
        self._base = f"{address.place}/api/v1"
        self._settings = settings
        self._numbers = itertools.count(1)
        self._session: aiohttp.ClientSession | None = None

    @asynccontextmanager
    async def open(self, last_event: str) -> AsyncIterator[AsyncIterator[list[Notice]]]:
        """Open the stream of events after `last_event`."""
        headers = {"Accept": "text/event-stream", "Last-Event-ID": last_event}
        query = {"account": self._settings.account}
        arrived: asyncio.Queue[Notice | None] = asyncio.Queue()
        async with self._hold_session() as session:
            try:
                async with session.get(
                    f"{self._base}/events", headers=headers, params=query
                ) as answer:
                    _check_stream(answer, self._settings.account)
                    reading = asyncio.create_task(_read_events(answer, arrived))
                    try:
                        yield _gather(arrived)
                    finally:
                        reading.cancel()
            except (aiohttp.ClientError, OSError) as error:
                raise name_mishap(error, "signal-cli", lost=Unreachable) from error

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[None]:
        """Be ready for calls; the first one connects."""
        async with self._hold_session():
            yield

    @asynccontextmanager
    async def _hold_session(self) -> AsyncIterator[aiohttp.ClientSession]:
        timeout = aiohttp.ClientTimeout(
            connect=CONNECT_TIMEOUT, sock_read=self._settings.silence, total=None
        )
        async with aiohttp.ClientSession(
            connector=make_connector(_CONNECTIONS), timeout=timeout, read_bufsize=2**20
        ) as session:
            self._session = session
            try:
                yield session
            finally:
                self._session = None

    @property
    def is_open(self) -> bool:
        """Whether the daemon answers requests, as far as is known."""
        return self._session is not None

    async def call(self, method: str, params: Json, *, lost: type[AdapterError] = Unsure) -> Any:
        """Post a request."""
        if self._session is None:
            raise Unreachable("There is no connection to signal-cli.")
        content = _request(next(self._numbers), method, params)
        total = aiohttp.ClientTimeout(connect=CONNECT_TIMEOUT, total=self._settings.answer_timeout)
        try:
            async with self._session.post(
                f"{self._base}/rpc",
                data=io.BytesIO(content),
                headers={"Content-Type": "application/json"},
                timeout=total,
            ) as answer:
                body = await read_at_most(answer, _LONGEST_LINE)
                if answer.status != _OK or body is None:
                    raise lost(f"signal-cli answered with the status {answer.status}.")
        except (aiohttp.ClientError, OSError) as error:
            raise name_mishap(error, "signal-cli", lost=lost) from error
        message = _parse(body.decode("utf-8", "replace"))
        if message is None:
            raise lost("signal-cli's answer can't be read.")
        return _result(message)


def _check_stream(answer: aiohttp.ClientResponse, account: str) -> None:
    """Raise unless a stream of events began; signal-cli answers 400 to an unknown account."""
    if answer.status == _BAD_REQUEST:
        raise NotLinked(describe_missing(account))
    if answer.status != _OK or answer.content_type != "text/event-stream":
        raise Unreachable(f"signal-cli sends no events: it answered with {answer.status}.")


async def _read_events(
    answer: aiohttp.ClientResponse, arrived: "asyncio.Queue[Notice | None]"
) -> None:
    """Read server-sent events until the stream ends (HTML standard, 9.2.6)."""
    event, data = "", ""
    try:
        async for raw in _lines(answer):
            name, _, value = raw.partition(":")
            if name == "id":
                event = value.strip()
            elif name == "data":
                data += value
            elif not raw and data:
                arrived.put_nowait(Notice(text=data.strip(), event=event))
                event, data = "", ""
    except (aiohttp.ClientError, OSError):
        pass
    finally:
        arrived.put_nowait(None)


async def _lines(answer: aiohttp.ClientResponse) -> AsyncIterator[str]:
    rest = b""
    async for chunk in answer.content.iter_any():
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line.decode("utf-8", "replace").rstrip("\r")


async def _gather(arrived: "asyncio.Queue[Notice | None]") -> AsyncIterator[list[Notice]]:
    """Yield all that has arrived at once. Raises `Unreachable` at the end of the connection."""
    is_over = False
    while not is_over:
        found = [await arrived.get()]
        while not arrived.empty():
            found.append(arrived.get_nowait())
        is_over = None in found
        if batch := [one for one in found if one is not None]:
            yield batch
    raise Unreachable("The connection to signal-cli ended.")


def _request(number: int, method: str, params: Json) -> bytes:
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    return json.dumps(message).encode() + b"\n"


def _parse(text: str) -> Json | None:
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) else None


def _result(message: Json) -> Any:
    if isinstance(message.get("error"), dict):
        raise RpcError(message["error"])
    return message.get("result")
