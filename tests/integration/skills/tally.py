"""The skill `tally`, which the agent writes and a person uses three times: its test has cases."""

import json

from agent_core.state.memory import skills
from tests.fakes.model import FakeModel, Play, ask, call, say
from tests.integration.harness import Harness
from tests.integration.jobs_support import greeted
from tests.integration.skills.own_skills import own

TEXT = "---\nname: tally\ndescription: Adds up prices.\n---\nAdd them up with care.\n"
READ = ask(call("skill_view", '{"name": "tally"}'))
ROUNDS = ((1, "41.50"), (2, "42.75"), (3, "43.25"))


def write_skill_play(text: str = TEXT) -> Play:
    return ask(
        call("skill_manage", json.dumps({"action": "create", "name": "tally", "text": text}))
    )


def uses() -> list[Play]:
    """Return the plays of three turns that use the skill."""
    return [play for _, total in ROUNDS for play in (READ, say(f"Total: {total}"))]


async def state_of(harness: Harness, name: str = "tally") -> str:
    row = await harness.read(lambda c: skills.find(c, name=name))
    assert row
    return row.state


async def use_it(harness: Harness) -> None:
    for number, total in ROUNDS:
        await harness.chat.says(f"/tally the receipts of week {number}")
        await harness.chat.sees_text(f"Total: {total}")
        await harness.at_rest()


async def write_it(harness: Harness) -> None:
    await own(harness)
    await harness.chat.says("keep how we add up prices")
    await harness.chat.sees_text("Kept.")
    await harness.at_rest()


def working(*plays: Play) -> FakeModel:
    return greeted(write_skill_play(), say("Kept."), *uses(), *plays)
