"""Conversations are compacted where that costs less: between turns, and before a cache expires."""

import pytest

from agent_core.agent.compaction.idle import IdleCompactor
from agent_core.errors import ModelBusy
from agent_core.ids import ConversationId
from agent_core.models.catalog import Price, Prices
from agent_core.state.engine.database import Database
from agent_core.transcript import Message, TextPart, mark_stood_in
from tests.agent_core.agent.compaction.dialogues import Script
from tests.agent_core.agent.compaction.rig import Rig, budget, exact, long_dialogue
from tests.fakes.compactor import compactor
from tests.fakes.model import FakeModel, Play, say

COMPACT = 6_000
DEAR = Price(input=2_000_000, output=10_000_000)
CHEAP = Price(input=100_000, output=500_000)
MINUTE = 60_000


async def open_rig(
    database: Database, *plays: Play, turns: int = 10, compact: int = COMPACT
) -> Rig:
    """A conversation with a wide limit, whose estimates have turned out to be exact."""
    rig = await Rig(database, FakeModel(*plays)).open()
    rig.clock = 0
    rig.compactor = compactor(
        database, rig.model, cap=100_000, compact=compact, now=lambda: rig.clock
    )
    await rig.grow(long_dialogue(turns))
    request = await rig.request()
    rig.compactor.meter.learn(
        rig.dialogue.session_id, "fake-1", exact(request).input_tokens, exact(request)
    )
    return rig


async def test_a_turn_begins_with_a_compaction_far_below_the_cap(database: Database) -> None:
    rig = await open_rig(database, say("In short."))
    before = exact(await rig.request()).input_tokens
    assert COMPACT < before < 80_000

    shown = await rig.window(10).fit(await rig.request(), budget())

    assert shown == await rig.shown()
    assert exact(await rig.request()).input_tokens < COMPACT * 2 // 3
    (compaction,) = await rig.compactions()
    assert (compaction.reason, compaction.summary) == ("near", "In short.")
    whole = {one.turn_id for one in await rig.stored() if one.id > compaction.summarized_to}
    assert {rig.turns[number] for number in (8, 9, 10)} <= whole, "the newest turns stay"


async def test_a_long_turn_is_not_compacted_to_save_cost(database: Database) -> None:
    rig = await open_rig(database, turns=2)
    window = rig.window(2)
    assert await window.fit(await rig.request(), budget()) is None
    script = Script(turn=1)
    script.says("look around")
    for _ in range(12):
        script.acts("o" * 4000)
    await rig.grow(script)
    assert exact(await rig.request()).input_tokens > COMPACT
    assert await window.fit(await rig.request(), budget()) is None
    assert await rig.compactions() == []


async def test_a_failing_summary_costs_one_call_and_leaves_nothing_out_while_there_is_room(
    database: Database,
) -> None:
    rig = await open_rig(database, [ModelBusy("busy")])
    assert await rig.window(10).fit(await rig.request(), budget()) is None
    assert await rig.compactions() == []
    assert await rig.window(10).fit(await rig.request(), budget()) is None
    assert len(rig.model.requests) == 1, "it is tried again once the conversation has grown"


async def test_talk_of_the_stand_in_alone_asks_no_model_and_is_no_failure(
    database: Database,
) -> None:
    rig = await open_rig(database, turns=0)
    script = Script()
    for number in range(10):
        script.says(f"{number} " + "hello " * 400)
        stood_in = (TextPart(text="no model " * 100), mark_stood_in("stand-in"))
        script.add(Message(role="assistant", parts=stood_in))
    script.says("and now?")
    await rig.grow(script)
    window = rig.window(11)
    assert await window.fit(await rig.request(), budget()) is not None
    (compaction,) = await rig.compactions()
    assert (compaction.summary, compaction.left_out_from) == ("", None)
    assert rig.model.requests == []


async def test_newest_turns_that_are_long_themselves_are_left_alone(database: Database) -> None:
    rig = await open_rig(database, turns=1)
    script = Script(turn=1)
    script.says("a short one")
    script.answers("a" * 40_000)
    script.says("and now?")
    await rig.grow(script)
    assert await rig.window(3).fit(await rig.request(), budget()) is None
    assert rig.model.requests == []


def idle_compactor(
    rig: Rig, *, summary: Price = CHEAP, is_running: bool = False
) -> tuple[IdleCompactor, list[None]]:
    """A compactor of idle conversations, and what it invalidated."""
    invalidated: list[None] = []

    def running(conversation_id: ConversationId) -> bool:
        assert conversation_id == rig.dialogue.conversation.id
        return is_running

    made = IdleCompactor(
        compactor=rig.compactor,
        prices=Prices(own={"fake-1": DEAR, "cheap-1": summary}),
        summary_model="cheap-1",
        is_running=running,
        invalidate=lambda: invalidated.append(None),
    )
    return made, invalidated


async def finish_turn(rig: Rig, number: int) -> None:
    """Make the turn's call, below the length at which it is compacted anyway, and end it."""
    window = rig.window(number)
    request = await rig.request()
    assert await window.fit(request, budget()) is None
    window.learn("fake-1", exact(window.limit_output(request)))
    answer = Script(turn=number)
    answer.answers("done")
    await rig.grow(answer)


async def test_an_idle_conversation_is_compacted_before_its_cache_expires(
    database: Database,
) -> None:
    rig = await open_rig(database, say("In short."), turns=10, compact=10_000)
    await finish_turn(rig, 10)
    idle, invalidated = idle_compactor(rig)
    rig.clock = 3 * MINUTE
    await idle.compact_due()
    assert await rig.compactions() == []
    rig.clock = 4 * MINUTE + 1

    await idle.compact_due()

    (compaction,) = await rig.compactions()
    assert (compaction.reason, compaction.turn_id) == ("idle", None)
    assert compaction.tokens_after < compaction.tokens_before * 2 // 3
    assert invalidated == [None]
    await idle.compact_due()
    assert len(await rig.compactions()) == 1


@pytest.mark.parametrize("cause", ["expired", "running", "dear", "short"])
async def test_an_idle_conversation_is_left_alone(database: Database, cause: str) -> None:
    compact = 40_000 if cause == "short" else 10_000
    rig = await open_rig(database, turns=10, compact=compact)
    await finish_turn(rig, 10)
    summary = DEAR if cause == "dear" else CHEAP
    idle, invalidated = idle_compactor(rig, summary=summary, is_running=cause == "running")
    rig.clock = 6 * MINUTE if cause == "expired" else 4 * MINUTE + 1
    await idle.compact_due()
    assert await rig.compactions() == []
    assert (rig.model.requests, invalidated) == ([], [])
