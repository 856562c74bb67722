"""A platform that stops is left alone, unless it had worked well until then."""

import asyncio

from adapters.contract import Inlet
from adapters.errors import AdapterStopped
from gateway.app.platform_supervisor import Platforms, RestartPolicy
from tests.fakes.chat import FakeChat
from tests.fakes.inlet import FakeInlet
from tests.patience import PATIENCE


class Refused(FakeChat):
    """A platform that takes no token, at first or from some moment on."""

    runs: int = 0

    async def run(self, inlet: Inlet) -> None:
        self.runs += 1
        raise AdapterStopped("the token is wrong")


async def test_a_fault_that_needs_a_person_is_not_retried() -> None:
    chat = Refused()
    harness = Platforms({"fake": chat})
    async with asyncio.timeout(PATIENCE):
        await harness.keep("fake", FakeInlet())
    assert chat.runs == 1
    assert harness.stopped() == {"fake": "the token is wrong"}
    assert harness.health()["fake"].state == "stopped"


async def test_a_refusal_out_of_the_blue_is_doubted() -> None:
    clock = iter([0.0, 61.0, 61.0, 61.0])
    policy = RestartPolicy(first_pause=0.0, good_run=60.0)
    chat = Refused()
    harness = Platforms({"fake": chat}, policy, clock=lambda: next(clock))
    async with asyncio.timeout(PATIENCE):
        await harness.keep("fake", FakeInlet())
    assert chat.runs == 2
    assert harness.stopped() == {"fake": "the token is wrong"}
