"""A crash is charged to the turn that probably caused it, which then waits."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from agent_core.chats import Chat, Place
from agent_core.ids import ConversationId, PersonId, PromptHash, SessionId, TurnId
from agent_core.state.conversations.turns import StoredTurn
from agent_core.state.engine import meta
from agent_core.state.engine.database import Connection
from gateway.app.timings import Timings
from gateway.turns.crash_backoff import CrashRecord, find_wait, judge
from tests.fakes.model import FakeModel, say
from tests.integration.harness import running
from tests.patience import PATIENCE

TURN = StoredTurn(
    id=TurnId(1),
    conversation_id=ConversationId(1),
    session_id=SessionId(1),
    person_id=PersonId(1),
    prompt_hash=PromptHash("0"),
    place=Place(chat=Chat(platform="fake", address="c")),
    state="running",
    reason="",
    detail="",
    attempts=1,
    started_at=0,
    ended_at=None,
    account_id=None,
    waiting_since=None,
)
ONE, TWO = TurnId(1), TurnId(2)


def _turns(first: int, second: int) -> list[StoredTurn]:
    return [replace(TURN, attempts=first), replace(TURN, id=TWO, attempts=second)]


def test_a_crash_is_charged_to_every_turn_that_was_running() -> None:
    records = judge(_turns(1, 1), {}, frozenset())
    assert [records[one].crashes for one in (ONE, TWO)] == [1, 1]
    again = judge(_turns(2, 1), records, frozenset())  # only one of them was continued
    assert [again[one].crashes for one in (ONE, TWO)] == [2, 1]
    assert [again[one].is_suspect for one in (ONE, TWO)] == [True, False]


def test_a_crash_is_charged_to_the_turn_with_an_open_tool_call() -> None:
    records = judge(_turns(1, 1), {}, frozenset({TWO}))
    assert [records[one].crashes for one in (ONE, TWO)] == [0, 1]
    assert [records[one].is_suspect for one in (ONE, TWO)] == [False, True]


def test_a_turn_that_was_not_continued_is_not_charged_for_its_open_call() -> None:
    records = judge(_turns(1, 1), {}, frozenset({TWO}))
    again = judge(_turns(2, 1), records, frozenset({TWO}))
    assert [again[one].crashes for one in (ONE, TWO)] == [1, 1]


def test_waits_grow_up_to_a_limit() -> None:
    assert [find_wait(crashes) for crashes in range(8)] == [0, 0, 0, 3, 6, 12, 0, 0]
    assert [CrashRecord(crashes=crashes).is_abandoned for crashes in (5, 6)] == [False, True]


@pytest.mark.parametrize(("crashes", "wait"), [(2, 0.5), (3, 0.7)])
async def test_a_turn_in_backoff_is_answered_after_its_wait(
    tmp_path: Path, crashes: int, wait: float
) -> None:
    await _leave_running(tmp_path, crashes=crashes)
    loop = asyncio.get_running_loop()
    opened = loop.time()
    async with running(tmp_path, FakeModel(), timings=Timings(crash_wait=0.7)) as harness:
        assert await harness.chat.sees(1) == ["One."]
        assert wait <= loop.time() - opened


async def test_a_turn_in_backoff_can_be_stopped(tmp_path: Path) -> None:
    await _leave_running(tmp_path, crashes=5)
    async with running(tmp_path, FakeModel()) as harness:
        await harness.chat.says("/stop", id=99)
        await harness.chat.sees_text("Stopped")
        await harness.at_rest()


async def test_a_drain_does_not_wait_for_a_turn_in_backoff(tmp_path: Path) -> None:
    await _leave_running(tmp_path, crashes=5)
    timings, drain = Timings(crash_wait=1000.0), {"TALARIA_TURNS__DRAIN_SECONDS": "600"}
    async with asyncio.timeout(PATIENCE), running(tmp_path, FakeModel(), timings=timings, **drain):
        pass
    await _leave_running(tmp_path, crashes=1, is_new=False)
    async with running(tmp_path, FakeModel()) as harness:
        assert await harness.chat.sees(1) == ["One."]


async def _leave_running(home: Path, *, crashes: int, is_new: bool = True) -> None:
    """Store a turn interrupted before its answer, with `crashes` counted."""
    async with running(home, FakeModel(say("One."))) as harness:
        if is_new:
            await harness.chat.says("first")
            await harness.chat.sees(1)
            await harness.at_rest()

        def work(connection: Connection) -> None:
            connection.execute("UPDATE turns SET state = 'running', attempts = 1")
            meta.put(connection, key="crash_backoff", value=json.dumps({"1": [crashes, 1]}))

        await harness.gateway.database.write("test", work)
