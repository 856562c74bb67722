"""Old garbage goes in a quiet moment, and never grows far beyond the memory in use."""

import asyncio
import gc
import warnings
import weakref
from collections.abc import Iterator

import pytest

from gateway.app import garbage_collection
from tests.patience import PATIENCE

_OF_PYTHON = (700, 10, 10)
"""The thresholds of a fresh process."""


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    thresholds = gc.get_threshold()
    gc.set_threshold(*_OF_PYTHON)
    gc.unfreeze()
    with warnings.catch_warnings(action="ignore"):
        gc.collect()  # what tests before have left is not this one's fault
    yield
    gc.set_threshold(*thresholds)
    gc.unfreeze()


class Knot:
    """Something that only the collector can take apart."""

    def __init__(self) -> None:
        self.itself = self


def _make_old_knot() -> weakref.ref[Knot]:
    """A knot that has grown old while it was still in use."""
    knot = Knot()
    gc.collect(1)
    gc.collect(1)
    return weakref.ref(knot)


async def test_old_garbage_goes_in_a_quiet_moment() -> None:
    garbage_collection.freeze_all()
    knot = _make_old_knot()
    is_quiet = False
    collecting = asyncio.create_task(garbage_collection.collect(lambda: is_quiet, interval=0.001))
    for _ in range(20):
        await asyncio.sleep(0.001)
    assert knot() is not None
    is_quiet = True
    async with asyncio.timeout(PATIENCE):
        while knot() is not None:
            await asyncio.sleep(0.001)
    collecting.cancel()


def test_old_garbage_is_bounded_in_a_rush_that_never_ends() -> None:
    garbage_collection.freeze_all()
    knots: list[weakref.ref[Knot]] = []
    most = 0
    for _ in range(200):
        used = [Knot() for _ in range(1_000)]
        knots += [weakref.ref(knot) for knot in used]
        gc.collect(1)  # they grow old while they are in use
        del used
        knots = [knot for knot in knots if knot() is not None]
        most = max(most, len(knots))
    assert most < 50_000


def test_frozen_objects_do_not_delay_a_collection() -> None:
    started = [[number] for number in range(300_000)]
    garbage_collection.freeze_all()
    test_old_garbage_is_bounded_in_a_rush_that_never_ends()
    assert len(started) == 300_000
