"""Notes that contradict each other are listed with their dates, and asked about once."""

import json
from pathlib import Path

from agent_core.memory.files import render
from tests.fakes.model import FakeModel, ask, call, say
from tests.integration.clock import Clock
from tests.integration.harness import Harness, running
from tests.integration.jobs_support import greeted
from tests.integration.skills.curator import (
    START,
    ZONE,
    begin,
    curated,
    find_notes,
    looked,
    write_notes,
)
from tests.integration.skills.own_skills import SOON

OLD, NEW = "Lives in Graz", "Lives in Linz"
CONFLICT = {"kind": "contradiction", "remove": [0], "keep": 1, "reason": "One lives in one place."}


def conflicting() -> FakeModel:
    return greeted(ask(call("tidy", json.dumps(CONFLICT))), say("nothing"))


async def shown(harness: Harness, home: Path, clock: Clock) -> str:
    """Let the curator find two notes that can't both be true, and return what is shown of them."""
    await begin(harness, home)
    write_notes(home, (OLD,))
    await harness.chat.says("/memory")
    await harness.chat.sees_text(OLD)
    clock.move(harness, days=1)
    write_notes(home, (OLD, NEW))
    await harness.chat.says("/memory conflicts")
    await harness.chat.sees_text("I see no notes about you that contradict each other.")
    await curated(harness, clock, days=1, count=1)
    await looked(harness, 2)
    await harness.chat.sees_text("Two of my notes about you can't both be true.")
    await harness.chat.press("Show them")
    return (await harness.chat.sees_text("Which is right?**")).text


async def test_the_newer_of_two_notes_is_kept(tmp_path: Path) -> None:
    clock = Clock(*START)
    async with running(tmp_path, conflicting(), now=clock, timings=SOON, **ZONE) as harness:
        text = await shown(harness, tmp_path, clock)
        first, second = text.split("or noted")
        assert OLD in first
        assert "Fri 20 Nov" in first
        assert NEW in second
        assert "yesterday" in second
        await harness.chat.press("1: the newer one")
        await harness.chat.sees_text("Done:")
        assert find_notes(tmp_path).read_text() == render((NEW,))
        await harness.chat.says("/undo")
        await harness.at_rest()
        assert OLD in find_notes(tmp_path).read_text()


async def test_notes_that_are_both_right_are_not_asked_about_again(tmp_path: Path) -> None:
    clock = Clock(*START)
    model = conflicting()
    async with running(tmp_path, model, now=clock, timings=SOON, **ZONE) as harness:
        await shown(harness, tmp_path, clock)
        await harness.chat.press("1: both are right")
        await harness.chat.sees_text("I won't suggest that again.")
        assert find_notes(tmp_path).read_text() == render((OLD, NEW))
        await harness.chat.says("/memory conflicts")
        await harness.at_rest()
        asked = [one for one in harness.chat.shown if "can't both be true" in one.text]
        await curated(harness, clock, days=7, count=2)
        await looked(harness, 4)
        assert [one for one in harness.chat.shown if "can't both be true" in one.text] == asked
