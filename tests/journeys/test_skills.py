"""Skills by chat: one is offered, tried and proved; one gets worse, and is returned."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from tests.emulators.streaming import Json, Reply, text_answer
from tests.emulators.telegram_cast import ANNA
from tests.journeys.accounts import Account, Seen, texts
from tests.journeys.platforms import everywhere
from tests.journeys.stage import TIMINGS, Harness, Stage, calls, heard, results, system_of
from tests.patience import until

SOON = replace(TIMINGS, task_poll=0.05)
TEXT = "---\nname: tally\ndescription: Adds up prices.\n---\nAdd them up with care.\n"
HASTY = "Add them up in a hurry."


class Clerk:
    """Answers turns and replays: whoever follows the skill adds up right, unless in a hurry."""

    def __init__(self, stage: Stage) -> None:
        assert stage.model.answer
        self._answer = stage.model.answer
        stage.model.answer = self.answer

    def answer(self, body: Json) -> Reply:
        system = system_of(body)
        if system.startswith("You are an assistant."):
            week = re.findall(r"week (\d)", heard(body)[-1])
            if HASTY in system or "with care" not in system or not week:
                return text_answer("No idea.")
            return text_answer(f"It is 4{week[-1]}.50.")
        if system.startswith("Compare"):
            return text_answer("neither")
        return self._answer(body)


def ask(tool: str, **given: str) -> Reply:
    """Return a model answer that calls a tool for the skill."""
    return calls({"type": "tool_use", "name": tool, "input": {"name": "tally", **given}})


def use(week: int) -> tuple[Reply, str]:
    return ask("skill_view"), f"Total: 4{week}.50"


@asynccontextmanager
async def owned(stage: Stage, anna: Account) -> AsyncIterator[Harness]:
    """Open a gateway that belongs to Anna, and tests skills soon."""
    Clerk(stage)
    async with stage.open(timings=SOON, TALARIA_LEARNING__TURNS="0") as harness:
        await harness.takes(anna.says(f"/claim {harness.gateway.claim_code}"))
        await harness.takes(anna.says("/title Prices"))
        yield harness


async def sees(account: Account, words: str) -> Seen:
    """Return the newest message with these words, once there is one."""
    try:
        async with asyncio.timeout(30):
            await until(lambda: any(words in text for text in texts(account)))
    except TimeoutError:
        raise AssertionError("\n=====\n".join(texts(account))) from None
    return [one for one in account.seen() if words in one.text][-1]


def read_usage(stage: Stage) -> Json:
    found: Json = json.loads((stage.home / "skills" / ".usage.json").read_text())["tally"]
    return found


@everywhere
async def test_a_skill_is_offered_tried_and_proved(deployment: Stage, platform: str) -> None:
    anna = deployment.account(platform, ANNA)
    async with owned(deployment, anna) as harness:
        deployment.plan(ask("skill_manage", action="create", text=TEXT), "Kept.")
        await harness.takes(anna.says("keep how we add up prices"))
        offer = await sees(anna, "I wrote the skill “tally” as a draft")
        assert "skills try tally and what to do" in offer.text
        await harness.press(anna, "Try it")
        await sees(anna, "Add what I should do, for example:")
        deployment.plan(ask("skill_view"), "Without it.")
        await harness.takes(anna.says("good morning"))
        assert "is a draft that no test has proved yet" in results(deployment.turns[-1])[0]
        for week in (1, 2, 3):
            deployment.plan(*use(week))
            await harness.takes(anna.says(f"/skills try tally the receipts of week {week}"))
            await sees(anna, f"Total: 4{week}.50")
        passed = await sees(anna, "The skill “tally” passed its test")
        assert "I did 3 of your earlier requests again." in passed.text
        assert "so from now on I use it without being asked" in passed.text
        await harness.takes(anna.says("/skills"))
        await sees(anna, "(worked well in 3 of 3 uses)")
        assert (read_usage(deployment)["state"], read_usage(deployment)["successes"]) == (
            "trial",
            3,
        )


@everywhere
async def test_a_skill_that_gets_worse_is_rolled_back(deployment: Stage, platform: str) -> None:
    anna = deployment.account(platform, ANNA)
    place = deployment.home / "skills" / "tally"
    place.mkdir(parents=True)
    (place / "SKILL.md").write_text(TEXT)
    async with owned(deployment, anna) as harness:
        for week in (1, 2, 3):
            deployment.plan(*use(week))
            await harness.takes(anna.says(f"/skills try tally the receipts of week {week}"))
            await sees(anna, f"Total: 4{week}.50")
        patch = ask("skill_manage", action="patch", old="Add them up with care.", text=HASTY)
        deployment.plan(patch, "Patched.")
        await harness.takes(anna.says("be quicker"))
        told = await sees(anna, "I returned the skill “tally” to version 1")
        assert "the newer one failed its test" in told.text
        assert "I did 3 of your earlier requests again." in told.text
        assert (place / "SKILL.md").read_text() == TEXT
        assert read_usage(deployment)["state"] == "active"
        await harness.press(anna, told.labels[0])
        await sees(anna, "↩ Taken back. The skill “tally” is as it was before.")
        assert HASTY in (place / "SKILL.md").read_text()
