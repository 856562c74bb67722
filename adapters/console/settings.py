"""The console's settings."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsoleSettings:
    """The socket's path and the time to confirm a message."""

    socket: Path
    confirm: float = 5.0
    """Seconds in which a client must confirm a message."""


def read_settings(options: Mapping[str, str]) -> ConsoleSettings:
    """Read settings from plain options. Raises `ValueError` with a sentence."""
    unknown = sorted(set(options) - {"socket"})
    if unknown:
        raise ValueError(f'The console has no option "{unknown[0]}"; it has only "socket".')
    if not options.get("socket"):
        raise ValueError('The console needs the option "socket", the path of its Unix socket.')
    return ConsoleSettings(socket=Path(options["socket"]))
