"""The contract of MCP servers: configuration, offered tools, and sessions."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from agent_core.errors import CoreError
from agent_core.tools.mcp.calls import RunningCall

ServerState = Literal["starting", "ready", "waiting"]
"""State of a server: connecting, ready, or waiting for the next attempt."""

MOST_TOOLS = 128
"""Tools of one server; further ones are left out."""
EVERYONE = "*"


class McpUnavailable(CoreError):
    """A server can't be used now; the text ends a sentence that begins with its name."""


class McpSessionGone(McpUnavailable):
    """A server no longer knows the session, and did nothing: a new session may ask again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class McpServer:
    """A server as the owner configured it: a program with `argv`, or a `url`.

    `headers` and `environ` may hold secrets. `people` are the slugs of those who may use it besides
    owners. `is_local` means that it sends nothing to others, and may have a private address.
    `seconds` limits one call.
    """

    name: str
    argv: tuple[str, ...] = ()
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    is_local: bool = False
    is_sandboxed: bool = True
    has_oauth: bool = False
    """True if people sign in at the server, with a link."""
    is_shared: bool = False
    """True if everybody uses the account of the owner who signed in, because an owner wants it."""
    client_id: str = ""
    """Talaria's client id, or the address of its client metadata; "" to register a client."""
    client_secret: str = field(default="", repr=False)
    has_network: bool = False
    readable: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()
    seconds: float = 60.0
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Values from the environment; they are hidden in everything that the server returns."""
    fault: str = ""
    """The mistake in the configuration; ends a sentence. A faulty server is never connected."""

    @property
    def has_own_accounts(self) -> bool:
        """True if each person uses an account of their own."""
        return self.has_oauth and not self.is_shared

    @property
    def has_one_account(self) -> bool:
        """True if everybody uses one account: a shared one, or what the configuration holds."""
        return not self.has_own_accounts and (self.has_oauth or bool(self.secrets))

    def wants(self, tool: str) -> bool:
        """Return whether the owner's filters let a tool through."""
        return (not self.include or tool in self.include) and tool not in self.exclude


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignTool:
    """A tool of a server, made safe to show. `name` is the server's own name for it.

    `digest` covers its name, description and schema as the server sent them. A tool with a `fault`
    can't be used; the fault ends a sentence.
    """

    name: str
    description: str
    schema: str
    digest: str
    is_destructive: bool = False
    fault: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The tools that the owner's filters let through. `left_out` counts tools beyond the limit.

    `offers` are the server's other offers; `prompts` are the names of its prompts.
    """

    tools: tuple[ForeignTool, ...] = ()
    left_out: int = 0
    offers: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOutcome:
    """The text that a tool returned, and the (bytes, type) of its pictures and PDF files."""

    text: str
    is_error: bool = False
    images: tuple[tuple[bytes, str], ...] = ()


class McpSession(Protocol):
    """A connection to a server, after the handshake."""

    @property
    def protocol(self) -> str:
        """The protocol version that both sides agreed on."""

    async def list_tools(self) -> Listing:
        """Ask for the tools. Raises `McpUnavailable`."""

    async def call(
        self, tool: str, arguments: Mapping[str, object], running: RunningCall
    ) -> CallOutcome:
        """Call a tool. Raises `McpUnavailable` if the server doesn't answer."""

    async def get(
        self, kind: str, name: str, values: Mapping[str, str], running: RunningCall
    ) -> CallOutcome:
        """Get a resource or a prompt, or list them if no name is given. Raises `McpUnavailable`."""

    async def wait_closed(self) -> str:
        """Wait until the connection is lost; return the reason, which ends a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """The machine around servers that are programs.

    `folder` holds a folder for each server. `hidden` are folders that no sandbox shows. `inherited`
    is the environment of programs outside the sandbox.
    """

    folder: Path
    hidden: Sequence[Path] = ()
    inherited: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountFiles:
    """The files of one account at a server: its `tokens`, and Talaria's registration as a `client`.

    All accounts at a server share the registration.
    """

    tokens: Path
    client: Path


AskPerson = Callable[[str], Awaitable[str]]
"""Gives a person a link to sign in; returns the address of the page that they reached.

Raises `McpUnavailable` if nobody signs in.
"""
OpenSession = Callable[
    [McpServer, Surroundings, Callable[[], None], AskPerson, AccountFiles | None],
    AbstractAsyncContextManager[McpSession],
]
"""Connects to a server; the third argument is called when its tools may have changed.

The files are those of the account that is used; None for a server without a sign-in.
"""
