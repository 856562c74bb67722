"""The command `talaria top`: asks the gateway every second, and redraws the screen."""

import argparse
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from gateway.errors import Declined, StartError
from gateway.home import find_home
from gateway.interfaces.cli.top.picture import draw
from gateway.interfaces.client import NoGateway, ask, fetch_health
from gateway.interfaces.parser import Parser

_PATIENCE = 4.0
"""Seconds to wait for an answer; an event loop that is busy for longer has a fault."""
_PAUSE = 1.0
_NEWEST = 200
"""Newest turns that are searched for running ones; far more than can run at once."""
_ENTER, _LEAVE = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
"""Terminal codes: switch to the second screen and hide the cursor, and back."""
_HOME, _END_OF_LINE, _END_OF_SCREEN = "\x1b[H", "\x1b[K", "\x1b[J"


def configure(parser: Parser) -> None:
    """Add `--once`."""
    parser.examples = ("talaria top", "talaria top --once")
    parser.epilog = "Ctrl+C ends it. Without a terminal, it prints once."
    parser.add_argument("--once", action="store_true", help="print once, and end")


def run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Redraw until interrupted. Raises `StartError` if no gateway is running at first."""
    home = find_home(environ)

    def look() -> list[str]:
        _, report = fetch_health(home, timeout=_PATIENCE)
        found = ask(home, "turns.list", {"limit": _NEWEST}, timeout=_PATIENCE)
        return draw(report, found["turns"], time.time())

    try:
        lines = look()
    except NoGateway as error:
        raise StartError(f"{error} `talaria run` starts one.") from error
    if arguments.once or not sys.stdout.isatty():
        print("\n".join(lines))
        return 0
    with _second_screen():
        while True:
            _show(lines)
            time.sleep(_PAUSE)
            try:
                lines = look()
            except (NoGateway, StartError, Declined) as error:  # it may be back soon
                lines = [str(error)]


@contextmanager
def _second_screen() -> Iterator[None]:
    print(_ENTER, end="", flush=True)
    try:
        yield
    finally:
        print(_LEAVE, end="", flush=True)


def _show(lines: list[str]) -> None:
    """Draw over the old content, so that nothing flickers."""
    width, height = shutil.get_terminal_size()
    shown = "\n".join(f"{line[:width]}{_END_OF_LINE}" for line in lines[: height - 1])
    print(f"{_HOME}{shown}{_END_OF_SCREEN}", end="", flush=True)
