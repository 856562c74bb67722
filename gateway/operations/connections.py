"""Operations on connections: a person's accounts at MCP servers, and what owners accept there."""

import json
from dataclasses import dataclass
from urllib.parse import urlsplit

from agent_core.ids import PersonId
from agent_core.state.engine.database import Connection
from agent_core.state.people import audit
from agent_core.state.people.audit import AuditEntry
from agent_core.state.people.deeds import NewDeed
from agent_core.tools.mcp.hub import McpServers
from agent_core.tools.mcp.pins import Digests, read_pins, set_accepted
from agent_core.tools.mcp.sign_in import SignInUnavailable
from agent_core.tools.mcp.sign_ins import SignIns
from gateway.errors import Declined, Mistaken
from gateway.texts import connections as texts
from gateway.texts import mcp

AGAIN = "again"
"""Begins the accepted tools in the command that accepts them again, which only undo runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """Names who acts and when, for the audit trail."""

    person_id: PersonId
    actor: str
    now: int

    def record(self, connection: Connection, action: str, server: str) -> None:
        """Record what is done at a server."""
        entry = AuditEntry(
            person_id=self.person_id,
            actor=self.actor,
            action=action,
            detail=server,
            created_at=self.now,
        )
        audit.record(connection, entry)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInLink:
    """The page on which a person signs in at a server; it is for them alone."""

    server: str
    url: str

    @property
    def host(self) -> str:
        """The host of the page."""
        return urlsplit(self.url).hostname or ""


async def begin(sign_ins: SignIns, person_id: PersonId, server: str) -> SignInLink:
    """Make a link with which a person signs in. Raises `Declined`."""
    try:
        return SignInLink(server=server, url=await sign_ins.begin(server, person_id))
    except SignInUnavailable as error:
        raise Declined(texts.NO_LINK[error.fault](name=server)) from error


async def end(sign_ins: SignIns, server: str, author: Author) -> None:
    """End a person's sign-in at a server. Raises `Mistaken` if there is none."""

    def record(connection: Connection) -> None:
        author.record(connection, "mcp.end", server)

    if not await sign_ins.end(server, author.person_id, record):
        raise Mistaken(texts.NOT_CONNECTED(name=server))


def accept(
    connection: Connection, servers: McpServers, server: str, token: str, author: Author
) -> NewDeed:
    """Accept the tools that an owner was shown with this token. Raises `Declined`."""
    before = read_pins(connection, server).accepted
    if not servers.accept(connection, server, token):
        raise Declined(mcp.OUTDATED(name=server))
    author.record(connection, "mcp.accept", server)
    return _describe_accepted(connection, server, before, mcp.ACCEPTED(name=server))


def accept_again(connection: Connection, words: str, author: Author) -> NewDeed:
    """Let exactly those tools of a server be accepted that a deed names.

    Permissions that ended with the acceptance stay ended.
    """
    _, server, told = words.split(" ", 2)
    before = read_pins(connection, server).accepted
    set_accepted(connection, server, json.loads(told))
    author.record(connection, "mcp.accept", server)
    did = mcp.ACCEPTED_AS_BEFORE(name=server)
    return _describe_accepted(connection, server, before, did)


def _describe_accepted(connection: Connection, server: str, before: Digests, did: str) -> NewDeed:
    after = read_pins(connection, server).accepted
    undo, redo = (f"mcp {AGAIN} {server} {json.dumps(one)}" for one in (before, after))
    return NewDeed(undo=undo, redo=redo, did=did)


def retry(servers: McpServers, server: str) -> None:
    """Connect at once to a server that waits. Raises `Mistaken`."""
    if not servers.retry(server):
        raise Mistaken(mcp.UNKNOWN_SERVER(name=server))
