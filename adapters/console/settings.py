"""The console's settings."""

import os
import pwd
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

LONGEST_LINE = 8_000_000
"""The most bytes of one line; an escaped message of a million characters fits."""


def find_account_name() -> str:
    """Return the full name of this process's user, else their login name; "" if there is none."""
    try:
        account = pwd.getpwuid(os.getuid())
    except KeyError:  # in a container, the user id may have no name
        return ""
    return account.pw_gecos.partition(",")[0].strip() or account.pw_name


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsoleSettings:
    """The socket's path, and the time that clients have to confirm a message."""

    socket: Path
    confirm: float = 5.0
    """Seconds in which a client must confirm a message."""
    longest_backlog: int = 4 * LONGEST_LINE
    """The most bytes buffered for a client: a client that never reads must not fill the memory."""


def read_settings(options: Mapping[str, str]) -> ConsoleSettings:
    """Read settings from plain options. Raises `ValueError` with a sentence."""
    unknown = sorted(set(options) - {"socket"})
    if unknown:
        raise ValueError(f'The console has no option "{unknown[0]}"; it has only "socket".')
    if not options.get("socket"):
        raise ValueError('The console needs the option "socket", the path of its Unix socket.')
    return ConsoleSettings(socket=Path(options["socket"]))
