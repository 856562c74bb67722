"""How an outside memory fares: whether it is there, and how long to leave it alone if not."""

import logging
import time
from typing import Literal

from agent_core.errors import OutsideAway, OutsideError

_log = logging.getLogger(__name__)

_FIRST, _MOST = 1.0, 300.0
"""Seconds until it is tried again, doubled each time."""

State = Literal["starting", "ok", "away"]


class Condition:
    """Known to all who speak with it, so that nobody waits for one that is not there."""

    def __init__(self, name: str, first: float = _FIRST) -> None:
        """`first` is the pause after the first failure, in seconds."""
        self._name = name
        self._first = first
        self._failures = 0
        self.state: State = "starting"
        self.detail = ""
        self._again_at = 0.0

    @property
    def pause(self) -> float:
        """Seconds for which to leave it alone still."""
        return max(0.0, self._again_at - time.monotonic())

    @property
    def is_well(self) -> bool:
        """True if it may be asked."""
        return self.state == "ok"

    def note_well(self) -> None:
        """It answered."""
        if self.state == "away":
            _log.info("the outside memory %s is there again", self._name)
        self.state, self.detail, self._failures = "ok", "", 0

    def note_away(self, error: OutsideError | TimeoutError) -> None:
        """It did not answer: it is left alone for a while."""
        detail = str(error) or "it did not answer in time"
        if self.state != "away":
            _log.warning("the outside memory %s is away: %s", self._name, detail)
        self.state, self.detail = "away", detail
        pause = min(self._first * 2.0 ** min(self._failures, 30), _MOST)
        self._failures += 1
        wanted = error.retry_after if isinstance(error, OutsideAway) else None
        self._again_at = time.monotonic() + max(pause, min(wanted or 0.0, _MOST))
