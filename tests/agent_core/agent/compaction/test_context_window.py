"""Requests are kept within their bounds: measured, folded, summed up, written down."""

import asyncio
from dataclasses import replace

import pytest

from agent_core.agent.compaction.compactor import apply_compaction
from agent_core.agent.compaction.left_out import propose, show
from agent_core.agent.compaction.token_meter import ContextRules, TokenMeter
from agent_core.agent.quotas.balance import DailyLimit
from agent_core.errors import ModelBusy, ModelOverflow
from agent_core.models.contract import ModelRequest, Usage
from agent_core.models.token_estimate import estimate_input
from agent_core.state.conversations import plans
from agent_core.state.conversations.plans import PlanItem
from agent_core.state.engine.database import Database
from agent_core.state.people.people import LEAST_CAP
from agent_core.tools.selection.catalog import SEARCH_TOOL
from agent_core.transcript import Message, TextPart, ToolResultPart, user_message
from tests.agent_core.agent.compaction.dialogues import Script, check_pairs
from tests.agent_core.agent.compaction.rig import CAP, THRESHOLD, Rig, budget, exact, long_dialogue
from tests.fakes.compactor import compactor
from tests.fakes.model import FakeModel, finish, say
from tests.fakes.quotas import quotas

BUSY = [ModelBusy("busy")]


class CountingModel(FakeModel):
    """Counts requests as it is told to."""

    def __init__(self, *plays: object, factor: float = 1.0) -> None:
        super().__init__(*plays)  # type: ignore[arg-type]
        self.factor = factor
        self.counted: list[ModelRequest] = []

    async def count(self, request: ModelRequest) -> int:
        self.counted.append(request)
        return int(estimate_input(request) * self.factor)


async def fit(
    rig: Rig, turn: int, *, is_refused: bool = False, learns: bool = True
) -> tuple[Message, ...] | None:
    """What becomes of the next request; the gauge knows that estimates are exact."""
    if learns:
        learn(rig)
    return await rig.window(turn).fit(await rig.request(), budget(), is_refused=is_refused)


def learn(rig: Rig) -> None:
    """Estimates of this talk have turned out to be exact."""
    taken = Usage(input_tokens=1000)
    rig.compactor.meter.learn(rig.dialogue.session_id, "fake-1", 1000, taken)


async def test_a_request_that_has_room_is_left_as_it_is(database: Database) -> None:
    rig = await Rig(database, FakeModel()).open()
    await rig.grow(long_dialogue(3))
    assert await fit(rig, 3) is None
    assert await rig.compactions() == []
    assert rig.begun == 0


async def test_a_conversation_above_the_threshold_is_compacted_and_the_compaction_is_on_disk(
    database: Database,
) -> None:
    rig = await Rig(database, FakeModel(say("They spoke of q and a."))).open()
    await rig.grow(long_dialogue(10))

    shown = await fit(rig, 10)

    (compaction,) = await rig.compactions()
    assert shown == await rig.shown()
    assert (compaction.reason, compaction.turn_id) == ("near", rig.turns[10])
    assert compaction.tokens_before > THRESHOLD >= compaction.tokens_after
    assert compaction.tokens_after == pytest.approx(exact(await rig.request()).input_tokens, abs=2)
    stored = await rig.stored()
    assert compaction.made_after == stored[-1].id
    assert compaction.kept == (stored[0].id,)
    assert len(stored) == 19, "the transcript itself stays"
    assert rig.begun == 1, "the turn was written down first"
    assert await rig.spent() == [("compaction", "fake-1", rig.turns[10])]
    assert [request.model for request in rig.model.requests] == ["cheap-1"]
    assert await fit(rig, 10) is None, "now it fits"


async def test_the_summary_is_made_of_what_is_hidden_and_of_the_summary_before(
    database: Database,
) -> None:
    rig = await Rig(database, FakeModel(say("ONE"), say("TWO"), say("TWO"))).open()
    await rig.grow(long_dialogue(10))
    await fit(rig, 10)
    more = Script(turn=10)
    more.answers("a" * 4000)
    for number in range(11, 15):
        more.says(f"question {number} " + "q" * 1600)
        more.answers("a" * 1600)
    more.says("and?")
    await rig.grow(more)

    await fit(rig, 15)

    first, second, *_ = rig.model.requests
    assert '"question 1 ' not in str(first.messages), "the first request stays word for word"
    assert "question 2 " in str(first.messages)
    assert 'earlier summary: "ONE"' in str(second.messages)
    assert "question 2 " not in str(second.messages)
    assert first.tools == ()
    shown = str(await rig.shown())
    assert "question 1 " in shown
    assert "| TWO" in shown
    assert "| ONE" not in shown


async def test_in_a_long_turn_the_oldest_steps_are_compacted_and_pairs_stay_whole(
    database: Database,
) -> None:
    rig = await Rig(database, FakeModel(say("Looked around."), say("And further."))).open()
    script = Script()
    script.says("the great task")
    for _ in range(25):
        script.acts("o" * 1500)
    await rig.grow(script)

    shown = await fit(rig, 1)

    assert shown
    check_pairs(shown)
    assert shown[0].text == "the great task"
    assert exact(await rig.request()).input_tokens <= THRESHOLD


async def test_outputs_are_shortened_without_any_call_where_that_is_enough(
    database: Database,
) -> None:
    rig = await Rig(database, FakeModel()).open()
    rig.compactor = compactor(database, rig.model, cap=20_000)
    await rig.grow(long_dialogue(12, words=10, output=6000))

    shown = await fit(rig, 12)

    assert shown
    outputs = [p.text for m in shown for p in m.parts if isinstance(p, ToolResultPart)]
    assert [len(text) > 5000 for text in outputs] == [False] * 9 + [True] * 3
    (compaction,) = await rig.compactions()
    assert (compaction.summarized_to, compaction.summary) == (0, "")
    assert await rig.spent() == []


async def test_without_a_summary_nothing_is_compacted_but_the_turn_goes_on_while_there_is_room(
    database: Database,
) -> None:
    rig = await Rig(database, FakeModel(BUSY)).open()
    await rig.grow(long_dialogue(9))
    request = await rig.request()
    assert THRESHOLD < exact(request).input_tokens < CAP

    assert await fit(rig, 9) is None

    assert await rig.compactions() == []
    assert [one.model for one in rig.model.requests] == ["cheap-1"]
    assert await rig.request() == request


async def test_a_compaction_that_failed_is_not_tried_again_at_once(database: Database) -> None:
    rig = await Rig(database, FakeModel(BUSY)).open()
    await rig.grow(long_dialogue(9))
    window = rig.window(9)
    request = await rig.request()
    learn(rig)
    for _ in range(5):
        assert await window.fit(request, budget()) is None
        window.learn("fake-1", exact(request))
    assert rig.model.plays == []


async def test_without_a_summary_and_without_room_the_oldest_turns_are_left_out(
    database: Database,
) -> None:
    rig = await Rig(database, FakeModel(BUSY)).open()
    await rig.grow(long_dialogue(12))
    learn(rig)
    window = rig.window(12)

    shown = await window.fit(await rig.request(), budget())

    assert shown == await rig.shown()
    assert exact(await rig.request()).input_tokens <= THRESHOLD
    assert "<left-out>" in str(shown)
    assert window.has_left_out
    (compaction,) = await rig.compactions()
    stored = await rig.stored()
    assert (compaction.summary, compaction.left_out_from) == ("", stored[1].id)
    check_pairs(shown)


async def test_what_was_left_out_is_summed_up_by_the_next_model_in_the_next_turn(
    database: Database,
) -> None:
    rig = await Rig(database, FakeModel(BUSY, say("It began."), say("In short."))).open()
    await rig.grow(long_dialogue(12))
    await fit(rig, 12)
    before = await rig.shown()
    more = Script(turn=12)
    more.answers("done")
    more.says("and now?")
    await rig.grow(more)
    window = rig.window(13, (await rig.compactions())[-1])
    request = await rig.request()

    shown = await window.fit(request, budget())

    assert shown == await rig.shown()
    assert "<left-out>" not in str(shown)
    assert "| In short." in str(shown)
    assert not window.has_left_out, "it is said once"
    assert [one.model for one in rig.model.requests] == ["cheap-1", "fake-1", "fake-1"]
    hidden = {message.text for message in before}
    for one in (await rig.stored())[:-1]:
        is_told = one.message.text in hidden or one.message.text == "done"
        assert is_told or one.message.text[:30] in str(rig.model.requests)
    assert await window.fit(await rig.request(), budget()) is None


async def test_a_turn_waits_for_at_most_one_failing_summary(database: Database) -> None:
    rig = await Rig(database, FakeModel(BUSY)).open()
    await rig.grow(long_dialogue(12))
    learn(rig)
    window = rig.window(12)
    await window.fit(await rig.request(), budget())
    more = Script(turn=11)
    more.says("look around")
    for _ in range(20):
        more.acts("o" * 1500)
    await rig.grow(more)

    shown = await window.fit(await rig.request(), budget())

    assert shown
    assert exact(await rig.request()).input_tokens <= THRESHOLD
    assert len(await rig.compactions()) == 2
    assert len(rig.model.requests) == 1
    again = await window.fit(await rig.request(), budget(), is_refused=True)
    assert again
    assert len(rig.model.requests) == 1


async def test_half_a_window_for_answers_leaves_the_rest_for_the_conversation(
    database: Database,
) -> None:
    rig = await Rig(database, FakeModel()).open()
    rig.compactor = compactor(database, rig.model, window=16_000)
    meter = rig.compactor.meter
    request = replace(await rig.request(), max_output_tokens=8_000)
    bounds = meter.bounds(request, None)
    assert (bounds.limit, bounds.threshold) == (14_000, 11_200), "70 % of the window, and not 40 %"
    await rig.grow(long_dialogue(12))
    learn(rig)
    window = rig.window(12)
    long = replace(await rig.request(), max_output_tokens=8_000)
    assert await window.fit(long, budget()) is None
    limited = window.limit_output(long)
    assert limited.max_output_tokens < 8_000
    assert exact(limited).input_tokens + limited.max_output_tokens <= 16_000
    assert window.limit_output(request) == request or exact(request).input_tokens < 100


async def test_after_a_compaction_the_length_of_the_shorter_request_is_learned(
    database: Database,
) -> None:
    rig = await Rig(database, FakeModel(say("In short."))).open()
    await rig.grow(long_dialogue(10))
    learn(rig)
    window = rig.window(10)
    await window.fit(await rig.request(), budget())
    sent = window.limit_output(await rig.request())
    window.learn("fake-1", exact(sent))
    estimated = estimate_input(sent)
    assert rig.compactor.meter.estimate(rig.dialogue.session_id, "fake-1", estimated) == estimated


async def test_a_conversation_without_a_summary_goes_on_with_shorter_outputs_if_that_is_enough(
    database: Database,
) -> None:
    rig = await Rig(database, FakeModel(BUSY)).open()
    await rig.grow(long_dialogue(9, words=1000, output=3000))
    assert exact(await rig.request()).input_tokens > CAP

    shown = await fit(rig, 9)

    assert shown
    assert exact(await rig.request()).input_tokens <= CAP
    (compaction,) = await rig.compactions()
    assert (compaction.summarized_to, compaction.summary) == (0, "")


@pytest.mark.parametrize("stop", ["refusal", "overflow", "unknown", "pause"])
async def test_an_answer_that_is_no_summary_is_paid_for_and_another_model_is_asked_next_time(
    database: Database, stop: str
) -> None:
    bad = [finish(TextPart(text="no"), stop=stop)]  # type: ignore[arg-type]
    rig = await Rig(database, FakeModel(bad, say("Good."))).open()
    await rig.grow(long_dialogue(10))
    await fit(rig, 10)
    assert len(await rig.spent()) == 1
    await fit(rig, 10)
    assert "| Good." in str(await rig.shown())
    assert [one.model for one in rig.model.requests] == ["cheap-1", "fake-1"]
    assert len(await rig.spent()) == 2


async def test_a_long_part_is_summed_up_in_pieces_each_on_top_of_the_one_before(
    database: Database,
) -> None:
    rig = await Rig(database, FakeModel(say("ONE"), say("TWO"), say("THREE"))).open()
    await rig.grow(long_dialogue(20))
    await fit(rig, 20)
    first, second, third = (str(request.messages) for request in rig.model.requests)
    assert all(len(piece) < 22_000 for piece in (first, second, third))
    assert "question 2 " in first
    assert 'earlier summary: "ONE"' in second
    assert 'earlier summary: "TWO"' in third
    assert "| THREE" in str(await rig.shown())
    assert len(await rig.spent()) == 3


async def test_a_summary_that_is_too_long_is_cut(database: Database) -> None:
    rig = await Rig(database, FakeModel(say("敏捷" * 9000))).open()
    await rig.grow(long_dialogue(10))
    await fit(rig, 10)
    (compaction,) = await rig.compactions()
    assert compaction.summary.endswith(" …")
    assert compaction.tokens_after <= THRESHOLD


async def test_a_request_that_was_refused_is_made_shorter_whatever_was_measured(
    database: Database,
) -> None:
    rig = await Rig(database, FakeModel(say("In short."))).open()
    await rig.grow(long_dialogue(5))
    before = exact(await rig.request()).input_tokens
    assert before < THRESHOLD

    assert await fit(rig, 5, is_refused=True)

    (compaction,) = await rig.compactions()
    assert compaction.reason == "overflow"
    assert exact(await rig.request()).input_tokens < before * 0.75


async def test_a_refused_request_that_can_not_be_shorter_is_given_up(database: Database) -> None:
    rig = await Rig(database, FakeModel()).open()
    await rig.grow(long_dialogue(1))
    with pytest.raises(ModelOverflow):
        await fit(rig, 1, is_refused=True)
    assert await rig.compactions() == []


async def test_near_the_threshold_the_provider_counts_and_far_from_it_nobody_does(
    database: Database,
) -> None:
    model = CountingModel(factor=0.5)
    rig = await Rig(database, model).open()
    await rig.grow(long_dialogue(10))
    assert await fit(rig, 10, learns=False) is None
    assert len(model.counted) == 1
    assert await fit(rig, 10, learns=False) is None
    assert len(model.counted) == 1, "what was counted is known"


async def test_what_the_provider_counts_is_believed(database: Database) -> None:
    model = CountingModel(say("Short."), factor=2.0)
    rig = await Rig(database, model).open()
    await rig.grow(long_dialogue(5))
    assert exact(await rig.request()).input_tokens < THRESHOLD

    assert await fit(rig, 5, learns=False)

    (compaction,) = await rig.compactions()
    assert compaction.tokens_before == 2 * exact(model.counted[0]).input_tokens
    assert 2 * exact(await rig.request()).input_tokens <= THRESHOLD


async def test_a_persons_own_cap_is_kept_where_it_is_lower(database: Database) -> None:
    meter = TokenMeter(
        provider=FakeModel(),
        model="fake-1",
        rules=ContextRules(cap_tokens=50_000, threshold_percent=50, window_tokens=40_000),
    )
    rig = await Rig(database, FakeModel()).open()
    request = await rig.request()
    assert meter.bounds(request, None).limit == 39_000
    assert meter.bounds(request, 60_000).limit == 39_000
    own = meter.bounds(request, 20_000)
    assert (own.limit, own.threshold) == (20_000, 10_000)
    assert meter.bounds(request, 5).limit == LEAST_CAP
    meter.refuse("fake-1", 30_000)
    assert meter.bounds(request, None).limit == 27_000
    meter.refuse("fake-1", 90_000)
    assert meter.bounds(request, None).limit == 27_000


async def test_a_turn_that_is_stopped_while_it_is_summed_up_leaves_no_compaction(
    database: Database,
) -> None:
    reached = asyncio.Event()

    async def hang() -> None:
        reached.set()
        await asyncio.Event().wait()

    rig = await Rig(database, FakeModel([hang])).open()
    await rig.grow(long_dialogue(10))
    working = asyncio.create_task(fit(rig, 10))
    await reached.wait()
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working
    assert await rig.compactions() == []
    assert rig.model.streaming == 0
    assert await rig.compactor.find(rig.dialogue.session_id, rig.dialogue.person.id) is None


async def test_near_a_ceiling_of_the_day_no_summary_is_bought(database: Database) -> None:
    tight = quotas(database, person=DailyLimit(money=0, tokens=100))
    rig = await Rig(database, FakeModel()).open()
    rig.compactor = compactor(database, rig.model, cap=CAP, limits=tight)
    await rig.grow(long_dialogue(9))
    await database.write(
        "spend",
        lambda c: c.execute(
            "INSERT INTO usage (person_id, purpose, model, input_tokens, cache_read_tokens,"
            " cache_write_tokens, output_tokens, created_at) VALUES (1, 'turn', 'm', 99, 0, 0, 0,"
            " 1000)"
        ),
    )
    assert await fit(rig, 9) is None
    assert rig.model.requests == []


async def test_what_was_asked_for_between_turns_compactions_and_wants_a_fresh_prompt(
    database: Database,
) -> None:
    rig = await Rig(database, FakeModel(say("The recipe: 3 eggs."))).open()
    script = long_dialogue(6)
    script.answers("done")
    await rig.grow(script)

    compacted = await rig.compactor.compact_now(rig.dialogue_between_turns(), None, "the recipe")

    assert compacted
    assert (compacted.reason, compacted.turn_id) == ("asked", None)
    assert compacted.tokens_after < compacted.tokens_before
    assert '"the recipe"' in str(rig.model.requests[0].messages)
    assert await rig.spent() == [("compaction", "fake-1", None)]
    shown = await rig.shown()
    assert [message.text[:10] for message in shown] == [
        "question 1",
        "",
        "question 5",
        "answer 5 a",
        "question 6",
        "done",
    ]


async def test_a_conversation_that_went_on_meanwhile_is_not_compacted(database: Database) -> None:
    rig = await Rig(database, FakeModel()).open()
    script = long_dialogue(6)
    script.answers("done")
    await rig.grow(script)
    later = Script(turn=6)
    later.says("wait")

    async def go_on() -> None:
        await rig.grow(later)

    rig.model.plays = [[go_on, *say("In short.")]]
    assert await rig.compactor.compact_now(rig.dialogue_between_turns(), None, "") is None
    assert await rig.compactions() == []
    assert await rig.spent() == [("compaction", "fake-1", None)], "it is paid for all the same"


async def test_a_short_conversation_is_left_alone(database: Database) -> None:
    rig = await Rig(database, FakeModel(say("They said hello, hello, and hello again." * 9))).open()
    script = long_dialogue(3, words=1)
    script.answers("done")
    await rig.grow(script)
    assert await rig.compactor.compact_now(rig.dialogue_between_turns(), None, "") is None
    assert await rig.compactions() == []


async def test_the_plan_of_the_session_comes_again_after_a_compaction(database: Database) -> None:
    rig = await Rig(database, FakeModel(say("They spoke."))).open()
    await rig.grow(long_dialogue(10))
    owner_id, plan = rig.dialogue.person.id, (PlanItem(text="Book </facts>", state="active"),)
    turn_id = rig.turns[10]
    await database.write(
        "plan", lambda c: plans.save(c, turn_id=turn_id, owner_id=owner_id, plan=plan)
    )
    assert "Book" not in str(await rig.shown())

    await fit(rig, 10)

    (shown,) = [m for m in await rig.shown() if "kept it with `todo`" in str(m)]
    assert "| 1. [active] Book &lt;/facts>" in str(shown)
    assert await rig.shown() == apply_compaction(await rig.stored(), (await rig.compactions())[0])


def add_search(script: Script, *names: str) -> None:
    """A turn in which a search shows the schemas of tools."""
    schema = '{"type":"object","properties":{"place":{"type":"string"}},"required":["place"]}'
    shown = [f"## {name}\nDoes {name}.\nArguments: {schema}" for name in names]
    script.says("what can you do?")
    script.acts("\n\n".join(shown), tool=SEARCH_TOOL)
    script.answers("that")


async def test_found_tools_stay_for_the_session(database: Database) -> None:
    pieces = [say("They spoke.") for _ in range(8)]
    rig = await Rig(database, FakeModel(*pieces)).open()
    script = long_dialogue(1)
    script.answers("hello")
    add_search(script, "weather__forecast", "weather__alarm")
    for number in range(8):
        script.says(f"question {number} " + "q" * 1600)
        script.answers(f"answer {number} " + "a" * 1600)
    add_search(script, "map__route")
    script.says("go on")
    await rig.grow(script)

    await fit(rig, script.turn)

    (first,) = await rig.compactions()
    alarm, forecast = "weather__alarm(place: string)", "weather__forecast(place: string)"
    assert first.found_tools.splitlines() == [forecast, alarm]
    shown = await rig.shown()
    assert f"| {alarm}" in str(shown)
    assert "## map__route" in str(shown), "a result that is still shown stands for itself"
    assert shown == apply_compaction(await rig.stored(), first)

    longer = Script(turn=script.turn)
    for number in range(8):
        longer.says(f"more {number} " + "m" * 1600)
        longer.answers(f"answer {number} " + "a" * 1600)
    longer.says("and on")
    await rig.grow(longer)
    await fit(rig, longer.turn)

    second = (await rig.compactions())[-1]
    assert second.found_tools.splitlines() == [forecast, alarm, "map__route(place: string)"]
    assert str(await rig.shown()).count(alarm) == 1


async def test_a_search_result_that_is_shortened_leaves_its_tools(database: Database) -> None:
    rig = await Rig(database, FakeModel()).open()
    script = long_dialogue(1)
    add_search(script, *(f"long__tool_{number}" for number in range(220)))
    for _ in range(3):
        script.acts("o" * 100)
    await rig.grow(script)

    await fit(rig, script.turn)

    (compaction,) = await rig.compactions()
    assert compaction.summary == ""
    assert compaction.found_tools.splitlines()[-1] == "long__tool_219(place: string)"


async def test_a_message_that_a_note_hides_is_neither_summarized_nor_shown_again(
    database: Database,
) -> None:
    """A server that refused it would refuse the summary, and each request that shows it again."""
    rig = await Rig(database, FakeModel(*[say("ONE")] * 9)).open()
    script = Script()
    script.says("zyzzyva " + "q" * 1600)
    poison = script.stored[0].message
    hidden = next(propose([user_message("before"), poison], is_declined=False))
    script.add(hidden.note)
    script.answers("I could not read that.")
    for last in (12, 24):
        while script.turn < last:
            script.says(f"question {script.turn} " + "q" * 1600)
            script.answers("a" * 1600)
        await rig.grow(script)
        assert await fit(rig, last)
        script = Script(turn=last)

    assert rig.model.requests
    assert "zyzzyva" not in str([one.messages for one in rig.model.requests])
    assert "zyzzyva" not in str(show(await rig.shown()))
    assert len(await rig.compactions()) == 2


async def test_a_long_request_that_is_refused_for_no_reason_is_shortened(
    database: Database,
) -> None:
    rig = await Rig(database, FakeModel(*[say("ONE")] * 9)).open()
    await rig.grow(long_dialogue(10))
    learn(rig)
    window = rig.window(10)
    request = await rig.request()
    shorter = await window.shorten(request, budget())
    assert shorter
    assert shorter == await rig.shown()
    assert estimate_input(replace(request, messages=shorter)) < estimate_input(request) * 0.75
    short = replace(request, messages=request.messages[-1:])
    assert await window.shorten(short, budget()) is None
    bounds = rig.compactor.meter.bounds(request, None)
    assert bounds.threshold == THRESHOLD, "the refusal says nothing of the window"
