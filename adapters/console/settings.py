"""What can be set about the console, read from strings."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_LONGEST_PATH = 100
"""Bytes; the kernel takes 107 on Linux and 103 on macOS (sun_path in unix(7))."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsoleSettings:
    """Where the socket is, and for how many seconds a terminal may take to confirm."""

    socket: Path
    answer_timeout: float = 5.0


def read_settings(options: Mapping[str, str]) -> ConsoleSettings:
    """Read settings from strings. Raises `ValueError` with a sentence for the person."""
    for key in options:
        if key != "socket":
            raise ValueError(f'The console has no setting "{key}"; it has only socket.')
    path = options.get("socket", "")
    if not path:
        raise ValueError("The console needs to know where its socket is: socket.")
    if len(path.encode()) > _LONGEST_PATH:
        raise ValueError(
            f"The console's socket has a path of more than {_LONGEST_PATH} bytes, which the "
            f"system does not take: {path}. Choose a shorter home (TALARIA_HOME)."
        )
    return ConsoleSettings(socket=Path(path))
