"""Changes of single settings in `config.toml`."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import tomlkit
import tzlocal
from tomlkit.exceptions import TOMLKitError

from gateway.app.env_file import add_saved, replace_file
from gateway.errors import SettingsError
from gateway.home import CONFIG_NAME

_TOML_FAULT = re.compile(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", re.DOTALL)
"""The form of `tomllib`'s messages, which carry no position of their own before Python 3.14."""
_VARIABLE = "TALARIA_PEOPLE__TIME_ZONE"


def change_config(path: Path, changes: Mapping[str, Mapping[str, object]]) -> None:
    """Set keys of tables; None removes a key. Comments, order and other settings stay.

    Raises `SettingsError`.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig") if path.exists() else ""
        document = tomlkit.parse(text)
        for table, row in changes.items():
            place = document.setdefault(table, tomlkit.table())
            for key, value in row.items():
                if value is None:
                    place.pop(key, None)
                else:
                    place[key] = value
    except (OSError, ValueError, TypeError, TOMLKitError) as error:
        raise SettingsError(
            f"{path} has a form that can't be changed safely; edit it by hand."
        ) from error
    replace_file(path, tomlkit.dumps(document))


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


def read_zone(environ: Mapping[str, str], home: Path) -> ZoneInfo:
    """Return `people.time_zone`, or the zone of this machine. Raises `SettingsError`."""
    name = add_saved(environ, home).get(_VARIABLE, "").strip()
    if not name:
        table = parse_file(home / CONFIG_NAME).get("people", {})
        found = table.get("time_zone") if isinstance(table, dict) else None
        name = found or tzlocal.get_localzone_name()
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, TypeError, ValueError, OSError) as error:
        raise SettingsError(
            f"people.time_zone is {name!r}, which is no time zone's IANA name such as"
            " Europe/Berlin."
        ) from error
