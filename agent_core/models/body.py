"""Hands a large request body over in pieces, so that nobody else waits while it leaves."""

from collections.abc import AsyncIterator

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
