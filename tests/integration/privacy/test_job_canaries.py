"""Deleted jobs and their output are in no byte of any file."""

from pathlib import Path

from agent_core.schedule import job_editor
from agent_core.state.engine.database import Connection
from gateway.texts import privacy
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel, ask, call, say
from tests.integration.accounts import ChatAccount, count
from tests.integration.canaries import search
from tests.integration.clock import Clock
from tests.integration.harness import Harness, running
from tests.integration.jobs_support import give_job, greet, greeted, looked
from tests.integration.privacy.deletions import settled

NOON = (2026, 11, 20, 12, 0)
SETTINGS = {"TALARIA_PEOPLE__TIME_ZONE": "Europe/Berlin"}
SLOT = "2026-11-20T14:00"
FAMILY = "bluefish"
PLACES = ("message", "prompt", "script", "answer", "kept", "failure", "spoken", "told", "middle")


def words() -> set[str]:
    return {f"{FAMILY}{place}" for place in PLACES}


def model() -> FakeModel:
    """Note something in a job's turn, then answer."""
    note = '{"action": "insert", "text": "Kept bluefishkept"}'
    return greeted(ask(call("archive", note)), say("All about bluefishanswer."))


async def plant(harness: Harness, clock: Clock) -> None:
    """Store jobs of each kind, one that fails, and deferred messages."""
    ana = ChatAccount(harness, "1", "Ana")
    await greet(harness)
    for text, slot, kind in (
        ("Mind bluefishtold", "2026-11-20T13:30", "message"),
        ("Mind bluefishmessage", SLOT, "message"),
        ("echo bluefishspoken # bluefishscript", SLOT, "script"),
        ("echo bluefishfailure >&2; exit 3", SLOT, "script"),
        ("seq 2000; printf 'blue%s\n' fishmiddle; seq 2000", SLOT, "script"),
        ("Tell me of bluefishprompt", SLOT, "prompt"),
    ):
        await give_job(harness, text, slot, kind=kind)  # type: ignore[arg-type]
    clock.move(harness, minutes=45)
    await looked(harness)
    await harness.chat.sees_text("bluefishtold")
    await ana.says("/settings quiet_hours 13:50-18:00")
    clock.move(harness, minutes=20)
    await looked(harness)


async def test_every_place_of_a_job_has_a_canary(tmp_path: Path) -> None:
    clock = Clock(*NOON)
    async with running(tmp_path, model(), chat=FakeChat(), now=clock, **SETTINGS) as harness:
        await plant(harness, clock)
        assert await count(harness, "deferred_messages") > 0
    assert {line.split()[0] for line in search(tmp_path, *words())} == words()


async def test_job_data_is_forgotten(tmp_path: Path) -> None:
    clock = Clock(*NOON)
    async with running(tmp_path, model(), chat=FakeChat(), now=clock, **SETTINGS) as harness:
        ana = ChatAccount(harness, "1", "Ana")
        await plant(harness, clock)
        await ana.says("/forget bluefish")
        await ana.presses(privacy.FORGET_ALL())
        await settled(harness)
        assert await count(harness, "deferred_messages", "body LIKE '%bluefish%'") == 0
    assert search(tmp_path, FAMILY) == []


async def test_job_data_is_erased_with_its_person(tmp_path: Path) -> None:
    clock = Clock(*NOON)
    async with running(tmp_path, model(), chat=FakeChat(), now=clock, **SETTINGS) as harness:
        ana = ChatAccount(harness, "1", "Ana")
        await plant(harness, clock)
        await ana.says("/erase me")
        await ana.presses(privacy.ERASE_YES())
        await ana.presses(privacy.ERASE_SURE())
        await settled(harness)
        assert await count(harness, "deferred_messages") == 0
        assert await count(harness, "jobs", "kind <> 'system' AND state <> 'dropped'") == 0
    assert search(tmp_path, FAMILY) == []


async def test_a_former_version_of_a_job_is_forgotten_without_the_job(tmp_path: Path) -> None:
    clock = Clock(*NOON)
    async with running(tmp_path, model(), chat=FakeChat(), now=clock, **SETTINGS) as harness:
        ana = ChatAccount(harness, "1", "Ana")
        await greet(harness)
        made = await give_job(harness, "Mind the bluefishformer", SLOT, kind="message")
        wish = job_editor.JobRequest(title="Mind", body="Mind the cat")

        def change(connection: Connection) -> None:
            changed = job_editor.redraft_job(made, wish, rules=job_editor.JobRules(), now=clock())
            job_editor.change_job(connection, changed, clock())

        await harness.gateway.database.write("test", change)
        assert await count(harness, "job_versions") == 1
        await ana.says("/forget bluefishformer")
        await ana.presses(privacy.FORGET_ALL())
        await settled(harness)
        assert await count(harness, "job_versions") == 0
        assert await count(harness, "jobs", "body = 'Mind the cat' AND state = 'active'") == 1
    assert search(tmp_path, "bluefishformer") == []
