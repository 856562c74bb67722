"""Set up the log: standard error and a file, written by its own thread, without secrets."""

import logging
import queue
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from logging.handlers import QueueHandler, QueueListener, RotatingFileHandler
from pathlib import Path
from urllib.parse import urlsplit

from agent_core.tools import SecretMask
from agent_core.tools.workspace import NamedSecret
from gateway.config.credentials import Secrets
from gateway.config.paths import LOG, describe_unwritable
from gateway.config.redaction import hide_secrets
from gateway.config.tables import LogSettings
from gateway.errors import StartError

OWN_LOGGERS = ("gateway", "adapters", "agent_core")
"""Loggers that `log.level` opens. SDKs log payloads and tokens below WARNING, so they stay
closed.
"""

_LARGEST_FILE = 5_000_000
_KEPT_FILES = 5
_FORMAT = "%(asctime)s %(levelname)-7s %(name)s: %(message)s"
_USER_IN_ADDRESS = re.compile(r"(?<=://)[^/@\s]+(?=@)")


class RedactingFormatter(logging.Formatter):
    """A formatter that masks known secrets, and what looks like one, in the line and its
    traceback.
    """

    def __init__(self, hidden: Sequence[str]) -> None:
        super().__init__(_FORMAT)
        self._mask = SecretMask(hidden)

    def format(self, record: logging.LogRecord) -> str:
        """Format a record as one line, or several with a traceback."""
        line = self._mask.hide(super().format(record))
        return hide_secrets(_USER_IN_ADDRESS.sub("[hidden]", line))


class _LogFile(RotatingFileHandler):
    """A log file that reports a full disk once on standard error, not with a traceback per line."""

    _is_reported = False

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the name is logging's
        if not self._is_reported:
            self._is_reported = True
            print(f"{self.baseFilename} can't be written: {sys.exc_info()[1]}", file=sys.stderr)


class _RecordQueue(QueueHandler):
    """A handler that queues records unformatted, so that the event loop never formats them."""

    def prepare(self, record: logging.LogRecord) -> logging.LogRecord:
        """Format the message now, because its arguments may change."""
        record.msg, record.args = record.getMessage(), None
        return record


def list_hidden(secrets: Secrets, named: Sequence[NamedSecret]) -> list[str]:
    """List the credentials that are set, the passwords in addresses, and named secrets."""
    values = {name: text for name, text in dict(secrets).items() if text}
    passwords = [urlsplit(text).password for name, text in values.items() if name.endswith("_url")]
    credentials = [text for name, text in values.items() if not name.endswith("_url")]
    return [*credentials, *filter(None, passwords), *(one.value for one in named)]


@contextmanager
def logging_to(
    settings: LogSettings, home: Path, *, hidden: Sequence[str], to_stderr: bool
) -> Iterator[None]:
    """Log by the settings while the block runs, and write out the rest at its end.

    Raises `StartError` if the folder of the log can't be created.
    """
    formatter = RedactingFormatter(hidden)
    handlers: list[logging.Handler] = []
    if to_stderr:
        handlers.append(logging.StreamHandler())
    if settings.file:
        handlers.append(_open_file(home))
    for handler in handlers:
        handler.setFormatter(formatter)
    level = logging.getLevelNamesMapping()[settings.level.upper()]
    records: queue.SimpleQueue[logging.LogRecord] = queue.SimpleQueue()
    line = _RecordQueue(records)
    listener = QueueListener(records, *handlers)
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
        path, maxBytes=_LARGEST_FILE, backupCount=_KEPT_FILES, encoding="utf-8", delay=True
    )
