"""The MCP servers of `mcp.toml`: read, checked one by one, added and removed.

Talaria writes this file, and never `config.toml`, because that has the owner's comments. A mistake
in one server is reported and does not affect the other servers.
"""

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import Field, ValidationError

from adapters.toolkit.table import Table, Text
from agent_core.tools.mcp.contract import McpServer, Surroundings
from agent_core.tools.mcp.token_files import TokenFolder
from gateway.app.config_file import parse_file
from gateway.app.env_file import replace_file
from gateway.app.named_secrets import read_named_secrets
from gateway.app.redaction import looks_secret
from gateway.app.setting_types import Texts
from gateway.errors import SettingsError, suggest
from gateway.home import MCP_CONFIG, MCP_TOKENS, expand

MCP_FOLDERS = "mcp"
"""The folder of the home with one folder per server."""
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,15}")
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))|\bsecret:(\w+)")
_HEADER = re.compile(r"^\[servers\.(?P<name>[a-z0-9-]+)(?P<below>\..+)?\]\s*(#.*)?$")
_ANY_HEADER = re.compile(r"^\s*\[")
_MOST_SECONDS = 3600
_INHERITED = ("PATH", "HOME", "LANG", "USER", "TMPDIR")


class McpTable(Table):
    """The table of one server."""

    command: Text = ""
    args: Texts = ()
    env: dict[str, Text] = Field(default_factory=dict)
    url: Text = ""
    headers: dict[str, Text] = Field(default_factory=dict)
    include: Texts = ()
    exclude: Texts = ()
    people: Texts = ()
    oauth: bool = False
    shared_account: bool = False
    client_id: Text = ""
    client_secret: Text = ""
    local: bool = False
    unsandboxed: bool = False
    network: bool = False
    readable: Texts = ()
    writable: Texts = ()
    seconds: int = Field(60, ge=1, le=_MOST_SECONDS)


_EXPECTED = {
    **dict.fromkeys(("command", "url", "client_id", "client_secret"), "a text"),
    **dict.fromkeys(("env", "headers"), "a table of texts"),
    **dict.fromkeys(
        ("oauth", "shared_account", "local", "unsandboxed", "network"), "true or false"
    ),
    "seconds": f"a whole number from 1 to {_MOST_SECONDS}",
}
_OF_PROGRAMS = ("args", "env", "unsandboxed", "network", "readable", "writable")


def read_mcp_servers(home: Path, environ: Mapping[str, str]) -> list[McpServer]:
    """Read every server; a server with a mistake has a `fault`. Raises `SettingsError`."""
    return [
        _read_server(home, name, table, environ)
        for name, table in sorted(_read_tables(home).items())
    ]


def list_mcp_variables(home: Path) -> set[str]:
    """Return the variables that servers get as credentials or in their environment.

    Empty if the file has a mistake, which `read_mcp_servers` reports.
    """
    try:
        tables = _read_tables(home).values()
    except SettingsError:
        return set()
    texts = [
        str(text)
        for table in tables
        for given in (table.get("headers"), table.get("env"), {"": table.get("client_secret", "")})
        if isinstance(given, dict)
        for text in given.values()
    ]
    found = {found[1] or found[2] for text in texts for found in _VARIABLE.finditer(text)}
    return found - {None, *_INHERITED}


def locate_mcp_programs(home: Path, environ: Mapping[str, str]) -> Surroundings:
    """Return what servers' programs get: folders of their own, and a small environment.

    A program outside of the sandbox finds other programs by the gateway's own PATH.
    """
    inherited = {name: environ[name] for name in _INHERITED if name in environ}
    return Surroundings(
        folder=home / MCP_FOLDERS,
        hidden=(home,),
        inherited=inherited,
    )


def locate_mcp_tokens(home: Path) -> TokenFolder:
    """Return the folder with the tokens of people who signed in at servers."""
    return TokenFolder(home / MCP_TOKENS)


def add_mcp_server(
    home: Path, name: str, table: Mapping[str, Any], environ: Mapping[str, str]
) -> McpServer:
    """Add a server at the end of the file. Raises `SettingsError`, and then changes nothing."""
    before = _read_tables(home)
    if name in before:
        raise SettingsError(f"There is a server {name} already; `talaria mcp remove {name}` first.")
    server = _read_server(home, name, table, environ)
    if server.fault:
        raise SettingsError(f"The server {name} {server.fault}.")
    lines = [f"[servers.{name}]", *(f"{key} = {_spell(value)}" for key, value in table.items())]
    text = _read_text(home)
    gap = "\n" if text and not text.endswith("\n\n") else ""
    _replace(home, f"{text}{gap}" + "\n".join(lines) + "\n", {**before, name: dict(table)})
    return server


def remove_mcp_server(home: Path, name: str) -> None:
    """Remove a server with its lines. Raises `SettingsError`, and then changes nothing."""
    before = _read_tables(home)
    if name not in before:
        raise SettingsError(f"There is no MCP server {name}; {suggest(name, before)}")
    kept, is_ours = [], False
    for line in _read_text(home).splitlines(keepends=True):
        found = _HEADER.match(line)
        if found or _ANY_HEADER.match(line):
            is_ours = bool(found and found["name"] == name)
        if not is_ours:
            kept.append(line)
    rest = {other: table for other, table in before.items() if other != name}
    _replace(home, "".join(kept), rest)


def _read_tables(home: Path) -> dict[str, dict[str, Any]]:
    """Return the tables of all servers. Raises `SettingsError`."""
    path = home / MCP_CONFIG
    tree = parse_file(path)
    servers = tree.pop("servers", {})
    if tree:
        raise SettingsError(
            f"{path}: {next(iter(tree))} is not known; every server is a table [servers.NAME]."
        )
    if not isinstance(servers, dict) or not all(isinstance(row, dict) for row in servers.values()):
        raise SettingsError(f"{path}: every server must be a table, written as [servers.NAME].")
    return servers


def _read_server(
    home: Path, name: str, row: Mapping[str, Any], environ: Mapping[str, str]
) -> McpServer:
    try:
        return _make_server(home, name, row, environ)
    except ValueError as error:
        return McpServer(name=name, fault=str(error))


def _make_server(
    home: Path, name: str, row: Mapping[str, Any], environ: Mapping[str, str]
) -> McpServer:
    """Check a table. Raises `ValueError` with a clause that continues "The server NAME"."""
    if not _NAME.fullmatch(name):
        raise ValueError("needs a name of at most 16 small letters, digits and dashes")
    table = _validate(row)
    if bool(table.command) == bool(table.url):
        raise ValueError("needs either `command` or `url`")
    if table.url:
        _check_url(table)
        foreign = [key for key in _OF_PROGRAMS if key in row]
        if foreign:
            raise ValueError(f"has a `url`, so `{foreign[0]}` has no meaning")
        if table.shared_account and not table.oauth:
            raise ValueError("has `shared_account`, which needs `oauth = true`")
    elif foreign := [
        key for key in ("headers", "oauth", "shared_account", "client_id") if key in row
    ]:
        raise ValueError(f"has a `command`, so `{foreign[0]}` has no meaning")
    given = {"client_secret": table.client_secret} if table.client_secret else {}
    texts = (*table.headers.values(), *table.env.values(), *given.values())
    named = _read_secrets(home, name, environ) if "secret:" in "".join(texts) else {}
    secrets: list[str] = []
    return McpServer(
        name=name,
        argv=(table.command, *table.args) if table.command else (),
        url=table.url,
        headers=_fill_in("headers", table.headers, environ, named, secrets),
        environ=_fill_in("env", table.env, environ, named, secrets),
        include=table.include,
        exclude=table.exclude,
        people=table.people,
        has_oauth=table.oauth,
        is_shared=table.shared_account,
        client_id=table.client_id,
        client_secret="".join(_fill_in("client_secret", given, environ, named, secrets).values()),
        is_local=table.local,
        is_sandboxed=not table.unsandboxed,
        has_network=table.network,
        readable=_find_paths(home, "readable", table.readable),
        writable=_find_paths(home, "writable", table.writable),
        seconds=table.seconds,
        secrets=tuple(secrets),
    )


def _validate(row: Mapping[str, Any]) -> McpTable:
    try:
        return McpTable.model_validate(dict(row))
    except ValidationError as error:
        fault = error.errors()[0]
        key = str(fault["loc"][0])
        if fault["type"] == "extra_forbidden":
            raise ValueError(
                f"has a key `{key}` that is not known; {suggest(key, McpTable.model_fields)}"
            ) from None
        expected = _EXPECTED.get(key, "a list of texts")
        raise ValueError(f"has a wrong `{key}`: it must be {expected}") from None


def _check_url(table: McpTable) -> None:
    try:
        parts = urlsplit(table.url)
        is_sound = bool(parts.hostname) and parts.port != 0 and "@" not in parts.netloc
    except ValueError:
        is_sound = False
    if not is_sound or parts.scheme not in ("http", "https"):
        raise ValueError("has a `url` that is no http or https address, or holds a password")
    if parts.scheme == "http" and not table.local:
        raise ValueError("has a `url` without https, which needs `local = true`")


def _read_secrets(home: Path, server: str, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the values of the secrets that a server may use. Raises `ValueError`."""
    try:
        found = read_named_secrets(home, environ)
    except SettingsError as error:
        raise ValueError(f"needs secrets, but {str(error).removesuffix('.')}") from error
    return {one.name: one.value for one in found if server in one.servers}


def _fill_in(
    key: str,
    values: Mapping[str, str],
    environ: Mapping[str, str],
    named: Mapping[str, str],
    secrets: list[str],
) -> dict[str, str]:
    """Put variables and named secrets into the texts that refer to them. Raises `ValueError`."""

    def find(match: re.Match[str]) -> str:
        if match[3]:
            if match[3] not in named:
                raise ValueError(f"may not use {match[0]} in `{key}`; see `talaria secrets list`")
            secrets.append(named[match[3]])
            return named[match[3]]
        variable = match[1] or match[2]
        if not environ.get(variable):
            raise ValueError(f"names ${variable} in `{key}`, which is not set in the environment")
        secrets.append(environ[variable])
        return environ[variable]

    for name, value in values.items():
        if looks_secret(value):
            raise ValueError(
                f"has a secret in `{key}`; put it into the environment, and write"
                f' {name} = "$VARIABLE"'
            )
        if "=" in name or not name.isprintable() or not name:
            raise ValueError(f"has a name in `{key}` that can't be used")
    return {name: _VARIABLE.sub(find, value) for name, value in values.items()}


def _find_paths(home: Path, key: str, paths: tuple[str, ...]) -> tuple[Path, ...]:
    """Return the paths. Raises `ValueError` if one does not exist or would show Talaria's files."""
    try:
        found = tuple(map(expand, paths))
    except ValueError as error:
        raise ValueError(f"has a path in `{key}` that can't be used: {error}") from error
    for path in found:
        if not path.is_absolute() or not path.exists():
            raise ValueError(f"names {path} in `{key}`, which is not there")
        real, own = path.resolve(), home.resolve()
        if own.is_relative_to(real) or real.is_relative_to(own):
            raise ValueError(f"names {path} in `{key}`, which shows Talaria's own files")
    return found


def _read_text(home: Path) -> str:
    try:
        return (home / MCP_CONFIG).read_text("utf-8-sig")
    except FileNotFoundError:
        return ""


def _replace(home: Path, text: str, expected: Mapping[str, Any]) -> None:
    """Replace the file atomically, if the new text parses to `expected`. Raises `SettingsError`."""
    path = home / MCP_CONFIG
    try:
        is_sound = tomllib.loads(text).get("servers", {}) == expected
    except tomllib.TOMLDecodeError:
        is_sound = False
    if not is_sound:
        raise SettingsError(f"{path} has a form that can't be changed safely; edit it by hand.")
    replace_file(path, text)


def _spell(value: object) -> str:
    """Return a value in TOML syntax."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        inner = ", ".join(f"{_spell(key)} = {_spell(one)}" for key, one in value.items())
        return f"{{ {inner} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_spell, value))}]"
    return str(value)
