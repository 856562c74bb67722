"""The deployment's time zone, for commands that show times and need no other setting."""

from collections.abc import Mapping
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import tzlocal

from gateway.config.files.env_file import add_saved
from gateway.config.files.toml_file import parse_file
from gateway.config.paths import CONFIG_NAME
from gateway.errors import SettingsError

_VARIABLE = "TALARIA_PEOPLE__TIME_ZONE"


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
