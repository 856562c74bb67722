"""Send large bodies, read bounded ones, and read when to retry."""

import json
import math
from collections.abc import AsyncIterator
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import aiohttp

LARGE = 1_000_000
"""Bytes above which aiohttp warns about a body in one piece."""
MOST_BYTES = 64_000_000
"""Bytes of one answer; a longer one is none of a model."""
TOO_LONG = "The model server's answer does not end: it is too long."
_LETTERS_PER_TOKEN = 8
"""More letters than the tokens of a text have on average."""
_FEWEST_LETTERS = 100_000
_PIECE = 256 * 1024


class ChunkedBody:
    """A body as an async iterable. The caller must set its length in a header."""

    def __init__(self, payload: bytes) -> None:
        self._payload = payload

    async def __aiter__(self) -> AsyncIterator[bytes]:
        view = memoryview(self._payload)
        for start in range(0, len(view), _PIECE):
            yield bytes(view[start : start + _PIECE])


def chunk_large(payload: bytes) -> bytes | ChunkedBody:
    """Return a small body unchanged, a large one in pieces."""
    return payload if len(payload) <= LARGE else ChunkedBody(payload)


async def read_body(response: "aiohttp.ClientResponse", most: int = MOST_BYTES) -> bytes:
    """Return the first bytes of a body, whatever length it claims to have."""
    kept = bytearray()
    while len(kept) < most and (piece := await response.content.readany()):
        kept += piece
    return bytes(kept[:most])


def parse_json(raw: bytes | str) -> Any:
    """Return the value of JSON that somebody else wrote. Raises `ValueError` if there is none."""
    try:
        return json.loads(raw)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def most_letters(tokens: int) -> int:
    """Return how many letters an answer of so many tokens has at most."""
    return max(_FEWEST_LETTERS, tokens * _LETTERS_PER_TOKEN)


def parse_retry_after(value: str | None, now: float) -> float | None:
    """Parse a Retry-After header (RFC 9110, 10.2.3) to seconds; None if it is unreadable.

    The header holds seconds or an HTTP date; `now` is in seconds since the epoch. A past date is
    0.

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
