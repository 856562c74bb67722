"""A long conversation stays within its cost, and its facts are found."""

import pytest

from agent_core.agent.compaction import ContextRules
from bench.compaction import Outcome, play, script

GOAL = 1_000_000
"""Plain input tokens for a conversation of 301 turns."""


async def hold(turns: int, compact_tokens: int) -> Outcome:
    rules = ContextRules(cap_tokens=120_000, threshold_percent=80, compact_tokens=compact_tokens)
    return await play(script(1, turns), rules, is_blank=False)


@pytest.mark.parametrize("turns", [80, pytest.param(301, marks=pytest.mark.long)])
async def test_a_long_conversation_stays_below_its_share_of_the_goal(turns: int) -> None:
    outcome = await hold(turns, 20_000)
    assert outcome.cost <= GOAL * turns / 301
    assert outcome.account.longest <= 20_000
    assert outcome.found >= 0.9
