"""Reads how long a server asks to be left alone."""

import math
from email.utils import parsedate_to_datetime


def parse_retry_after(value: str | None, now: float) -> float | None:
    """The seconds that a Retry-After header names (RFC 9110, 10.2.3), or None.

    The header holds seconds or an HTTP date; `now` is seconds since the epoch. A date that
    has passed is 0. Anything unreadable is None: then the caller's own backoff holds.
    """
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(value).timestamp() - now
        except ValueError:
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None
