"""Requests and answers of the operations on MCP servers. Quick to import."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ListAccepted:
    """Asks which tools of servers were accepted."""

    servers: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDigests:
    """A tool, and the hashes of its descriptions."""

    tool: str
    digests: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerTools:
    """The accepted tools of one server."""

    server: str
    tools: tuple[ToolDigests, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedTools:
    """The accepted tools, by server."""

    servers: tuple[ServerTools, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptTools:
    """Accepts tools by hashes of the descriptions that the owner saw.

    With `adds`, earlier hashes of a tool stay accepted, too.
    """

    server: str
    tools: tuple[ToolDigests, ...]
    adds: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedServer:
    """The server, and how many of its tools were accepted."""

    server: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAccount:
    """Asks for the account with which the command line signs in at a server.

    It is that of the person named by their folder, or of the only owner.
    """

    server: str
    person: str = ""
    shared: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedAccount:
    """The key of an account, "" without any owner, and the number of its person."""

    key: str
    person: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedIn:
    """Tells which tools an account saw at its server, as `dump_listing` writes them."""

    key: str
    person: int
    listing: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedServer:
    """Names a server."""

    server: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """Says that it is stored."""
