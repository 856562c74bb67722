"""The hub of the MCP servers: follows their configuration and offers their tools."""

import asyncio
import logging
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from agent_core.ids import PersonId
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import people
from agent_core.state.people.people import Person
from agent_core.tools.contract import Tool
from agent_core.tools.mcp.contract import (
    EVERYONE,
    ForeignTool,
    Listing,
    McpServer,
    Surroundings,
)
from agent_core.tools.mcp.loading import load_sessions
from agent_core.tools.mcp.offers import list_offers, name_command
from agent_core.tools.mcp.pins import (
    Judged,
    accept_tools,
    judge,
    list_digests,
    note_listing,
    read_pins,
)
from agent_core.tools.mcp.sign_in import SignInUnavailable
from agent_core.tools.mcp.supervisor import McpConnection, Timings
from agent_core.tools.mcp.tool import FormAsker, McpTool
from agent_core.tools.readers import ReaderPool

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


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerReport:
    """The report about a server for an owner.

    It holds the server's state, its tools sorted by whether they are accepted, and the `token` with
    which an owner accepts exactly these tools.
    """

    connection: McpConnection
    listing: Listing
    judged: Judged
    token: str


class McpServers:
    """Every configured server with its connection; see `ToolSource`."""

    def __init__(
        self,
        database: Database,
        surroundings: Surroundings,
        *,
        read: ReadServers,
        notify: Notify,
        timings: Timings | None = None,
        asker: FormAsker | None = None,
    ) -> None:
        """`asker` passes servers' questions to people; without it, they are declined."""
        self._database = database
        self._surroundings = surroundings
        self._read = read
        self._notify = notify
        self._timings = timings or Timings()
        self._connections: dict[str, McpConnection] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._running: set[asyncio.Task[None]] = set()
        """The tasks of all servers, also of those that are just stopping."""
        self._tools: dict[tuple[McpConnection, str], McpTool] = {}
        self._shown: dict[tuple[str, str], dict[str, str]] = {}
        self._asker = asker
        self._readers = ReaderPool()  # servers must not block the readers of pages
        self.fault = ""
        """The mistake in the configuration; until it is corrected, the servers stay unchanged."""

    async def run(self) -> None:
        """Follow the configuration until cancelled, and keep every server connected."""
        try:
            while True:
                await self._follow()
                await asyncio.sleep(_LOOK)
        finally:
            for task in self._running:
                task.cancel()
            if self._running:
                await asyncio.wait(set(self._running))

    async def list_tools(self, person_id: PersonId) -> Sequence[Tool]:
        """List the accepted tools of the servers that a person may use; see `ToolSource`."""
        open_to = list(self._connections.values())

        def look(connection: Connection) -> list[tuple[McpConnection, ForeignTool]]:
            person = people.find(connection, person_id=person_id)
            chosen = [one for one in open_to if person and _may_use(one.server, person)]
            return [(one, tool) for one in chosen for tool in _list_usable(connection, one)]

        found = await self._database.read(look) if open_to else []
        tools: list[Tool] = [
            self._tools.setdefault(
                (one, tool.digest), McpTool(one, tool, self._readers, self._asker)
            )
            for one, tool in found
        ]
        # If no owner has accepted a tool of a server, its other offers are not shown either.
        accepted = dict.fromkeys(one for one, _ in found)
        offers = [list_offers(one, self._readers, self._asker) for one in accepted]
        return [*tools, *(tool for listed in offers for tool in listed)]

    def find_prompt(self, command: str) -> tuple[str, str] | None:
        """Return the server and the prompt of a command such as `web__review`; None if unknown."""
        for server, connection in self._connections.items():
            for prompt in connection.listing.prompts:
                if name_command(server, prompt) == command:
                    return server, prompt
        return None

    async def report(self) -> list[ServerReport]:
        """Describe every server, by name."""
        connections = sorted(self._connections.values(), key=lambda one: one.server.name)

        pins = await self._database.read(
            lambda connection: [read_pins(connection, one.server.name) for one in connections]
        )
        return [
            ServerReport(
                connection=one,
                listing=(listing := one.listing),
                judged=judge(listing, pinned),
                token=self._remember(one.server.name, listing),
            )
            for one, pinned in zip(connections, pins, strict=True)
        ]

    def accept(self, connection: Connection, name: str, token: str) -> bool:
        """Accept the tools that a report showed, in a transaction; False if the report is too old.

        If the server has changed its tools since then, only the ones that were shown are accepted.
        """
        digests = self._shown.get((name, token))
        if not digests:
            return False
        accept_tools(connection, name, digests)
        return True

    def retry(self, name: str) -> bool:
        """Connect at once to a server that waits; False if no server has this name."""
        found = self._connections.get(name)
        if found:
            found.retry()
        return found is not None

    async def begin_sign_in(self, name: str) -> str:
        """Return a link with which an owner signs in at a server. Raises `SignInUnavailable`."""
        found = self._connections.get(name)
        if found is None:
            raise SignInUnavailable("is not there", "unknown")
        return await found.begin_sign_in()

    def finish_sign_in(self, name: str, address: str) -> bool:
        """Pass on the address that an owner reached; False if no link waits for it."""
        found = self._connections.get(name)
        return found is not None and found.sign_in.finish(address)

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
        gone = [name for name, one in self._connections.items() if servers.get(name) != one.server]
        ended = [self._tasks.pop(name) for name in gone]
        for task in ended:
            task.cancel()
        for name in gone:
            old = self._connections.pop(name)
            self._tools = {key: tool for key, tool in self._tools.items() if key[0] is not old}
        if ended:
            await asyncio.wait(ended)
        for name, server in servers.items():
            if name not in self._connections:
                self._start(server)

    def _start(self, server: McpServer) -> None:
        connection = McpConnection(
            server, self._surroundings, load_sessions, listed=self._note, timings=self._timings
        )
        self._connections[server.name] = connection
        task = self._tasks[server.name] = asyncio.create_task(connection.run())
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _note(self, server: McpServer, listing: Listing) -> None:
        """Tell owners once about tools that they can accept. Raises `StoreError`."""

        def work(connection: Connection) -> Callable[[], None] | None:
            if not note_listing(connection, server.name, listing):
                return None
            judged = judge(listing, read_pins(connection, server.name))
            return self._notify(connection, server, judged)

        announce = await self._database.write("mcp.note", work)
        if announce:
            announce()


def _may_use(server: McpServer, person: Person) -> bool:
    return person.is_owner or EVERYONE in server.people or person.slug in server.people


def _list_usable(connection: Connection, one: McpConnection) -> list[ForeignTool]:
    usable = judge(one.listing, read_pins(connection, one.server.name)).usable
    return [tool for tool in one.listing.tools if tool.name in usable and not tool.fault]
