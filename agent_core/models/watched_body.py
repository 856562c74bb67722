"""The body of a response that ends in an error after too long a silence."""

import asyncio
from collections.abc import AsyncIterator

import httpx2

_GRACE = 1.0
"""Seconds beyond the transport's own limit, which comes first wherever it works."""


class WatchedBody(httpx2.AsyncByteStream):
    """A body of which each piece comes in time.

    aiohttp stops its clock when a connection ends within a broken chunk, and then waits for ever.
    """

    def __init__(self, body: httpx2.AsyncByteStream, seconds: float) -> None:
        """`seconds` is the longest silence."""
        self._body = body
        self._seconds = seconds

    async def __aiter__(self) -> AsyncIterator[bytes]:
        pieces = aiter(self._body)
        while True:
            try:
                async with asyncio.timeout(self._seconds + _GRACE):
                    piece = await anext(pieces, None)
            except TimeoutError as error:
                raise httpx2.ReadTimeout("nothing came for too long") from error
            if piece is None:
                return
            yield piece

    async def aclose(self) -> None:
        """Close the body."""
        await self._body.aclose()


def watch(response: httpx2.Response, seconds: float) -> None:
    """Let the body of a response end in an error after so many seconds of silence."""
    body = response.stream
    if isinstance(body, httpx2.AsyncByteStream):
        response.stream = WatchedBody(body, seconds)
