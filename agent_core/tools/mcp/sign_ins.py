"""People's sign-ins at servers: which there are, how they begin, and how they end."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from agent_core.errors import StoreError
from agent_core.ids import PersonId
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import mcp_accounts, owners, people
from agent_core.state.people.mcp_accounts import McpAccount
from agent_core.state.people.people import Person
from agent_core.tools.mcp.accounts import (
    OUTCOME_SECONDS,
    OwnAccounts,
    SignInOutcome,
    describe_outcome,
)
from agent_core.tools.mcp.contract import EVERYONE, McpServer, McpUnavailable
from agent_core.tools.mcp.loading import load_revoke
from agent_core.tools.mcp.sign_in import SignInUnavailable
from agent_core.tools.mcp.supervisor import McpConnection
from agent_core.tools.mcp.token_files import TokenFolder, make_key

_TIDY = 300.0
"""Seconds between two looks for tokens that are nobody's."""

_log = logging.getLogger(__name__)

Record = Callable[[Connection], None]
"""Records what a person does, in the same transaction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInReport:
    """A server that a person can sign in to, or has signed in to.

    `signed_in_at` is None for a server that wants a sign-in. `host` is the server's; "" if the
    server is not configured any more.
    """

    server: str
    host: str
    is_shared: bool
    signed_in_at: int | None


class SignIns:
    """The sign-ins at all servers."""

    def __init__(
        self,
        database: Database,
        folder: TokenFolder,
        accounts: OwnAccounts,
        servers: Mapping[str, McpServer],
        shared: Mapping[str, McpConnection],
        restart: Callable[[str], Awaitable[None]],
        now: Callable[[], int],
    ) -> None:
        """`servers` and `shared` connections are those of the hub, by name."""
        self._database = database
        self._folder = folder
        self._accounts = accounts
        self._servers = servers
        self._shared = shared
        self._restart = restart
        self._now = now
        self._due = asyncio.Event()
        self._tidying = asyncio.Lock()

    async def run(self) -> None:
        """Revoke and delete tokens that are nobody's any more, until cancelled."""
        while True:
            self._due.clear()
            try:
                await self.tidy()
            except (StoreError, OSError) as error:
                _log.warning("tokens of MCP servers that ended could not be deleted: %s", error)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_TIDY):
                    await self._due.wait()

    async def list_of(self, person_id: PersonId) -> list[SignInReport]:
        """List the servers that a person can sign in to or has signed in to, by name."""

        def look(connection: Connection) -> tuple[Person | None, list[McpAccount]]:
            person = people.find(connection, person_id=person_id)
            return person, mcp_accounts.list_of(connection, person_id=person_id)

        person, accounts = await self._database.read(look)
        found = {(one.server, one.is_shared): one.signed_in_at for one in accounts}
        offered = [one for one in self._servers.values() if person and may_sign_in(one, person)]
        for server in offered:
            found.setdefault((server.name, server.is_shared), None)
        return [
            SignInReport(
                server=name,
                host=self._name_host(name),
                is_shared=is_shared,
                signed_in_at=signed_in_at,
            )
            for (name, is_shared), signed_in_at in sorted(found.items())
            if signed_in_at is not None or name in {server.name for server in offered}
        ]

    async def begin(self, name: str, person_id: PersonId) -> str:
        """Return a link with which this person signs in. Raises `SignInUnavailable`."""
        person = await self._database.read(people.find, person_id=person_id)
        server = self._servers.get(name)
        if server is None or person is None or not may_use(server, person):
            raise SignInUnavailable("is not there", "unknown")
        if not server.has_oauth:
            raise SignInUnavailable("has no `oauth = true` in its table", "not_configured")
        if server.has_own_accounts:
            return await self._accounts.begin_sign_in(server, person_id)
        connection = self._shared.get(name)
        if not person.is_owner or connection is None:
            raise SignInUnavailable("is shared", "owners_only")
        return await self._begin_shared(connection, person_id)

    async def finish(self, person_id: PersonId, address: str) -> SignInOutcome:
        """Pass on the address that this person reached, to a link of this person only."""
        outcome = await self._accounts.finish_sign_in(person_id, address)
        if outcome.taken == "taken":
            return outcome
        for name, connection in self._shared.items():
            account = await self.find_shared(name)
            if account is None or account.person_id != person_id:
                continue
            taken = connection.sign_in.finish(address)
            if taken == "taken":
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(OUTCOME_SECONDS):
                        await connection.wait_settled()
                return describe_outcome(connection)
            if taken == "foreign":
                outcome = SignInOutcome(taken=taken, server=name)
        return outcome

    async def find_shared(self, name: str) -> McpAccount | None:
        """Return the account that everybody uses at a server. Raises `StoreError`."""
        return await self._database.read(mcp_accounts.find_shared, server=name)

    async def end(self, name: str, person_id: PersonId, record: Record) -> bool:
        """End a person's sign-in at a server; False if there was none. Raises `StoreError`."""

        def work(connection: Connection) -> bool:
            ended = mcp_accounts.delete(connection, person_id=person_id, server=name)
            if ended:
                record(connection)
            return ended

        ended = await self._database.write("mcp.end", work)
        await self._accounts.close(name, person_id)
        self._due.set()
        return ended

    async def tidy(self) -> None:
        """End sessions whose account has gone; revoke and delete tokens that are nobody's.

        Raises `StoreError` and `OSError`.
        """
        async with self._tidying:
            keys = await self._database.read(mcp_accounts.list_keys)
            await self._accounts.close_gone(keys)
            for name, connection in list(self._shared.items()):
                if connection.files and connection.files.tokens.stem not in keys:
                    await self._restart(name)
            await clear_tokens(self._database, self._folder, list(self._servers.values()))

    async def end_moved(self, server: McpServer) -> None:
        """End the sign-ins at an address that the server had before: they open nothing here.

        Raises `StoreError` and `OSError`.
        """
        keys = await asyncio.to_thread(self._folder.list_moved, server)

        def work(connection: Connection) -> None:
            for key in keys:
                mcp_accounts.delete_key(connection, key=key)

        if keys:
            await self._database.write("mcp.moved", work)
            self._due.set()

    async def adopt(self, server: McpServer) -> None:
        """Make the sign-in of an earlier version that of the owner.

        If there are several owners, nobody knows whose account it is: then each signs in again.
        Raises `StoreError` and `OSError`.
        """
        if not await asyncio.to_thread(self._folder.has_former, server.name):
            return
        known = await self._database.read(owners.list_all)
        if not known:
            return  # the file waits for an owner
        if len(known) > 1:
            _log.warning("MCP server %s: nobody knows whose sign-in it was", server.name)
            await asyncio.to_thread(self._folder.take_over, server, make_key())
            self._due.set()
            return
        whose = known[0].id

        def work(connection: Connection) -> McpAccount:
            account = mcp_accounts.add(
                connection,
                person_id=whose,
                server=server.name,
                key=make_key(),
                is_shared=server.is_shared,
            )
            mcp_accounts.note_listing(
                connection, person_id=whose, key=account.key, listing="", now=self._now()
            )
            return account

        account = await self._database.write("mcp.adopt", work)
        await asyncio.to_thread(self._folder.take_over, server, account.key)
        if server.has_own_accounts:
            await self._accounts.start(server, whose)

    def _name_host(self, name: str) -> str:
        server = self._servers.get(name)
        return (urlsplit(server.url).hostname or "") if server else ""

    async def _begin_shared(self, connection: McpConnection, person_id: PersonId) -> str:
        """Return a link for the account that everybody uses, which is then this owner's."""
        if connection.needs_sign_in:
            name = connection.server.name

            def work(c: Connection) -> None:
                mcp_accounts.delete_shared(c, server=name)
                mcp_accounts.add(
                    c, person_id=person_id, server=name, key=make_key(), is_shared=True
                )

            await self._database.write("mcp.share", work)
            self._due.set()
        return await connection.begin_sign_in()


def may_use(server: McpServer, person: Person) -> bool:
    """Return whether a person may use a server: owners may use all."""
    return person.is_owner or EVERYONE in server.people or person.slug in server.people


def may_sign_in(server: McpServer, person: Person) -> bool:
    """Return whether a person may sign in at a server; at a shared one, only owners may."""
    may = person.is_owner if server.is_shared else may_use(server, person)
    return server.has_oauth and not server.fault and may


async def clear_tokens(
    database: Database, folder: TokenFolder, servers: Sequence[McpServer]
) -> None:
    """Revoke and delete the tokens that are nobody's. Raises `StoreError` and `OSError`.

    Tokens are deleted even if their server can't be asked to revoke them.
    """
    named = {server.name: server for server in servers}

    def find(name: str, url: str) -> McpServer:
        known = named.get(name)
        return known if known and known.url == url else McpServer(name=name, url=url)

    async def revoke(server: McpServer, content: Mapping[str, Any]) -> None:
        try:
            await (await load_revoke())(server, content)
        except McpUnavailable as error:
            _log.warning("MCP server %s: tokens are not revoked: it %s", server.name, error)

    async def list_keys() -> frozenset[str]:
        return await database.read(mcp_accounts.list_keys)

    await folder.clear(list_keys, find, revoke)
