"""Reads a settings file as TOML, before its content is checked."""

import re
import tomllib
from pathlib import Path
from typing import Any

from gateway.errors import SettingsError

_TOML_FAULT = re.compile(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", re.DOTALL)
"""The form of `tomllib`'s messages, which carry no position of their own before Python 3.14."""


def parse_file(path: Path) -> dict[str, Any]:
    """Read a file of settings; empty if the file is missing. Raises `SettingsError`."""
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise SettingsError(f"{path} can't be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise SettingsError(f"{path}, line {line}: this is not UTF-8 text.") from error
    except tomllib.TOMLDecodeError as error:
        match = _TOML_FAULT.fullmatch(str(error))
        fault = match[1] if match else str(error)
        where = f"line {match[2]}, column {match[3]}" if match and match[2] else "at its end"
        raise SettingsError(f"{path}, {where}: {fault}.") from error
