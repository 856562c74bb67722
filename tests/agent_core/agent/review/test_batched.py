"""Reviews through the provider's batches: durable, at half the price, and never twice."""

import asyncio
import signal
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.agent_core.agent.review.batching import SAID, look, look_once
from tests.emulators.anthropic import AnthropicEmulator
from tests.emulators.streaming import Answer
from tests.fakes.model import Gate
from tests.integration.processes import FORKS

CLAIM = {"target": "user", "text": "Prefers metric units", "message": 1, "quote": SAID}
REMEMBER = Answer(blocks=[{"type": "tool_use", "name": "memory", "input": CLAIM}], stop="tool_use")
VERDICTS = [{"note": n, "stated": s} for n, s in ((1, "yes"), (101, "yes"), (102, "no"))]
JUDGE = Answer(
    blocks=[{"type": "tool_use", "name": "judge", "input": {"notes": VERDICTS}}], stop="tool_use"
)
PENDING = {"kept": -1, "paid": []}


def reply(body: Mapping[str, Any]) -> Answer:
    return JUDGE if body["tools"][0]["name"] == "judge" else REMEMBER


async def look_to_the_end(api: AnthropicEmulator, home: Path, hours: int) -> dict[str, object]:
    """End each batch of a review once it waits for it."""
    while (found := await look(home, api.url, hours))["kept"] == -1:
        api.batches.end()
        hours += 1
    return found


@pytest.fixture
async def api() -> AsyncIterator[AnthropicEmulator]:
    async with AnthropicEmulator() as running:
        running.answer = reply
        yield running


async def test_a_review_waits_for_its_batch_and_pays_half(
    api: AnthropicEmulator, tmp_path: Path
) -> None:
    direct = tmp_path / "direct"
    batched = tmp_path / "batched"
    for home in (direct, batched):
        home.mkdir()
    api.batches.refusal = {"type": "invalid_request_error", "message": "no batches"}
    whole = await look(direct, api.url, 0)
    api.batches.refusal = None
    assert await look(batched, api.url, 0) == PENDING
    assert await look(batched, api.url, 1) == PENDING
    done = await look_to_the_end(api, batched, 2)
    assert done["kept"] == whole["kept"] == 1
    assert len(api.batches.all) == 2
    paid = [("review", -(-full // 2)) for _, full in whole["paid"]]  # type: ignore[attr-defined]
    assert done["paid"] == paid
    assert len(api.requests) == 2, "the batched review made no call of its own"


@pytest.mark.parametrize("kind", ["errored", "expired", "canceled"])
async def test_a_batch_without_an_answer_is_followed_by_the_direct_call(
    api: AnthropicEmulator, tmp_path: Path, kind: str
) -> None:
    assert await look(tmp_path, api.url, 0) == PENDING
    api.batches.end(kind)
    done = await look_to_the_end(api, tmp_path, 1)
    assert done["kept"] == 1
    assert len(api.requests) == 1
    assert len(api.batches.all) == 2


async def test_a_batch_that_takes_longer_than_a_day_is_cancelled(
    api: AnthropicEmulator, tmp_path: Path
) -> None:
    assert await look(tmp_path, api.url, 0) == PENDING
    assert await look(tmp_path, api.url, 23) == PENDING
    assert (await look_to_the_end(api, tmp_path, 25))["kept"] == 1
    assert next(iter(api.batches.all.values())).kind == "canceled"


@pytest.mark.thorough
@pytest.mark.process
@pytest.mark.parametrize("moment", ["arriving", "created"])
async def test_a_process_that_dies_while_it_submits_never_submits_twice(
    api: AnthropicEmulator, tmp_path: Path, moment: str
) -> None:
    gate = Gate()
    setattr(api.batches, moment, gate.hold)
    process = FORKS.Process(target=look_once, args=(tmp_path, api.url))
    process.start()
    async with asyncio.timeout(120):
        await gate.reached.wait()
    process.kill()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    setattr(api.batches, moment, None)

    assert len(api.batches.all) == (1 if moment == "created" else 0)
    assert await look(tmp_path, api.url, 1) == PENDING
    assert len(api.batches.all) == 1
    api.batches.end()
    done = await look_to_the_end(api, tmp_path, 2)
    assert done["kept"] == 1
    assert len(api.batches.all) == 2, "one for the review, one for its judge"
    assert len(done["paid"]) == 2  # type: ignore[arg-type]
    assert not api.requests


# NOIMPORT
