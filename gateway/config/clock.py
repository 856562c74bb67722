"""The wall clock."""

import time


def now() -> int:
    """Return milliseconds since the epoch, UTC."""
    return time.time_ns() // 1_000_000
