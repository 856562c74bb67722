"""Keep one server connected, in a separate task that nothing waits for."""

import asyncio
import contextlib
import logging
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial

from agent_core.execution.subprocesses.spawning import finish
from agent_core.tools.mcp.calls import CallHooks, RunningCall
from agent_core.tools.mcp.contract import (
    AccountFiles,
    CallOutcome,
    Listing,
    McpServer,
    McpSession,
    McpSessionGone,
    McpUnavailable,
    OpenSession,
    ServerState,
    Surroundings,
)
from agent_core.tools.mcp.sign_in import NEEDED, SignIn, SignInUnavailable
from agent_core.transcript import flatten

_MOST_CALLS = 16
"""Calls of one server at the same time."""
_SHOWN = 300

_log = logging.getLogger(__name__)

_Work = Callable[[McpSession, RunningCall], Awaitable[CallOutcome]]
Listed = Callable[[McpServer, Listing], Awaitable[None]]
"""Called with every new list of tools. May raise `StoreError`."""
FindFiles = Callable[[], Awaitable[AccountFiles | None]]
"""Finds the files of the account to use; None if nobody signed in. May raise `StoreError`."""


class McpNotAsked(McpUnavailable):
    """The server can't be used now, and got nothing of the call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timings:
    """Seconds of a connection: to become ready, between attempts, and between list checks."""

    start: float = 60.0
    first_pause: float = 1.0
    longest_pause: float = 300.0
    refresh: float = 600.0
    least_refresh: float = 2.0
    link: float = 15.0
    """A server has so long to offer a page to sign in on."""
    idle: float = 600.0
    """A session with a person's own account ends after this time without a call."""
    most_sessions: int = 64
    """Such sessions of all people at a time; a further one ends the one that rested longest."""
    steady: float = 60.0
    """A connection that lasted this long resets the pause between attempts."""
    farewell: float = 5.0
    """A connection that has not ended after this time is cancelled again."""


async def find_nothing() -> None:
    """Find no account, because the server has no sign-in."""


class McpConnection:
    """The connection to one server, with one account.

    `run` reconnects whenever the connection is lost; `run_once` stays until it is not used.
    """

    def __init__(
        self,
        server: McpServer,
        surroundings: Surroundings,
        load: Callable[[], Awaitable[OpenSession]],
        *,
        listed: Listed,
        timings: Timings,
        find_files: FindFiles = find_nothing,
    ) -> None:
        self.server = server
        self.state: ServerState = "starting"
        self.fault = ""
        """The reason why the server is not ready; ends a sentence."""
        self.protocol = ""
        self.listing = Listing()
        self.sign_in = SignIn()
        self.files: AccountFiles | None = None
        """The files of the account in use."""
        self._surroundings = surroundings
        self._load = load
        self._listed = listed
        self._find_files = find_files
        self._timings = timings
        self._idle: float | None = None
        self._used = 0.0
        self._ready = asyncio.Event()
        self._settled = asyncio.Event()
        self._session: McpSession | None = None
        self._lost: asyncio.Future[None] | None = None
        self._calls: set[asyncio.Task[CallOutcome]] = set()
        self._again = asyncio.Event()
        self._renews = False
        self._changed = asyncio.Event()

    @property
    def needs_sign_in(self) -> bool:
        """True if the server waits for somebody to sign in."""
        return self.fault == NEEDED

    @property
    def used_at(self) -> float:
        """The event loop's time when the last call ended, or when the server got ready."""
        return self._used

    @property
    def is_busy(self) -> bool:
        """True while a call runs."""
        return bool(self._calls)

    def retry(self) -> None:
        """End the pause before the next attempt."""
        self._again.set()

    async def wait_ready(self) -> None:
        """Wait until the server is connected, without a limit."""
        await self._ready.wait()

    async def wait_settled(self) -> None:
        """Wait until the server is connected or the attempt has failed, without a limit."""
        await self._settled.wait()

    async def begin_sign_in(self) -> str:
        """Return a link to sign in. Raises `SignInUnavailable`."""
        if not self.server.has_oauth:
            raise SignInUnavailable("has no `oauth = true` in its table", "not_configured")
        if self.state == "ready":
            raise SignInUnavailable("is connected; nobody has to sign in", "connected")
        link = self.sign_in.request()  # before the attempt that makes the link
        self.retry()
        ready = asyncio.create_task(self.wait_ready())
        try:
            await asyncio.wait(
                (link, ready), timeout=self._timings.link, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            ready.cancel()
        if link.done():
            return link.result()
        link.cancel()
        if self._ready.is_set():
            raise SignInUnavailable("is connected; nobody has to sign in", "connected")
        raise SignInUnavailable("did not offer to sign in", "not_offered")

    async def run(self) -> None:
        """Keep the server connected until cancelled. Nothing keeps running afterwards."""
        loop, failures = asyncio.get_running_loop(), 0
        while True:
            began = loop.time()
            self._again.clear()
            await self._attempt()
            failures = 0 if loop.time() - began > self._timings.steady else failures + 1
            _log.info("MCP server %s is tried again: %s", self.server.name, self.fault)
            await self._pause(failures)

    async def run_once(self, idle: float) -> None:
        """Connect, and stay until the connection is lost or was not used for `idle` seconds."""
        self._idle = idle
        self._renews = True
        while self._renews:
            self._renews = False
            await self._attempt()

    async def _attempt(self) -> None:
        self.state = "starting"
        self._settled.clear()
        try:
            await self._serve_aside()
        except Exception as error:  # a server, and the SDK behind it, may raise any error
            self.fault = _describe(error)
            if not _is_expected(error):
                _log.warning("MCP server %s failed", self.server.name, exc_info=error)
        finally:
            self.state = "waiting"
            self._settled.set()

    async def call(
        self, tool: str, arguments: Mapping[str, object], hooks: CallHooks | None = None
    ) -> CallOutcome:
        """Call a tool. Takes a limited time. Raises `McpUnavailable`."""

        async def work(session: McpSession, running: RunningCall) -> CallOutcome:
            return await session.call(tool, arguments, running)

        return await self._run(work, hooks)

    async def get(
        self, kind: str, name: str, values: Mapping[str, str], hooks: CallHooks | None = None
    ) -> CallOutcome:
        """Get a resource or a prompt; see `McpSession`. Raises `McpUnavailable`."""

        async def work(session: McpSession, running: RunningCall) -> CallOutcome:
            return await session.get(kind, name, values, running)

        return await self._run(work, hooks)

    async def _run(self, work: _Work, hooks: CallHooks | None) -> CallOutcome:
        """Do the work of a call; once more if the server had forgotten the session."""
        lost = self._lost
        try:
            return await self._try(work, hooks)
        except McpSessionGone:
            self._renews = True
            self.retry()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self.server.seconds):
                    if lost is not None:
                        await asyncio.shield(lost)
                    await self.wait_ready()
        try:
            return await self._try(work, hooks)
        except McpSessionGone as error:
            raise McpNotAsked(str(error)) from error

    async def _try(self, work: _Work, hooks: CallHooks | None) -> CallOutcome:
        session, lost = self._session, self._lost
        if session is None or lost is None:
            reason = f": it {self.fault}" if self.fault else ""
            raise McpNotAsked(f"is not connected now{reason}")
        if len(self._calls) >= _MOST_CALLS:
            raise McpNotAsked(f"is busy with {_MOST_CALLS} calls")
        # Don't wait for the SDK: a server that never reads could delay even its cancellation.
        running = RunningCall(hooks or CallHooks(), self.server.seconds)
        call = asyncio.create_task(self._carry_out(work, session, running))
        self._calls.add(call)
        call.add_done_callback(self._end_call)
        try:
            await running.wait(call, lost)
        finally:
            call.cancel()
        if call.done() and not call.cancelled():
            return call.result()
        if lost.done():
            raise McpUnavailable(f"was lost during the call; it {self.fault}".rstrip())
        raise McpUnavailable(f"gave no answer within {self.server.seconds:g} s")

    def _end_call(self, call: asyncio.Task[CallOutcome]) -> None:
        self._calls.discard(call)
        self._used = asyncio.get_running_loop().time()

    async def _carry_out(
        self, work: _Work, session: McpSession, running: RunningCall
    ) -> CallOutcome:
        try:
            return await work(session, running)
        except McpUnavailable:
            raise
        except Exception as error:  # the SDK may raise any error when it reads a server's message
            raise McpUnavailable(f"failed: {_describe(error)}") from error

    async def _serve_aside(self) -> None:
        """Serve in a separate task; repeat its cancellation, because the SDK may swallow one."""
        serving = asyncio.create_task(self._serve())

        async def end() -> None:
            while not serving.done():
                serving.cancel()
                await asyncio.wait((serving,), timeout=self._timings.farewell)
            if not serving.cancelled():
                serving.exception()  # or asyncio would log the error; the connection ends anyway

        try:
            await asyncio.wait((serving,))
        except asyncio.CancelledError:
            await finish(end())
            raise
        serving.result()

    async def _serve(self) -> None:
        """Connect, and stay connected until the connection is lost. Raises the reason."""
        if self.server.fault:
            raise McpUnavailable(self.server.fault)
        files = await self._find_files()
        if self.server.has_oauth and files is None:
            raise McpUnavailable(NEEDED)
        self.files = files
        open_session = await self._load()
        async with contextlib.AsyncExitStack() as stack:
            async with asyncio.timeout(self._timings.start) as limit:
                ask = partial(self._ask_person, limit)
                session = await stack.enter_async_context(
                    open_session(self.server, self._surroundings, self._changed.set, ask, files)
                )
                await self._list(session)
            self._lost = asyncio.get_running_loop().create_future()
            self._session = session
            self.state, self.fault, self.protocol = "ready", "", session.protocol
            self._used = asyncio.get_running_loop().time()
            self._ready.set()
            self._settled.set()
            try:
                await self._stay(session)
            finally:
                self._ready.clear()
                self._session = None
                self._lost.set_result(None)

    async def _ask_person(self, limit: asyncio.Timeout, link: str) -> str:
        """Wait for a person to sign in; their thinking time doesn't count towards the limit."""
        if self.state != "starting":
            self.fault = NEEDED
            raise McpUnavailable(NEEDED)
        limit.reschedule(None)
        try:
            return await self.sign_in.ask(link)
        finally:
            limit.reschedule(asyncio.get_running_loop().time() + self._timings.start)

    async def _stay(self, session: McpSession) -> None:
        """List the tools when they change, and at intervals, until the session is not used.

        Raises when the session ends.
        """
        closed = asyncio.create_task(session.wait_closed())
        try:
            while True:
                await asyncio.wait((closed,), timeout=self._timings.least_refresh)
                if not closed.done():
                    changed = asyncio.create_task(self._changed.wait())
                    try:
                        await asyncio.wait(
                            (closed, changed),
                            timeout=self._count_rest(),
                            return_when=asyncio.FIRST_COMPLETED,
                        )
                    finally:
                        changed.cancel()
                if closed.done():
                    self.fault = closed.result()
                    raise McpUnavailable(self.fault)
                if self._is_idle():
                    return
                self._changed.clear()
                async with asyncio.timeout(self._timings.start):
                    await self._list(session)
        finally:
            closed.cancel()

    def _count_rest(self) -> float:
        """Return the seconds until the tools are listed again, or the session may be idle."""
        return (
            self._timings.refresh if self._idle is None else min(self._timings.refresh, self._idle)
        )

    def _is_idle(self) -> bool:
        passed = asyncio.get_running_loop().time() - self._used
        return self._idle is not None and not self._calls and passed >= self._idle

    async def _list(self, session: McpSession) -> None:
        listing = await session.list_tools()
        if listing != self.listing:
            self.listing = listing
        await self._listed(self.server, listing)

    async def _pause(self, failures: int) -> None:
        longest = min(
            self._timings.longest_pause, self._timings.first_pause * 2 ** min(failures, 20)
        )
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(longest * random.uniform(0.5, 1.0)):  # noqa: S311 - no secret
                await self._again.wait()


def _is_expected(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return all(map(_is_expected, error.exceptions))
    return isinstance(error, McpUnavailable | TimeoutError | OSError)


def _describe(error: BaseException) -> str:
    """Return the end of a sentence on why a server failed."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, TimeoutError):
        return "did not get ready in time"
    return flatten(str(error), _SHOWN) or f"failed ({type(error).__name__})"
