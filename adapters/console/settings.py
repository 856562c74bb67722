"""The console's settings."""

import os
import pwd
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
