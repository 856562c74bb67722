"""Deletions that people confirmed."""

import asyncio

from agent_core.state.engine import meta
from tests.integration.harness import Harness
from tests.patience import PATIENCE


async def settled(harness: Harness) -> None:
    """Return once confirmed deletions are done and overwritten."""
    async with asyncio.timeout(PATIENCE):
        while await harness.read(
            lambda c: meta.list_under(c, prefix="owed:")
        ) or await harness.read(
            lambda c: meta.list_under(c, prefix="erase:") or meta.get(c, key="scrub")
        ):
            await asyncio.sleep(0.02)
    await harness.at_rest()
