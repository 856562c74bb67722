"""The hub of the MCP servers: follows their configuration and offers their tools."""

import asyncio
import logging
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from agent_core.errors import StoreError
from agent_core.ids import PersonId
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import mcp_accounts, people
from agent_core.state.people.mcp_accounts import McpAccount
from agent_core.tools.contract import Tool
from agent_core.tools.mcp.accounts import OwnAccounts, OwnLine, SendLink, describe_need
from agent_core.tools.mcp.contract import (
    AccountFiles,
    Listing,
    McpServer,
    ServerState,
    Surroundings,
)
from agent_core.tools.mcp.listing import dump_listing, join_listings, load_listing
from agent_core.tools.mcp.loading import load_sessions
from agent_core.tools.mcp.offers import list_offers, name_command
from agent_core.tools.mcp.pins import (
    Digests,
    Judged,
    Pins,
    accept_tools,
    judge,
    list_digests,
    list_usable,
    note_listing,
    read_pins,
)
from agent_core.tools.mcp.sign_ins import SignIns, may_use
from agent_core.tools.mcp.supervisor import FindFiles, Listed, McpConnection, Timings
from agent_core.tools.mcp.token_files import TokenFolder
from agent_core.tools.mcp.tool import FormAsker, LockedTool, McpTool
from agent_core.tools.readers.pool import ReaderPool

_LOOK = 3.0
"""Seconds between two checks of the configuration."""
_MOST_SHOWN = 100
"""Shown tool lists that are remembered, so that an owner can still accept them."""

_log = logging.getLogger(__name__)

ReadServers = Callable[[], Sequence[McpServer] | None]
"""Reads the configured servers, on a thread; None if nothing has changed since the last call.

Raises `ValueError` with a sentence.
"""
Notify = Callable[[Connection, McpServer, Judged], Callable[[], None]]
"""Writes a notice to owners, in a transaction; the result is called after it."""


async def send_no_link(person_id: PersonId, server: str, link: str) -> bool:
    """Send a link to nobody, because there is no chat."""
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerReport:
    """The report about a server for an owner.

    It holds the server's state, its tools sorted by whether they are accepted, and the `token` with
    which an owner accepts exactly these tools. A server with own accounts is `ready`; `signed_in`
    counts these, and the tools are those that any of them saw.
    """

    server: McpServer
    state: ServerState
    fault: str
    needs_sign_in: bool
    listing: Listing
    pins: Pins
    judged: Judged
    token: str
    signed_in: int = 0


class McpServers:
    """Every configured server with its connection; see `ToolSource`."""

    def __init__(
        self,
        database: Database,
        surroundings: Surroundings,
        *,
        read: ReadServers,
        notify: Notify,
        now: Callable[[], int],
        tokens: TokenFolder,
        timings: Timings | None = None,
        asker: FormAsker | None = None,
        send_link: SendLink = send_no_link,
    ) -> None:
        """`asker` passes servers' questions to people; without it, they are declined."""
        self._database = database
        self._surroundings = surroundings
        self._read = read
        self._notify = notify
        self._now = now
        self._folder = tokens
        self._timings = timings or Timings()
        self._servers: dict[str, McpServer] = {}
        self._connections: dict[str, McpConnection] = {}
        """The connections for everybody: those of servers without accounts of people's own."""
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._running: set[asyncio.Task[None]] = set()
        """The tasks of all servers, also of those that are just stopping."""
        self._tools: dict[tuple[McpConnection, str], McpTool] = {}
        self._shown: dict[tuple[str, str], Digests] = {}
        self._asker = asker
        self._readers = ReaderPool()  # servers must not block the readers of pages
        self._accounts = OwnAccounts(
            database,
            tokens,
            self._connect,
            self._keep_listing,
            send_link,
            timings=self._timings,
            now=now,
        )
        self.sign_ins = SignIns(
            database,
            tokens,
            self._accounts,
            self._servers,
            self._connections,
            self._restart,
            now,
        )
        self.fault = ""
        """The mistake in the configuration; until it is corrected, the servers stay unchanged."""

    async def run(self) -> None:
        """Follow the configuration until cancelled, and keep every server connected."""
        tidying: asyncio.Task[None] | None = None
        try:
            while True:
                await self._follow()
                tidying = tidying or asyncio.create_task(self.sign_ins.run())
                await asyncio.sleep(_LOOK)
        finally:
            ending = {*self._running, *([tidying] if tidying else [])}
            for task in ending:
                task.cancel()
            await self._accounts.close_all()
            if ending:
                await asyncio.wait(ending)

    async def list_tools(self, person_id: PersonId) -> Sequence[Tool]:
        """List the accepted tools of the servers that a person may use; see `ToolSource`."""
        servers = list(self._servers.values())

        def look(connection: Connection) -> list[tuple[McpServer, McpAccount | None, Pins]]:
            person = people.find(connection, person_id=person_id)
            return [
                (
                    server,
                    mcp_accounts.find(connection, person_id=person_id, server=server.name)
                    if server.has_own_accounts
                    else None,
                    read_pins(connection, server.name),
                )
                for server in servers
                if person and not server.fault and may_use(server, person)
            ]

        found = await self._database.read(look) if servers else []
        return [
            tool
            for server, account, pins in found
            for tool in (
                self._list_own(server, account, pins)
                if server.has_own_accounts
                else self._list_common(server, pins)
            )
        ]

    async def find_prompt(self, command: str, person_id: PersonId | None) -> tuple[str, str] | None:
        """Return the server and the prompt of a command such as `web__review`; None if unknown.

        Only servers that the person may use count, with the prompts that their own account sees.
        Without a person, only the prompts that everybody sees count.
        """
        servers = [
            one
            for name, one in self._servers.items()
            if command.startswith(name_command(name, ""))
            and (person_id or name in self._connections)
        ]

        def look(connection: Connection) -> list[tuple[str, Listing]]:
            person = people.find(connection, person_id=person_id) if person_id else None
            own = mcp_accounts.list_of(connection, person_id=person_id) if person_id else []
            seen = {one.server: one.listing for one in own if not one.is_shared}
            return [
                (server.name, self._find_listing(server, seen.get(server.name, "")))
                for server in servers
                if person is None or may_use(server, person)
            ]

        for name, listing in await self._database.read(look) if servers else ():
            for prompt in listing.prompts:
                if name_command(name, prompt) == command:
                    return name, prompt
        return None

    async def report(self) -> list[ServerReport]:
        """Describe every server, by name."""
        servers = sorted(self._servers.values(), key=lambda one: one.name)

        def look(connection: Connection) -> list[tuple[Pins, list[str], int]]:
            return [
                (
                    read_pins(connection, one.name),
                    mcp_accounts.list_listings(connection, server=one.name),
                    mcp_accounts.count_signed_in(connection, server=one.name),
                )
                for one in servers
            ]

        found = await self._database.read(look)
        return [
            self._make_report(server, pins, [load_listing(text) for text in texts], count)
            for server, (pins, texts, count) in zip(servers, found, strict=True)
        ]

    def accept(self, connection: Connection, name: str, token: str) -> bool:
        """Accept the tools that a report showed, in a transaction; False if the report is too old.

        If the server has changed its tools since then, only the ones that were shown are accepted.
        """
        digests = self._shown.get((name, token))
        server = self._servers.get(name)
        if not digests or server is None:
            return False
        accept_tools(connection, name, digests, adds=server.has_own_accounts)
        return True

    def retry(self, name: str) -> bool:
        """Connect at once to a server that waits; False if no server has this name."""
        found = self._connections.get(name)
        if found:
            found.retry()
        return name in self._servers

    def _list_common(self, server: McpServer, pins: Pins) -> list[Tool]:
        """List the tools of a server that has one connection for everybody."""
        connection = self._connections.get(server.name)
        if connection is None:  # it is just being connected again
            return []

        def reach(_: PersonId) -> McpConnection:
            return connection

        tools: list[Tool] = [
            self._tools.setdefault(
                (connection, tool.digest),
                McpTool(server, tool, reach, self._readers, self._asker),
            )
            for tool in list_usable(connection.listing, pins)
        ]
        # If no owner has accepted a tool of a server, its other offers are not shown either.
        listed = connection.listing if tools else Listing()
        return [*tools, *list_offers(server, listed, reach, self._readers, self._asker)]

    def _list_own(self, server: McpServer, account: McpAccount | None, pins: Pins) -> list[Tool]:
        """List the tools as a person's own account sees them, or names before they sign in."""
        listing = load_listing(account.listing if account else "")
        usable = list_usable(listing, pins)
        if account is None or account.signed_in_at is None or not listing.tools:
            return [
                LockedTool(server, name, self._invite)
                for name in pins.accepted
                if server.wants(name)
            ]
        tools: list[Tool] = [
            McpTool(
                server, tool, partial(self._reach, server, tool.digest), self._readers, self._asker
            )
            for tool in usable
            if server.wants(tool.name)
        ]
        listed, reach = listing if tools else Listing(), partial(self._reach, server, "")
        return [*tools, *list_offers(server, listed, reach, self._readers, self._asker)]

    def _reach(self, server: McpServer, digest: str, person_id: PersonId) -> OwnLine:
        return OwnLine(self._accounts, server, person_id, digest)

    async def _invite(self, server: McpServer, person_id: PersonId) -> str:
        return describe_need(await self._accounts.invite(server, person_id))

    def _find_listing(self, server: McpServer, own: str) -> Listing:
        """Return the tools that everybody sees, or those of a person's own account."""
        if server.has_own_accounts:
            return load_listing(own)
        connection = self._connections.get(server.name)
        return connection.listing if connection else Listing()

    def _make_report(
        self, server: McpServer, pins: Pins, own: Sequence[Listing], signed_in: int
    ) -> ServerReport:
        connection = self._connections.get(server.name)
        listing = connection.listing if connection else join_listings(own)
        return ServerReport(
            server=server,
            state=connection.state if connection else "ready",
            fault=connection.fault if connection else "",
            needs_sign_in=bool(connection and connection.needs_sign_in),
            listing=listing,
            pins=pins,
            judged=judge(listing, pins),
            token=self._remember(server.name, listing),
            signed_in=signed_in,
        )

    def _remember(self, name: str, listing: Listing) -> str:
        """Remember the tools shown to an owner, and return their token."""
        digests = list_digests(listing)
        for (server, token), shown in self._shown.items():
            if server == name and shown == digests:
                return token
        token = secrets.token_hex(4)
        self._shown[name, token] = digests
        while len(self._shown) > _MOST_SHOWN:
            del self._shown[next(iter(self._shown))]
        return token

    async def _follow(self) -> None:
        try:
            servers = await asyncio.to_thread(self._read)
        except ValueError as error:
            if str(error) != self.fault:
                _log.error("the MCP servers stay as they were: %s", error)
            self.fault = str(error)
            return
        if servers is not None:
            self.fault = ""
            await self._apply({server.name: server for server in servers})

    async def _apply(self, servers: Mapping[str, McpServer]) -> None:
        """Start and end connections until they match the configuration."""
        gone = [name for name, one in self._servers.items() if servers.get(name) != one]
        for name in gone:
            del self._servers[name]
            await self._accounts.close_server(name)
        await self._stop([name for name in gone if name in self._connections])
        for name, server in servers.items():
            if name not in self._servers:
                self._servers[name] = server
                if server.has_oauth and not server.fault:
                    await self._adopt(server)
                if not server.has_own_accounts:
                    self._start(server)

    async def _adopt(self, server: McpServer) -> None:
        try:
            await self.sign_ins.adopt(server)
            await self.sign_ins.end_moved(server)
        except (StoreError, OSError) as error:  # the next start tries again
            _log.warning("MCP server %s: its former sign-ins stay: %s", server.name, error)

    async def _restart(self, name: str) -> None:
        """Connect to a server again, without the account that it has now."""
        await self._stop([name])
        if name in self._servers:
            self._start(self._servers[name])

    async def _stop(self, names: Sequence[str]) -> None:
        ended = [self._tasks.pop(name) for name in names]
        for task in ended:
            task.cancel()
        if ended:
            await asyncio.wait(ended)
        for name in names:
            old = self._connections.pop(name)
            self._tools = {key: tool for key, tool in self._tools.items() if key[0] is not old}

    def _start(self, server: McpServer) -> None:
        connection = self._connect(server, partial(self._find_files, server.name), self._note)
        self._connections[server.name] = connection
        task = self._tasks[server.name] = asyncio.create_task(connection.run())
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    def _connect(self, server: McpServer, find_files: FindFiles, listed: Listed) -> McpConnection:
        return McpConnection(
            server,
            self._surroundings,
            load_sessions,
            listed=listed,
            timings=self._timings,
            find_files=find_files,
        )

    async def _find_files(self, server: str) -> AccountFiles | None:
        """Return the files of the account that everybody uses; None if nobody signed in."""
        account = await self.sign_ins.find_shared(server)
        return self._folder.name_files(server, account.key) if account else None

    async def _keep_listing(self, server: McpServer, account: McpAccount, listing: Listing) -> None:
        """Store what an account sees, and tell owners of new tools. Raises `StoreError`."""
        await self._store_listing(account, dump_listing(listing))
        await self._note_new(server, listing)

    async def _note(self, server: McpServer, listing: Listing) -> None:
        """Note what everybody sees at a server. Raises `StoreError`."""
        account = await self.sign_ins.find_shared(server.name) if server.has_oauth else None
        if account and account.signed_in_at is None:
            await self._store_listing(account, "")
        await self._note_new(server, listing)

    async def _store_listing(self, account: McpAccount, text: str) -> None:
        await self._database.write(
            "mcp.listing",
            mcp_accounts.note_listing,
            person_id=account.person_id,
            key=account.key,
            listing=text,
            now=self._now(),
        )

    async def _note_new(self, server: McpServer, listing: Listing) -> None:
        """Tell owners once about tools that they can accept. Raises `StoreError`."""

        def work(connection: Connection) -> Callable[[], None] | None:
            if not note_listing(connection, server.name, listing):
                return None
            judged = judge(listing, read_pins(connection, server.name))
            return self._notify(connection, server, judged)

        announce = await self._database.write("mcp.note", work)
        if announce:
            announce()
