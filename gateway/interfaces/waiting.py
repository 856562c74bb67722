"""Show on a terminal what a command waits for."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gateway.app.settings import Settings

_CLEAR = "\r\x1b[K"
"""Return to the start of the line, and clear the line (ECMA-48, EL)."""


@contextmanager
def showing(what: str) -> Iterator[None]:
    """Show on a terminal what a command is doing, until it succeeds or fails."""
    is_shown = sys.stderr.isatty()
    if is_shown:
        print(f"{what} ...", end="", file=sys.stderr, flush=True)
    try:
        yield
    finally:
        if is_shown:
            print(_CLEAR, end="", file=sys.stderr, flush=True)


def read_settings(environ: Mapping[str, str]) -> "Settings":
    """Read all settings; importing the code takes a moment.

    Raises what `load_settings` raises.
    """
    with showing("Reading the settings"):
        return load_settings(environ)


def load_settings(environ: Mapping[str, str]) -> "Settings":
    """Import and read all settings without a word. Raises what `settings.load` raises."""
    from gateway.app.settings import load

    return load(environ)
