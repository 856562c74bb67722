"""Variables in the home's `.env`: keys and tokens that need not be in the environment."""

import io
import os
import re
from collections.abc import Mapping
from pathlib import Path

from dotenv.parser import parse_stream

from gateway.errors import SettingsError
from gateway.home import ENV_NAME, HOME_VARIABLE

_PLAIN = re.compile(r"[A-Za-z0-9_./:@+-]+")


def read_env(home: Path) -> dict[str, str]:
    """Read the variables of `.env`; empty without the file. Expands no `$NAME`.

    Raises `SettingsError`, which never repeats a value.
    """
    path = home / ENV_NAME
    found: dict[str, str] = {}
    for binding in parse_stream(io.StringIO(_read_text(path))):
        if binding.error or (binding.key and binding.value is None):
            raise SettingsError(f"{path}, line {binding.original.line}: write NAME=value here.")
        if binding.key and binding.value is not None:
            found[binding.key] = binding.value
    return found


def add_saved(environ: Mapping[str, str], home: Path) -> dict[str, str]:
    """Return the environment, plus the variables that only `.env` sets. Raises `SettingsError`."""
    saved = {
        name: value
        for name, value in read_env(home).items()
        if not environ.get(name, "").strip() and name != HOME_VARIABLE
    }
    return {**environ, **saved}


def change_env(home: Path, changes: Mapping[str, str]) -> None:
    """Set variables in `.env`; other lines and comments stay. Raises `SettingsError`."""
    path = home / ENV_NAME
    text = _read_text(path)
    left, lines = dict(changes), []
    for binding in parse_stream(io.StringIO(text)):
        if binding.key not in changes:
            lines.append(binding.original.string)
        elif binding.key in left:
            lines.append(_spell(binding.key, left.pop(binding.key)))
    kept = "".join(lines)
    if kept and not kept.endswith("\n"):
        kept += "\n"
    replace_file(path, kept + "".join(_spell(name, value) for name, value in left.items()))


def _read_text(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path} is not UTF-8 text.") from error
    except OSError as error:
        raise SettingsError(f"{path} can't be read: {error.strerror}.") from error


def _spell(name: str, value: str) -> str:
    if _PLAIN.fullmatch(value):
        return f"{name}={value}\n"
    quoted = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"{name}='{quoted}'\n"


def replace_file(path: Path, text: str) -> None:
    """Write a file that only its owner can read. Blocks. Raises `SettingsError`."""
    draft = path.with_name(f".{path.name}.new")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise SettingsError(f"{path} can't be written: {error.strerror}.") from error
