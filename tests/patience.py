"""How long a test waits for a condition."""

import asyncio
from collections.abc import Callable

PATIENCE = 90.0
"""Seconds until a wait fails. Many times what a quiet machine needs, for one that five parts of
the tests and others share. Less than the timeout at which `make test` ends a part that hangs.
"""

_PAUSE = 0.002


async def until(is_so: Callable[[], object]) -> None:
    """Return once the condition holds. Raises `TimeoutError`."""
    async with asyncio.timeout(PATIENCE):
        while not is_so():
            await asyncio.sleep(_PAUSE)
