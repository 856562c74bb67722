"""The time of day, as everything in the hall is given it."""

import time


def now() -> int:
    """Milliseconds since the epoch, UTC."""
    return time.time_ns() // 1_000_000
