"""Failing model calls: which model is tried next, and how long a turn waits."""

import asyncio

import pytest

from agent_core.errors import (
    ModelBusy,
    ModelDenied,
    ModelError,
    ModelInterrupted,
    ModelOverflow,
    ModelRejected,
    ModelUnknown,
    ModelUnreachable,
)
from agent_core.events import ModelFault, ModelOutage, TextGrew, TextReset, TurnEnded
from agent_core.models.contract import ModelRequest, TextDelta
from agent_core.models.router import ModelPolicy
from tests.agent_core.agent.loop.fake_space import SHORT, FakeSpace
from tests.agent_core.agent.loop.rig import Rig, shown
from tests.fakes.journal import FakeJournal
from tests.fakes.model import FakeModel, Play, ask, call, say
from tests.fakes.tool import FakeTool
from tests.virtual_time import run_in_virtual_time

BUSY = [ModelBusy("overloaded")]
TWO = ModelPolicy(model="fake-1", fallbacks=("fake-2",))


@pytest.mark.parametrize("error", [ModelBusy("overloaded"), ModelInterrupted("broke off")])
async def test_a_passing_failure_is_tried_again(error: ModelError) -> None:
    rig = Rig([error], say("there"))
    assert await rig.end() == TurnEnded(ending="answered", text="there")
    assert rig.model.requests[0] == rig.model.requests[1]


async def test_text_of_a_broken_call_is_taken_back_at_once() -> None:
    rig = Rig([TextDelta(text="Once upon"), ModelInterrupted("broke off")], say("Once upon a time"))
    assert await rig.run() == [
        TextGrew(delta="Once upon"),
        TextReset(),
        ModelOutage(reason="model_cut", since=1_000, until=1_801_000),
        TextGrew(delta="Once upon a time"),
        TurnEnded(ending="answered", text="Once upon a time"),
    ]


async def test_nothing_is_taken_back_where_nothing_was_shown() -> None:
    rig = Rig(BUSY, say("there"))
    assert TextReset() not in await rig.run()


async def test_a_stream_that_ends_without_an_answer_is_a_cut() -> None:
    rig = Rig([TextDelta(text="Once")], say("Once more"))
    assert shown(await rig.run()) == "Once more"


async def test_pauses_double_with_jitter_up_to_a_minute() -> None:
    rig = Rig(*[BUSY] * 8, say("there"))
    await rig.run()
    for pause, full in zip(rig.pauses, [1, 2, 4, 8, 16, 32, 60, 60], strict=True):
        assert full / 2 <= pause <= full


async def test_a_provider_that_says_when_is_waited_for_that_long() -> None:
    rig = Rig([ModelBusy("rate limited", retry_after=300.0)], say("there"))
    await rig.run()
    assert rig.pauses == [300.0]


async def test_a_turn_waits_for_its_model_as_long_as_its_patience() -> None:
    rig = Rig(*[BUSY] * 30, policy=ModelPolicy(model="fake-1", patience=600))
    ended = await rig.end()
    assert ended == TurnEnded(ending="failed", text="", reason="model_busy", detail="overloaded")
    assert rig.time == pytest.approx(600, abs=1)


async def test_an_answer_that_breaks_off_every_time_says_so() -> None:
    policy = ModelPolicy(model="fake-1", patience=5)
    rig = Rig(*[[ModelInterrupted("broke off")]] * 9, policy=policy)
    assert (await rig.end()).reason == "model_cut"


async def test_an_outage_is_on_disk_once_and_shown_with_its_end() -> None:
    rig = Rig(BUSY, [ModelUnreachable("no route")], say("there"))
    events = await rig.run()
    outages = [event for event in events if isinstance(event, ModelOutage)]
    assert [event.reason for event in outages] == ["model_busy", "model_unreachable"]
    assert {(event.since, event.until) for event in outages} == {(1_000, 1_801_000)}
    assert rig.journal.outages == [1_000]


async def test_a_restart_does_not_renew_the_patience() -> None:
    rig = Rig(*[BUSY] * 30, policy=ModelPolicy(model="fake-1", patience=600))
    rig.waiting_since = 1_000 - 590_000
    assert (await rig.end()).reason == "model_busy"
    assert rig.time == pytest.approx(10, abs=1)
    assert rig.journal.outages == [1_000 - 590_000], "a crash in the wait does not count again"


@pytest.mark.parametrize("jump", [-86_400_000, 86_400_000])
async def test_a_jump_of_the_time_does_not_change_the_patience(jump: int) -> None:
    rig = Rig(*[BUSY] * 30, policy=ModelPolicy(model="fake-1", patience=600))

    def pass_time(seconds: float) -> None:
        rig.time += seconds
        rig.offset = jump

    rig.host.pass_time = pass_time
    events = await rig.run()
    assert rig.time == pytest.approx(600, abs=1)
    outages = [event for event in events if isinstance(event, ModelOutage)]
    assert outages[1].until == pytest.approx(1_000 + jump + 600_000, abs=2)


async def test_what_a_person_writes_during_an_outage_is_part_of_the_next_try() -> None:
    rig = Rig(BUSY, say("there"))
    rig.host.pass_time = lambda _: rig.host.speak("quickly, please")
    await rig.run()
    assert [len(request.messages) for request in rig.model.requests] == [1, 2]


async def test_a_process_that_shuts_down_leaves_the_wait_to_the_next() -> None:
    rig = Rig(BUSY)

    def drain(_: float) -> None:
        rig.host.draining = True

    rig.host.pass_time = drain
    assert (await rig.end()).ending == "suspended"


async def test_a_wait_costs_none_of_the_time_of_the_turn() -> None:
    rig = Rig(*[BUSY] * 8, say("there"), seconds=2)
    assert (await rig.end()).text == "there"


async def test_the_fallbacks_are_tried_in_order_before_any_wait() -> None:
    policy = ModelPolicy(model="fake-1", fallbacks=("fake-2", "fake-3"))
    rig = Rig(BUSY, BUSY, say("there"), policy=policy)
    assert (await rig.end()).text == "there"
    assert [request.model for request in rig.model.requests] == ["fake-1", "fake-2", "fake-3"]
    assert rig.pauses == []


async def test_after_a_pause_the_first_model_is_tried_first() -> None:
    rig = Rig(BUSY, BUSY, say("there"), policy=TWO)
    await rig.run()
    assert [request.model for request in rig.model.requests] == ["fake-1", "fake-2", "fake-1"]
    assert len(rig.pauses) == 1


@pytest.mark.parametrize(
    "error",
    [
        ModelRejected("no"),
        ModelUnknown("no"),
        ModelDenied("no"),
        ModelBusy("later", retry_after=600),
    ],
)
async def test_every_failure_goes_to_the_fallback_at_once(error: ModelError) -> None:
    rig = Rig([error], say("there"), policy=TWO)
    assert (await rig.end()).text == "there"
    assert [request.model for request in rig.model.requests] == ["fake-1", "fake-2"]
    assert sum(rig.pauses) == 0


async def test_a_request_that_every_model_rejects_is_not_repeated() -> None:
    rig = Rig([ModelRejected("no")], [ModelRejected("nor I")], policy=TWO)
    assert (await rig.end()).reason == "model_rejected"
    assert rig.pauses == []


@pytest.mark.parametrize(
    ("error", "reason"),
    [(ModelDenied("wrong key"), "model_denied"), (ModelUnknown("no such"), "model_unknown")],
)
async def test_a_fault_is_reported_once_and_waited_for(error: ModelError, reason: str) -> None:
    rig = Rig([error], [error], say("there"), say("again"), [error], say("at last"))
    events = await rig.run()
    fault = ModelFault(model="fake-1", reason=reason, detail=str(error))
    assert rig.host.faults == [fault]
    assert isinstance(events[-1], TurnEnded)
    assert events[-1].text == "there"
    rig.journal = FakeJournal()
    await rig.run()
    assert rig.host.faults == [fault]
    rig.journal = FakeJournal()
    await rig.run()
    assert rig.host.faults == [fault, fault], "it came back"


async def test_a_turn_without_patience_waits_for_nothing() -> None:
    for error in (ModelBusy("overloaded"), ModelDenied("wrong key")):
        rig = Rig([error], policy=ModelPolicy(model="fake-1", patience=None))
        assert (await rig.end()).ending == "failed"
        assert (rig.pauses, rig.journal.outages) == ([], [])


async def test_a_fault_is_waited_for_longer_than_an_overload() -> None:
    rig = Rig(*[[ModelDenied("wrong key")]] * 700, policy=ModelPolicy(model="fake-1", patience=60))
    assert (await rig.end()).reason == "model_denied"
    assert rig.time == pytest.approx(86_400, abs=1)


async def test_an_overflow_goes_to_no_fallback() -> None:
    rig = Rig([ModelOverflow("too long")], policy=TWO)
    assert (await rig.end()).reason == "overflow"


async def test_a_fallback_that_is_too_small_does_not_end_the_wait_for_the_first_model() -> None:
    small: Play = [ModelOverflow("too long")]
    rig = Rig(BUSY, small, say("there"), policy=TWO)
    assert (await rig.end()).text == "there"
    assert [request.model for request in rig.model.requests] == ["fake-1", "fake-2", "fake-1"]
    assert len(rig.pauses) == 1
    plays = [BUSY, ask(call("look")), small, say("seen")]
    rig = Rig(*plays, tools=[FakeTool("look")], policy=TWO)
    assert (await rig.end()).text == "seen"
    assert [request.model for request in rig.model.requests][2:] == ["fake-2", "fake-1"]


async def test_a_transcript_is_shortened_for_a_fallback_while_the_first_model_is_refused() -> None:
    plays = [[ModelDenied("no")], [ModelOverflow("too long")], say("there")]
    rig = Rig(*plays, policy=TWO)
    rig.window = FakeSpace(None, (SHORT,))
    assert (await rig.end()).text == "there"
    assert [request.model for request in rig.model.requests] == ["fake-1", "fake-2", "fake-2"]
    assert rig.model.requests[-1].messages == (SHORT,)


async def test_what_fits_into_no_fallback_goes_to_the_first_model_again() -> None:
    plays = [BUSY, ask(call("look")), say("seen")]
    rig = Rig(*plays, tools=[FakeTool("look")], policy=TWO)
    rig.window = FakeSpace(None, ModelOverflow("too long"))
    assert (await rig.end()).text == "seen"
    assert [request.model for request in rig.model.requests] == ["fake-1", "fake-2", "fake-1"]


async def test_a_turn_stays_with_the_fallback_once_it_went_there() -> None:
    plays = [[ModelDenied("no")], ask(call("look")), say("seen")]
    rig = Rig(*plays, tools=[FakeTool("look")], policy=TWO)
    await rig.run()
    assert [request.model for request in rig.model.requests] == ["fake-1", "fake-2", "fake-2"]


async def test_pauses_begin_anew_at_every_step() -> None:
    plays = [*[BUSY] * 4, ask(call("look")), BUSY, say("seen")]
    rig = Rig(*plays, tools=[FakeTool("look")])
    assert (await rig.end()).text == "seen"
    assert rig.pauses[-1] <= 1


async def test_a_cut_after_tools_repeats_the_call_and_not_the_tools() -> None:
    look = FakeTool("look")
    broken: Play = [TextDelta(text="It is"), ModelInterrupted("broke off")]
    rig = Rig(ask(call("look")), broken, say("It is here"), tools=[look])
    assert shown(await rig.run()) == "It is here"
    assert len(look.asked) == 1
    assert rig.model.requests[1].messages == rig.model.requests[2].messages


async def test_a_turn_whose_time_is_up_waits_for_no_model() -> None:
    async def think() -> None:
        rig.time += 3

    rig = Rig([think, ModelBusy("overloaded")], seconds=2, policy=TWO)
    assert (await rig.end()).reason == "model_busy"
    assert rig.pauses == []


async def test_a_repeated_call_is_one_step_of_the_budget() -> None:
    rig = Rig(*[BUSY] * 3, say("there"), steps=1)
    assert (await rig.end()).ending == "answered"


async def test_every_stream_is_closed() -> None:
    rig = Rig(BUSY, ask(call("look")), say("there"), tools=[FakeTool("look")])
    await rig.run()
    assert rig.model.streaming == 0


class LoadingModel(FakeModel):
    """A model of this machine's own server, which is loaded once it has answered."""

    is_ready = False

    def is_loaded(self, model: str) -> bool:
        return self.is_ready

    async def keep_warm(self, first: ModelRequest | None) -> None:
        """Read nothing."""

    def forget(self) -> None:
        """Forget nothing."""


@pytest.mark.parametrize(
    ("takes", "is_ready", "told"), [(9.0, False, 0), (60.0, False, 1), (60.0, True, 0)]
)
def test_a_model_that_loads_for_long_is_told(takes: float, is_ready: bool, told: int) -> None:
    async def work() -> tuple[TurnEnded, int]:
        rig = Rig()
        slow: Play = [lambda: asyncio.sleep(takes), *say("there"), lambda: asyncio.sleep(60)]
        rig.model = LoadingModel(slow)
        rig.model.is_ready = is_ready
        return await rig.end(), rig.host.loadings

    ended, loadings = run_in_virtual_time(work())
    assert (ended.text, loadings) == ("there", told)
