"""Kills during a compaction: the turn continues, and calls stay within the window."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.emulators.anthropic_cache import measure
from tests.faults.deployment import Deployment
from tests.faults.script import is_turn

CAP = 16_000


@pytest.fixture
async def deployment(tmp_path: Path, spawner: Path) -> AsyncIterator[Deployment]:
    """A deployment whose model has a small context window."""
    settings = {"TALARIA_CONTEXT__CAP_TOKENS": str(CAP)}
    async with Deployment(tmp_path / "home", spawner, **settings) as deployment:
        yield deployment


def count_compactions(home: Path) -> int:
    with closing(sqlite3.connect(home / "state.db")) as connection:
        (count,) = connection.execute("SELECT COUNT(*) FROM compactions").fetchone()
    return int(count)


def count_summaries(deployment: Deployment) -> int:
    return sum("Sum it up" in str(body.get("system")) for body in deployment.anthropic.requests)


async def test_a_long_conversation_is_compacted_and_every_call_fits(
    deployment: Deployment,
) -> None:
    await deployment.open_process()
    for _ in range(8):
        await deployment.all_seen([await deployment.says(1, "long")])
    (await deployment.stop_and_inspect()).assert_flawless()
    sizes = [measure(body).tokens for body in deployment.anthropic.requests if is_turn(body)]
    assert max(sizes) <= CAP
    assert sum(sizes) > 2 * CAP
    assert count_compactions(deployment.home) == count_summaries(deployment) > 0


@pytest.mark.parametrize("phase", ["begin", "committed"])
async def test_a_turn_survives_a_kill_during_its_compaction(
    deployment: Deployment, phase: str
) -> None:
    process = await deployment.open_process(f"{phase}:folds.make:1")
    while process.is_alive:
        ends = [
            asyncio.create_task(deployment.all_seen([await deployment.says(1, "long")])),
            asyncio.create_task(process.died()),
        ]
        done, pending = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        for end in pending:
            end.cancel()
        await asyncio.gather(*done)
    is_kept = phase == "committed"
    assert count_compactions(deployment.home) == (1 if is_kept else 0)
    before = count_summaries(deployment)
    deployment.clear_faults()
    await deployment.open_process()
    (await deployment.stop_and_inspect()).assert_flawless()
    assert before == 1
    assert count_summaries(deployment) == (1 if is_kept else 2), (
        "a summary on disk is not made again"
    )
    assert count_compactions(deployment.home) == 1
    sizes = [measure(body).tokens for body in deployment.anthropic.requests if is_turn(body)]
    assert max(sizes) <= CAP
