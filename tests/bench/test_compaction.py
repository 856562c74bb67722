"""A long conversation stays within its cost, and its facts are found."""

import pytest

from agent_core.agent.compaction.token_meter import ContextRules
from bench.compaction import Outcome, play, script
from gateway.app.tables import ContextSettings

GOAL = 1_000_000
"""Plain input tokens for a conversation of 301 turns."""
SHIPPED = ContextSettings()


async def hold(turns: int) -> Outcome:
    rules = ContextRules(
        cap_tokens=SHIPPED.cap_tokens,
        threshold_percent=SHIPPED.threshold_percent,
        compact_tokens=SHIPPED.compact_tokens,
    )
    return await play(script(1, turns), rules, is_blank=False)


@pytest.mark.thorough
@pytest.mark.parametrize("turns", [80, pytest.param(301, marks=pytest.mark.long)])
async def test_a_long_conversation_stays_below_its_share_of_the_goal(turns: int) -> None:
    outcome = await hold(turns)
    assert outcome.cost <= GOAL * turns / 301
    assert outcome.account.longest <= SHIPPED.compact_tokens
    assert outcome.found >= 0.9
