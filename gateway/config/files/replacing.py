"""Replaces a small file of the home atomically: a crash leaves the old or the new one."""

import os
from pathlib import Path

from gateway.errors import SettingsError


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
