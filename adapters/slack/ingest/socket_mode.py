"""Socket Mode: holds several websockets and replaces each before it closes."""

import asyncio
import json
import logging
import time
from collections.abc import Callable
from typing import Any

import aiohttp

from adapters.errors import AdapterError, AdapterStopped, Unreachable
from adapters.slack.api import Api
from adapters.slack.ingest.requests import RequestReceiver
from adapters.toolkit.connection_health import Backoff
from adapters.toolkit.http import name_mishap

_log = logging.getLogger(__name__)

_CROWD_PAUSE = 5.0
"""Minimum seconds to wait when Slack reports too many connections."""
_LONG_LIFE = 4.0
"""Seconds after which the end of a connection is normal, so that the next one opens at once."""
_GREETING = 15.0
"""Seconds that a new connection has to send its hello."""
_FAREWELL = 30.0
"""Seconds that an old connection may still deliver once its successor is open."""
_GOODBYE = 2.0
"""Seconds that the server has to answer a close."""
_FRAME_LIMIT = 4 * 1024 * 1024


class SocketMode:
    """The connections of one app.

    The SDK's own client reconnects in a tight loop, waits up to a minute after a reset, and
    acknowledges in no fixed order, so it is not used.
    """

    def __init__(
        self,
        api: Api,
        receiver: RequestReceiver,
        note_alive: Callable[[], None],
        *,
        heartbeat: float,
        longest_pause: float,
    ) -> None:
        self._note_alive = note_alive
        self._api = api
        self._receiver = receiver
        self._heartbeat = heartbeat
        self._longest_pause = longest_pause
        self._lines: set[_Line] = set()
        self.open = 0
        self.trouble = ""
        """The reason of the last failed attempt."""

    async def run(self, count: int, changed: Callable[[], None]) -> None:
        """Hold `count` connections until cancelled. Raises `AdapterStopped`.

        Calls `changed` whenever a connection opens or closes.
        """
        try:
            async with asyncio.TaskGroup() as tasks:
                for _ in range(count):
                    tasks.create_task(self._hold(tasks, changed))
        finally:  # a task that was cancelled before its start has closed nothing
            for line in tuple(self._lines):
                await line.close()
            self._lines.clear()

    async def _hold(self, tasks: asyncio.TaskGroup, changed: Callable[[], None]) -> None:
        """Hold one connection, opening the next one before the current ends."""
        backoff, crowd_pause = Backoff(self._longest_pause), min(_CROWD_PAUSE, self._longest_pause)
        while True:
            line = _Line(self._receiver, tasks, self._note_alive)
            try:
                await line.connect(self._api, self._heartbeat)
            except AdapterStopped:
                raise
            except AdapterError as error:
                self.trouble = str(error)
                changed()
                await backoff.wait(error, least=crowd_pause if isinstance(error, _Crowded) else 0.0)
                continue
            begun = time.monotonic()
            self._lines.add(line)
            reading = tasks.create_task(self._attend(line, changed))
            await line.is_leaving.wait()
            if line.has_to_stop:
                raise AdapterStopped(
                    "Socket Mode is turned off for this app. Turn it on at the app's page "
                    "(Settings, Socket Mode), or set Slack's mode to http, and start again."
                )
            if line.is_crowded:
                await asyncio.wait([reading])
                await asyncio.sleep(crowd_pause)
            if time.monotonic() - begun > _LONG_LIFE:
                backoff.reset()
            else:  # a connection that ends early again and again must slow down
                await backoff.wait()

    async def _attend(self, line: "_Line", changed: Callable[[], None]) -> None:
        """Read from a connection until it ends."""
        self.open += 1
        self.trouble = ""
        changed()
        try:
            await line.read()
        finally:
            self.open -= 1
            self._lines.discard(line)
            line.is_leaving.set()
        closed = str(_Crowded()) if line.is_crowded else "Slack closed the connection."
        self.trouble = line.trouble or closed
        changed()


class _Crowded(Unreachable):
    """Slack allows at most ten connections per app."""

    def __init__(self) -> None:
        super().__init__("Slack says that this app has too many connections open.")


class _Line:
    """Reads requests from a single websocket connection, and passes them on."""

    def __init__(
        self, receiver: RequestReceiver, tasks: asyncio.TaskGroup, note_alive: Callable[[], None]
    ) -> None:
        self._receiver = receiver
        self._tasks = tasks
        self._note_alive = note_alive
        self._socket: aiohttp.ClientWebSocketResponse
        self.is_leaving = asyncio.Event()
        """Set once this connection needs a successor."""
        self.is_crowded = self.has_to_stop = False
        self.trouble = ""

    async def connect(self, api: Api, heartbeat: float) -> None:
        """Connect and receive the hello. Raises `AdapterError`."""
        url = await api.open_socket()
        try:
            self._socket = await api.session.ws_connect(
                url,
                heartbeat=heartbeat,
                autoping=False,
                max_msg_size=_FRAME_LIMIT,
                timeout=aiohttp.ClientWSTimeout(ws_close=_GOODBYE),
            )
        except (aiohttp.ClientError, TimeoutError) as error:
            # The error's text may contain the address with its ticket.
            raise name_mishap(error, "Slack", lost=Unreachable) from None
        try:
            async with asyncio.timeout(_GREETING):
                await self._greet()
        except TimeoutError as error:
            await self.close()
            raise Unreachable("Slack's websocket does not say hello.") from error
        except BaseException:
            await self.close()
            raise

    async def _greet(self) -> None:
        while True:
            frame = await self._next()
            if frame is None:
                raise _Crowded if self.is_crowded else Unreachable("Slack hung up at once.")
            if frame.get("type") == "hello":
                return
            if frame.get("type") == "disconnect":
                self._part(str(frame.get("reason") or ""))
                raise _Crowded if self.is_crowded else Unreachable("Slack sent us away at once.")

    async def read(self) -> None:
        """Read envelopes until the connection ends."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(None) as limit:
                while (frame := await self._next()) is not None:
                    if frame.get("type") == "disconnect":
                        self._part(str(frame.get("reason") or ""))
                        limit.reschedule(loop.time() + _FAREWELL)
                        continue
                    envelope_id = frame.get("envelope_id")
                    if isinstance(envelope_id, str) and "payload" in frame:
                        self._tasks.create_task(self._take(envelope_id, frame["payload"]))
        except TimeoutError:
            _log.info("an old connection to Slack was closed")
        finally:
            await self.close()

    async def close(self) -> None:
        """Close the websocket, waiting at most two seconds for the answer."""
        await self._socket.close()

    async def _take(self, envelope_id: str, body: Any) -> None:
        """Acknowledge an envelope once its content is durable."""
        if not await self._receiver.take(body):
            return
        try:
            await self._socket.send_str(json.dumps({"envelope_id": envelope_id}))
        except (aiohttp.ClientError, ConnectionError) as error:
            # Slack sends the envelope again; it is a known one then.
            _log.debug("slack: an ack came too late: %s", error)

    async def _next(self) -> dict[str, Any] | None:
        """Return the next data frame; None once the connection has ended."""
        while True:
            message = await self._socket.receive()
            match message.type:
                case aiohttp.WSMsgType.TEXT:
                    self._note_alive()
                    frame = _read_frame(message.data)
                    if frame is not None:
                        return frame
                case aiohttp.WSMsgType.PING:
                    self._note_alive()
                    try:
                        await self._socket.pong(message.data)
                    except (aiohttp.ClientError, ConnectionError):
                        return None
                case aiohttp.WSMsgType.PONG:
                    self._note_alive()
                case aiohttp.WSMsgType.ERROR:
                    self.trouble = f"The connection broke: {message.data}."
                    return None
                case aiohttp.WSMsgType.CLOSE | aiohttp.WSMsgType.CLOSING | aiohttp.WSMsgType.CLOSED:
                    return None
                case _:
                    pass

    def _part(self, reason: str) -> None:
        """Handle Slack's request to open a new connection."""
        _log.info("Slack is about to close a connection (%s)", reason)
        self.is_crowded = reason == "too_many_websockets"
        self.has_to_stop = reason == "link_disabled"
        self.is_leaving.set()


def _read_frame(text: str) -> dict[str, Any] | None:
    try:
        frame = json.loads(text)
    except (ValueError, RecursionError):
        frame = None
    if not isinstance(frame, dict):
        _log.warning("a frame of Slack that can't be read was skipped")
        return None
    return frame
