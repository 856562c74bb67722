"""Loads the server of the port only where one is configured: FastAPI takes 0.3 s and 20 MB."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from importlib import import_module
from typing import cast

from gateway.bootstrap.lifecycle import Gateway

Serving = Callable[[Gateway], AbstractAsyncContextManager[str]]
"""Serves while the block runs, and yields the page's address; see `server.serving_page`."""


async def load_server() -> Serving:
    """Import the server on a thread, so that no message waits for it."""
    module = await asyncio.to_thread(import_module, "gateway.interfaces.http.server")
    return cast(Serving, module.serving_page)
