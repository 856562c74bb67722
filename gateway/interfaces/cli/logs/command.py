"""The command `talaria logs`: it only reads files, so it works without a running gateway."""

import argparse
import sys
from collections.abc import Mapping

from gateway.errors import StartError
from gateway.home import LOG, find_home
from gateway.interfaces.cli.logs.reading import LogReader
from gateway.interfaces.parser import Parser

_NEWEST = 100
"""Number of entries shown by default, the same as for `talaria service logs`."""


def configure(parser: Parser) -> None:
    """Add the options."""
    parser.examples = ("talaria logs", "talaria logs -f", "talaria logs --turn 12")
    parser.epilog = (
        "Turns have their numbers from `talaria turns list`. What the service printed besides the"
        " log is in `talaria service logs`."
    )
    parser.add_argument("-f", "--follow", action="store_true", help="go on as more arrives")
    parser.add_argument(
        "-n",
        "--lines",
        metavar="N",
        type=_read_count,
        default=_NEWEST,
        help="the newest N lines, each with its traceback",
    )
    parser.add_argument("--turn", metavar="ID", type=_read_turn, help="only lines of this turn")


def run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Print the entries; with `--follow`, print new ones until interrupted. Raises `StartError`."""
    path = find_home(environ) / LOG
    try:
        with LogReader(path, turn=arguments.turn) as reader:
            newest = reader.read_newest(arguments.lines)
            _write(newest)
            if arguments.turn is not None and arguments.lines and not newest:
                print(f"No line of the log names turn {arguments.turn}.", file=sys.stderr)
            if arguments.follow:
                for lines in reader.follow():
                    _write(lines)
    except FileNotFoundError as error:
        raise StartError(
            f"There is no log at {path} yet: `talaria run` writes it, unless `log.file` is false."
        ) from error
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        raise StartError(f"The log at {path} can't be read: {error.strerror}.") from error
    return 0


def _write(lines: bytes) -> None:
    """Print lines unchanged."""
    sys.stdout.buffer.write(lines)
    sys.stdout.buffer.flush()


def _read_count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text} is not a number of lines")
    return int(text)


def _read_turn(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(
            f"{text} is not the number of a turn; `talaria turns list` shows them"
        )
    return int(text)
