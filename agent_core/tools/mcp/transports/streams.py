"""The stream of a server's messages, limited so that no server can block the event loop."""

import asyncio
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Self

import anyio
from mcp import types
from mcp.client._transport import ReadStream
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCResponse
from pydantic import BaseModel, ValidationError

from agent_core.tools.mcp.contract import MOST_TOOLS

MOST_BYTES = 4_000_000
"""Bytes of one message."""
_MOST_LISTED = 4 * MOST_TOOLS
"""Tools of one answer that are kept; the owner's filters remove some of them later."""
_UNUSED = ("outputSchema", "icons")
"""Keys that are removed from tools. The SDK would check every result against the output schema,
whose patterns can take hours.
"""
_OFFERS: Mapping[str, tuple[type[BaseModel], str]] = {
    "prompts": (types.Prompt, "name"),
    "resources": (types.Resource, "uri"),
    "resourceTemplates": (types.ResourceTemplate, "uriTemplate"),
}
"""The other lists of a server: the form of an entry, and the key by which it is asked for."""
FAULT, SCHEMA = "talaria/fault", "talaria/schema"
"""Metadata of a tool in a wrong form: what is wrong with it, and its schema as it was sent."""
_MOST_GARBAGE = 20
"""Unreadable messages after which the server counts as one that does not speak MCP."""
_PATIENCE = 15.0
"""Seconds for a first message after other words. Some programs greet before they speak MCP."""


class Unreadable(ValueError):
    """A line that is no message; the error's text is its beginning."""


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
        self.has_lost_session = False
        """True once a request of the session was answered with 404 or 410."""
        self.is_refused = False
        """True once a request of the session was answered with 400."""

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
    """The messages of a server, with a limited rate, and with lists that the SDK takes."""

    def __init__(
        self,
        stream: ReadStream[SessionMessage | Exception],
        link: StreamLink,
        *,
        patience: float = _PATIENCE,
    ) -> None:
        self._stream = stream
        self._link = link
        self._pace = Pace(200, 400)
        self._garbage = 0
        self._patience = patience
        self._has_spoken = False
        self._until: float | None = None
        """The loop's time at which a first message must have come."""
        self._said = ""

    @property
    def last_context(self) -> object:
        """The sender's context variables, which the SDK looks for."""
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message.

        Ends the stream of a server that can't be understood.
        """
        try:
            async with asyncio.timeout_at(self._until):
                item = await self._stream.receive()
        except TimeoutError:
            raise self._give_up() from None
        await self._pace.take(1)
        if isinstance(item, Exception):
            self._take_garbage(item)
        else:
            self._has_spoken, self._until = True, None
            _mend(item)
        return item

    def _take_garbage(self, error: Exception) -> None:
        self._garbage += 1
        if isinstance(error, Unreadable) and not self._has_spoken:
            self._said = self._said or str(error)
            if self._until is None:
                self._until = asyncio.get_running_loop().time() + self._patience
            if '"jsonrpc"' in str(error):
                raise self._give_up()  # a broken message of the protocol, not another word
        if self._garbage > _MOST_GARBAGE:
            raise self._give_up()

    def _give_up(self) -> anyio.EndOfStream:
        self._link.close("does not speak MCP" + (f"; it said: {self._said}" if self._said else ""))
        return anyio.EndOfStream()

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


def _mend(item: SessionMessage) -> None:
    """Drop unused keys of a list, and replace odd entries: one would fail the whole list."""
    message = item.message
    if not isinstance(message, JSONRPCResponse):
        return
    tools = message.result.get("tools")
    if isinstance(tools, list):
        message.result["tools"] = [_repair_tool(one) for one in tools[:_MOST_LISTED]]
    for key, (model, address) in _OFFERS.items():
        offers = message.result.get(key)
        if isinstance(offers, list):
            message.result[key] = [_repair_offer(one, model, address) for one in offers]


def _repair_tool(tool: object) -> object:
    """Return a tool that the SDK takes; it carries the odd schema, or the fault, as metadata."""
    given = tool if isinstance(tool, dict) else {}
    for key in _UNUSED:
        given.pop(key, None)
    schema, name = given.get("inputSchema"), given.get("name")
    if _is_plain(schema) and _fits(given, types.Tool):
        return given
    fault = ""
    if not isinstance(name, str):
        fault = "it has no name"
    elif not isinstance(schema, dict):
        fault = "it has no schema of its arguments"
    hints = given.get("annotations")
    return {
        "name": name if isinstance(name, str) else "unnamed",
        "description": _read_text(given, "description") or _read_text(given, "title"),
        "inputSchema": {"type": "object"},
        **({"annotations": hints} if _fits(hints, types.ToolAnnotations) else {}),
        "_meta": {FAULT: fault, SCHEMA: schema if isinstance(schema, dict) else {}},
    }


def _repair_offer(offer: object, model: type[BaseModel], address: str) -> object:
    """Return a prompt or a resource that the SDK takes; the name of an odd one says so."""
    if _fits(offer, model):
        return offer
    given = offer if isinstance(offer, dict) else {}
    name = _read_text(given, "name") or _read_text(given, address) or "unnamed"
    repaired = {"name": f"{name} (can't be used: the server describes it in a wrong form)"}
    if address != "name":
        repaired[address] = _read_text(given, address) or "none:"
    return repaired


def _is_plain(schema: object) -> bool:
    """Return whether every version of the protocol takes a schema."""
    if not isinstance(schema, dict) or schema.get("type") != "object":
        return False
    required, properties = schema.get("required", []), schema.get("properties", {})
    return (
        isinstance(required, list)
        and all(isinstance(one, str) for one in required)
        and isinstance(properties, dict)
        and all(isinstance(one, dict) for one in properties.values())
    )


def _fits(value: object, model: type[BaseModel]) -> bool:
    try:
        model.model_validate(value, by_name=False)
    except ValidationError:
        return False
    return True


def _read_text(given: Mapping[str, object], key: str) -> str:
    found = given.get(key)
    return found if isinstance(found, str) else ""
