"""A gateway with an external memory."""

import asyncio

from agent_core.state.memory import external_sync
from agent_core.state.memory.external_sync import Backlog
from tests.emulators.honcho import HonchoEmulator
from tests.integration.harness import Harness
from tests.patience import PATIENCE


def environ(server: HonchoEmulator) -> dict[str, str]:
    return {"HONCHO_BASE_URL": server.url, "TALARIA_MEMORY__PROVIDER": "honcho"}


async def queues(harness: Harness) -> list[Backlog]:
    return await harness.read(external_sync.count_all)


async def all_reported(harness: Harness) -> None:
    """Return once the external memory has received everything."""
    async with asyncio.timeout(PATIENCE):
        while any(one.queued for one in await queues(harness)):
            await asyncio.sleep(0.01)
