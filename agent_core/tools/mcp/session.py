"""Sessions with MCP servers, through the official SDK. Imported with the first server only."""

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from importlib.metadata import version

import httpx2
from mcp import Client, MCPError, types
from mcp.client.auth import OAuthFlowError, OAuthRegistrationError
from mcp.client.session import (
    ClientRequestContext,
    ElicitationFnT,
    IncomingMessage,
    MessageHandlerFnT,
)
from mcp.client.subscriptions import SubscriptionLost
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from agent_core.tools.mcp.calls import RunningCall
from agent_core.tools.mcp.contract import (
    MOST_TOOLS,
    AccountFiles,
    AskPerson,
    CallOutcome,
    Listing,
    McpServer,
    McpSessionGone,
    McpUnavailable,
    Surroundings,
)
from agent_core.tools.mcp.forms import Form, FormRefused, PageLink, read_form, read_link
from agent_core.tools.mcp.listing import RawTool, read_listing
from agent_core.tools.mcp.results import get_offer, read_result
from agent_core.tools.mcp.sign_in import decline_sign_in
from agent_core.tools.mcp.transports.http import open_http
from agent_core.tools.mcp.transports.oauth import ServerAuth
from agent_core.tools.mcp.transports.stdio import open_stdio
from agent_core.tools.mcp.transports.streams import FAULT, SCHEMA, StreamLink
from agent_core.transcript import flatten

_NOT_REGISTERED = (
    "did not register Talaria; set client_id, and client_secret if it has one, in mcp.toml"
)
_ANSWER_SECONDS = 60.0
"""Seconds for the answer to any request except a call. The first answer may have to wait for the
server to start, perhaps after a download by npx; `Timings.start` limits both.
"""
_LONGEST_CALL = 7200.0
"""Seconds after which the SDK cancels a call; `RunningCall` applies the server's own limit."""
_MOST_PAGES = 50
_SHOWN = 300
_SESSION = re.compile(r"(?i)session|not initiali[sz]ed")
"""What servers say with status 400 about a session that they no longer know."""
_VERSION = re.compile(r"Unsupported protocol version from the server: (.+)")
_UNREADABLE = re.compile(r"Failed to parse (?:JSON response|SSE message)")
"""What the SDK says about an answer that it can't read; pydantic's words follow."""
_PROMPT_NAME = re.compile(r"[A-Za-z0-9_-]{1,40}")
_log = logging.getLogger(__name__)
_LOST = (types.CONNECTION_CLOSED, types.REQUEST_TIMEOUT, types.PARSE_ERROR)
"""Codes with which the SDK says that an answer is lost; the call may have taken effect."""


@asynccontextmanager
async def open_session(
    server: McpServer,
    surroundings: Surroundings,
    changed: Callable[[], None],
    ask_person: AskPerson = decline_sign_in,
    files: AccountFiles | None = None,
) -> AsyncIterator["ClientSession"]:
    """Connect to a server with the newest protocol that both sides speak; see `OpenSession`.

    Talaria doesn't offer sampling and roots, so the SDK declines them.
    """
    link, calls = StreamLink(), Calls()
    auth = None
    if server.has_oauth and files:
        auth = ServerAuth(server, files, ask_person, link)
    transport = (
        open_http(server, link, auth) if server.url else open_stdio(server, surroundings, link)
    )
    client = Client(
        transport,
        read_timeout_seconds=_ANSWER_SECONDS,
        message_handler=_make_handler(changed),
        elicitation_callback=_make_asker(server, calls),
        client_info=types.Implementation(name="talaria", version=version("talaria")),
        cache=None,
    )
    try:
        async with client:
            following = asyncio.create_task(_follow(client, changed))
            try:
                yield ClientSession(server, client, link, calls, auth)
            finally:
                following.cancel()
                await asyncio.wait((following,))
    except (MCPError, OAuthFlowError, ValidationError, RuntimeError, BaseExceptionGroup) as error:
        leaf = _find_leaf(error)
        if isinstance(leaf, OAuthRegistrationError):
            raise McpUnavailable(_NOT_REGISTERED) from error
        if isinstance(leaf, OAuthFlowError):
            fault = link.fault or f"can't be signed in to: {_shorten(leaf)}"
            raise McpUnavailable(fault) from error
        fault = link.fault or _describe(leaf)
        if not fault:
            raise leaf from error
        raise McpUnavailable(fault) from error
    finally:
        if auth:
            auth.close()


@dataclass(slots=True)
class ClientSession:
    """A session with one server; see `McpSession`."""

    server: McpServer
    client: Client
    link: StreamLink
    calls: "Calls"
    auth: ServerAuth | None

    @property
    def protocol(self) -> str:
        """The version of the protocol that was agreed on."""
        return self.client.protocol_version

    async def list_tools(self) -> Listing:
        """List the tools, page by page, until there are more than needed."""
        raw: list[RawTool] = []
        cursor: str | None = None
        has_tools = self.client.server_capabilities.tools is not None
        try:
            for _ in range(_MOST_PAGES if has_tools else 0):
                page = await self.client.list_tools(cursor=cursor)
                raw += map(_read_tool, page.tools)
                cursor = page.next_cursor
                if cursor is None or sum(self.server.wants(one.name) for one in raw) > MOST_TOOLS:
                    break
        except (MCPError, ValidationError) as error:
            raise McpUnavailable(f"can't list its tools: {_shorten(error)}") from error
        listing = read_listing(self.server, raw)
        return replace(listing, offers=self._list_offers(), prompts=await self._list_prompts())

    def _list_offers(self) -> tuple[str, ...]:
        found = self.client.server_capabilities
        has = {"resource": found.resources is not None, "prompt": found.prompts is not None}
        return tuple(kind for kind, is_there in has.items() if is_there)

    async def _list_prompts(self) -> tuple[str, ...]:
        """Return the names of the prompts that can be commands; a server may have no list."""
        if self.client.server_capabilities.prompts is None:
            return ()
        try:
            page = await self.client.list_prompts()
        except (MCPError, ValidationError) as error:
            _log.warning("MCP server %s: no prompts: %s", self.server.name, _shorten(error))
            return ()
        names = [one.name for one in page.prompts[:MOST_TOOLS]]
        return tuple(name for name in names if _PROMPT_NAME.fullmatch(name))

    async def call(
        self, tool: str, arguments: Mapping[str, object], running: RunningCall
    ) -> CallOutcome:
        """Call a tool; an error that the server reports is an outcome."""

        async def note(progress: float, total: float | None, message: str | None) -> None:
            running.note(progress, total, message)

        async def ask() -> CallOutcome:
            return read_result(
                await self.client.call_tool(
                    tool,
                    dict(arguments),
                    read_timeout_seconds=_LONGEST_CALL,
                    progress_callback=note,
                )
            )

        return await self._finish(running, ask())

    async def get(
        self, kind: str, name: str, values: Mapping[str, str], running: RunningCall
    ) -> CallOutcome:
        """Get a resource or a prompt, or the list of them; an error is an outcome."""
        return await self._finish(running, get_offer(self.client, kind, name, values))

    async def _finish(self, running: RunningCall, asking: Awaitable[CallOutcome]) -> CallOutcome:
        """Wait for an outcome, and mask the tokens that Talaria signed in with."""
        try:
            with self.calls.hold(running):
                outcome = await asking
        except MCPError as error:
            if self.link.has_lost_session or (
                self.link.is_refused and _SESSION.search(error.message)
            ):
                fault = "has restarted, and forgot the session"
                self.link.close(fault)
                raise McpSessionGone(fault) from error
            if error.code in _LOST:
                raise McpUnavailable(f"gave no answer: {_shorten(error)}") from error
            return CallOutcome(text=_shorten(error), is_error=True)
        except ValidationError as error:
            raise McpUnavailable("gave an answer that is not MCP") from error
        if self.auth is None:
            return outcome
        return replace(outcome, text=self.auth.hide(outcome.text))

    async def wait_closed(self) -> str:
        """Wait until the connection is lost; return the reason."""
        return await self.link.wait()


class Calls:
    """The calls of a session that wait for the server."""

    def __init__(self) -> None:
        self._all: set[RunningCall] = set()
        self._here: ContextVar[RunningCall | None] = ContextVar("call", default=None)

    @contextmanager
    def hold(self, running: RunningCall) -> Iterator[None]:
        """Register a call during the block."""
        self._all.add(running)
        token = self._here.set(running)
        try:
            yield
        finally:
            self._here.reset(token)
            self._all.discard(running)

    def find(self) -> RunningCall | None:
        """Return the call that a server's question belongs to.

        Older protocols don't name the call: if several calls are running, the result is None.
        """
        here = self._here.get()
        if here in self._all:
            return here
        return next(iter(self._all)) if len(self._all) == 1 else None


def _make_asker(server: McpServer, calls: Calls) -> ElicitationFnT:
    async def ask(
        context: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult | types.ErrorData:
        running = calls.find()
        try:
            if isinstance(params, types.ElicitRequestURLParams):
                question: Form | PageLink = read_link(server.name, params.message, params.url)
            else:
                question = read_form(server.name, params.message, params.requested_schema)
        except FormRefused as error:
            _log.warning("MCP server %s: a question was declined: %s", server.name, error)
            return types.ElicitResult(action="decline")
        if running is None:
            return types.ElicitResult(action="decline")
        answer = await running.ask(question)
        content = None if answer.content is None else dict(answer.content)
        return types.ElicitResult(action=answer.action, content=content)

    return ask


def _make_handler(changed: Callable[[], None]) -> MessageHandlerFnT:
    async def handle(message: IncomingMessage) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            changed()

    return handle


async def _follow(client: Client, changed: Callable[[], None]) -> None:
    """Follow changes of the tool list if the protocol has a stream for them (2026-07-28)."""
    tools = client.server_capabilities.tools
    if client.protocol_version not in MODERN_PROTOCOL_VERSIONS or not (
        tools and tools.list_changed
    ):
        return
    with suppress(SubscriptionLost, MCPError, TimeoutError):
        async with client.listen(tools_list_changed=True) as events:
            async for _ in events:
                changed()


def _read_tool(tool: types.Tool) -> RawTool:
    hints, noted = tool.annotations, tool.meta or {}
    schema = noted.get(SCHEMA)
    return RawTool(
        name=tool.name,
        description=tool.description or tool.title or "",
        schema=schema if isinstance(schema, dict) else tool.input_schema,
        is_destructive=bool(hints and hints.destructive_hint),
        fault=flatten(str(noted.get(FAULT, "")), _SHOWN),
    )


def _find_leaf(error: BaseException) -> BaseException:
    """Return the first error of a group; the SDK's tasks wrap every error in groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _describe(error: BaseException) -> str:
    """Return the end of a sentence on why a server did not connect; "" for an unknown error."""
    if isinstance(error, RuntimeError):
        found = _VERSION.search(str(error))
        version = flatten(found[1], _SHOWN) if found else ""
        return f"speaks version {version} of MCP, which Talaria doesn't know" if found else ""
    if isinstance(error, ValidationError):
        return "gave an answer that is not MCP"
    if isinstance(error, MCPError):
        if _UNREADABLE.match(error.message):
            return "gave an answer that is not MCP; check that it is an MCP server"
        return f"did not connect: {_shorten(error)}; check that it is an MCP server"
    return f"did not connect: {_shorten(error)}" if isinstance(error, httpx2.HTTPError) else ""


def _shorten(error: Exception) -> str:
    return flatten(str(error), _SHOWN) or type(error).__name__
