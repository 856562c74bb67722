"""Garbage: what stands after start-up is spared, old objects are looked through in quiet moments.

Left to itself, the collector walks all that has grown old whenever that has grown by a quarter,
and holds every chat up meanwhile: with 1,000 people at once for 50 to 200 ms each time, to find
next to nothing, because hardly anything here is in a circle.
"""

import asyncio
import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_NEVER = 1_000_000
"""Collections of the middle generation before the oldest would be collected by itself."""
_LOOK = 5.0
"""Seconds between two looks whether the moment is quiet."""
_LONGEST = 600.0
"""Seconds after which old garbage is collected in a rush too."""


@contextmanager
def held_off() -> Iterator[None]:
    """Collect nothing meanwhile. An SDK's import makes a million objects, all of which stay;
    walking them again and again takes an eighth of its time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def freeze_all() -> None:
    """Leave everything there is now out of all collections, and the old ones to `collect`."""
    gc.collect()
    gc.freeze()
    young, middle, _ = gc.get_threshold()
    gc.set_threshold(young, middle, _NEVER)


async def collect(is_quiet: Callable[[], bool]) -> None:
    """Collect old garbage in quiet moments, until cancelled."""
    loop = asyncio.get_running_loop()
    last = loop.time()
    while True:
        await asyncio.sleep(_LOOK)
        has_grown_old = gc.get_count()[2] > 0
        if has_grown_old and (is_quiet() or loop.time() - last > _LONGEST):
            gc.collect()
            last = loop.time()
