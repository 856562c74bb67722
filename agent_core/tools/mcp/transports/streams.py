"""The stream of a server's messages, limited so that no server can block the event loop."""

import asyncio
import time
from types import TracebackType
from typing import Self

import anyio
from mcp.client._transport import ReadStream
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCResponse

from agent_core.tools.mcp.contract import MOST_TOOLS

MOST_BYTES = 4_000_000
"""Bytes of one message."""
_MOST_LISTED = 4 * MOST_TOOLS
"""Tools of one answer that are kept; the owner's filters remove some of them later."""
_UNUSED = ("outputSchema", "icons")
"""Keys that are removed from tools. The SDK would check every result against the output schema,
whose patterns can take hours.
"""
_MOST_GARBAGE = 20
"""Unreadable messages after which the server counts as one that does not speak MCP."""


class Pace:
    """Limits a rate: an initial amount is free, then a fixed amount per second."""

    def __init__(self, per_second: float, at_first: float) -> None:
        self._per_second = per_second
        self._most = at_first
        self._left = at_first
        self._seen = time.monotonic()

    async def take(self, amount: float) -> None:
        """Take an amount; wait if there is too little left."""
        now = time.monotonic()
        self._left = min(self._most, self._left + (now - self._seen) * self._per_second) - amount
        self._seen = now
        if self._left < 0:
            await asyncio.sleep(-self._left / self._per_second)


def pace_bytes() -> Pace:
    """Return the rate limit for the bytes of one server."""
    return Pace(4_000_000, 2.0 * MOST_BYTES)


class StreamLink:
    """Reports that a connection is lost, and why."""

    def __init__(self) -> None:
        self._closed = asyncio.Event()
        self.fault = ""
        """The reason of the loss, which ends a sentence; "" while the connection is up."""

    def close(self, fault: str) -> None:
        """Record the loss; later reasons are ignored."""
        if not self._closed.is_set():
            self.fault = fault
            self._closed.set()

    async def wait(self) -> str:
        """Wait for the loss; return the reason."""
        await self._closed.wait()
        return self.fault


class LimitedStream:
    """The messages of a server, with a limited rate and without unused keys."""

    def __init__(self, stream: ReadStream[SessionMessage | Exception], link: StreamLink) -> None:
        self._stream = stream
        self._link = link
        self._pace = Pace(200, 400)
        self._garbage = 0

    @property
    def last_context(self) -> object:
        """The sender's context variables, which the SDK looks for."""
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message."""
        item = await self._stream.receive()
        await self._pace.take(1)
        if isinstance(item, Exception):
            self._garbage += 1
            if self._garbage > _MOST_GARBAGE:
                self._link.close("does not speak MCP")
                raise anyio.EndOfStream
        else:
            _drop_unused(item)
        return item

    async def aclose(self) -> None:
        """Close the wrapped stream."""
        await self._stream.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()


def _drop_unused(item: SessionMessage) -> None:
    message = item.message
    tools = message.result.get("tools") if isinstance(message, JSONRPCResponse) else None
    if not isinstance(tools, list) or not isinstance(message, JSONRPCResponse):
        return
    kept = message.result["tools"] = tools[:_MOST_LISTED]
    for tool in kept:
        if isinstance(tool, dict):
            for key in _UNUSED:
                tool.pop(key, None)
