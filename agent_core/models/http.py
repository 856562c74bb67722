"""Reads the options that a provider is made with: strings in, checked values out."""

import math
from collections.abc import AsyncIterator, Iterable, Mapping
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

LARGE = 1_000_000
"""Bytes above which aiohttp, too, warns against handing a body over whole."""
_PIECE = 256 * 1024


class Pieces:
    """A body as an async iterable. Its length has to be told in a header."""

    def __init__(self, payload: bytes) -> None:
        self._payload = payload

    async def __aiter__(self) -> AsyncIterator[bytes]:
        view = memoryview(self._payload)
        for start in range(0, len(view), _PIECE):
            yield bytes(view[start : start + _PIECE])


def divide(payload: bytes) -> bytes | Pieces:
    """A small body as it is, a large one in pieces."""
    return payload if len(payload) <= LARGE else Pieces(payload)


def refuse_unknown(options: Mapping[str, str], known: Iterable[str], provider: str) -> None:
    """Raises `ValueError` with a sentence that lists the known options."""
    names = sorted(known)
    for key in options:
        if key not in names:
            raise ValueError(
                f'The model provider {provider} has no option "{key}"; it has {", ".join(names)}.'
            )


def read_seconds(options: Mapping[str, str], key: str, default: float) -> float:
    """A number of seconds above 0, at most a day. Raises `ValueError` with a sentence."""
    text = options.get(key, "")
    if not text:
        return default
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 86_400:
        raise ValueError(
            f'The option {key} is "{text}"; it takes seconds, above 0 and at most a day.'
        )
    return seconds


def read_choice(options: Mapping[str, str], key: str, choices: tuple[str, ...]) -> str:
    """One of `choices`, the first one by default. Raises `ValueError` with a sentence."""
    text = options.get(key, "") or choices[0]
    if text not in choices:
        named = ", ".join(choice for choice in choices if choice)
        raise ValueError(f'The option {key} is "{text}"; it takes one of {named}.')
    return text


def read_address(options: Mapping[str, str], key: str, default: str) -> str:
    """An http or https address. Raises `ValueError` with a sentence."""
    text = options.get(key, "") or default
    try:
        parts = urlsplit(text)
        port_is_good = parts.port is None or parts.port > 0
    except ValueError:
        parts, port_is_good = urlsplit(""), False
    if parts.scheme not in ("http", "https") or not parts.hostname or not port_is_good:
        raise ValueError(f'The option {key} is "{text}"; it takes an http or https address.')
    return text


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
