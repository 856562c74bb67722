"""The first deaths cost a turn nothing, the next ever longer waits, the sixth the turn."""

import asyncio
from dataclasses import replace
from pathlib import Path

from agent_core.ids import ConversationId, PersonId, PromptHash, SessionId, TurnId
from agent_core.state.conversations.turns import Turn
from gateway.bootstrap.timings import Timings
from gateway.turns.crash_backoff import find_wait, is_abandoned
from tests.fakes.model import FakeModel, say
from tests.integration.harness import running

TURN = Turn(
    id=TurnId(1),
    conversation_id=ConversationId(1),
    session_id=SessionId(1),
    person_id=PersonId(1),
    prompt_hash=PromptHash("0"),
    platform="fake",
    chat="c",
    answers=None,
    state="running",
    reason="",
    attempts=1,
    started_at=0,
    ended_at=None,
    account_id=None,
)


def test_waits_grow_and_have_an_end() -> None:
    waits = [find_wait(replace(TURN, attempts=deaths)) for deaths in range(8)]
    assert waits == [0, 0, 0, 10, 20, 40, 0, 0]
    assert [is_abandoned(deaths) for deaths in range(8)] == [False] * 6 + [True] * 2


async def test_a_suspected_turn_is_answered_after_its_wait(
    tmp_path: Path,
) -> None:
    await _leave_running(tmp_path, attempts=3)
    loop = asyncio.get_running_loop()
    opened = loop.time()
    timings = Timings(crash_wait=0.3)
    async with running(tmp_path, FakeModel(), timings=timings) as harness:
        assert await harness.chat.sees(1) == ["One."]
        assert loop.time() - opened >= 0.3


async def test_a_suspected_turn_can_be_stopped_while_it_waits(tmp_path: Path) -> None:
    await _leave_running(tmp_path, attempts=5)
    async with running(tmp_path, FakeModel()) as harness:
        await harness.chat.says("/stop", id=99)
        await harness.chat.sees_text("Stopped")
        await harness.at_rest()


async def test_a_drain_does_not_wait_for_a_suspected_turn(tmp_path: Path) -> None:
    await _leave_running(tmp_path, attempts=5)
    async with asyncio.timeout(5), running(tmp_path, FakeModel()):
        pass
    await _leave_running(tmp_path, attempts=1, is_new=False)
    async with running(tmp_path, FakeModel()) as harness:
        assert await harness.chat.sees(1) == ["One."]


async def _leave_running(home: Path, *, attempts: int, is_new: bool = True) -> None:
    """A turn that was cut off before its answer was settled, and so many processes with it."""
    async with running(home, FakeModel(say("One."))) as harness:
        if is_new:
            await harness.chat.says("first")
            await harness.chat.sees(1)
            await harness.at_rest()
        await harness.gateway.database.write(
            "test",
            lambda c: c.execute(
                "UPDATE turns SET state = 'running', attempts = :attempts", {"attempts": attempts}
            ),
        )
