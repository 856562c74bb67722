"""Reads the time stamps by which Slack names messages; pure."""

import re

_TS = re.compile(r"\d{10}\.\d{6}")


def is_ts(text: str) -> bool:
    """True for the time stamps by which Slack names messages; they sort as text."""
    return _TS.fullmatch(text) is not None


def milliseconds(ts: str) -> int:
    """A time stamp as milliseconds since the epoch. Raises `ValueError`."""
    seconds, _, rest = ts.partition(".")
    return int(seconds) * 1000 + int((rest or "0")[:3].ljust(3, "0"))
