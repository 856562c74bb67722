"""Fixes that are safe without a question: they only remove other users' access rights."""

import stat
from collections.abc import Sequence
from pathlib import Path

from gateway.app.settings import Settings
from gateway.home import ENV_NAME, HTTP_TOKEN, SECRETS_CONFIG, find_open_mode, make_home

_PRIVATE = (ENV_NAME, SECRETS_CONFIG, HTTP_TOKEN)


def find_open_files(home: Path) -> Sequence[tuple[Path, int]]:
    """List files with secrets that other users may open, with their modes."""
    found = []
    for name in _PRIVATE:
        path = home / name
        mode = stat.S_IMODE(path.stat().st_mode) if path.is_file() else 0
        if mode & (stat.S_IRWXG | stat.S_IRWXO):
            found.append((path, mode))
    return found


def repair(settings: Settings) -> list[str]:
    """Close the home and its secrets to other users; return a sentence for each change.

    Raises `StartError` if the home can't be closed, and `OSError` if a file can't be closed.
    """
    done = []
    if settings.home.exists() and find_open_mode(settings.home):
        make_home(settings.home)
        done.append(f"{settings.home} is closed to other users now.")
    for path, _ in find_open_files(settings.home):
        path.chmod(0o600)
        done.append(f"{path} is closed to other users now.")
    return done
