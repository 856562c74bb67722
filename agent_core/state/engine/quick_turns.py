"""Let threads take quick turns in Python while one of them works for seconds."""

import sys
import threading
from types import TracebackType

_SECONDS = 0.0005
"""A thread that waits for Python's lock gets it after so long. Python's own 5 ms add up: an answer
takes dozens of turns between the event loop and the threads of the database.
"""


class QuickTurns:
    """A block during which threads take quick turns; several blocks may overlap."""

    _lock = threading.Lock()
    _open = 0
    _usual = 0.0

    def __enter__(self) -> None:
        with QuickTurns._lock:
            if not QuickTurns._open:
                QuickTurns._usual = sys.getswitchinterval()
                sys.setswitchinterval(_SECONDS)
            QuickTurns._open += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with QuickTurns._lock:
            QuickTurns._open -= 1
            if not QuickTurns._open:
                sys.setswitchinterval(QuickTurns._usual)
