"""What the rigs of all platforms share: an adapter that runs, and conditions to wait for."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from adapters.contract import ChatAdapter, Inlet
from tests.patience import PATIENCE, until


@asynccontextmanager
async def started(
    adapter: ChatAdapter, inlet: Inlet, is_ready: Callable[[], bool] = lambda: True
) -> AsyncIterator[None]:
    """Run the adapter, from when it is connected and ready. Raises what ends it."""
    run = asyncio.create_task(adapter.run(inlet))
    try:
        await until(lambda: (adapter.health().state == "connected" and is_ready()) or run.done())
        if run.done():
            await run
        yield
    finally:
        run.cancel()
        async with asyncio.timeout(PATIENCE):
            with contextlib.suppress(asyncio.CancelledError):
                await run
