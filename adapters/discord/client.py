"""discord.py's client as Talaria runs it: raw events in order, own rate limits, bounded
sessions.
"""

import asyncio
import logging
import random
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

import aiohttp
import discord
from discord.gateway import DiscordWebSocket, KeepAliveHandler
from discord.http import HTTPClient, Ratelimit, Route
from discord.state import ConnectionState
from yarl import URL

from adapters.discord.settings import DiscordSettings
from adapters.errors import Unreachable
from adapters.toolkit.connection_health import Backoff
from adapters.toolkit.http import CONNECT_TIMEOUT, make_connector

_MOST_STARTS = 50
_WINDOW = 3600.0
"""Seconds. Discord allows 1,000 new sessions a day and then resets the bot's token, which
requires a person (discord.com/developers/docs/events/gateway).
"""


class TooManyStarts(Unreachable):
    """The limit of new sessions per hour is reached."""

    def __init__(self, wait: float) -> None:
        super().__init__(
            f"Discord ended {_MOST_STARTS} sessions within an hour; the next one is begun in "
            f"{wait:.0f} s."
        )
        self.wait = wait


class SessionLimit:
    """Counts new sessions: at most 50 per hour."""

    def __init__(self) -> None:
        self._times: deque[float] = deque(maxlen=_MOST_STARTS)

    def check(self, now: float) -> None:
        """Raise `TooManyStarts` at the limit; `now` is in monotonic seconds."""
        if len(self._times) == _MOST_STARTS and now - self._times[0] < _WINDOW:
            raise TooManyStarts(_WINDOW - (now - self._times[0]))

    def note(self, now: float) -> None:
        """Record a new session. Raises `TooManyStarts`."""
        self.check(now)
        self._times.append(now)


_log = logging.getLogger(__name__)

# Talaria makes no calls; without this line, discord.py warns at every start that it can't.
discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False

# Its warnings about pauses contain addresses with tokens; the dispatcher reports pauses, too.
logging.getLogger("discord.http").setLevel(logging.ERROR)

HEARD = (
    *("MESSAGE_CREATE", "MESSAGE_UPDATE", "INTERACTION_CREATE"),
    *("MESSAGE_REACTION_ADD", "MESSAGE_REACTION_REMOVE"),
)
LISTED = "GUILD_CREATE"
"""Lists a server's channels, at the start of a session and after an outage of the server."""

_CALL_TIMEOUT = 60.0
"""Upper bound of one attempt, also for a large file; callers set tighter ones."""
_TIMEOUT = aiohttp.ClientTimeout(total=_CALL_TIMEOUT, connect=CONNECT_TIMEOUT)
_CONNECTIONS = 32
_SHORT_WAIT = 0.5
"""The most seconds to wait here for a rate limit; longer waits are reported to the dispatcher."""
_STEADY = 3.0
"""Seconds that a connection must last so that the next attempt follows without a pause."""
_MOST_FRUITLESS = 4
"""Connections in a row without a session before the client starts a new one."""
_CLOSING = 2.0


class EventListener(Protocol):
    """Receives the events of the gateway connection. Called in order, on the loop; never blocks."""

    def hear(self, name: str, data: Any) -> None:
        """Take an event of `HEARD` or `LISTED`, unchanged and unchecked."""

    def note_ready(self) -> None:
        """A new session began: events since the last one may be missing."""

    def note_alive(self) -> None:
        """The connection delivered something."""

    def note_resumed(self) -> None:
        """The session resumed; Discord has resent the missed events."""

    def note_lost(self, why: str) -> None:
        """The connection is lost; the client reconnects."""


class Bucket(Ratelimit):
    """A rate limit that waits before the call.

    discord.py's own limit holds back the last allowed response until the next window, so that it
    seems lost. It also refuses calls that would be allowed after a short wait.
    """

    __slots__ = ()

    async def acquire(self) -> None:
        """Wait for a slot. Raises `discord.RateLimited` if that takes too long."""
        self._last_request = self._loop.time()
        while self.remaining <= 0 and self.expires is not None:
            wait = self.expires - self._loop.time()
            if wait > _SHORT_WAIT:
                raise discord.RateLimited(wait)
            if wait > 0:
                await asyncio.sleep(wait)
            if self.is_expired():
                self.reset()  # type: ignore[no-untyped-call]
        self.remaining -= 1
        self.outgoing += 1

    async def __aexit__(self, *_: object) -> None:
        self.outgoing -= 1


class HttpClient(HTTPClient):
    """discord.py's HTTP client with timeouts everywhere and retries while the gateway is away."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, listener: EventListener, longest_pause: float
    ) -> None:
        super().__init__(loop)
        self.max_ratelimit_timeout = _SHORT_WAIT
        self._listener = listener
        self._backoff = Backoff(min(longest_pause, 5.0))
        self._connected_at = float("-inf")
        self._fruitless = 0
        self._socket: aiohttp.ClientWebSocketResponse | None = None

    async def static_login(self, token: str) -> Any:
        """Open the connections and fetch the bot's identity."""
        self.connector = make_connector(_CONNECTIONS)
        return await super().static_login(token)

    def get_ratelimit(self, key: str) -> Ratelimit:
        """Return the rate limit of a kind of call."""
        if key not in self._buckets:
            self._buckets[key] = Bucket(None)
            self._try_clear_expired_ratelimits()
        return self._buckets[key]

    async def request(self, route: Route, **options: Any) -> Any:
        """Make one call."""
        try:
            return await super().request(route, timeout=_TIMEOUT, **options)
        except asyncio.CancelledError:
            # A call that is cancelled during a global rate limit would never signal its end, and
            # no request would be sent again.
            self._global_over.set()
            raise

    def note_session(self) -> None:
        """Record that the last connection led to a session."""
        self._fruitless = 0

    async def ws_connect(self, url: str, *, compress: int = 0) -> aiohttp.ClientWebSocketResponse:
        """Connect to the gateway and retry until it answers; discord.py gives up after 60 s.

        discord.py reconnects at once, even after a very short connection, and retries a failing
        resume forever. This method raises `Unreachable` to end that.
        """
        if self._fruitless == _MOST_FRUITLESS:
            raise Unreachable("Discord's gateway hangs up on every attempt to begin.")
        self._fruitless += 1
        if time.monotonic() - self._connected_at < _STEADY:
            await self._backoff.wait()
        else:
            self._backoff.reset()
        while True:
            try:
                self._socket = await super().ws_connect(url, compress=compress)
            except (aiohttp.ClientError, OSError) as error:
                self._listener.note_lost(f"Discord's gateway can't be reached: {error}.")
                await self._backoff.wait()
            else:
                self._connected_at = time.monotonic()
                return self._socket

    async def close(self) -> None:
        """Close everything, even a socket whose session never began, which discord.py forgets."""
        try:
            if self._socket is not None:
                await self._socket.close()
        finally:
            await super().close()


class Client(discord.Client):
    """A session. Caches servers, roles and channels, but neither people nor messages.

    The listener gets raw events, before discord.py builds objects from them. discord.py runs one
    task per event, which would lose their order, and an event that it cannot parse would end the
    connection. For the same reason, buttons are no `DynamicItem`s: a press is stored before any
    code acts on it, and any process can parse it by its `custom_id`.
    """

    def __init__(
        self, settings: DiscordSettings, listener: EventListener, session_limit: SessionLimit
    ) -> None:
        self._settings = settings
        self._listener = listener
        self._session_limit = session_limit
        super().__init__(
            intents=discord.Intents(
                guilds=True,
                guild_messages=True,
                guild_reactions=True,
                dm_reactions=True,
                dm_messages=True,
                message_content=settings.message_content,
            ),
            max_messages=None,
            member_cache_flags=discord.MemberCacheFlags.none(),
            chunk_guilds_at_startup=False,
            heartbeat_timeout=settings.longest_silence,
            enable_debug_events=True,
        )
        Route.BASE = settings.api_base_url
        # After an invalid session, discord.py connects to this address, not to the one in READY.
        DiscordWebSocket.DEFAULT_GATEWAY = URL(settings.gateway_url)

    def _get_state(self, **options: Any) -> ConnectionState["Client"]:
        self.http: HttpClient = HttpClient(self.loop, self._listener, self._settings.longest_pause)
        state = super()._get_state(**options)
        for name, parser in state.parsers.items():
            state.parsers[name] = _lenient(name, parser)
        for name in HEARD:
            state.parsers[name] = self._pass_on(name)
        state.parsers[LISTED] = self._pass_on(LISTED, after=state.parsers[LISTED])
        listener, wire = self._listener, self.http
        for name, note in (("READY", listener.note_ready), ("RESUMED", listener.note_resumed)):
            state.parsers[name] = _followed(state.parsers[name], wire.note_session, note)
        return state

    def _pass_on(self, name: str, after: Callable[[Any], None] | None = None) -> Any:
        def parse(data: Any) -> None:
            if after is not None:
                after(data)
            self._listener.hear(name, data)

        return parse

    def dispatch(self, event: str, /, *args: Any, **kwargs: Any) -> None:
        """Use discord.py's own events only as signs of life."""
        if event == "socket_raw_receive":
            self._listener.note_alive()
        elif event == "disconnect":
            self._listener.note_lost("The connection to Discord's gateway was lost.")

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """Check the session limit before identifying. Raises `TooManyStarts`."""
        self._session_limit.note(time.monotonic())
        if not initial:  # "wait a random time between 1 and 5 seconds" (gateway, resuming)
            pause = random.uniform(1, 5)  # noqa: S311 - no secret
            await asyncio.sleep(min(pause, self._settings.longest_pause))

    async def close(self) -> None:
        """Close everything, even if the server does not answer or the caller stops waiting."""
        try:
            async with asyncio.timeout(_CLOSING):
                await super().close()
        except TimeoutError:
            _log.debug("Discord's gateway did not answer the end of the connection.")
        finally:
            self._stop_heartbeats()
            await self.http.close()

    def _stop_heartbeats(self) -> None:
        """Stop the heartbeats of a connection that was abandoned before it led to a session.

        discord.py knows a connection only once it has a session. Without this, the heartbeat thread
        would outlive the loop.
        """
        for thread in threading.enumerate():
            if isinstance(thread, KeepAliveHandler) and thread.ws._connection is self._connection:
                thread.stop()


def _lenient(name: str, parser: Any) -> Any:
    """Wrap a parser of discord.py so that it skips events it cannot parse.

    Its cache may then have gaps. But an error would end the connection, at every start if the event
    is sent again.
    """

    def parse(data: Any) -> None:
        try:
            parser(data)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            _log.warning("discord.py can't read an event %s: %r", name, error)

    return parse


def _followed(parser: Any, *notes: Callable[[], None]) -> Any:
    def parse(data: Any) -> None:
        parser(data)
        for note in notes:
            note()

    return parse


_AGAIN = 1.0
"""Seconds until a task that ignored its cancellation is cancelled again."""


async def until_ended(task: asyncio.Task[None]) -> None:
    """Await a task; if cancelled, cancel the task until it ends. Raises what the task raises.

    discord.py connects within `asyncio.wait_for`, which before Python 3.12 loses a cancellation
    that arrives just as its future completes (bpo-37658).
    """
    try:
        await asyncio.wait({task})
    except asyncio.CancelledError:
        while not task.done():
            task.cancel()
            await asyncio.wait({task}, timeout=_AGAIN)
        if not task.cancelled():
            task.exception()  # marks it as retrieved; the cancellation continues
        raise
    task.result()
