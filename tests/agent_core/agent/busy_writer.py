"""A database whose writer is at work."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from agent_core.state.engine.database import Connection, Database


@asynccontextmanager
async def busy(database: Database) -> AsyncIterator[None]:
    """Keep the writer at work, so that nothing else is written until the end of the block."""
    done, working = threading.Event(), threading.Event()

    def work(connection: Connection) -> None:
        working.set()
        assert done.wait(10)

    task = asyncio.create_task(database.write("busy", work))
    assert await asyncio.to_thread(working.wait, 10)
    try:
        yield
    finally:
        done.set()
        await task
