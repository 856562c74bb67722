"""`talaria top`: shows what the running gateway is doing, and refreshes the display."""

import argparse
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from gateway.errors import Declined, StartError
from gateway.home import find_home
from gateway.interfaces.client import NoGateway, ask_typed, fetch_health
from gateway.interfaces.parser import Parser
from gateway.operations.turn_types import ListTurns, TurnList

_PATIENCE = 4.0
"""Seconds to wait for an answer; an event loop that is busy for longer has a fault."""
_PAUSE = 1.0
_NEWEST = 200
"""Newest turns that are searched for running ones; far more than can run at once."""
_ENTER, _LEAVE = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
"""Terminal codes: switch to the second screen and hide the cursor, and back."""
_HOME, _END_OF_LINE, _END_OF_SCREEN = "\x1b[H", "\x1b[K", "\x1b[J"

_QUEUES = {
    "turns_running": "conversations with work",
    "owed": "messages to send",
    "undelivered": "undelivered",
    "unreadable": "unreadable",
}
"""Keys of the health report that are counts, with their names on the display."""


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
        asked = ListTurns(limit=_NEWEST)
        listed = ask_typed(home, "turns.list", asked, TurnList, timeout=_PATIENCE)
        return draw(report, listed, time.time())

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


def draw(report: Mapping[str, Any], listed: TurnList, now: float) -> list[str]:
    """Return the lines of the display. `now` is in seconds since the epoch."""
    return [_print_safely(line) for line in _draw(report, listed, now)]


def _draw(report: Mapping[str, Any], listed: TurnList, now: float) -> Iterator[str]:
    running = [one for one in listed.turns if one.state == "running"]
    state = "healthy" if report["status"] == "ok" else "failing"
    yield f"Talaria {report['version']}: {state}, up {_format_span(report['uptime_seconds'])}"
    yield f"Model      {report['model']}"
    counts = (f"{report[key]} {word}" for key, word in _QUEUES.items() if report[key] is not None)
    yield f"Queues     {', '.join(counts) or 'unknown'}"
    yield from (f"Problem    {one}" for one in report["problems"])
    yield ""
    yield f"{'PLATFORM':<12} {'STATE':<14} LAST SIGN OF LIFE"
    for name, platform in report["platforms"].items():
        alive = platform["seconds_since_alive"]
        seen = "" if alive is None else f"{_format_span(alive)} ago"
        yield f"{name:<12} {platform['state']:<14} {seen}".rstrip()
    yield ""
    yield f"{'TURN':>8}  {'FOR':>8}  {'PLATFORM':<12} PERSON"
    for one in running:
        span = _format_span(now - one.started_at / 1000)
        yield f"{one.id:>8}  {span:>8}  {one.platform:<12} {one.person}"
    if not running:
        yield "No turn is running."


def _format_span(seconds: float) -> str:
    """Format a duration in its two largest units: `4 s`, `3 m 05 s`, `2 h 07 m`, `5 d 03 h`."""
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} m {whole % 60:02} s"
    if whole < 86400:
        return f"{whole // 3600} h {whole % 3600 // 60:02} m"
    return f"{whole // 86400} d {whole % 86400 // 3600:02} h"


def _print_safely(line: str) -> str:
    """Remove unprintable characters: a name could contain some, and the terminal would obey."""
    return "".join(letter for letter in line if letter.isprintable())
