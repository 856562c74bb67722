"""Plan the waits of a turn while no model answers."""

import random
from collections.abc import Callable

from agent_core.agent.loop.messages import describe_failure
from agent_core.errors import ModelBusy, ModelDenied, ModelError, ModelInterrupted, ModelUnknown
from agent_core.events import ModelOutage

_LONGEST_PAUSE = 60.0
"""The most seconds between two tries. A turn continues at most this long after an outage."""
_LONGEST_FAULT_PAUSE = 300.0
"""The most seconds between two tries while a fault lasts that an owner has to fix."""
_JUMP = 2000
"""Milliseconds by which the time of day has to differ from the clock to count as a jump."""
_FAULT_PATIENCE = 86_400.0
"""Seconds that a turn waits for an owner, who may be asleep."""


class Outage:
    """The current outage of one turn: its beginning, and the failed tries since then."""

    def __init__(
        self, *, patience: float | None, since: int | None, clock: Callable[[], float]
    ) -> None:
        """`patience` is in seconds, None for a turn that never waits; `since` is the beginning of
        an outage that still lasts, in milliseconds since the epoch, or None. `clock` returns
        monotonic seconds, so that no jump of the time ends the patience.
        """
        self._patience = patience
        self._clock = clock
        self._began: float | None = None
        """The beginning of the outage on `clock`; None before the first failed try."""
        self._tries = 0
        self.since = since
        self.is_recorded = False
        """True once this process has recorded the outage, so that no crash counts meanwhile."""

    def end(self) -> None:
        """Note that a model has answered."""
        self.since, self._began, self._tries, self.is_recorded = None, None, 0, False

    def plan(self, error: ModelError, now: int) -> tuple[ModelOutage, float] | None:
        """Plan the wait after a failed try: the event to show, and the seconds of the pause.

        Returns None if another try is useless, or the patience is over.
        """
        if self._patience is None:
            return None
        is_fault = isinstance(error, ModelDenied | ModelUnknown)
        if not is_fault and not isinstance(error, ModelBusy | ModelInterrupted):
            return None
        self.since = now if self.since is None else self.since
        patience = max(self._patience, _FAULT_PATIENCE) if is_fault else self._patience
        if self._began is None:  # an earlier process may have waited, too
            self._began = self._clock() - max(now - self.since, 0) / 1000
        left = patience - (self._clock() - self._began)
        if left <= 0:
            return None
        longest = _LONGEST_FAULT_PAUSE if is_fault else _LONGEST_PAUSE
        pause = min(2.0**self._tries, longest)
        self._tries += 1
        asked = error.retry_after or 0.0 if isinstance(error, ModelBusy) else 0.0
        # Jitter keeps turns that failed together from trying again together.
        seconds = max(asked, pause * random.uniform(0.5, 1.0))  # noqa: S311
        until = self.since + round(patience * 1000)
        if abs(now + left * 1000 - until) > _JUMP:
            until = now + round(left * 1000)
        shown = ModelOutage(reason=describe_failure(error), since=self.since, until=until)
        return shown, min(seconds, left)
