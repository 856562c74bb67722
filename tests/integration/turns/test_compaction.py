"""Long conversations: every call fits, no message is lost, and `/compact` on demand."""

from pathlib import Path
from typing import TypeGuard

import pytest

from agent_core.models.token_estimate import estimate_input
from agent_core.state.conversations.compactions import CompactionReason
from agent_core.tools.contract import ToolResult
from agent_core.transcript import Part, ToolResultPart
from gateway.texts import usage
from tests.agent_core.agent.compaction.dialogues import check_pairs
from tests.fakes.model import FakeModel, Gate, say
from tests.fakes.tool import FakeTool
from tests.integration.harness import Harness, running
from tests.integration.turns.rebuilt import rebuild, see
from tests.integration.turns.small_window import CAP, FILLER, SMALL, Talker, dialogue


async def compaction_rows(harness: Harness) -> list[tuple[CompactionReason, int, int]]:
    return await harness.read(
        lambda c: c.execute(
            "SELECT reason, tokens_before, tokens_after FROM compactions ORDER BY id"
        ).fetchall()
    )


@pytest.mark.parametrize("turns", [60, pytest.param(300, marks=pytest.mark.long)])
async def test_many_turns_stay_within_the_cap_and_are_searchable(
    tmp_path: Path, turns: int
) -> None:
    model = Talker()
    async with running(tmp_path, model, **SMALL) as harness:
        for number in range(turns):
            await dialogue(harness, f"fact number {number} is word{number * 7}{FILLER}")
        assert len(model.turns) == turns
        assert max(estimate_input(request) for request in model.turns) <= CAP
        made = await compaction_rows(harness)
        assert turns // 30 <= len(made) <= turns // 3
        assert {reason for reason, _, _ in made} == {"near"}
        assert all(after < before for _, before, after in made)
        for request in model.turns:
            check_pairs(request.messages)
            assert "fact number 0 " in str(request.messages), "the first request stays"
        last = str(model.turns[-1].messages)
        assert "fact number 15 " not in last
        assert f"| Summary {len(model.summaries)}." in last
        await dialogue(harness, "recall word105")
        outputs = [part for part in model.turns[-1].messages[-1].parts if _is_output(part)]
        assert "fact number 15 is word105" in str(outputs), "what was folded is found"


async def test_a_turn_of_many_tool_calls_stays_within_the_cap(tmp_path: Path) -> None:
    model = Talker()

    async def look(*_: object) -> ToolResult:
        return ToolResult(text=f"seen {len(model.turns)} " + "x" * 3000)

    settings = {"TALARIA_TURNS__MAX_STEPS": "60", "TALARIA_CONTEXT__CAP_TOKENS": "16000"}
    async with running(tmp_path, model, tools=(FakeTool("look", look),), **settings) as harness:
        await dialogue(harness, "hello")
        await dialogue(harness, "look 40 times around")
        assert len(model.turns) == 42
        assert max(estimate_input(request) for request in model.turns) <= 16_000
        for request in model.turns:
            check_pairs(request.messages)
        assert all("look 40 times" in str(request.messages) for request in model.turns[1:])
        for request in model.turns[2:]:
            outputs = [p for m in request.messages for p in m.parts if _is_output(p)]
            assert len(outputs[-1].text) > 3000, "the newest is whole"
        lengths = {
            len(part.text) < 3000
            for request in model.turns
            for message in request.messages
            for part in message.parts
            if _is_output(part)
        }
        assert lengths == {True, False}, "older ones are shown by their ends"
        assert await compaction_rows(harness)


def _is_output(part: Part) -> TypeGuard[ToolResultPart]:
    return isinstance(part, ToolResultPart)


async def test_compact_runs_at_once_and_reports_its_savings(tmp_path: Path) -> None:
    model = Talker()
    async with running(tmp_path, model) as harness:
        for number in range(8):
            await dialogue(harness, f"fact {number}{FILLER}")
        before = model.turns[-1]
        await dialogue(harness, "/compact the third fact")
        reported = harness.chat.shown[-1].text
        ((reason, was, now),) = await compaction_rows(harness)
        assert reported == usage.COMPACTED(before=was, after=now)
        assert (reason, now < was) == ("asked", True)
        assert '"the third fact"' in str(model.summaries[0].messages)
        await dialogue(harness, "and now?")
        after = model.turns[-1]
        assert estimate_input(after) < estimate_input(before)
        assert abs(estimate_input(after) - now) < now / 10
        assert "fact 0" in str(after.messages)
        assert "fact 3" not in str(after.messages)
        assert "fact 7" in str(after.messages)
        spent = await harness.read(
            lambda c: c.execute("SELECT model FROM usage WHERE purpose = 'compaction'").fetchall()
        )
        assert len(spent) == 1


async def test_a_repeated_compact_changes_nothing(tmp_path: Path) -> None:
    model = Talker()
    async with running(tmp_path, model) as harness:
        for number in range(8):
            await dialogue(harness, f"fact {number}{FILLER}")
        await dialogue(harness, "/compact")
        await dialogue(harness, "/compact")
        assert harness.chat.shown[-1].text == usage.COMPACT_NO_GAIN()
        assert len(model.summaries) == len(await compaction_rows(harness)) == 1


async def test_compact_during_a_turn_says_so(tmp_path: Path) -> None:
    gate = Gate()
    async with running(tmp_path, FakeModel([gate.hold, *say("done")])) as harness:
        await dialogue(harness, "/compact")
        assert harness.chat.shown[-1].text == usage.COMPACT_EMPTY()
        await harness.chat.says("work")
        await gate.reached.wait()
        await harness.chat.says("/compact")
        await harness.chat.sees_text(usage.COMPACT_RUNNING())
        gate.open.set()
        await harness.chat.sees_text("done")
        await harness.at_rest()
        assert await compaction_rows(harness) == []


async def test_compact_in_a_conversation_that_is_short_already_changes_nothing(
    tmp_path: Path,
) -> None:
    model = Talker()
    async with running(tmp_path, model) as harness:
        await dialogue(harness, "hello")
        await dialogue(harness, "/compact")
        assert harness.chat.shown[-1].text == usage.COMPACT_NO_GAIN()
        assert model.summaries == []


async def test_a_persons_own_cap_applies_from_the_next_message(tmp_path: Path) -> None:
    model = Talker()
    async with running(tmp_path, model, TALARIA_CONTEXT__CAP_TOKENS="50000") as harness:
        for number in range(25):
            await dialogue(harness, f"fact {number}{FILLER}{FILLER}")
        assert estimate_input(model.turns[-1]) > CAP
        await dialogue(harness, "/settings context_cap 8k")
        assert "at most 8,000 tokens" in harness.chat.shown[-1].text
        await dialogue(harness, "go on")
        assert estimate_input(model.turns[-1]) <= CAP
        assert await compaction_rows(harness)
        await dialogue(harness, "/settings context_cap off")
        assert "as much as Talaria allows" in harness.chat.shown[-1].text


async def test_a_compaction_rebuilds_the_prompt_once(tmp_path: Path) -> None:
    model = Talker()
    async with running(tmp_path, model) as harness:
        for number in range(6):
            await dialogue(harness, f"fact {number}{FILLER}")
        tmp_path.joinpath("SOUL.md").write_text("You are somebody else.")
        await dialogue(harness, "still the old prompt")
        await dialogue(harness, "/compact")
        await dialogue(harness, "a new prompt")
        tmp_path.joinpath("SOUL.md").write_text("You are a third one.")
        await dialogue(harness, "and kept")
    old, new, kept = (request.system for request in model.turns[-3:])
    assert "somebody else" not in old
    assert "somebody else" in new
    assert kept == new


async def test_every_request_of_a_compacted_conversation_can_be_rebuilt_from_the_file(
    tmp_path: Path,
) -> None:
    model = Talker()

    async def look(*_: object) -> ToolResult:
        return ToolResult(text="x" * 3000)

    async with running(tmp_path, model, tools=(FakeTool("look", look),), **SMALL) as harness:
        for number in range(12):
            await dialogue(harness, f"fact {number}{FILLER}")
        await dialogue(harness, "look 12 times around")
        await dialogue(harness, "/compact")
        await dialogue(harness, "look 3 times again")
        reasons = [reason for reason, _, _ in await compaction_rows(harness)]
    assert {*reasons} == {"near", "asked"}
    assert rebuild(tmp_path) == [see(request) for request in model.turns]


async def test_compactions_survive_a_restart(tmp_path: Path) -> None:
    model = Talker()
    async with running(tmp_path, model, **SMALL) as harness:
        for number in range(30):
            await dialogue(harness, f"fact {number}{FILLER}")
        made = await compaction_rows(harness)
    again = Talker()
    async with running(tmp_path, again, **SMALL) as harness:
        await harness.chat.says("and now?", id=1000)
        await harness.until(lambda: bool(again.turns))
        await harness.at_rest()
        assert (await compaction_rows(harness))[: len(made)] == made
    assert "<earlier-talk>" in str(again.turns[0].messages)
    assert estimate_input(again.turns[0]) <= CAP


async def test_a_missing_summary_is_reported_once_and_made_later(
    tmp_path: Path,
) -> None:
    model = Talker()
    model.has_summaries = False
    async with running(tmp_path, model, **SMALL) as harness:
        notes = []
        for number in range(40):
            await dialogue(harness, f"fact {number} is word{number * 7}{FILLER}")
            shown = harness.chat.shown[-1].text
            assert shown.startswith(f"You said: fact {number} ")
            notes += [number] if usage.LEFT_OUT() in shown else []
        assert len(notes) == 1
        assert len(model.failed) <= 40, "at most one for each turn"
        assert max(estimate_input(request) for request in model.turns) <= CAP
        assert "<left-out>" in str(model.turns[-1].messages)
        await dialogue(harness, "recall word105")
        outputs = [part for part in model.turns[-1].messages[-1].parts if _is_output(part)]
        assert "fact 15 is word105" in str(outputs), "what was left out is found"
        model.has_summaries = True
        await dialogue(harness, "and now?")
        last = str(model.turns[-1].messages)
        assert "<left-out>" not in last
        assert f"| Summary {len(model.summaries)}." in last
        assert "fact 1 " in str(model.summaries), "the oldest is summed up, too"
    assert rebuild(tmp_path) == [see(request) for request in model.turns]
