"""Changes of single settings in `config.toml`."""

from collections.abc import Mapping
from pathlib import Path

import tomlkit
from tomlkit.exceptions import TOMLKitError

from gateway.config.files.replacing import replace_file
from gateway.errors import SettingsError


def change_config(path: Path, changes: Mapping[str, Mapping[str, str]]) -> None:
    """Set keys of tables; comments, order and other settings stay. Raises `SettingsError`."""
    try:
        text = path.read_bytes().decode("utf-8-sig") if path.exists() else ""
        document = tomlkit.parse(text)
        for table, row in changes.items():
            place = document.setdefault(table, tomlkit.table())
            for key, value in row.items():
                place[key] = value
    except (OSError, ValueError, TypeError, TOMLKitError) as error:
        raise SettingsError(
            f"{path} has a form that can't be changed safely; edit it by hand."
        ) from error
    replace_file(path, tomlkit.dumps(document))
