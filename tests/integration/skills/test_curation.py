"""What the curator's model proposes in a running gateway, and what people make of it."""

import asyncio
import json
import os
import signal
from pathlib import Path

import pytest

from agent_core.memory.files import render
from agent_core.skills.catalog import SkillCatalog
from agent_core.skills.curation.snapshot import list_snapshots
from agent_core.state.engine.database import now
from agent_core.state.memory import skills
from gateway.app.tables import SkillSettings
from gateway.background.home_skills import HomeSkills
from gateway.background.skill_curator import Curator
from gateway.people.owner_notices import Notices
from tests.agent_core.skills.curation.agent_skills import make
from tests.agent_core.skills.skill_folders import write_skill
from tests.fakes.model import FakeModel, Play, ask, call, say
from tests.integration.accounts import ChatAccount
from tests.integration.clock import Clock
from tests.integration.harness import running
from tests.integration.jobs_support import greeted
from tests.integration.processes import be_killed
from tests.integration.skills.curator import (
    MERGE,
    NOTES,
    START,
    TEXT,
    TIDY,
    ZONE,
    begin,
    curated,
    find_notes,
    looked,
    write_notes,
)
from tests.integration.skills.own_skills import SOON, list_runs, names_in, own, take_over
from tests.patience import PATIENCE


def working(*plays: Play) -> FakeModel:
    return greeted(*plays)


async def test_notes_that_repeat_each_other_are_proposed_and_tidied_after_a_yes(
    tmp_path: Path,
) -> None:
    clock = Clock(*START)
    model = working(TIDY, say("nothing"))
    async with running(tmp_path, model, now=clock, timings=SOON, **ZONE) as harness:
        await begin(harness, tmp_path)
        await curated(harness, clock, days=2, count=1)
        await looked(harness, 2)
        notice = await harness.chat.sees_text("I found 1 thing to tidy up")
        assert notice.is_silent
        assert "The cat is called Mimi" in find_notes(tmp_path).read_text(), "a yes comes first"
        await harness.chat.press("Show suggestions")
        shown = await harness.chat.sees_text("Remove what another note already says.")
        assert "- The cat is called Mimi" in shown.text
        assert "Twice." in shown.text
        await harness.chat.press("Accept 1")
        done = await harness.chat.sees_text("Done:")
        assert "- The cat is called Mimi" in done.text
        assert find_notes(tmp_path).read_text() == render((*NOTES[:2], *NOTES[3:]))
        await harness.chat.says("/curator proposals")
        await harness.chat.sees_text("No suggestion waits for your decision.")
        assert (await harness.read(list_runs))[-1] == "curation", "the cost has a name in /usage"
        await harness.chat.says("/undo")
        await harness.at_rest()
        assert "The cat is called Mimi" in find_notes(tmp_path).read_text()
        paid = len(model.requests)
        await curated(harness, clock, days=7, count=2)
        await looked(harness, 4)
        assert len(model.requests) == paid, "the same notes are not paid for twice"


async def test_a_declined_or_outdated_proposal_changes_nothing(tmp_path: Path) -> None:
    clock = Clock(*START)
    shorten = {"kind": "shorten", "remove": [3, 4], "text": "Rows Tuesday, short answers"}
    model = working(
        ask(
            call("tidy", json.dumps({**shorten, "reason": "Shorter."}), "c1"),
            *TIDY_CALLS,
        )
    )
    async with running(tmp_path, model, now=clock, timings=SOON, **ZONE) as harness:
        await begin(harness, tmp_path)
        await curated(harness, clock, days=2, count=1)
        await looked(harness, 2)
        await harness.chat.says("/curator proposals")
        await harness.chat.sees_text("Say the same in fewer words.")
        await harness.chat.press("Decline 1")
        await harness.chat.sees_text("Declined.")
        left = [note for note in NOTES if note != "Has a cat called Mimi"]
        write_notes(tmp_path, left)
        await harness.chat.press("Show suggestions")
        await harness.chat.sees_text("Remove what another note already says.")
        await harness.chat.press("Accept 1")
        await harness.chat.sees_text("I've left it as it is, because it has changed")
        assert find_notes(tmp_path).read_text() == render(tuple(left)), "the last copy stays"


TIDY_CALLS = [
    call(
        "tidy",
        json.dumps({"kind": "duplicate", "remove": [2], "keep": 1, "reason": "Twice."}),
        "c2",
    )
]


async def test_an_owner_merges_skills_and_takes_it_back_with_one_press(tmp_path: Path) -> None:
    clock, folder = Clock(*START), tmp_path / "skills"
    for name in ("file-notes", "sort-notes"):
        write_skill(folder, name)
    await take_over(tmp_path, "file-notes", "sort-notes", now=clock())
    model = working(MERGE)
    async with running(tmp_path, model, now=clock, timings=SOON, **ZONE) as harness:
        await own(harness)
        await curated(harness, clock, days=2, count=1)
        await looked(harness, 2)
        await harness.chat.sees_text("I found 1 thing")
        await harness.chat.says("/curator proposals")
        shown = await harness.chat.sees_text(
            "Merge the skills “file-notes” and “sort-notes” into “notes”"
        )
        assert "+Sort and file them." in shown.text
        assert "Both keep notes." in shown.text
        stranger = ChatAccount(harness, "2", "Ben")
        await stranger.says("/title Ben")
        assert "No suggestion" in await stranger.says("/curator proposals")
        assert "don't know that suggestion" in await stranger.says("/curator accept 1-0")
        await harness.chat.press("Accept 1")
        await harness.chat.sees_text("the skill “notes” replaces “file-notes” and “sort-notes”")
        assert names_in(folder, "*-notes") == []
        assert (folder / "notes" / "SKILL.md").read_text() == TEXT
        await harness.chat.says("/curator report")
        report = await harness.chat.sees_text("Notes and skills to tidy up")
        assert "The skill “notes” has the new text that you accepted" in report.text
        assert (
            "The skill “sort-notes” moved to the archive, because another skill now does its work"
            in report.text
        )
        await harness.chat.press("Put the skills back as they were")
        await harness.chat.sees_text("I've put these skills back as they were")
        assert names_in(folder, "*notes") == ["file-notes", "sort-notes"]


async def be_killed_at_the_model(home: Path) -> None:
    async def die() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    clock = Clock(*START)
    async with running(home, working([die]), now=clock, timings=SOON, **ZONE) as harness:
        await begin(harness, home)
        clock.move(harness, days=2)
        await asyncio.sleep(PATIENCE)  # the kill comes before


async def test_a_look_that_is_killed_at_the_model_is_made_again(tmp_path: Path) -> None:
    await be_killed(be_killed_at_the_model, tmp_path)
    clock = Clock(*START)
    clock.pass_unseen(days=2)
    async with running(tmp_path, FakeModel(TIDY), now=clock, timings=SOON, **ZONE) as harness:
        await looked(harness, 2)
        await harness.chat.says("/curator", id="later")
        await harness.chat.sees_text("1 suggestion waits for your decision.")


async def test_a_cancelled_curator_finishes_its_snapshot(tmp_path: Path) -> None:
    folder = tmp_path / "skills"
    for number in range(400):
        write_skill(folder, f"mine-{number}")
    async with running(tmp_path, FakeModel()) as harness:
        gateway = harness.gateway
        await make(gateway.database, folder, "old")
        await gateway.database.write(
            "proved", lambda c: skills.set_state(c, name="old", state="active")
        )
        curator = Curator(
            database=gateway.database,
            skills=HomeSkills(
                database=gateway.database,
                catalog=SkillCatalog(folder),
                settings=SkillSettings(stale_days=1, archive_days=2),
            ),
            notices=Notices(gateway.database, gateway.dispatcher),
            learning=gateway.settings.learning,
            enqueue=gateway.dispatcher.enqueue,
            now=lambda: now() + 9 * 86_400_000,
        )
        working = asyncio.create_task(curator.work())
        await harness.until(lambda: any(folder.glob(".snapshots/.*")))
        working.cancel()
        with pytest.raises(asyncio.CancelledError):
            await working
        assert len(list_snapshots(folder)) == 1
        assert not any(folder.glob(".snapshots/.*")), "no thread goes on with it"
