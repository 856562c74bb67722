"""Names of what lies in the home, and how the home is made."""

import os
from pathlib import Path

from gateway.errors import StartError

DATABASE = "state.db"
CONSOLE_SOCKET = "console.sock"
CONTROL_SOCKET = "gateway.sock"
HTTP_TOKEN = "http_token"  # noqa: S105 - the name of a file
CHAT_HISTORY = "chat_history"
BACKUPS = "backups"
MEMORIES = "memories"
SKILLS = "skills"
LOG = Path("logs", "talaria.log")

LONGEST_SOCKET_PATH = 103
"""Bytes; `sun_path` holds 104 with its end on macOS and the BSDs, 108 on Linux."""

_OURS = 0o077
"""Nothing in the home is anybody else's business."""


def make_home(home: Path) -> None:
    """Make the folder if it is missing, and keep what this process makes to this user.

    Raises `StartError` if the place can't be used; nothing is changed in it.
    """
    os.umask(_OURS)
    complaint = explain_length(home)
    if complaint:
        raise StartError(complaint)
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StartError(describe_unwritable(home, error)) from error


def describe_unwritable(home: Path, error: OSError) -> str:
    """Why nothing can be written into the home, and what to do."""
    return (
        f"The home {home} can't be written: {error.strerror}."
        " Set TALARIA_HOME to a folder that is yours, or make room on its disk."
    )


def explain_length(home: Path) -> str:
    """Why sockets in this home can have no name; nothing if they can."""
    longest = max(len(os.fsencode(home / name)) for name in (CONSOLE_SOCKET, CONTROL_SOCKET))
    if longest <= LONGEST_SOCKET_PATH:
        return ""
    return (
        f"The home {home} lies too deep: the path of a socket in it would have {longest} bytes,"
        f" and no more than {LONGEST_SOCKET_PATH} are possible. Set TALARIA_HOME to a shorter path."
    )
