"""`talaria logs`: shows the newest entries of the log, and follows it."""

import argparse
import json
import os
import re
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from gateway.errors import StartError
from gateway.home import KEPT_LOGS, LOG, find_home
from gateway.interfaces.parser import Parser

_NEWEST = 100
"""Number of entries shown by default, the same as for `talaria service logs`."""

_JSON_START = b'{"time": "'
_TEXT_START = re.compile(rb"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} [A-Z]+ +(?:turn=(\d+) )?")
_PAUSE = 0.2
"""Seconds between two checks for new lines; to people this seems immediate."""


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


class LogReader:
    """Reads the entries of a log: all, or those of one turn.

    Rotation renames the file that is being read; the reader keeps it open.
    """

    def __init__(self, path: Path, *, turn: int | None) -> None:
        """Open the log. Raises `OSError`, and `FileNotFoundError` if there is no log."""
        self._path = path
        self._turn = turn
        self._file: BinaryIO = path.open("rb")
        self._is_shown = turn is None
        """Whether the newest entry is wanted; its further lines are wanted, too."""
        self._rest = b""
        """The beginning of a line that is still being written."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def read_newest(self, count: int) -> bytes:
        """Return the newest entries, oldest first.

        If the newest file has too few entries, older files add some. Raises `OSError`.
        """
        found: list[bytes] = []
        whole, end, self._rest = self._file.read().rpartition(b"\n")
        self._take(found, whole + end, count)
        lines = reversed(whole.split(b"\n"))
        newest = next(filter(_begins_entry, lines), b"")
        self._is_shown = self._is_wanted(newest)
        if len(found) < count:
            newer, older = self._open_others()
            with ExitStack() as stack:
                for file in (*newer, *older):
                    stack.enter_context(file)
                for file in older:
                    self._take(found, file.read(), count)
        return b"".join(reversed(found))

    def follow(self) -> Iterator[bytes]:
        """Yield wanted lines as they are written, forever. Raises `OSError`."""
        while True:
            newer, older = ([], []) if self._is_newest() else self._open_others()
            for file in older:
                file.close()
            # Read the current file after opening newer ones: once those exist, it is complete.
            yield self._filter(self._file.read())
            for file in reversed(newer):
                self._file.close()
                self._file = file
                yield self._filter((b"\n" if self._rest else b"") + file.read())
            if os.fstat(self._file.fileno()).st_size < self._file.tell():
                self._file.seek(0)  # somebody has emptied the file
            time.sleep(_PAUSE)

    def _take(self, found: list[bytes], data: bytes, count: int) -> None:
        """Add a file's wanted entries, newest first, until `found` has `count` entries."""
        later: list[bytes] = []
        for line in reversed(data.splitlines(keepends=True)):
            if len(found) >= count:
                return
            later.append(line)
            if _begins_entry(line):
                if self._is_wanted(line):
                    found.append(b"".join(reversed(later)))
                later = []

    def _filter(self, data: bytes) -> bytes:
        """Return the wanted lines among new data."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        shown = []
        for line in lines:
            if _begins_entry(line):
                self._is_shown = self._is_wanted(line)
            if self._is_shown:
                shown.append(line + b"\n")
        return b"".join(shown)

    def _is_wanted(self, line: bytes) -> bool:
        return self._turn is None or _find_turn(line) == self._turn

    def _is_newest(self) -> bool:
        try:
            return os.path.samestat(self._path.stat(), os.fstat(self._file.fileno()))
        except FileNotFoundError:  # rotated, and the new file doesn't exist yet
            return True

    def _open_others(self) -> tuple[list[BinaryIO], list[BinaryIO]]:
        """Open the files that are newer and those that are older than the current one, newest
        first.
        """
        own = _identify(self._file)
        files: dict[tuple[int, int], BinaryIO] = {}
        for number in range(KEPT_LOGS + 1):
            path = self._path.with_name(f"{self._path.name}.{number}") if number else self._path
            try:
                file = path.open("rb")
            except FileNotFoundError:
                continue
            if _identify(file) in files:  # the file was renamed meanwhile
                file.close()
            else:
                files[_identify(file)] = file
        at = 1  # for the case that somebody has deleted the current file
        if own in files:
            at = list(files).index(own)
            files.pop(own).close()
        opened = list(files.values())
        return opened[:at], opened[at:]


def _identify(file: BinaryIO) -> tuple[int, int]:
    found = os.fstat(file.fileno())
    return found.st_dev, found.st_ino


def _begins_entry(line: bytes) -> bool:
    """Return whether a line begins an entry; other lines continue an entry."""
    return line.startswith(_JSON_START) or _TEXT_START.match(line) is not None


def _find_turn(line: bytes) -> int | None:
    """Return the turn that the first line of an entry names; None if it names none."""
    if line.startswith(_JSON_START):
        try:
            turn = json.loads(line).get("turn")
        except ValueError:
            return None  # a full disk has cut the line off
        return turn if isinstance(turn, int) else None
    found = _TEXT_START.match(line)
    return int(found[1]) if found and found[1] else None
