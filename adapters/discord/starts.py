"""How often a session may be begun at all; pure."""

from collections import deque

from adapters.errors import Unreachable

_MOST_STARTS = 50
_WINDOW = 3600.0
"""Discord takes 1,000 starts of a session a day and then resets the bot's token, so that
somebody has to come and look (discord.com/developers/docs/events/gateway)."""


class TooManyStarts(Unreachable):
    """So many sessions were begun within an hour that the next one has to wait."""

    def __init__(self, wait: float) -> None:
        super().__init__(
            f"Discord ended {_MOST_STARTS} sessions within an hour; the next one is begun in "
            f"{wait:.0f} s."
        )
        self.wait = wait


class Starts:
    """Counts the sessions that were begun: 50 in any hour at most."""

    def __init__(self) -> None:
        self._times: deque[float] = deque(maxlen=_MOST_STARTS)

    def check(self, now: float) -> None:
        """Raises `TooManyStarts` if none may be begun now; `now` is in monotonic seconds."""
        if len(self._times) == _MOST_STARTS and now - self._times[0] < _WINDOW:
            raise TooManyStarts(_WINDOW - (now - self._times[0]))

    def note(self, now: float) -> None:
        """One is begun. Raises `TooManyStarts`."""
        self.check(now)
        self._times.append(now)
