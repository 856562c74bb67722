"""The named secrets of `secrets.toml`: read and checked; a mistake prevents the start."""

import re
import stat
from collections.abc import Mapping
from pathlib import Path

from agent_core.tools.workspace.named_secrets import NamedSecret
from gateway.app.config_file import parse_file
from gateway.errors import SettingsError, suggest
from gateway.home import SECRETS_CONFIG

_NAME = re.compile(r"[a-z][a-z0-9_]{0,31}")
_KEYS = ("value", "variable", "people", "servers")
_SHORTEST = 12
"""Characters; a shorter value can't be masked in every form without hiding ordinary words."""
_LONGEST = 4000
_MOST = 10


def read_named_secrets(home: Path, environ: Mapping[str, str]) -> tuple[NamedSecret, ...]:
    """Read every secret. Raises `SettingsError`, which never repeats a value."""
    path = home / SECRETS_CONFIG
    _check_mode(path)
    try:
        tree = parse_file(path)
    except SettingsError:
        # The parser's message may repeat a part of the line, and so a part of a value.
        raise SettingsError(
            f"{path} can't be read as TOML; each secret is a table [NAME] with value and people."
        ) from None
    if len(tree) > _MOST:
        raise SettingsError(f"{path} has {len(tree)} secrets; the limit is {_MOST}.")
    return tuple(_read_one(path, name, row, environ) for name, row in sorted(tree.items()))


def list_secret_variables(home: Path) -> set[str]:
    """Return the variables that hold named secrets. Raises `SettingsError`."""
    rows = parse_file(home / SECRETS_CONFIG).values()
    found = (row.get("variable") for row in rows if isinstance(row, dict))
    return {name for name in found if isinstance(name, str)}


def _check_mode(path: Path) -> None:
    """Refuse a file that other users can read. Raises `SettingsError`."""
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        return
    except OSError as error:
        raise SettingsError(f"{path} can't be read: {error.strerror}.") from error
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise SettingsError(
            f"{path} is open to other users (mode {mode:o}); run `chmod 600 {path}`."
        )


def _read_one(path: Path, name: str, row: object, environ: Mapping[str, str]) -> NamedSecret:
    if not _NAME.fullmatch(name):
        raise SettingsError(
            f"{path}: a name of a secret has at most 32 small letters, digits and underscores."
        )
    where = f"{path}: [{name}]"
    if not isinstance(row, dict):
        raise SettingsError(f"{path}: {name} must be a table, written as [{name}].")
    if unknown := next((key for key in row if key not in _KEYS), ""):
        raise SettingsError(f"{where} has an unknown key; {suggest(unknown, _KEYS)}")
    people, servers = row.get("people", []), row.get("servers", [])
    if not (_is_list(people) and _is_list(servers) and (people or servers)):
        raise SettingsError(
            f"{where} needs people or servers: a list of folder names, or of names of MCP servers."
        )
    value = _find_value(where, row, environ)
    if not _SHORTEST <= len(value) <= _LONGEST or "\0" in value:
        raise SettingsError(
            f"{where} needs a value of {_SHORTEST} to {_LONGEST} characters, so that it can be"
            " masked."
        )
    return NamedSecret(name=name, value=value, people=tuple(people), servers=tuple(servers))


def _is_list(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _find_value(where: str, row: Mapping[str, object], environ: Mapping[str, str]) -> str:
    value, variable = row.get("value"), row.get("variable")
    if isinstance(value, str) and variable is None:
        return value
    if value is not None or not isinstance(variable, str):
        raise SettingsError(f"{where} needs either value or variable, which is a text.")
    if variable not in environ:
        raise SettingsError(f"{where} names the variable {variable}, which is not set.")
    return environ[variable]
