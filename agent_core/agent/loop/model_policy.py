"""The models that a turn calls, and how long it waits while none of them answers."""

import random
from dataclasses import dataclass

from agent_core.agent.loop.messages import describe_failure
from agent_core.errors import ModelBusy, ModelDenied, ModelError, ModelInterrupted, ModelUnknown
from agent_core.events import ModelOutage

_LONGEST_PAUSE = 60.0
"""Seconds between two tries. A turn continues at the latest so long after the outage."""
_LONGEST_FAULT_PAUSE = 300.0
"""The same for a fault that an owner has to end."""
_FAULT_PATIENCE = 86_400.0
"""Seconds that a turn waits for an owner, who may be asleep."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPolicy:
    """Which models are called.

    `fallbacks` answer while `model` can't, `cheap` when a quota is nearly exhausted. `patience` is
    how long a turn waits while none of them answers, in seconds.
    """

    model: str
    fallbacks: tuple[str, ...] = ()
    cheap: str = ""
    patience: float = 1800.0
    max_output_tokens: int = 8000


class Outage:
    """The present outage of one turn: when it began, and the failed tries since then."""

    def __init__(self, *, patience: float, since: int | None) -> None:
        """`patience` is in seconds; `since` is the beginning of an outage that still lasts, in
        milliseconds since the epoch.
        """
        self._patience = patience
        self._tries = 0
        self.since = since

    def end(self) -> None:
        """Note that a model has answered."""
        self.since, self._tries = None, 0

    def plan(self, error: ModelError, now: int) -> tuple[ModelOutage, float] | None:
        """Plan the wait after a failed try: the event to show, and the seconds of the pause.

        None if another try is of no use, or the patience is over.
        """
        is_fault = isinstance(error, ModelDenied | ModelUnknown)
        if not is_fault and not isinstance(error, ModelBusy | ModelInterrupted):
            return None
        self.since = now if self.since is None else self.since
        patience = max(self._patience, _FAULT_PATIENCE) if is_fault else self._patience
        until = self.since + round(patience * 1000)
        if now >= until:
            return None
        longest = _LONGEST_FAULT_PAUSE if is_fault else _LONGEST_PAUSE
        pause = min(2.0**self._tries, longest)
        self._tries += 1
        asked = error.retry_after or 0.0 if isinstance(error, ModelBusy) else 0.0
        # Jitter keeps turns that failed together from trying again together.
        seconds = max(asked, pause * random.uniform(0.5, 1.0))  # noqa: S311
        shown = ModelOutage(reason=describe_failure(error), since=self.since, until=until)
        return shown, min(seconds, (until - now) / 1000)
