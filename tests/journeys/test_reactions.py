"""A thumb on an answer, on each platform through its SDK, is a word about the skill behind it."""

import pytest

from tests.agent_core.skills.skill_folders import write_skill
from tests.emulators.telegram_cast import ANNA
from tests.journeys.accounts import texts
from tests.journeys.stage import Stage, calls


@pytest.mark.parametrize("platform", ["telegram", "discord", "slack"])
async def test_a_thumb_counts_for_the_skill_until_it_is_taken_back(
    deployment: Stage, platform: str
) -> None:
    write_skill(deployment.home / "skills", "tidy")
    anna = deployment.account(platform, ANNA)
    async with deployment.open() as harness:
        deployment.plan(
            calls({"type": "tool_use", "name": "skill_view", "input": {"name": "tidy"}}), "Swept."
        )
        await harness.takes(anna.says("tidy up"))
        await harness.until(lambda: "Swept." in texts(anna))
        answer = next(one.id for one in anna.seen() if one.text == "Swept.")
        for is_on, outcome in ((True, "disliked"), (False, "done")):
            await harness.takes(anna.reacts(answer, "👎", is_on=is_on))
            assert await harness.count("skill_uses", f"outcome = '{outcome}'") == 1
