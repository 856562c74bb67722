"""Limits of a turn: reaching one ends it with a summary and a notice."""

from pathlib import Path

import pytest

from agent_core.models.contract import Usage
from agent_core.state.conversations import turns, usage
from gateway.texts import general
from tests.fakes.model import FakeModel, Play, call, finish, say
from tests.integration.harness import running


def search(number: int, spent: Usage) -> Play:
    asked = call("recall", f'{{"query": "word{number}"}}', f"c{number}")
    return [finish(asked, stop="tools", usage=spent, model="claude-haiku-5-5")]


@pytest.mark.parametrize(
    ("setting", "value", "spent", "limit", "calls"),
    [
        # Steps of cheap tools are refunded once: a limit of 2 is reached after 4 calls.
        pytest.param("STEPS", "2", Usage(input_tokens=1), "steps", 4, id="steps"),
        pytest.param("TOKENS", "1000", Usage(input_tokens=600), "tokens", 2, id="tokens"),
        pytest.param("COST_USD", "0.01", Usage(output_tokens=15_000), "money", 2, id="money"),
    ],
)
async def test_a_turn_at_a_limit_ends_with_a_summary_and_names_it(
    tmp_path: Path, setting: str, value: str, spent: Usage, limit: str, calls: int
) -> None:
    plays = [search(number, spent) for number in range(calls)]
    model = FakeModel(*plays, say("So far: nothing."), say("Going on."))
    async with running(tmp_path, model, **{f"TALARIA_TURNS__MAX_{setting}": value}) as harness:
        await harness.chat.says("search everything")
        shown = await harness.chat.sees_text("So far: nothing.")
        assert shown.text == general.describe_limit(limit, "So far: nothing.")
        await harness.at_rest()
        (turn,) = await harness.read(lambda c: turns.list_recent(c, limit=9))
        assert turn.state == "exhausted"
        total = await harness.read(lambda c: usage.total_of_turn(c, turn_id=turn.id))
        assert total.calls == calls + 1, "the summary is paid for as well"
        await harness.chat.says("go on")
        await harness.chat.sees_text("Going on.")
        assert "So far: nothing." in [message.text for message in model.requests[-1].messages]


async def test_a_turn_that_repeats_calls_is_ended(tmp_path: Path) -> None:
    same = [[finish(call("recall", '{"query": "x"}', f"c{n}"), stop="tools")] for n in range(5)]
    model = FakeModel(*same, say("I can't find it."))
    async with running(tmp_path, model) as harness:
        await harness.chat.says("find x")
        shown = await harness.chat.sees_text("I can't find it.")
        assert shown.text == general.describe_limit("no_progress", "I can't find it.")
        assert model.plays == []
