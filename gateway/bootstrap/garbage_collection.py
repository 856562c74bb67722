"""Garbage collection: exempt long-lived objects, and collect old garbage in quiet moments.

By default, the collector scans all old objects whenever they have grown by a quarter. With 1,000
people at once, each scan delays every chat by 50 to 200 ms. It finds next to nothing, because
hardly any objects here form a cycle.
"""

import asyncio
import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_NEVER = 1_000_000
"""Collections of the middle generation before Python collects the oldest one: in effect, never."""


@contextmanager
def held_off() -> Iterator[None]:
    """Suspend the collector in this block.

    Importing an SDK creates a million objects that all stay. Collections would take an eighth of
    the import's time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def freeze_all() -> None:
    """Exempt all present objects from collection, and leave old garbage to `collect`."""
    gc.collect()
    gc.freeze()
    young, middle, _ = gc.get_threshold()
    gc.set_threshold(young, middle, _NEVER)


async def collect(
    is_quiet: Callable[[], bool], *, interval: float = 5.0, longest: float = 600.0
) -> None:
    """Collect old garbage in quiet moments, until cancelled.

    Checks for garbage every `interval` seconds. After `longest` seconds without a collection, it
    collects even in a busy moment.
    """
    loop = asyncio.get_running_loop()
    last = loop.time()
    while True:
        await asyncio.sleep(interval)
        has_garbage = gc.get_count()[2] > 0
        if has_garbage and (is_quiet() or loop.time() - last > longest):
            gc.collect()
            last = loop.time()
