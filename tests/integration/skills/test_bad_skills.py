"""Skills with bytes, loops and endless tests: one sentence each, and nothing is lost."""

import json
from dataclasses import replace
from pathlib import Path

from tests.agent_core.skills.skill_folders import write_skill
from tests.fakes.model import Gate, Play, ask, call, say
from tests.integration.harness import running
from tests.integration.jobs_support import greet, greeted
from tests.integration.skills.own_skills import SOON, own

TEXT = "---\nname: tally\ndescription: Adds up prices.\n---\nAdd them up with care.\n"
WRITE = ask(call("skill_manage", json.dumps({"action": "create", "name": "tally", "text": TEXT})))
READ = ask(call("skill_view", '{"name": "tally"}'))


def uses() -> list[Play]:
    return [play for week in (1, 2, 3) for play in (READ, say(f"Total: 4{week}.50"))]


async def test_bytes_and_links_in_a_skill_are_named_and_the_text_is_read(tmp_path: Path) -> None:
    place = write_skill(tmp_path / "skills", "tally", "Add up.")
    (place / "tool").write_bytes(b"\x7fELF\xff\x00" * 9)
    (place / "loop").symlink_to("loop")
    (place / "round").symlink_to(".")
    looks = [
        ask(call("skill_view", json.dumps({"name": "tally", **given})))
        for given in ({}, {"file": "tool"}, {"file": "loop"}, {"file": "round/round/SKILL.md"})
    ]
    model = greeted(*looks, say("Read."))
    async with running(tmp_path, model) as harness:
        await greet(harness)
        await harness.chat.says("how do you add up?")
        await harness.chat.sees_text("Read.")
        whole, tool, loop, round_trip = (
            str(request.messages[-1]) for request in model.requests[2:6]
        )
        assert "Add up." in whole
        assert "that file is not a text" in tool
        assert "has no such file" in loop
        assert "Add up." in round_trip


async def test_bytes_in_place_of_cases_are_told_once(tmp_path: Path) -> None:
    model = greeted(WRITE, say("Kept."), *uses())
    async with running(tmp_path, model, timings=SOON) as harness:
        await own(harness)
        await harness.chat.says("keep how we add up prices")
        await harness.chat.sees_text("I wrote the skill “tally” as a draft")
        evals = tmp_path / "skills" / "tally" / "evals" / "evals.json"
        evals.parent.mkdir()
        evals.write_bytes(b"\xff\xfe\x00")
        for week in (1, 2, 3):
            await harness.chat.says(f"/skills try tally the receipts of week {week}")
            await harness.chat.sees_text(f"Total: 4{week}.50")
            await harness.at_rest()
        told = await harness.chat.sees_text("I can't test the skill “tally”.")
        assert "can't be read as JSON" in told.text
        assert sum("I can't test" in one.text for one in harness.chat.shown) == 1
        assert evals.read_bytes() == b"\xff\xfe\x00"


async def test_a_test_that_never_ends_fails_with_its_reason(tmp_path: Path) -> None:
    gate = Gate()
    hanging: list[Play] = [say("No idea."), [gate.hold]]
    model = greeted(WRITE, say("Kept."), *uses(), *hanging)
    async with running(tmp_path, model, timings=replace(SOON, replay=0.3)) as harness:
        await own(harness)
        await harness.chat.says("keep how we add up prices")
        await harness.chat.sees_text("Kept.")
        await harness.at_rest()
        for week in (1, 2, 3):
            await harness.chat.says(f"/skills try tally the receipts of week {week}")
            await harness.chat.sees_text(f"Total: 4{week}.50")
            await harness.at_rest()
        told = await harness.chat.sees_text("The skill “tally” failed its test")
        assert "One attempt with the skill took too long, so I stopped it." in told.text
        assert (tmp_path / "skills" / "tally" / "SKILL.md").read_text() == TEXT
