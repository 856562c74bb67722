"""Sets up the log: standard error and a file, written by its own thread, without secrets.

Each line of a turn names the turn. A text entry begins with its time, and its further lines are
indented. A JSON entry is one line.
"""

import json
import logging
import queue
import re
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from logging.handlers import QueueHandler, QueueListener, RotatingFileHandler
from pathlib import Path
from urllib.parse import urlsplit

from agent_core.ids import find_current_turn
from agent_core.tools.secret_scan import SecretMask
from agent_core.tools.workspace.named_secrets import NamedSecret
from gateway.app.credentials import Secrets
from gateway.app.redaction import hide_secrets
from gateway.app.tables import LogSettings
from gateway.errors import StartError
from gateway.home import KEPT_LOGS, LOG, describe_unwritable

OWN_LOGGERS = ("gateway", "adapters", "agent_core")
"""Loggers that `log.level` applies to. Other loggers log warnings and errors only, because SDKs log
payloads and tokens at lower levels.
"""

_LARGEST_FILE = 5_000_000
_LONGEST = 20_000
"""Characters of a message or a traceback."""
_TURN = "turn"
"""The attribute of a record that holds the number of its turn."""
_USER_IN_ADDRESS = re.compile(r"(?<=://)[^/@\s]+(?=@)")


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """An entry of the log. `moment` is in seconds since the epoch."""

    moment: float
    level: str
    logger: str
    turn: int | None
    message: str
    traceback: str

    def as_text(self) -> str:
        """Format the entry in local time; an entry of a turn names it before its logger."""
        whole, thousandth = divmod(int(self.moment * 1000), 1000)
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(whole))
        turn = f"turn={self.turn} " if self.turn is not None else ""
        said = f"{self.message}\n{self.traceback}" if self.traceback else self.message
        # Indented, so that no text from outside passes for an entry.
        said = "\n    ".join(_escape(line) for line in said.splitlines())
        return f"{when},{thousandth:03} {self.level:<7} {turn}{self.logger}: {said}"

    def as_json(self) -> str:
        """Format the entry as one JSON object; `turn` and `traceback` are left out if there is
        none.
        """
        when = datetime.fromtimestamp(self.moment, UTC).isoformat(timespec="milliseconds")
        found = {
            "time": when.replace("+00:00", "Z"),
            "level": self.level.lower(),
            "logger": self.logger,
            "turn": self.turn,
            "message": self.message,
            "traceback": self.traceback or None,
        }
        return json.dumps({key: value for key, value in found.items() if value is not None})


def _escape(line: str) -> str:
    """Escape control characters, which a terminal would obey, such as a change of colour."""
    if line.isprintable():
        return line
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode()
        for letter in line
    )


class RedactingFormatter(logging.Formatter):
    """A formatter that masks known secrets, and texts that look like a secret."""

    def __init__(self, hidden: Sequence[str], *, is_json: bool) -> None:
        super().__init__()
        self._mask = SecretMask(hidden)
        self._is_json = is_json

    def format(self, record: logging.LogRecord) -> str:
        """Format a record as a JSON object, or as one line, or several with a traceback."""
        entry = LogEntry(
            moment=record.created,
            level=record.levelname,
            logger=record.name,
            turn=getattr(record, _TURN, None),
            message=self._hide(record.getMessage()),
            traceback=self._hide("\n".join(self._list_traces(record))),
        )
        return entry.as_json() if self._is_json else entry.as_text()

    def _list_traces(self, record: logging.LogRecord) -> Iterator[str]:
        if record.exc_info:
            yield self.formatException(record.exc_info)
        if record.stack_info:
            yield record.stack_info

    def _hide(self, text: str) -> str:
        return hide_secrets(_USER_IN_ADDRESS.sub("[hidden]", self._mask.hide(_shorten(text))))


def _shorten(text: str) -> str:
    """Cut a text so long that masking it would hold up everybody.

    The last word that is kept may be the beginning of a secret, so it goes, too.
    """
    if len(text) <= _LONGEST:
        return text
    kept = text[:_LONGEST]
    end = max(kept.rfind(space) for space in (" ", "\n", "\t"))
    return f"{kept[: end + 1]}[… {len(text) - end - 1:,} characters left out]"


class _LogFile(RotatingFileHandler):
    """A log file that reports a full disk once on standard error, not with a traceback per line."""

    _is_reported = False

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the name is logging's
        self._report()

    def close(self) -> None:
        """Close the file; entries that the disk did not take are lost."""
        try:
            super().close()
        except OSError:
            self._report()

    def _report(self) -> None:
        if not self._is_reported:
            self._is_reported = True
            print(f"{self.baseFilename} can't be written: {sys.exc_info()[1]}", file=sys.stderr)


class _RecordQueue(QueueHandler):
    """A handler that queues records unformatted, so that the event loop never formats them."""

    def prepare(self, record: logging.LogRecord) -> logging.LogRecord:
        """Format the message and note the turn in the thread that logs.

        The arguments may change later, and the thread that writes does not know the turn.
        """
        record.msg, record.args = record.getMessage(), None
        setattr(record, _TURN, find_current_turn())
        return record


def list_hidden(secrets: Secrets, named: Sequence[NamedSecret]) -> list[str]:
    """List the texts to mask: credentials, passwords in addresses, and named secrets."""
    values = {name: text for name, text in dict(secrets).items() if text}
    passwords = [urlsplit(text).password for name, text in values.items() if name.endswith("_url")]
    credentials = [text for name, text in values.items() if not name.endswith("_url")]
    return [*credentials, *filter(None, passwords), *(one.value for one in named)]


@contextmanager
def logging_to(
    settings: LogSettings, home: Path, *, hidden: Sequence[str], to_stderr: bool
) -> Iterator[None]:
    """Set up logging by the settings while the block runs; write all remaining entries at its end.

    Raises `StartError` if the folder of the log can't be created.
    """
    formatter = RedactingFormatter(hidden, is_json=settings.format == "json")
    handlers: list[logging.Handler] = []
    if to_stderr:
        handlers.append(logging.StreamHandler())
        if settings.file and settings.level == "info" and sys.stderr.isatty():
            handlers[0].setLevel(logging.WARNING)  # people read the banner; the file has the rest
    if settings.file:
        handlers.append(_open_file(home))
    for handler in handlers:
        handler.setFormatter(formatter)
    level = logging.getLevelNamesMapping()[settings.level.upper()]
    records: queue.SimpleQueue[logging.LogRecord] = queue.SimpleQueue()
    line = _RecordQueue(records)
    listener = QueueListener(records, *handlers, respect_handler_level=True)
    root = logging.getLogger()
    root.setLevel(max(level, logging.WARNING))
    for name in OWN_LOGGERS:
        logging.getLogger(name).setLevel(level)
    root.addHandler(line)
    listener.start()
    try:
        yield
    finally:
        root.removeHandler(line)
        listener.stop()
        for handler in handlers:
            handler.close()


def _open_file(home: Path) -> logging.Handler:
    path = home / LOG
    try:
        path.parent.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise StartError(describe_unwritable(home, error)) from error
    return _LogFile(
        path, maxBytes=_LARGEST_FILE, backupCount=KEPT_LOGS, encoding="utf-8", delay=True
    )
