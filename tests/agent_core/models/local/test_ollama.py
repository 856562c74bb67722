"""Downloads of models: progress, a stop in the middle, refusals, broken answers."""

import asyncio
from contextlib import aclosing

import pytest

from agent_core.models.local.ollama import PullFailed, PullProgress, pull
from tests.emulators.local_servers import Json, LocalServerEmulator, drain
from tests.patience import PATIENCE

HEAD = {"status": "pulling manifest"}
LAYER = {"status": "pulling 6a0746a1ec1a", "digest": "sha256:6a", "total": 100, "completed": 40}


async def test_a_download_tells_how_far_it_is() -> None:
    async with LocalServerEmulator({}, pulls=[HEAD, LAYER, {"status": "success"}]) as server:
        steps = await drain(pull(server.url, "qwen3:4b"))
    assert steps == [
        PullProgress(step="pulling manifest"),
        PullProgress(step="pulling 6a0746a1ec1a", done=40, total=100),
        PullProgress(step="success"),
    ]


async def test_leaving_a_download_stops_it() -> None:
    async with LocalServerEmulator({}, pulls=[LAYER, {"wait": True}]) as server:
        async with aclosing(pull(server.url, "qwen3:4b")) as steps:
            assert (await anext(steps)).done == 40
        await asyncio.wait_for(server.was_stopped.wait(), PATIENCE)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([{"error": "pull model manifest: file does not exist"}], "file does not exist"),
        ([HEAD, LAYER], "before it was whole"),
        ([7], "can't be read"),
        ([{"status": "x", "total": "many"}], "can't be read"),
    ],
)
async def test_a_failed_download_says_why(lines: list[Json | int], said: str) -> None:
    async with LocalServerEmulator({}, pulls=lines) as server:
        with pytest.raises(PullFailed, match=said):
            await drain(pull(server.url, "x"))


async def test_a_server_that_is_gone_is_told() -> None:
    async with LocalServerEmulator({}) as server:
        url = server.url
    with pytest.raises(PullFailed, match="broke off"):
        await drain(pull(url, "x"))
