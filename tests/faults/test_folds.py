"""Killed while a long talk is made shorter: the turn goes on, and calls stay in their bounds."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.emulators.anthropic_cache import measure
from tests.faults.speech import is_turn
from tests.faults.town import Town

CAP = 16_000


@pytest.fixture
async def town(tmp_path: Path, nursery: Path) -> AsyncIterator[Town]:
    """A town whose house reads little at once."""
    settings = {"TALARIA_CONTEXT__CAP_TOKENS": str(CAP)}
    async with Town(tmp_path / "home", nursery, **settings) as town:
        yield town


def count_folds(home: Path) -> int:
    with closing(sqlite3.connect(home / "state.db")) as connection:
        (count,) = connection.execute("SELECT COUNT(*) FROM compactions").fetchone()
    return int(count)


def count_summaries(town: Town) -> int:
    return sum("Sum it up" in str(body.get("system")) for body in town.anthropic.requests)


async def test_a_long_talk_is_folded_and_no_call_is_longer_than_the_cap(town: Town) -> None:
    await town.open_house()
    for _ in range(8):
        await town.all_seen([await town.says(1, "long")])
    (await town.come_to_rest()).must_be_flawless()
    sizes = [measure(body).tokens for body in town.anthropic.requests if is_turn(body)]
    assert max(sizes) <= CAP
    assert sum(sizes) > 2 * CAP
    assert count_folds(town.home) == count_summaries(town) > 0


@pytest.mark.parametrize("phase", ["begin", "committed"])
async def test_a_turn_survives_a_kill_at_its_fold_and_what_was_folded_stays_folded(
    town: Town, phase: str
) -> None:
    house = await town.open_house(f"{phase}:folds.make:1")
    while house.is_alive:
        ends = [
            asyncio.create_task(town.all_seen([await town.says(1, "long")])),
            asyncio.create_task(house.died()),
        ]
        done, pending = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        for end in pending:
            end.cancel()
        await asyncio.gather(*done)
    is_kept = phase == "committed"
    assert count_folds(town.home) == (1 if is_kept else 0)
    before = count_summaries(town)
    town.hurry()
    await town.open_house()
    (await town.come_to_rest()).must_be_flawless()
    assert before == 1
    assert count_summaries(town) == (1 if is_kept else 2), "a summary on disk is not made again"
    assert count_folds(town.home) == 1
    sizes = [measure(body).tokens for body in town.anthropic.requests if is_turn(body)]
    assert max(sizes) <= CAP
