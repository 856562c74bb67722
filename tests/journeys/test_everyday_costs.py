"""No everyday action is answered with more than one message, on any platform."""

from pathlib import Path

import pytest

from bench.everyday_journeys import JOURNEYS, MOST_MESSAGES, walk_journey
from tests.journeys.platforms import everywhere


@pytest.mark.parametrize("name", JOURNEYS)
@everywhere
async def test_an_action_brings_at_most_one_message(
    tmp_path: Path, platform: str, name: str
) -> None:
    cost = await walk_journey(platform, JOURNEYS[name], tmp_path / "home")
    assert cost.most <= MOST_MESSAGES
    assert cost.messages >= 1
