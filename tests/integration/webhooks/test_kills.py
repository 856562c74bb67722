"""A gateway that is killed while it gathers and sends: no event is lost, each keeps its id."""

import random
import signal
from collections import defaultdict
from pathlib import Path

import aiohttp
import pytest

from tests.emulators.receiver import Receiver
from tests.integration.canaries import fill
from tests.integration.interfaces.api_setup import OLGA
from tests.integration.processes import Running, running, talaria

pytestmark = pytest.mark.process

PER_RUN = 3
"""Messages that each process gets."""


def set_up(home: Path, receiver: Receiver) -> tuple[str, str]:
    """Add a webhook to a home that no gateway runs; return its secret and a token."""
    (home / "config.toml").write_text(
        f'[access]\nallow = ["fake:{OLGA}"]\n[webhooks]\nallow_hosts = ["127.0.0.1"]\n'
    )
    found = []
    for words, prefix in (
        (("webhooks", "add", "all", "--person", "olga", "--url", receiver.url), "whsec_"),
        (("tokens", "create", "t", "--person", "olga", "--scope", "api"), "talaria_"),
    ):
        done = talaria(home, *words)
        assert done.code == 0, done.err
        found.append(next(word for word in done.out.split() if word.startswith(prefix)))
    return found[0], found[1]


async def send(gateway: Running, token: str, number: int) -> None:
    """Send messages, each with a key of its own; each becomes one turn."""
    head = {"Authorization": f"Bearer {token}"}
    url = f"http://127.0.0.1:{gateway.port}/api/messages"
    async with aiohttp.ClientSession(headers=head) as session:
        for one in range(PER_RUN):
            key = {"Idempotency-Key": f"{number}-{one}"}
            body = {"text": f"hello {number}", "reply": "later"}
            async with session.post(url, json=body, headers=key) as answer:
                assert answer.status < 300, await answer.text()


@pytest.mark.thorough
@pytest.mark.parametrize("kills", [2, pytest.param(100, marks=pytest.mark.long)])
async def test_every_event_arrives_under_one_id_however_often_the_gateway_is_killed(
    tmp_path: Path, kills: int
) -> None:
    home, chance = tmp_path / "home", random.Random(kills)
    await fill(home)
    async with Receiver() as receiver:
        receiver.secret, token = set_up(home, receiver)
        for number in range(kills):
            before = len(receiver.received)
            async with running(home) as gateway:
                await send(gateway, token, number)
                # Killed at once, while a request is on its way, or before its answer is noted.
                await receiver.gets(before + chance.randint(0, PER_RUN))
                assert await gateway.stop(signal.SIGKILL) == -signal.SIGKILL
        async with running(home) as gateway:
            await send(gateway, token, kills)
            due = 2 * PER_RUN * (kills + 1)
            await receiver.wait_for(lambda: len({one.id for one in receiver.received}) >= due)
            assert await gateway.stop() == 0
        ids, bodies = defaultdict(set), defaultdict(set)
        for one in receiver.received:
            ids[one.kind, one.told["data"]["turn"]].add(one.id)
            bodies[one.id].add(one.body)
        assert len(ids) == due
        assert all(len(found) == 1 for found in (*ids.values(), *bodies.values()))
