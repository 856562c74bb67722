"""Skills in a running gateway: used by jobs, counted, checked, shown and archived."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agent_core.state.jobs import jobs
from agent_core.state.memory import skills
from agent_core.state.memory.skills import SkillRow
from agent_core.transcript import SKILLED
from gateway.jobs import system_jobs
from tests.agent_core.skills.skill_folders import write_skill, write_text
from tests.fakes.model import FakeModel, say
from tests.integration.accounts import make_owner
from tests.integration.clock import Clock
from tests.integration.harness import Harness, running
from tests.integration.jobs_support import (
    find,
    give_job,
    give_skills,
    greet,
    greeted,
    over,
    runs_of,
    texts,
)
from tests.integration.model_requests import facts_of
from tests.integration.skills.curator import START, ZONE, curated
from tests.integration.skills.own_skills import changes, names_in, take_over
from tests.integration.system_jobs import own_job
from tests.patience import PATIENCE


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "skills"


async def known(harness: Harness, name: str) -> SkillRow | None:
    return await harness.read(lambda c: skills.find(c, name=name))


async def usage_says(folder: Path, name: str, uses: int) -> Mapping[str, Any]:
    """Return `.usage.json`'s entry of a skill once it has `uses` uses."""
    file = folder / ".usage.json"
    async with asyncio.timeout(PATIENCE):
        while True:
            reported = json.loads(file.read_text()) if file.exists() else {}
            if reported.get(name, {}).get("uses") == uses:
                return reported[name]  # type: ignore[no-any-return]
            await asyncio.sleep(0.01)


async def test_a_job_follows_the_homes_skill_and_counts_the_use(
    tmp_path: Path, folder: Path
) -> None:
    write_skill(folder, "tidy", "Sweep first.")
    clock = Clock(*START)
    model = greeted(say("Swept."), say("Swept again."))
    async with running(tmp_path, model, now=clock, **ZONE) as harness:
        await greet(harness)
        job = await give_job(harness, "Tidy up.", "0 8 * * *", kind="prompt")
        await give_skills(harness, job, "tidy")
        clock.move(harness, days=1)
        await over(harness, job, 1)
        told = facts_of(model.requests[-1].messages[0])
        assert f'{SKILLED}"tidy":\nSweep first.' in told
        clock.move(harness, days=1)
        await over(harness, job, 2)
        row = await known(harness, "tidy")
        assert row
        assert (row.uses, row.last_used_at) == (2, clock())
    async with running(tmp_path, model, now=clock, **ZONE):
        assert (await usage_says(folder, "tidy", 2))["state"] == "active"


async def test_a_job_runs_no_draft(tmp_path: Path, folder: Path) -> None:
    write_skill(folder, "tidy", "Sweep first.")
    clock = Clock(*START)
    model = greeted()
    async with running(tmp_path, model, now=clock, **ZONE) as harness:
        await greet(harness)
        job = await give_job(harness, "Tidy up.", "0 8 * * *", kind="prompt")
        await give_skills(harness, job, "tidy")
        await harness.gateway.database.write(
            "test", lambda c: skills.set_state(c, name="tidy", state="draft")
        )
        clock.move(harness, days=1)
        await harness.chat.sees_text("the skill tidy is a draft that no test has proved yet")
        assert len(model.requests) == 1


async def test_an_interrupted_turn_counts_as_one_use(tmp_path: Path, folder: Path) -> None:
    write_skill(folder, "tidy")
    clock = Clock(*START)
    stuck = asyncio.Event()
    cut = {"TALARIA_TURNS__DRAIN_SECONDS": "0"}
    async with running(tmp_path, greeted([stuck.wait]), now=clock, **ZONE, **cut) as harness:
        await greet(harness)
        job = await give_job(harness, "Tidy up.", "0 8 * * *", kind="prompt")
        await give_skills(harness, job, "tidy")
        clock.move(harness, days=1)
        async with asyncio.timeout(PATIENCE):
            while await known(harness, "tidy") is None:
                await asyncio.sleep(0.005)
    async with running(tmp_path, FakeModel(say("Swept.")), now=clock, **ZONE) as harness:
        await over(harness, job, 1)
        row = await known(harness, "tidy")
        assert row
        assert row.uses == 1


async def test_a_job_whose_skill_is_broken_says_what_is_wrong_with_it(
    tmp_path: Path, folder: Path
) -> None:
    write_skill(folder, "tidy", described="")
    clock = Clock(*START)
    async with running(tmp_path, greeted(), now=clock, **ZONE) as harness:
        await greet(harness)
        job = await give_job(harness, "Tidy up.", "0 8 * * *", kind="prompt")
        await give_skills(harness, job, "tidy")
        clock.move(harness, days=1)
        (run,) = await over(harness, job, 1)
        assert run.state == "failed"
        assert "needs a `description`" in run.reason
        row = await known(harness, "tidy")
        assert row
        assert row.uses == 0


async def test_a_hand_edit_is_in_the_ledger_once_a_job_uses_it(
    tmp_path: Path, folder: Path
) -> None:
    place = write_skill(folder, "tidy", "Sweep first.")
    clock = Clock(*START)
    async with running(tmp_path, greeted(say("Swept.")), now=clock, **ZONE) as harness:
        await greet(harness)
        job = await give_job(harness, "Tidy up.", "0 8 * * *", kind="prompt")
        await give_skills(harness, job, "tidy")
        write_text(place, "tidy", "Dust first.")
        clock.move(harness, days=1)
        await over(harness, job, 1)
        assert await harness.read(changes) == [
            ("tidy", "add", "hand", "found at the start"),
            ("tidy", "replace", "hand", f"found when job {job.id} loaded it"),
        ]
    write_text(place, "tidy", "Nothing first.")
    async with running(tmp_path, greeted(), now=clock, **ZONE) as harness:
        assert (await harness.read(changes))[2:] == [
            ("tidy", "replace", "hand", "found at the start")
        ]


async def test_a_damaged_skill_row_is_reported_and_not_fatal(tmp_path: Path, folder: Path) -> None:
    write_skill(folder, "tidy")
    clock = Clock(*START)
    async with running(tmp_path, greeted(), now=clock, **ZONE) as harness:
        await greet(harness)
        job = await give_job(harness, "Tidy up.", "0 8 * * *", kind="prompt")
        await give_skills(harness, job, "tidy")
        await harness.gateway.database.write(
            "test", lambda c: c.execute("UPDATE ledger SET after = 'x' WHERE target = 'skill'")
        )
    async with running(tmp_path, greeted(), now=clock, **ZONE) as harness:
        clock.move(harness, days=1)
        (run,) = await over(harness, job, 1)
        assert run.state == "failed"
        assert "of the ledger is damaged; restore a backup" in run.reason
        clock.move(harness, days=1)
        curator = await own_job(harness, system_jobs.CURATOR)
        async with asyncio.timeout(PATIENCE):
            while not (found := await runs_of(harness, curator.id)) or not found[0].reason:
                await asyncio.sleep(0.005)
        assert "is damaged" in found[0].reason


async def test_owners_get_one_notice_per_fault_of_a_skill(tmp_path: Path, folder: Path) -> None:
    place = write_skill(folder, "tidy", described="")
    clock = Clock(*START)
    async with running(tmp_path, greeted(), now=clock, **ZONE) as harness:
        await greet(harness)
        await make_owner(harness)
        run = await curated(harness, clock, days=2, count=1)
        assert run.reason == "1 skill checked; broken, reported to the owners: tidy"
        shown = await harness.chat.sees_text("A skill is broken")
        assert "needs a `description`" in shown.text
        assert shown.is_silent
        run = await curated(harness, clock, days=7, count=2)
        assert run.reason == "1 skill checked"
        (place / "SKILL.md").unlink()
        await curated(harness, clock, days=7, count=3)
        await harness.chat.sees_text("Skill tidy has no SKILL.md")
        assert (await harness.read(changes))[1:] == [
            ("tidy", "replace", "hand", "found by the curator")
        ]
        write_skill(folder, "neat")
        run = await curated(harness, clock, days=7, count=4)
        assert run.reason == "2 skills checked; new: neat"
        assert sum("is broken" in text for text in texts(harness)) == 2


async def test_unused_skills_are_archived_unless_needed_or_pinned(
    tmp_path: Path, folder: Path
) -> None:
    for name in ("old", "wanted", "pinned", "digest", "mine"):
        write_skill(folder, name)
    write_skill(folder / ".archive", "old", "An earlier one.")
    clock = Clock(*START)
    await take_over(tmp_path, "old", "wanted", "pinned", "digest", now=clock())
    ages = {"TALARIA_SKILLS__STALE_DAYS": "5", "TALARIA_SKILLS__ARCHIVE_DAYS": "10"}
    async with running(tmp_path, greeted(), now=clock, **ZONE, **ages) as harness:
        await greet(harness)
        job = await give_job(harness, "Do.", "2099-01-01T08:00", kind="prompt")
        await give_skills(harness, job, "wanted")
        await curated(harness, clock, days=2, count=1)
        await harness.gateway.database.write(
            "pin", lambda c: skills.pin(c, name="pinned", is_pinned=True)
        )
        run = await curated(harness, clock, days=7, count=2)
        assert run.reason == "5 skills checked; stale: digest, old, pinned, wanted"
        assert not (folder / ".snapshots").exists(), "nothing was moved yet"
        run = await curated(harness, clock, days=7, count=3)
        assert run.reason == "5 skills checked; archived: digest, old as old~2"
        assert names_in(folder) == [
            *(".archive", ".snapshots", ".usage.json", "mine", "pinned", "wanted")
        ]
        (snapshot,) = names_in(folder / ".snapshots")
        copied = names_in(folder / ".snapshots" / snapshot)
        assert copied == ["digest", "mine", "old", "pinned", "wanted"]
        assert names_in(folder / ".archive") == ["digest", "old", "old~2"]
        stale = "state active -> stale: not used for 9 days"
        rows = (await harness.read(changes))[5:]
        assert sorted(rows[:4]) == [
            (name, "replace", "curator", stale) for name in ("digest", "old", "pinned", "wanted")
        ]
        assert rows[4:] == [
            ("digest", "remove", "curator", "not used for 16 days; archived as digest"),
            ("old", "remove", "curator", "not used for 16 days; archived as old~2"),
        ]
        assert (await usage_says(folder, "old", 0))["state"] == "archived"
        assert (await find(harness, job)).state == "active"


async def test_a_skill_that_cannot_be_moved_stays_with_a_reason(
    tmp_path: Path, folder: Path
) -> None:
    write_skill(folder, "old")
    clock = Clock(*START)
    await take_over(tmp_path, "old", now=clock())
    (folder / ".archive").symlink_to("nowhere")
    ages = {"TALARIA_SKILLS__ARCHIVE_DAYS": "5"}
    async with running(tmp_path, greeted(), now=clock, **ZONE, **ages) as harness:
        await curated(harness, clock, days=2, count=1)
        run = await curated(harness, clock, days=7, count=2)
        assert run.reason == "1 skill checked; old could not be archived: File exists"
        row = await known(harness, "old")
        assert row
        assert row.state == "active"
        (folder / ".archive").unlink()
        run = await curated(harness, clock, days=7, count=3)
        assert run.reason == "1 skill checked; archived: old"


async def test_without_a_folder_the_curator_says_so_and_creates_none(
    tmp_path: Path, folder: Path
) -> None:
    clock = Clock(*START)
    async with running(tmp_path, greeted(), now=clock, **ZONE) as harness:
        run = await curated(harness, clock, days=2, count=1)
        assert (run.state, run.reason) == ("done", "the home directory has no skills folder")
    assert names_in(tmp_path, "skills") == []


async def test_a_folder_that_can_not_be_read_is_the_outcome_and_tried_again(
    tmp_path: Path, folder: Path
) -> None:
    clock = Clock(*START)
    write_skill(folder, "old")
    (folder / ".archive").touch()
    async with running(tmp_path, greeted(), now=clock, **ZONE) as harness:
        clock.move(harness, days=2)
        job = await own_job(harness, system_jobs.CURATOR)
        async with asyncio.timeout(PATIENCE):
            while not (found := await runs_of(harness, job.id)) or not found[0].reason:
                await asyncio.sleep(0.005)
        assert (found[0].state, found[0].attempts) == ("waiting", 1)
        assert "Not a directory" in found[0].reason
        (folder / ".archive").unlink()
        clock.move(harness, minutes=5)
        (run,) = await over(harness, job, 1)
        assert (run.state, run.reason) == ("done", "1 skill checked; new: old")


async def test_the_gateways_own_jobs_are_there_and_the_outside_memorys_only_with_one(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, greeted()) as harness:
        found = [job.body for job in await harness.read(jobs.list_system)]
    assert found == ["backup", "curator", "retention"]
