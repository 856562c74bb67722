"""`talaria mcp`: adds, lists, tests and removes MCP servers, and accepts their tools."""

import argparse
import asyncio
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from agent_core.tools.mcp.contract import McpUnavailable
from agent_core.tools.mcp.loading import load_sessions
from gateway.app.env_file import add_saved
from gateway.errors import Mistaken, StartError, suggest
from gateway.home import DATABASE, MCP_CONFIG, open_home
from gateway.interfaces import client
from gateway.interfaces.client import NoGateway
from gateway.interfaces.mcp_server.loading import MISSING, is_installed, load_stdio
from gateway.interfaces.waiting import read_settings
from gateway.operations.mcp_types import (
    AcceptedServer,
    AcceptedTools,
    AcceptTools,
    ListAccepted,
    NamedServer,
    Noted,
    OpenAccount,
    OpenedAccount,
    SignedIn,
    ToolDigests,
)

if TYPE_CHECKING:
    from agent_core.tools.mcp.contract import AccountFiles, Listing, McpServer
    from agent_core.tools.mcp.pins import Digests, Judged
    from gateway.app.settings import Settings

_FAILED = 1
_SECONDS = 60.0
"""Seconds in which a server has to start and list its tools."""
_FIRST = "restart Talaria, so that the assistant searches for tools"
_FURTHER = "a Talaria that was started after the first server notices it by itself"
_OWN = "Each person signs in with their own account."
_SHARED = "Everyone who may use it uses one account."
_SHORT, _WHOLE = 100, 1000
"""Characters shown of the description of an accepted tool, and of a tool that is not accepted yet.
"""


def run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Run the verb. Raises `StartError`."""
    verb = arguments.verb
    if verb == "list":
        home = open_home(environ)
        return _list(home, add_saved(environ, home))
    settings = read_settings(environ)
    match verb:
        case "add":
            return _add(settings, arguments)
        case "remove":
            return _remove(settings, arguments.name)
        case "serve":
            return _serve(settings, arguments.person)
        case verb:
            server = _find(settings, arguments.name)
            return _show(settings, server, arguments, accepts=verb == "accept")


def _list(home: Path, environ: Mapping[str, str]) -> int:
    servers: Sequence[McpServer] = ()
    if (home / MCP_CONFIG).exists():
        from gateway.app.mcp_file import read_mcp_servers

        servers = read_mcp_servers(home, environ)
    accepted = _ask_accepted(home, servers)
    for server in servers:
        what = server.url or " ".join(server.argv)
        print(f"{server.name}: {what}" if what else server.name)
        if server.fault:
            print(f"  It {server.fault}.")
        else:
            print(f"  Tools accepted: {', '.join(accepted[server.name]) or 'none'}")
            if server.has_oauth:
                print(f"  {_SHARED if server.is_shared else _OWN}")
    if not servers:
        print("There are no MCP servers. `talaria mcp add` adds one.")
    return _FAILED if any(server.fault for server in servers) else 0


def _serve(settings: "Settings", person: str) -> int:
    if not is_installed():
        raise StartError(MISSING)
    try:
        asyncio.run(load_stdio()(settings.home, person))
    except NoGateway as error:
        raise StartError(f"{error} Start one with `talaria run`.") from error
    return 0


def _add(settings: "Settings", arguments: argparse.Namespace) -> int:
    from gateway.app.mcp_file import add_mcp_server

    table = _make_table(arguments)
    is_first = not (settings.home / MCP_CONFIG).exists()
    server = add_mcp_server(settings.home, arguments.name, table, settings.environ)
    print(f"Added to {settings.home / MCP_CONFIG}; {_FIRST if is_first else _FURTHER}.")
    return _show(settings, server, arguments, accepts=True)


def _make_table(arguments: argparse.Namespace) -> dict[str, Any]:
    words = arguments.words or []
    table = {
        "command": words[0] if words else None,
        "args": words[1:],
        "url": arguments.url,
        "env": _read_pairs(arguments.env),
        "headers": _read_pairs(arguments.header),
        "include": arguments.include,
        "exclude": arguments.exclude,
        "people": arguments.person,
        "readable": arguments.readable,
        "writable": arguments.writable,
        "oauth": arguments.oauth,
        "shared_account": arguments.shared_account,
        "local": arguments.local,
        "network": arguments.network,
        "unsandboxed": arguments.unsandboxed,
        "seconds": arguments.seconds,
    }
    return {key: value for key, value in table.items() if value}


def _read_pairs(given: Sequence[str] | None) -> dict[str, str]:
    pairs = {}
    for text in given or ():
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise Mistaken(f"{text!r} is not of the form NAME=VALUE.")
        pairs[name] = value
    return pairs


def _remove(settings: "Settings", name: str) -> int:
    from gateway.app.mcp_file import locate_mcp_programs, locate_mcp_tokens, remove_mcp_server

    remove_mcp_server(settings.home, name)
    if _has_database(settings.home):
        client.perform_typed(settings.home, "mcp.forget", NamedServer(server=name), NamedServer)
    locate_mcp_tokens(settings.home).remove(name)
    folder = locate_mcp_programs(settings.home, settings.environ).folder / name
    print(f"Removed {name}." + (f" Its folder {folder} is kept." if folder.exists() else ""))
    return 0


def _find(settings: "Settings", name: str) -> "McpServer":
    from gateway.app.mcp_file import read_mcp_servers

    servers = {one.name: one for one in read_mcp_servers(settings.home, settings.environ)}
    if name not in servers:
        raise StartError(
            f"There is no MCP server {name}; {suggest(name, servers)}"
            if servers
            else "There are no MCP servers. `talaria mcp add` adds one."
        )
    return servers[name]


def _show(
    settings: "Settings", server: "McpServer", arguments: argparse.Namespace, *, accepts: bool
) -> int:
    """Connect to a server and list its tools; if the owner agrees, accept those that wait."""
    from agent_core.tools.mcp.pins import Pins, judge, list_digests

    if server.fault:
        raise StartError(f"The server {server.name} {server.fault}.")
    try:
        protocol, listing = _look(settings, server, arguments.whose or "")
    except (McpUnavailable, TimeoutError) as error:
        reason = str(error) or f"did not answer within {_SECONDS:g} s"
        print(f"The server {server.name} {reason}.", file=sys.stderr)
        return _FAILED
    accepted = _ask_accepted(settings.home, [server])[server.name]
    judged = judge(listing, Pins(accepted=accepted))
    print(f"{server.name} speaks MCP {protocol} and has {len(listing.tools)} tools.")
    _print_tools(listing, judged)
    if judged.is_complete:
        return 0
    if not accepts:
        print(f"`talaria mcp accept {server.name}` accepts the tools that wait.")
        return 0
    if not (getattr(arguments, "yes", False) or _confirm()):
        print(f"Nobody can use them yet; `talaria mcp accept {server.name}` accepts them.")
        return 0
    tools = tuple(
        ToolDigests(tool=tool, digests=tuple(digests))
        for tool, digests in list_digests(listing).items()
    )
    asked = AcceptTools(server=server.name, tools=tools, adds=server.has_own_accounts)
    client.perform_typed(settings.home, "mcp.accept", asked, AcceptedServer)
    print("Accepted.")
    return 0


def _look(settings: "Settings", server: "McpServer", whose: str) -> "tuple[str, Listing]":
    """Connect with the account of a person, or of the only owner, and list the tools."""
    from agent_core.tools.mcp.listing import dump_listing
    from agent_core.tools.mcp.token_files import TokenFolder, make_key
    from gateway.app.mcp_file import locate_mcp_tokens

    home, folder = settings.home, locate_mcp_tokens(settings.home)
    if not server.has_oauth:
        return asyncio.run(_connect(settings, server, None))
    asked = OpenAccount(server=server.name, person=whose, shared=server.is_shared)
    found = OpenedAccount(key="")
    if _has_database(home):
        found = client.perform_typed(home, "mcp.account", asked, OpenedAccount)
    if not found.key:
        print("Nobody owns this Talaria yet, so this sign-in is not kept.")
        with TemporaryDirectory() as draft:
            files = TokenFolder(Path(draft)).name_files(server.name, make_key())
            return asyncio.run(_connect(settings, server, files))
    files = folder.name_files(server.name, found.key)
    protocol, listing = asyncio.run(_connect(settings, server, files))
    kept = SignedIn(key=found.key, person=found.person, listing=dump_listing(listing))
    client.perform_typed(home, "mcp.signed_in", kept, Noted)
    return protocol, listing


async def _connect(
    settings: "Settings", server: "McpServer", files: "AccountFiles | None"
) -> "tuple[str, Listing]":
    from gateway.app.mcp_file import locate_mcp_programs

    open_session = await load_sessions()
    surroundings = locate_mcp_programs(settings.home, settings.environ)
    async with asyncio.timeout(_SECONDS) as limit:
        ask = partial(_sign_in, limit)
        async with open_session(server, surroundings, lambda: None, ask, files) as session:
            return session.protocol, await session.list_tools()


async def _sign_in(limit: asyncio.Timeout, link: str) -> str:
    """Let a person sign in. Raises `McpUnavailable` without a terminal."""
    if not sys.stdin.isatty():
        raise McpUnavailable(
            "needs you to sign in; do this in a terminal, or send /connections to Talaria"
        )
    print(f"Open this page and sign in:\n\n  {link}\n")
    print("At the end, your browser shows a page that does not load. Copy its address.")
    limit.reschedule(None)
    try:
        return await asyncio.to_thread(input, "Address: ")
    finally:
        limit.reschedule(asyncio.get_running_loop().time() + _SECONDS)


def _ask_accepted(home: Path, servers: "Sequence[McpServer]") -> "Mapping[str, Digests]":
    names = [server.name for server in servers]
    if not (names and _has_database(home)):
        return {name: {} for name in names}
    asked = ListAccepted(servers=tuple(names))
    found = client.perform_typed(home, "mcp.list", asked, AcceptedTools)
    return {one.server: {each.tool: each.digests for each in one.tools} for one in found.servers}


def _has_database(home: Path) -> bool:
    """Return whether Talaria has run here before. If not, no tool can have been accepted."""
    return (home / DATABASE).exists()


def _print_tools(listing: "Listing", judged: "Judged") -> None:
    for tool in listing.tools:
        if tool.fault:
            print(f"  {tool.name} can't be used: {tool.fault}.")
            continue
        waits = "new" if tool.name in judged.fresh else "changed" * (tool.name in judged.changed)
        most = _WHOLE if waits else _SHORT
        mark = f" ({waits})" if waits else ""
        print(f"  {tool.name}{mark}: {tool.description[:most]}")
    if listing.left_out:
        print(f"  {listing.left_out} more are left out.")


def _confirm() -> bool:
    if not sys.stdin.isatty():
        return False
    print("The server wrote these descriptions. Accept its tools only if you trust the server.")
    return input("Accept the tools that wait? [y/N] ").strip().lower() in ("y", "yes")
