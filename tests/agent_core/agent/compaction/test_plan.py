"""What is shortened and what is folded, for any transcript."""

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agent_core.agent.compaction.compacted_view import shorten, show_compacted
from agent_core.agent.compaction.compactor import apply_compaction, is_fresh
from agent_core.agent.compaction.plan import CompactionPlan, Planner, TokenBudget
from agent_core.ids import MessageId, TurnId
from agent_core.models.token_estimate import estimate_messages
from agent_core.state.conversations.compactions import Compaction
from agent_core.state.conversations.messages import StoredMessage
from agent_core.transcript import ToolResultPart
from tests.agent_core.agent.compaction.dialogues import Script, check_pairs

SUMMARY = 120
FIXED = 400.0


@st.composite
def _steps(draw: st.DrawFn, script: Script) -> None:
    for _ in range(draw(st.integers(0, 4))):
        sizes = draw(st.lists(st.sampled_from([5, 900, 4000, 20_000]), min_size=1, max_size=3))
        script.acts(*("o" * size for size in sizes))
        if draw(st.booleans()) and draw(st.booleans()):
            script.steers("s" * draw(st.sampled_from([3, 400])))


@st.composite
def dialogues(draw: st.DrawFn) -> Script:
    script = Script()
    for _ in range(draw(st.integers(1, 9))):
        script.says("p" * draw(st.sampled_from([2, 60, 900, 6000])))
        draw(_steps(script))
        script.answers("a" * draw(st.sampled_from([2, 60, 1500])))
    if draw(st.booleans()):
        script.says("p" * draw(st.sampled_from([2, 300])))
        draw(_steps(script))
    return script


def _is_running(script: Script) -> bool:
    return script.stored[-1].message.role != "assistant"


def _size(stored: list[StoredMessage], compaction: Compaction | None) -> int:
    return int(FIXED + estimate_messages(apply_compaction(stored, compaction), ()))


def _compaction(
    plan: CompactionPlan, stored: list[StoredMessage], former: Compaction | None
) -> Compaction:
    """The fold of a plan, with a summary as long as it may be."""
    summarized = "w" * (SUMMARY * 4) if plan.summarized else former.summary if former else ""
    return Compaction(
        id=(former.id if former else 0) + 1,
        turn_id=None,
        made_after=stored[-1].id,
        shortened_to=plan.shortened_to,
        summarized_to=plan.summarized_to,
        kept=plan.kept,
        summary=summarized,
        reason="near",
        tokens_before=0,
        tokens_after=0,
        created_at=0,
    )


def _planner(
    script: Script, stored: list[StoredMessage], compaction: Compaction | None, roof: int
) -> Planner:
    budget = TokenBudget(fixed=FIXED, scale=1.0, target=roof / 2, roof=roof, summary=SUMMARY + 100)
    running = stored[-1].turn_id if stored[-1].message.role != "assistant" else None
    return Planner(stored, compaction, budget, turn_id=running)


def _list_visible(
    stored: list[StoredMessage], compaction: Compaction | None
) -> list[StoredMessage]:
    """What a compactor loads: not what a summary replaces."""
    if compaction is None:
        return stored
    end, kept = compaction.summarized_to, compaction.kept
    return [one for one in stored if one.id > end or one.id in kept]


def _check_equal(stored: list[StoredMessage], made: Compaction, other: Compaction | None) -> None:
    """Both compactions show and summarize the same."""
    assert other
    assert (other.summarized_to, other.kept) == (made.summarized_to, made.kept)
    assert show_compacted(stored, other) == show_compacted(stored, made)


def _has_no_turn_since(stored: list[StoredMessage], compaction: Compaction | None) -> bool:
    """Whether the last turn had begun when the compaction was made."""
    if compaction is None:
        return False
    begun = {one.turn_id for one in stored if one.id <= compaction.made_after}
    return stored[-1].turn_id in begun


def _check(
    script: Script, stored: list[StoredMessage], compaction: Compaction, summarized: set[MessageId]
) -> None:
    shown = show_compacted(stored, compaction)
    check_pairs(shown)
    plain = {id(one.message): one.id for one in stored}
    short = {shorten(one.message): one.id for one in stored}
    ids = [plain.get(id(message)) or short[message] for message in shown if message in short]
    assert ids == sorted(ids), "the order is kept"
    visible = {
        one.id for one in stored if one.id > compaction.summarized_to or one.id in compaction.kept
    }
    assert {one.id for one in stored} - visible <= summarized, "what is hidden stands in a summary"
    if stored[-1].message.role != "assistant":
        words = {
            one.id
            for one in stored
            if one.turn_id == stored[-1].turn_id and one.message.role == "user"
        }
        assert words <= visible, "what is being answered is shown"
    assert stored[-1].id in visible


@pytest.mark.slow
@given(dialogues(), st.lists(st.integers(600, 12_000), min_size=1, max_size=4), st.data())
def test_any_chain_of_compactions_keeps_a_conversation_whole_and_makes_it_shorter(
    script: Script, roofs: list[int], data: st.DataObject
) -> None:
    whole, compaction, summarized = script.stored, None, set[MessageId]()
    length = 0
    for roof in roofs:
        ends = [i for i, one in enumerate(whole, start=1) if not one.message.calls and i > length]
        if not ends:
            break
        length = data.draw(st.sampled_from(ends))
        stored = whole[:length]
        before = _size(stored, compaction)
        plan = _planner(script, stored, compaction, roof).choose()
        visible = _list_visible(stored, compaction)
        same = _planner(script, visible, compaction, roof).choose()
        assert is_fresh(visible, compaction) == _has_no_turn_since(stored, compaction)
        assert (same is None) == (plan is None)
        if plan is None:
            continue
        summarized |= {one.id for one in plan.summarized}
        made = _compaction(plan, stored, compaction)
        _check_equal(stored, made, same and _compaction(same, visible, compaction))
        assert _size(stored, made) <= plan.size + 2
        assert _size(stored, made) < before + 2
        _check(script, stored, made, summarized)
        compaction = made


def test_a_plan_rests_on_no_message_that_is_replaced() -> None:
    """Not even where the person's first message is replaced, but a later one is kept."""
    script = Script()
    for words in ("one", "two"):
        script.says(words)
        script.answers("answer " * 200)
    plan = _planner(script, script.stored, None, 600).choose()
    assert plan
    former = replace(
        _compaction(plan, script.stored, None),
        summarized_to=script.stored[-1].id,
        kept=(script.stored[2].id,),
    )
    for words in ("three", "four", "five"):
        script.says(words)
        script.answers("answer " * 200)
    visible = _list_visible(script.stored, former)
    roof = _size(visible, former) - 200
    chosen = [_planner(script, seen, former, roof).choose() for seen in (script.stored, visible)]
    assert chosen[0]
    assert chosen[0].kept == former.kept
    assert chosen[0] == chosen[1]


@pytest.mark.slow
@given(dialogues(), st.integers(600, 12_000))
def test_a_plan_is_below_the_roof_wherever_that_can_be(script: Script, roof: int) -> None:
    stored = script.stored
    assume(_size(stored, None) > roof)
    plan = _planner(script, stored, None, roof).choose()
    running = _is_running(script)
    last = next(
        i
        for i in range(len(stored) - 1, -1, -1)
        if i == 0
        or (stored[i].message.role == "assistant" and running)
        or (not running and stored[i].turn_id != stored[i - 1].turn_id)
    )
    words = [
        shorten(one.message)
        for one in stored[:last]
        if running and one.turn_id == stored[-1].turn_id and one.message.role == "user"
    ]
    least = estimate_messages([*words, *(shorten(one.message) for one in stored[last:])], ())
    if FIXED + least + SUMMARY + 110 <= roof:
        assert plan is not None
        assert plan.size <= roof


@pytest.mark.slow
@given(dialogues())
def test_what_somebody_asks_for_compactions_all_but_the_newest_turns(script: Script) -> None:
    stored = [one for one in script.stored if not _is_running(script) or one.turn_id != script.turn]
    assume(stored)
    plan = _planner(script, stored, None, 100).choose_largest()
    if plan is None:
        return
    hidden = {one.turn_id for one in stored if one.id <= plan.summarized_to}
    turns = sorted({one.turn_id for one in stored})
    assert len(hidden) <= max(len(turns) - 2, 1)
    assert stored[0].id in plan.kept or plan.summarized_to == 0


def _long_dialogue(turns: int, output: int = 100) -> Script:
    script = Script()
    for number in range(turns):
        script.says(f"question {number} " + "q" * 800)
        script.acts("o" * output)
        script.answers("a" * 800)
    return script


def test_outputs_are_shortened_before_anything_is_compacted() -> None:
    script = _long_dialogue(8, output=20_000)
    plan = _planner(script, script.stored, None, 30_000).choose()
    assert plan is not None
    assert (plan.summarized_to, plan.summarized) == (0, ())
    assert plan.shortened_to > 0


def test_the_first_request_and_the_newest_turns_stay_word_for_word() -> None:
    script = _long_dialogue(12)
    plan = _planner(script, script.stored, None, 5_000).choose()
    assert plan is not None
    assert plan.kept == (script.stored[0].id,)
    whole = {one.turn_id for one in script.stored if one.id > plan.summarized_to}
    assert len(whole) >= 2
    assert script.stored[0] not in plan.summarized
    assert [one.id for one in plan.summarized] == [
        one.id for one in script.stored[1:] if one.id <= plan.summarized_to
    ]


def test_a_turn_of_many_steps_compactions_its_own_oldest_steps_and_keeps_what_was_asked() -> None:
    script = Script()
    script.says("an old question")
    script.answers("an old answer")
    script.says("the great task")
    for _ in range(30):
        script.acts("o" * 1500)
    script.steers("hurry")
    for _ in range(30):
        script.acts("o" * 1500)
    plan = _planner(script, script.stored, None, 9_000).choose()
    assert plan is not None
    assert plan.size <= 9_000
    first, task, hurry = (one for one in script.stored if one.message.role == "user")
    assert plan.kept[:2] == (first.id, task.id)
    assert (hurry.id in plan.kept) == (hurry.id <= plan.summarized_to)


def test_what_an_earlier_compaction_kept_of_a_turn_is_told_once_the_turn_is_old() -> None:
    script = Script()
    script.says("first")
    script.answers("yes")
    script.says("the great task")
    for _ in range(40):
        script.acts("o" * 1500)
    during = _planner(script, script.stored, None, 9_000).choose()
    assert during is not None
    former = _compaction(during, script.stored, None)
    script.answers("done")
    for number in range(12):
        script.says(f"next {number}" + "n" * 1500)
        script.answers("a" * 1500)

    plan = _planner(script, script.stored, former, 6_000).choose()

    assert plan is not None
    task = next(one for one in script.stored if one.message.text == "the great task")
    assert task in plan.summarized
    assert task.id not in plan.kept


def test_a_first_request_that_leaves_no_room_is_told_instead() -> None:
    script = Script()
    script.says("p" * 40_000)
    script.answers("ok")
    script.says("and now?")
    plan = _planner(script, script.stored, None, 3_000).choose()
    assert plan is not None
    assert plan.kept == ()
    assert script.stored[0] in plan.summarized


def test_nothing_is_planned_where_nothing_can_be_gained() -> None:
    script = Script()
    script.says("p" * 40_000)
    assert _planner(script, script.stored, None, 3_000).choose() is None
    assert _planner(script, script.stored, None, 3_000).only_shorten() is None
    assert _planner(script, script.stored, None, 3_000).choose_largest() is None


def test_a_running_turn_is_told_by_its_number() -> None:
    script = _long_dialogue(4)
    script.says("now")
    budget = TokenBudget(fixed=FIXED, scale=1.0, target=1.0, roof=1.0, summary=SUMMARY)
    plan = Planner(script.stored, None, budget, turn_id=TurnId(script.turn)).choose()
    assert plan is not None
    assert plan.summarized_to < script.stored[-1].id


def test_the_newest_skills_that_were_read_stay_word_for_word() -> None:
    script = Script()
    for number in range(12):
        script.says("please " * 40)
        name = f'{{"name": "skill-{number % 6}"}}'
        script.acts(f"text {number} " * 300, tool="skill_view", arguments=name)
        script.acts("o" * 4000)
        script.answers("done " * 100)
    plan = _planner(script, script.stored, None, 16_000).choose_largest()
    assert plan is not None
    compaction = _compaction(plan, script.stored, None)
    shown = show_compacted(script.stored, compaction)
    check_pairs(shown)
    texts = [
        part.text
        for message in shown
        for part in message.parts
        if isinstance(part, ToolResultPart) and part.name == "skill_view"
    ]
    assert [text[:7] for text in texts] == ["text 9 ", "text 10", "text 11"]
    assert all("left out" not in text for text in texts)
