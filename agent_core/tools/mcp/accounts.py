"""People's own accounts at servers: a session for each, opened for its calls only.

A session belongs to one person and uses the tokens of one account. It is found by the person of a
call, which is an argument of every method here, so no call can meet the account of somebody else.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypedDict

from agent_core.ids import PersonId
from agent_core.state.engine.database import Database
from agent_core.state.people import mcp_accounts
from agent_core.state.people.mcp_accounts import McpAccount
from agent_core.tools.mcp.calls import CallHooks
from agent_core.tools.mcp.contract import (
    AccountFiles,
    CallOutcome,
    Listing,
    McpServer,
    McpUnavailable,
)
from agent_core.tools.mcp.sign_in import SignInUnavailable, Taken
from agent_core.tools.mcp.supervisor import (
    FindFiles,
    Listed,
    McpConnection,
    McpNotAsked,
    Timings,
)
from agent_core.tools.mcp.token_files import TokenFolder, make_key

OUTCOME_SECONDS = 30.0
"""Seconds in which a server has to let a person in who has just signed in."""
_DAY = 86_400_000

Connect = Callable[[McpServer, FindFiles, Listed], McpConnection]
"""Makes a connection that uses these files, and reports its tools."""
SendLink = Callable[[PersonId, str, str], Awaitable[bool]]
"""Sends a person the link of a server in their direct chat; False if they have none."""
McpWork = Callable[[McpConnection], Awaitable[CallOutcome]]
KeepListing = Callable[[McpServer, McpAccount, Listing], Awaitable[None]]
"""Stores the tools that an account sees. May raise `StoreError`."""
Invitation = Literal["sent", "waiting", "sent_before", "no_chat", "not_offered", "connected"]
"""What became of a link: it was sent now, waits for the person, or was sent within the last day;
there is no chat for it, the server gave none, or none is needed.
"""
_INVITATIONS: Mapping[Invitation, str] = {
    "sent": "Talaria has just sent them a link in their direct chat. Nothing was called. Tell them,"
    " and call again after they have signed in.",
    "waiting": "They have a link in their direct chat that they have not used yet. Nothing was"
    " called.",
    "sent_before": "They got a link in their direct chat before, and it has expired. Nothing was"
    " called. They get a new link with /connections in their direct chat.",
    "no_chat": "Talaria has no direct chat with them for the link. Nothing was called. They can"
    " write to Talaria in a direct chat, and send /connections there.",
    "not_offered": "But the server offers no page to sign in on now. Nothing was called.",
    "connected": "It is connected now. Search for the tool again, and call it then.",
}


class _Named(TypedDict):
    person_id: PersonId
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInOutcome:
    """The end of a sign-in: whether a link took the address, and the server let them in."""

    taken: Taken
    server: str = ""
    is_ready: bool = False
    fault: str = ""
    """Why the server let nobody in; ends a sentence that begins with its name."""


@dataclass(frozen=True, slots=True)
class _Session:
    connection: McpConnection
    task: asyncio.Task[None]
    key: str


class OwnAccounts:
    """The sessions of people's accounts."""

    def __init__(
        self,
        database: Database,
        folder: TokenFolder,
        connect: Connect,
        keep_listing: KeepListing,
        send_link: SendLink,
        *,
        timings: Timings,
        now: Callable[[], int],
    ) -> None:
        self._database = database
        self._folder = folder
        self._connect = connect
        self._keep_listing = keep_listing
        self._send_link = send_link
        self._timings = timings
        self._now = now
        self._sessions: dict[tuple[PersonId, str], _Session] = {}
        self._changing = asyncio.Lock()
        self._inviting: dict[tuple[PersonId, str], asyncio.Task[Invitation]] = {}

    @property
    def count(self) -> int:
        """The number of sessions."""
        return len(self._sessions)

    async def open(self, server: McpServer, person_id: PersonId) -> McpConnection:
        """Return a connection that is ready, with the account of this person.

        Raises `McpNotAsked` with a sentence if they have to sign in first; then they get a link.
        """
        account = await self._find(server, person_id)
        if account is None:
            raise await self._refuse(server, person_id)
        session = await self._get(server, account)
        if session.connection.sign_in.is_open:
            raise await self._refuse(server, person_id)
        await _wait(session)
        if session.connection.state == "ready":
            return session.connection
        if session.connection.needs_sign_in:
            raise await self._refuse(server, person_id)
        raise McpNotAsked(f"is not connected now: it {session.connection.fault or 'was stopped'}")

    async def start(self, server: McpServer, person_id: PersonId) -> None:
        """Open a session ahead of the first call, without waiting for it."""
        account = await self._find(server, person_id)
        if account:
            await self._get(server, account)

    async def use(self, server: McpServer, person_id: PersonId, work: McpWork) -> CallOutcome:
        """Do the work of a call on the connection of this person. Raises `McpUnavailable`."""
        connection = await self.open(server, person_id)
        try:
            return await work(connection)
        except McpUnavailable as error:
            if connection.needs_sign_in:
                raise await self._refuse(server, person_id) from error
            raise

    async def invite(self, server: McpServer, person_id: PersonId) -> Invitation:
        """Send a person a link without being asked, at most once a day. Raises `StoreError`.

        Calls at the same time share one link.
        """
        place = person_id, server.name
        inviting = self._inviting.get(place)
        if inviting is None:
            inviting = self._inviting[place] = asyncio.create_task(self._invite(server, person_id))
            inviting.add_done_callback(lambda _: self._inviting.pop(place))
        return await asyncio.shield(inviting)

    async def _invite(self, server: McpServer, person_id: PersonId) -> Invitation:
        session = self._sessions.get((person_id, server.name))
        if session and session.connection.sign_in.is_open:
            return "waiting"
        account = await self._find_or_add(server, person_id)
        named: _Named = {"person_id": person_id, "key": account.key}
        now = self._now()
        if not await self._database.write(
            "mcp.ask", mcp_accounts.note_asked, **named, since=now - _DAY, now=now
        ):
            return "sent_before"
        invitation = await self._send(server, person_id)
        if invitation != "sent":
            await self._database.write("mcp.ask", mcp_accounts.forget_asked, **named)
        return invitation

    async def _send(self, server: McpServer, person_id: PersonId) -> Invitation:
        try:
            link = await self.begin_sign_in(server, person_id)
        except SignInUnavailable as error:
            return "connected" if error.fault == "connected" else "not_offered"
        if await self._send_link(person_id, server.name, link):
            return "sent"
        await self.close(server.name, person_id)
        return "no_chat"

    async def begin_sign_in(self, server: McpServer, person_id: PersonId) -> str:
        """Return a link for this person; it ends an earlier one. Raises `SignInUnavailable`."""
        account = await self._find_or_add(server, person_id)
        # Tokens that the server takes no more are found out by an attempt, which then has no link.
        for _ in range(2):
            link, was_refused = await self._try_sign_in(server, account)
            if link:
                return link
            if not was_refused:
                break
        raise SignInUnavailable("did not offer to sign in", "not_offered")

    async def _try_sign_in(self, server: McpServer, account: McpAccount) -> tuple[str, bool]:
        """Return a link, or whether the server refused the tokens. Raises `SignInUnavailable`."""
        present = self._sessions.get((account.person_id, server.name))
        if present and (present.connection.state != "ready" or present.connection.needs_sign_in):
            await self.close(server.name, account.person_id)
        try:
            session = await self._get(server, account)
        except McpNotAsked as error:
            raise SignInUnavailable(str(error), "busy") from error
        begun = asyncio.create_task(session.connection.begin_sign_in())
        try:
            await asyncio.wait((begun, session.task), return_when=asyncio.FIRST_COMPLETED)
            return (
                (begun.result(), False) if begun.done() else ("", session.connection.needs_sign_in)
            )
        finally:
            begun.cancel()

    async def finish_sign_in(self, person_id: PersonId, address: str) -> SignInOutcome:
        """Pass on the address that this person reached, to a link of this person only."""
        found = SignInOutcome(taken="none")
        for (whose, name), session in list(self._sessions.items()):
            if whose != person_id:
                continue
            taken = session.connection.sign_in.finish(address)
            if taken == "taken":
                await _wait(session, OUTCOME_SECONDS)
                return describe_outcome(session.connection)
            found = SignInOutcome(taken=taken, server=name) if taken == "foreign" else found
        return found

    async def close(self, server: str, person_id: PersonId) -> None:
        """End the session of a person at a server."""
        async with self._changing:
            await self._end([key for key in self._sessions if key == (person_id, server)])

    async def close_server(self, server: str) -> None:
        """End everybody's sessions at a server."""
        async with self._changing:
            await self._end([key for key in self._sessions if key[1] == server])

    async def close_all(self) -> None:
        """End all sessions."""
        await self._end(list(self._sessions))

    async def close_gone(self, keys: frozenset[str]) -> None:
        """End the sessions whose account is none of these any more."""
        async with self._changing:
            gone = [key for key, session in self._sessions.items() if session.key not in keys]
            await self._end(gone)

    async def _refuse(self, server: McpServer, person_id: PersonId) -> McpNotAsked:
        """Return the refusal of a call, after the person got a link."""
        account = await self._find(server, person_id)
        if account and account.signed_in_at is not None:
            await self._database.write(
                "mcp.refused",
                mcp_accounts.note_refusal,
                person_id=person_id,
                key=account.key,
            )
        return McpNotAsked(describe_need(await self.invite(server, person_id)))

    async def _find(self, server: McpServer, person_id: PersonId) -> McpAccount | None:
        return await self._database.read(mcp_accounts.find, person_id=person_id, server=server.name)

    async def _find_or_add(self, server: McpServer, person_id: PersonId) -> McpAccount:

        return await self._database.write(
            "mcp.account",
            mcp_accounts.add,
            person_id=person_id,
            server=server.name,
            key=make_key(),
            is_shared=False,
        )

    async def _get(self, server: McpServer, account: McpAccount) -> _Session:
        """Return the session of an account, or start one. Raises `McpNotAsked`."""
        place = account.person_id, server.name
        async with self._changing:
            session = self._sessions.get(place)
            if session and session.key == account.key and not session.task.done():
                return session
            if session:
                await self._end([place])
            await self._make_room()
            connection = self._connect(
                server, partial(self._find_files, account), partial(self._note_listing, account)
            )
            task = asyncio.create_task(connection.run_once(self._timings.idle))
            session = self._sessions[place] = _Session(connection, task, account.key)
            task.add_done_callback(lambda _: self._drop(place, session))
            return session

    def _drop(self, place: tuple[PersonId, str], session: _Session) -> None:
        if self._sessions.get(place) is session:
            del self._sessions[place]

    async def _make_room(self) -> None:
        """End the session that rested longest if there are too many. Raises `McpNotAsked`."""
        if len(self._sessions) < self._timings.most_sessions:
            return
        resting = [
            (session.connection.used_at, place)
            for place, session in self._sessions.items()
            if session.connection.state == "ready" and not session.connection.is_busy
        ]
        if not resting:
            raise McpNotAsked("is busy: too many people use their accounts now; try again soon")
        await self._end([min(resting)[1]])

    async def _end(self, places: list[tuple[PersonId, str]]) -> None:
        tasks = [self._sessions.pop(place).task for place in places]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _find_files(self, account: McpAccount) -> AccountFiles:
        return self._folder.name_files(account.server, account.key)

    async def _note_listing(self, account: McpAccount, server: McpServer, listing: Listing) -> None:
        await self._keep_listing(server, account, listing)


@dataclass(frozen=True, slots=True)
class OwnLine:
    """A server as one person reaches it; see `Line`. `digest` is the hash of the tool to call."""

    accounts: OwnAccounts
    server: McpServer
    person_id: PersonId
    digest: str = ""

    async def call(
        self, tool: str, arguments: Mapping[str, object], hooks: CallHooks | None = None
    ) -> CallOutcome:
        """Call a tool, if it is still the accepted one. Raises `McpUnavailable`."""

        async def work(connection: McpConnection) -> CallOutcome:
            offered = {one.name: one.digest for one in connection.listing.tools}
            if offered.get(tool) != self.digest:
                raise McpNotAsked("has changed this tool for this account; search for it again")
            return await connection.call(tool, arguments, hooks)

        return await self.accounts.use(self.server, self.person_id, work)

    async def get(
        self, kind: str, name: str, values: Mapping[str, str], hooks: CallHooks | None = None
    ) -> CallOutcome:
        """Get a resource or a prompt; see `McpSession`. Raises `McpUnavailable`."""
        return await self.accounts.use(
            self.server,
            self.person_id,
            lambda connection: connection.get(kind, name, values, hooks),
        )


def describe_need(invitation: Invitation) -> str:
    """Return the end of a sentence that begins with a server: why it can't be called yet."""
    return f"needs the person's own account. {_INVITATIONS[invitation]}"


def describe_outcome(connection: McpConnection) -> SignInOutcome:
    """Say how a sign-in ended at a server that got the address."""
    return SignInOutcome(
        taken="taken",
        server=connection.server.name,
        is_ready=connection.state == "ready",
        fault=connection.fault if connection.state == "waiting" else "",
    )


async def _wait(session: _Session, timeout: float | None = None) -> None:
    """Wait until a session is ready or has ended."""
    settled = asyncio.create_task(session.connection.wait_settled())
    try:
        await asyncio.wait(
            (settled, session.task), timeout=timeout, return_when=asyncio.FIRST_COMPLETED
        )
    finally:
        settled.cancel()
