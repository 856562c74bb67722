"""The API against requests that nobody would write, in few examples."""

import asyncio
import secrets
from pathlib import Path

import aiohttp
import pytest

from agent_core.state.people import people
from tests.fakes.chat import FakeChat
from tests.integration.canaries import Planter
from tests.integration.interfaces.api_fuzz import Fuzz, Side
from tests.integration.interfaces.api_setup import read_spec
from tests.integration.served import Served, served


async def fuzz(home: Path, *, tokens: int, examples: int, is_fixed: bool) -> Fuzz:
    """Fuzz a gateway in which two people have talked; return the counts."""
    async with served(home, adapters={"fake": FakeChat()}, model=Planter()) as running:
        database = running.gateway.database
        everybody = await database.read(people.list_all)
        canaries = {"olga": "redkite", "zebrana": "bluefish"}
        olga, zebrana = (
            Side(one.id, canaries[one.slug], [secrets.token_hex() for _ in range(tokens)])
            for one in everybody
        )
        for side in (olga, zebrana):
            await database.write("test", side.store_tokens)
        for side in (olga, zebrana):
            await tell(running, side)
        spec = await read_spec(running)
        done = Fuzz(str(running.address.origin()), (olga, zebrana), newest=40)
        await asyncio.to_thread(done.run, spec, examples=examples, seed=is_fixed)
    assert all(done.shown[side.canary] > 0 for side in (olga, zebrana))
    return done


async def tell(running: Served, side: Side) -> None:
    """Say a person's canary to the assistant, and plan a job with it."""
    head = {"Authorization": f"Bearer {side.tokens[1]}"}
    job = {"kind": "message", "text": f"{side.canary} job", "cron": "0 9 1 1 *"}
    async with aiohttp.ClientSession(running.address.origin(), headers=head) as session:
        for path, body in (("messages", {"text": f"{side.canary} said"}), ("jobs", job)):
            async with session.post(f"/api/{path}", json=body) as answer:
                assert answer.status in (200, 201), await answer.text()


@pytest.mark.thorough
@pytest.mark.process
async def test_fuzzed_requests_get_no_500_and_nothing_of_another_person(home: Path) -> None:
    done = await fuzz(home, tokens=20, examples=6, is_fixed=True)
    assert done.statuses.total() > 100
    assert done.statuses[200] > 20
    assert {404, 400} <= set(done.statuses)
