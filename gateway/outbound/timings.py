"""Pauses of delivery."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryTimings:
    """Pauses of delivery, in seconds."""

    first_pause: float = 1.0
    longest_pause: float = 60.0
    finish: float = 2.0
    """Pause before an unsure message is searched for, and before a final edit after an unsure one.
    The earlier request may still be on its way.
    """
    group_sent: float = 0.02
    """Pause before one commit records the sent messages; a crash before it leaves them unsure."""
    indicator_pause: float = 1.0
    """Pause between two attempts to remove the seen mark."""

    def back_off(self, attempts: int) -> float:
        """Return the pause after this many attempts that the platform didn't answer."""
        return min(self.first_pause * 2.0**attempts, self.longest_pause)


@dataclass(frozen=True, slots=True)
class Pause:
    """Seconds until the next attempt. Nothing shortens a firm pause: the platform asked for it."""

    seconds: float
    is_firm: bool = False
