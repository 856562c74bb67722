"""What people decide about the curator's proposals, twice, at a bad moment, or after a change."""

import asyncio
import json
from pathlib import Path

import pytest

from agent_core.memory.files import render
from agent_core.skills.intents import has_written_all
from agent_core.state.engine.database import Connection
from agent_core.state.people import people
from agent_core.state.queues import curations
from gateway.texts import privacy
from tests.agent_core.skills.curation import crashing
from tests.agent_core.skills.curation.crashing import MERGED, MOMENTS
from tests.agent_core.skills.skill_folders import write_skill
from tests.fakes.model import FakeModel, ask, call, say
from tests.integration.accounts import ChatAccount, count
from tests.integration.clock import Clock
from tests.integration.harness import Harness, running
from tests.integration.jobs_support import greeted, over
from tests.integration.privacy.deletions import settled
from tests.integration.processes import be_killed
from tests.integration.skills.curator import (
    MERGE,
    NOTES,
    START,
    TIDY,
    ZONE,
    begin,
    curated,
    find_notes,
    looked,
)
from tests.integration.skills.own_skills import SOON, changes, names_in, own, take_over
from tests.integration.system_jobs import own_job
from tests.patience import PATIENCE

_BY_LOOKS = "call_key LIKE 'curation:%'"
BOTH = ask(
    call("tidy", json.dumps({"kind": "duplicate", "remove": [2], "keep": 1, "reason": "Twice."})),
    call(
        "tidy",
        json.dumps(
            {
                "kind": "shorten",
                "remove": [3, 4],
                "text": "Rows Tuesday, short answers",
                "reason": "Shorter.",
            }
        ),
        "c2",
    ),
)


async def list_keys(harness: Harness) -> list[str]:
    """Return the names of all proposals, as commands take them."""

    def look(connection: Connection) -> list[str]:
        rows = connection.execute(
            "SELECT id, payload FROM tasks WHERE kind = :kind ORDER BY id", {"kind": curations.KIND}
        )
        return [
            f"{task_id}-{number}"
            for task_id, payload in rows
            for number in range(len(json.loads(payload)["proposals"]))
        ]

    return await harness.read(look)


async def test_each_accepted_change_says_how_to_undo_it_and_is_made_once(tmp_path: Path) -> None:
    clock = Clock(*START)
    async with running(tmp_path, greeted(BOTH), now=clock, timings=SOON, **ZONE) as harness:
        await begin(harness, tmp_path)
        await curated(harness, clock, days=2, count=1)
        await looked(harness, 2)
        first, second = await list_keys(harness)
        account = ChatAccount(harness, "1", "Ana")
        removed = await account.says(f"/curator accept {first}")
        assert removed == (
            "Done:\n\n```\n- The cat is called Mimi\n```\n\n/undo 7 takes this back."
        )
        told = await account.says(f"/curator accept {second}")
        assert "- Rows every Tuesday" in told
        assert "- Likes short answers" in told
        assert "+ Rows Tuesday, short answers" in told
        assert "To take this back, send these one after the other: /undo 9 and /undo 8." in told
        tidied = find_notes(tmp_path).read_text()
        rows = await count(harness, "ledger", _BY_LOOKS)
        assert rows == 3
        assert await account.says(f"/curator accept {second}") == told
        assert await account.says(f"/curator accept {first}") == removed
        assert await count(harness, "ledger", _BY_LOOKS) == rows
        assert find_notes(tmp_path).read_text() == tidied
        await account.says("/undo 7")
        assert "The cat is called Mimi" in find_notes(tmp_path).read_text(), "not the newest one"
        assert "Rows Tuesday, short answers" in find_notes(tmp_path).read_text()
        await account.says("/undo 9")
        await account.says("/undo 8")
        assert sorted(find_notes(tmp_path).read_text().splitlines()) == sorted(
            render(tuple(NOTES)).splitlines()
        )


async def test_two_owners_who_accept_a_merge_at_once_make_it_once(tmp_path: Path) -> None:
    clock, folder = Clock(*START), tmp_path / "skills"
    for name in ("file-notes", "sort-notes"):
        write_skill(folder, name)
    await take_over(tmp_path, "file-notes", "sort-notes", now=clock())
    async with running(tmp_path, greeted(MERGE), now=clock, timings=SOON, **ZONE) as harness:
        await own(harness)
        ben = ChatAccount(harness, "2", "Ben")
        await ben.says("/title Ben")
        person = await ben.person()
        assert person
        await curated(harness, clock, days=2, count=1)
        await looked(harness, 3)
        await harness.gateway.database.write(
            "owner", lambda c: people.make_owner(c, person_id=person.id)
        )
        harness.gateway.identity.forget_known()
        (key,) = await list_keys(harness)
        ana = ChatAccount(harness, "1", "Ana")
        await asyncio.gather(*(one.says(f"/curator accept {key}") for one in (ana, ben)))
        rows = await harness.read(changes)
        merged = [row for row in rows if row[2] == "curator" and row[0] == "notes"]
        assert [row[1] for row in merged].count("add") == 1
        assert names_in(folder, "*notes") == ["notes"]
        assert names_in(folder / ".archive") == ["file-notes", "sort-notes"]
        assert "You accepted this already." in await ben.says(f"/curator accept {key}")
        assert await harness.read(changes) == rows


@pytest.mark.process
@pytest.mark.parametrize("moment", MOMENTS)
async def test_a_merge_that_was_killed_is_whole_after_the_next_start(
    tmp_path: Path, moment: str
) -> None:
    clock, folder = Clock(*START), tmp_path / "skills"
    for name in ("file-notes", "sort-notes"):
        write_skill(folder, name)
    await take_over(tmp_path, "file-notes", "sort-notes", now=clock())
    await be_killed(crashing.main, tmp_path, moment)
    moved = {"second": 1, "written": 2}.get(moment, 0)
    assert len(names_in(folder / ".archive")) == moved
    async with running(tmp_path, FakeModel(), now=clock, timings=SOON, **ZONE) as harness:
        assert names_in(folder, "*notes") == ["notes"]
        assert (folder / "notes" / "SKILL.md").read_text() == MERGED
        assert names_in(folder / ".archive") == ["file-notes", "sort-notes"]
        rows = await harness.read(changes)
        assert [row[:3] for row in rows if row[2] == "curator" and row[1] != "replace"] == [
            ("notes", "add", "curator"),
            ("file-notes", "remove", "curator"),
            ("sort-notes", "remove", "curator"),
        ]
        assert not [row for row in rows if row[2] == "hand"], "no file differs from the ledger"
        assert await harness.read(has_written_all)


async def test_the_curator_runs_when_an_owner_asks_for_it(tmp_path: Path) -> None:
    clock = Clock(*START)
    async with running(tmp_path, greeted(TIDY), now=clock, timings=SOON, **ZONE) as harness:
        await begin(harness, tmp_path)
        await harness.chat.says("/curator run")
        await harness.chat.sees_text("I'm looking through notes and skills.")
        await over(harness, await own_job(harness, "curator"), 1)
        await looked(harness, 2)
        await harness.chat.sees_text("I found 1 thing to tidy up")
        ben = ChatAccount(harness, "2", "Ben")
        await ben.says("/title Ben")
        assert "looking through what I remember about you" in await ben.says("/curator run")
        await looked(harness, 3)
        job = await own_job(harness, "curator")
        assert len(await over(harness, job, 1)) == 1, "only an owner starts the job"


async def test_a_forgotten_word_leaves_the_proposals_too(tmp_path: Path) -> None:
    clock = Clock(*START)
    async with running(tmp_path, greeted(TIDY), now=clock, timings=SOON, **ZONE) as harness:
        await begin(harness, tmp_path)
        await curated(harness, clock, days=2, count=1)
        await looked(harness, 2)
        (key,) = await list_keys(harness)
        account = ChatAccount(harness, "1", "Ana")
        await account.says("/forget Mimi")
        await account.presses(privacy.FORGET_ALL())
        await settled(harness)
        assert await count(harness, "tasks", "payload LIKE '%Mimi%'") == 0
        assert await list_keys(harness) == []
        assert await account.says("/curator proposals") == "No suggestion waits for your decision."
        assert "don't know that suggestion" in await account.says(f"/curator accept {key}")
        assert "Mimi" not in find_notes(tmp_path).read_text()


async def test_a_look_waits_while_the_person_talks(tmp_path: Path) -> None:
    clock, answering = Clock(*START), asyncio.Event()
    model = greeted([answering.wait, *say("At last.")], TIDY)
    async with running(tmp_path, model, now=clock, timings=SOON, **ZONE) as harness:
        await begin(harness, tmp_path)
        await harness.chat.says("tell me a long story")
        await harness.until(lambda: model.streaming == 1)
        clock.move(harness, days=2)
        await over(harness, await own_job(harness, "curator"), 1)
        waits = f"kind = 'curation' AND state = 'owed' AND due_at > {clock()}"
        async with asyncio.timeout(PATIENCE):
            while not await count(harness, "tasks", waits):
                await asyncio.sleep(0.01)
        assert len(model.requests) == 2, "no call of the look"
        answering.set()
        await harness.chat.sees_text("At last.")
        clock.pass_unseen(minutes=1)
        await looked(harness, 2)
        texts = [shown.text for shown in harness.chat.shown]
        assert texts.index("At last.") < next(
            number for number, text in enumerate(texts) if "to tidy up" in text
        )


async def test_linked_accounts_keep_what_was_proposed_to_both(tmp_path: Path) -> None:
    clock = Clock(*START)
    model = greeted(TIDY)
    async with running(tmp_path, model, now=clock, timings=SOON, **ZONE) as harness:
        ana, ben = ChatAccount(harness, "1", "Ana"), ChatAccount(harness, "2", "Ben")
        await own(harness)
        await ben.says("/title Ben")
        person = await ben.person()
        assert person
        notes = tmp_path / "memories" / "people" / person.slug / "USER.md"
        notes.parent.mkdir(parents=True)
        notes.write_text(render(tuple(NOTES)))
        await curated(harness, clock, days=2, count=1)
        await looked(harness, 3)
        paid = len(model.requests)
        (key,) = await list_keys(harness)
        await ana.joins(ben)
        kept = await ana.person()
        assert kept
        assert kept.id != person.id, "what Ben had moves"
        assert "1 suggestion waits for your decision." in await ana.says("/curator")
        await curated(harness, clock, days=7, count=2)
        await looked(harness, 5)
        assert len(model.requests) == paid, "the same notes are not paid for twice"
        assert "/undo" in await ana.says(f"/curator accept {key}")
        listed = await ana.says("/memory")
        assert NOTES[1] in listed
        assert NOTES[2] not in listed
