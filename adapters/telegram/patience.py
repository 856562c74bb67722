"""How long another poller is put up with; pure."""

from adapters.telegram.mishaps import AnotherPoller


class Conflict:
    """Decides when another poller is there to stay.

    The last request of a killed process stays open at Telegram for a while. But two programs
    that both try again get through in turn, so a success does not end a conflict: quiet does.
    """

    def __init__(self, patience: float) -> None:
        """`patience` is in seconds."""
        self._patience = patience
        self._since = self._last = float("-inf")

    def weigh(self, error: AnotherPoller, now: float) -> None:
        """Raise the error once conflicts have gone on for longer than our patience."""
        if now - self._last > 2 * self._patience:
            self._since = now
        self._last = now
        if now - self._since >= self._patience:
            raise error
