"""Old garbage waits for a quiet moment, and goes then."""

import asyncio
import gc
import warnings
import weakref
from collections.abc import Iterator

import pytest

from gateway.bootstrap import garbage_collection


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    thresholds = gc.get_threshold()
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


@pytest.mark.thorough
def test_old_objects_are_left_alone_in_a_rush() -> None:
    garbage_collection.freeze_all()
    knot = _make_old_knot()
    population = [[number] for number in range(200_000)]
    assert knot() is not None
    assert len(population) == 200_000


@pytest.mark.thorough
async def test_old_garbage_goes_in_a_quiet_moment() -> None:
    garbage_collection.freeze_all()
    knot = _make_old_knot()
    is_quiet = False
    collecting = asyncio.create_task(garbage_collection.collect(lambda: is_quiet, interval=0.001))
    for _ in range(20):
        await asyncio.sleep(0.001)
    assert knot() is not None
    is_quiet = True
    async with asyncio.timeout(45):
        while knot() is not None:
            await asyncio.sleep(0.001)
    collecting.cancel()


@pytest.mark.thorough
async def test_a_rush_that_never_ends_is_no_excuse() -> None:
    garbage_collection.freeze_all()
    knot = _make_old_knot()
    collecting = asyncio.create_task(
        garbage_collection.collect(lambda: False, interval=0.001, longest=0.002)
    )
    async with asyncio.timeout(45):
        while knot() is not None:
            await asyncio.sleep(0.001)
    collecting.cancel()


def test_paused_work_continues_afterwards() -> None:
    with garbage_collection.held_off():
        assert not gc.isenabled()
        with garbage_collection.held_off():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()
