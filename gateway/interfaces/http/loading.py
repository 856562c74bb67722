"""Opens the port before platforms connect, and imports its server when that is needed."""

import asyncio
import os
import socket
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from importlib import import_module
from typing import Any, cast

from gateway.app.gateway import Gateway
from gateway.app.tables import HttpSettings
from gateway.errors import StartError

Serving = Callable[[Gateway, socket.socket], AbstractAsyncContextManager[str]]
"""Serves while the block runs, and yields the page's address; see `server.serving_page`."""


def take_port(http: HttpSettings) -> socket.socket:
    """Listen on the port; connections wait until a server accepts them. Raises `StartError`."""
    host, port = http.bind, http.port
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        # The system's own message, without the text that `create_server` adds.
        fault = os.strerror(error.errno) if error.errno else str(error)
        raise StartError(
            f"The console page can't listen on {host} port {port}: {fault}."
            " Set TALARIA_HTTP__PORT to a free one."
        ) from error


async def load_server() -> Serving:
    """Import the server on a thread, so that messages don't wait for the import."""
    module = await asyncio.to_thread(import_module, "gateway.interfaces.http.server")
    return cast(Serving, module.serving_page)


def load_api() -> Callable[..., Any]:
    """Import `make_api`. FastAPI takes 0.3 s and 20 MB."""
    module = import_module("gateway.interfaces.api.application")
    return cast(Callable[..., Any], module.make_api)
