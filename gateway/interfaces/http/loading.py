"""Loads the server of the port only where one is configured, and the API once it is asked."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from importlib import import_module
from typing import Any, cast

from gateway.bootstrap.lifecycle import Gateway

Serving = Callable[[Gateway], AbstractAsyncContextManager[str]]
"""Serves while the block runs, and yields the page's address; see `server.serving_page`."""


async def load_server() -> Serving:
    """Import the server on a thread, so that no message waits for it."""
    module = await asyncio.to_thread(import_module, "gateway.interfaces.http.server")
    return cast(Serving, module.serving_page)


def load_api() -> Callable[..., Any]:
    """Import `make_api`. FastAPI takes 0.3 s and 20 MB."""
    module = import_module("gateway.interfaces.api.application")
    return cast(Callable[..., Any], module.make_api)
