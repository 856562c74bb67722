"""Forgetting in jobs, blocks and rooms: the person's data goes, that of others stays."""

import json
from pathlib import Path

from agent_core.chats import Chat
from agent_core.ids import PersonId
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import job_runs, jobs
from agent_core.state.jobs.jobs import NewJob, Options
from agent_core.state.people import people
from agent_core.state.queues import deferred_messages
from agent_core.state.queues.deferred_messages import NewDeferredMessage
from gateway.texts import privacy
from tests.fakes.model import ask, call, say
from tests.integration.accounts import ChatAccount, count, make_owner, two_accounts
from tests.integration.canaries import Planter, make_chat, search
from tests.integration.harness import Harness, running
from tests.integration.privacy.deletions import settled

ROOM = {"chat": "room", "direct": False, "room_title": "Kitchen"}

YEAR = 365 * 24 * 3_600_000


def _job(person_id: PersonId, title: str, body: str) -> NewJob:
    return NewJob(
        person_id=person_id,
        room_id=None,
        kind="message",
        title=title,
        body=body,
        timing='{"kind":"once","at":99999999999999}',
        zone="UTC",
        late="catch_up",
        options=Options(),
        targets=(),
        is_urgent=False,
        next_slot=None,
        actor="test",
    )


async def plant_jobs(harness: Harness, account: ChatAccount, word: str) -> None:
    """Store jobs with a word: one plain, one failed, one unrelated; and deferred messages."""

    def work(connection: Connection) -> None:
        person = people.find_by_account(connection, platform="fake", user_id=account.user)
        assert person
        about = jobs.insert(connection, _job(person.id, "Water", f"Feed the {word}"), now=1)
        failed = jobs.insert(connection, _job(person.id, "News", "Read the news"), now=1)
        runs = [
            job_runs.claim(connection, job_id=job.id, slot=("a", 1), due_at=YEAR * 99, now=1)
            for job in (about, failed)
        ]
        assert runs[1]
        job_runs.end(connection, run_id=runs[1], state="failed", now=1, reason=f"No {word} there")
        heard = job_runs.claim_event(
            connection, job_id=failed.id, key=f"message:{person.id}", text=f"A {word} came", now=1
        )
        connection.execute("UPDATE job_runs SET due_at = ? WHERE id = ?", (YEAR * 99, heard))
        for body, run_id in ((f"Fed the {word}", runs[0]), (f"Also {word}", None), ("Good", None)):
            kept = NewDeferredMessage(
                person_id=person.id,
                chat=Chat(platform="fake", address="elsewhere"),
                title="Held",
                body=body,
                release_at=YEAR * 99,
                run_id=run_id,
            )
            deferred_messages.defer(connection, kept, now=1)

    await harness.gateway.database.write("plant", work)


async def forget(account: ChatAccount, word: str, label: str = privacy.FORGET_ALL()) -> str:
    said = await account.says(f"/forget {word}")
    await account.presses(label)
    await settled(account.harness)
    return said


async def test_jobs_and_deferred_messages_are_forgotten(tmp_path: Path) -> None:
    async with running(tmp_path, Planter(), chat=make_chat()) as harness:
        ana, ben = two_accounts(harness)
        for account, word in ((ana, "bluefish"), (ben, "redfish")):
            await account.says("hello")
            await plant_jobs(harness, account, word)
        assert "- Reminders: 1\n" in await forget(ana, "bluefish")
        assert await count(harness, "jobs", "kind = 'message'") == 3
        assert await count(harness, "deferred_messages") == 4
        assert await count(harness, "job_runs", "job_id IN (SELECT id FROM jobs)") == 5
    assert search(tmp_path, "bluefish") == []
    assert search(tmp_path, "redfish") != []


async def test_forgetting_entries_keeps_jobs(tmp_path: Path) -> None:
    model = Planter()
    async with running(tmp_path, model, chat=make_chat()) as harness:
        ana = ChatAccount(harness, "4711001", "Zebrana")
        model.plays += [ask(call("memory", add("user", "Has a bluefish"), "note"))]
        await ana.says("note it")
        await plant_jobs(harness, ana, "bluefish")
        await forget(ana, "bluefish", privacy.FORGET_ENTRIES())
        assert await count(harness, "ledger", "after LIKE '%bluefish%'") == 0
        assert await count(harness, "jobs", "body LIKE '%bluefish%'") == 1


def add(target: str, text: str) -> str:
    return json.dumps({"action": "add", "target": target, "text": text})


async def test_a_private_block_is_forgotten_even_when_dropped(
    tmp_path: Path,
) -> None:
    model = Planter()
    async with running(tmp_path, model, chat=make_chat()) as harness:
        ana = ChatAccount(harness, "4711001", "Zebrana")
        await ana.says("hello")
        for label in ("diary", "letters"):
            await ana.says(f"/block new {label} 500 about the bluefish")
            model.plays += [ask(call("memory", add(f"block:{label}", "The bluefish swims"), label))]
            await ana.says("note it")
        await ana.says("/block drop letters yes")
        assert "- Notes: 2\n" in await forget(ana, "bluefish")
        assert "diary" in await ana.says("/block")
    assert search(tmp_path, "bluefish") == []


async def test_of_shared_entries_only_the_evidence_is_forgotten(
    tmp_path: Path,
) -> None:
    model = Planter()
    async with running(tmp_path, model, chat=make_chat()) as harness:
        ana, ben = two_accounts(harness)
        await ana.says("hello")
        await ben.says("hello")
        await ana.says("/block new market 500 what we need")
        await ana.says("/block share market with Benedikt")
        model.plays += [ask(call("memory", add("block:market", "Fish, a blue one"), "m"))]
        await ana.says("put a bluefish down")
        assert await count(harness, "ledger", "evidence LIKE '%bluefish%'") == 1
        await forget(ana, "bluefish")
        assert "Fish, a blue one" in await ben.says("/block market")
    assert search(tmp_path, "bluefish") == []


async def test_messages_in_a_shared_conversation_are_forgotten(
    tmp_path: Path,
) -> None:
    model = Planter()
    async with running(tmp_path, model, chat=make_chat()) as harness:
        ana, ben = two_accounts(harness)
        await ana.says("hello")
        await make_owner(harness, ana.user)
        await ana.says("/room room", **ROOM)
        model.plays += [say("A bluefish, then.")]
        await ana.says("we eat bluefish", **ROOM)
        model.plays += [say("A redfish, then.")]
        await ben.says("we eat redfish", **ROOM)
        await forget(ana, "bluefish")
        assert await ana.says("/forget redfish") == privacy.FORGET_NOTHING()
        assert await count(harness, "messages", "forgotten_at IS NOT NULL") == 2
    assert search(tmp_path, "bluefish") == []
    assert search(tmp_path, "redfish") != []


async def test_an_erased_person_leaves_nothing_in_dropped_blocks(tmp_path: Path) -> None:
    model = Planter()
    async with running(tmp_path, model, chat=make_chat()) as harness:
        ana, ben = two_accounts(harness)
        for account, word in ((ana, "bluefish"), (ben, "redfish")):
            await account.says("hello")
            await account.says(f"/block new {word} 500 about the {word}")
            model.plays += [ask(call("memory", add(f"block:{word}", f"The {word} swims"), word))]
            await account.says("note it")
            await account.says(f"/block drop {word} yes")
        await ana.says("/erase me")
        await ana.presses(privacy.ERASE_YES())
        await ana.presses(privacy.ERASE_SURE())
        await settled(harness)
    assert search(tmp_path, "bluefish") == []
    assert {line.split()[1] for line in search(tmp_path, "redfish")} >= {
        "memories/blocks/redfish/MEMORY.md",
        "state.db",
    }


async def test_shared_entries_of_others_stay_even_if_identical(
    tmp_path: Path,
) -> None:
    model = Planter()
    async with running(tmp_path, model, chat=make_chat()) as harness:
        ana, ben = two_accounts(harness)
        await ben.says("/block new market 500 what we need")
        await ana.says("hello")
        await ben.says("/block share market with Zebrana")
        model.plays += [ask(call("memory", add("block:market", "bread"), "m"))]
        await ana.says("bread")
        await ana.says("/erase me")
        await ana.presses(privacy.ERASE_YES())
        await ana.presses(privacy.ERASE_SURE())
        await settled(harness)
        assert await count(harness, "ledger", "after = 'bread' AND evidence = ''") == 1
        edit = json.dumps({"action": "remove", "target": "block:market", "old": "bread"})
        model.plays += [ask(call("memory", edit, "m"))]
        await ben.says("we have bread")
        assert (await ben.says("/block market")).endswith("\nThis block is empty.")


async def test_an_unreadable_file_delays_only_its_person_with_one_notice(tmp_path: Path) -> None:
    model = Planter()
    async with running(tmp_path, model, chat=make_chat()) as harness:
        ana, ben = two_accounts(harness)
        for account, word in ((ana, "bluefish"), (ben, "redfish")):
            model.plays += [ask(call("memory", add("memory", f"Likes {word}"), "m"))]
            await account.says(f"I like {word}")
        path = tmp_path / "memories" / "people" / "zebrana" / "MEMORY.md"
        path.unlink()
        path.mkdir()
        await ana.says("/forget bluefish")
        await ana.presses(privacy.FORGET_ALL())
        await harness.chat.until(
            lambda: [one.text for one in harness.chat.shown].count(privacy.FORGET_STUCK()) == 1
        )
        await ben.says("/forget redfish")
        await ben.presses(privacy.FORGET_ALL())
        await harness.chat.until(
            lambda: any(one.text.startswith("Deleted:\n- Notes: 1\n") for one in harness.chat.shown)
        )
        path.rmdir()
    async with running(tmp_path, model, chat=make_chat()) as harness:
        await settled(harness)
        assert [
            one.text for one in harness.chat.shown if one.text.startswith("Deleted:\n- Notes: 1\n")
        ]
    assert search(tmp_path, "bluefish", "redfish") == []
