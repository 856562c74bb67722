"""Imports the MCP SDK at the first request; the SDK takes a second and 50 MB."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from gateway.app.gateway import Gateway
    from gateway.turns.client_calls import Client

_PACKAGE = "gateway.interfaces.mcp_server"
MISSING = "MCP needs the extra: install talaria[mcp]."


class Endpoint(Protocol):
    """Answers authenticated requests at `/mcp`."""

    async def serve(
        self, scope: "Scope", receive: "Receive", send: "Send", client: "Client"
    ) -> None:
        """Answer one request."""


OpenEndpoint = Callable[["Gateway"], AbstractAsyncContextManager[Endpoint]]
Serve = Callable[[Path, str], Coroutine[Any, Any, None]]


def is_installed() -> bool:
    """Return whether the SDK is installed."""
    return find_spec("mcp") is not None


async def load_endpoint() -> OpenEndpoint:
    """Import the HTTP packages on a thread, so that no request waits for it."""
    module = await asyncio.to_thread(import_module, f"{_PACKAGE}.http")
    return cast(OpenEndpoint, module.open_endpoint)


def load_stdio() -> Serve:
    """Import the server that runs over standard streams."""
    return cast(Serve, import_module(f"{_PACKAGE}.stdio").serve)
