"""Conversations of jobs stay the same when people are linked or unlinked."""

from dataclasses import replace
from pathlib import Path

import pytest

from agent_core.ids import ConversationId, PersonId
from agent_core.schedule import job_editor
from agent_core.schedule.job_editor import JobOwner, JobRequest, JobRules
from agent_core.schedule.triggers import read_cron
from agent_core.state.conversations.sessions import Conversation, ConversationKind
from agent_core.state.engine.database import Connection
from agent_core.state.jobs.jobs import Job, Target
from agent_core.state.people import rooms
from gateway.conversation_keys import rename_conversation
from tests.fakes.model import FakeModel, say
from tests.integration.accounts import ChatAccount
from tests.integration.clock import Clock
from tests.integration.harness import Harness, running
from tests.integration.jobs_support import ana, looked, over

SETTINGS = {"TALARIA_PEOPLE__TIME_ZONE": "Europe/Berlin"}
DEN = Target(kind="place", platform="fake", chat='["den",null,false]')
HOURLY = read_cron("30 * * * *")


async def make(harness: Harness, clock: Clock) -> tuple[Job, PersonId, int]:
    """Store a job of Bob's in the den; return his number and the room's."""

    def work(connection: Connection) -> tuple[Job, PersonId, int]:
        room = rooms.find(connection, platform="fake", chat_id="den")
        assert room
        whose = JobOwner(person_id=ana(connection, "2"), room_id=room.id, actor="test")
        wish = JobRequest(title="Three things", body="Name three.", timing=HOURLY, targets=(DEN,))
        new = job_editor.draft_job(wish, whose, zone="Europe/Berlin", rules=JobRules(), now=clock())
        made = job_editor.create_job(connection, new, rules=JobRules(), now=clock())
        return made, whose.person_id, room.id

    made = await harness.gateway.database.write("test", work)
    harness.gateway.wake_jobs()
    return made


async def dialogues(harness: Harness) -> list[tuple[str, int, int]]:
    """Return the conversations of jobs: key, person, number of turns."""
    query = (
        "SELECT key, person_id, (SELECT COUNT(*) FROM turns"
        " WHERE turns.conversation_id = conversations.id) FROM conversations"
        " WHERE key LIKE 'job:%' ORDER BY id"
    )
    return await harness.read(lambda c: c.execute(query).fetchall())


async def test_a_rooms_job_keeps_its_conversation_through_linking(
    tmp_path: Path,
) -> None:
    clock = Clock(2026, 11, 20, 12, 0)
    model = FakeModel(*[say("Hello.") for _ in range(2)])
    async with running(tmp_path, model, now=clock, **SETTINGS) as harness:
        one, two = ChatAccount(harness, "1", "Ana"), ChatAccount(harness, "2", "Bob")
        await one.says("hi")
        await two.says("hi", chat="den", direct=False)
        job, bob, room = await make(harness, clock)

        async def runs(count: int) -> list[tuple[str, int, int]]:
            model.plays.append(say("Bread, milk and tea."))
            clock.move(harness, hours=1)
            await over(harness, job, count)
            await looked(harness)
            return await dialogues(harness)

        assert await runs(1) == [(f"job:{job.id}:{bob}:{room}", bob, 1)]
        await one.joins(two)
        memory_owner = await one.person()
        assert memory_owner
        assert memory_owner.id != bob
        joined = [(f"job:{job.id}:{memory_owner.id}:{room}", memory_owner.id)]
        assert [row[:2] for row in await dialogues(harness)] == joined
        assert await runs(2) == [(*joined[0], 2)]
        await one.says("/unlink 2")
        back = await two.person()
        assert back
        assert back.id == bob
        found = await runs(3)
        assert sum(turns for *_, turns in found) == 3
        assert {key for key, *_ in found} <= {
            f"job:{job.id}:{person}:{room}" for person in (bob, memory_owner.id)
        }
        assert all(key.split(":")[2] == str(person) for key, person, _ in found)


@pytest.mark.parametrize(
    ("kind", "key", "renamed"),
    [
        ("direct", "direct:2", "direct:3"),
        ("room", "room:slack:C2:2:2", "room:slack:C2:2:3"),
        ("job", "job:5:2", "job:5:3"),
        ("job", "job:2:2:2", "job:2:3:2"),
        ("job", "job:5:2:7", "job:5:3:7"),
        ("job", "job:5:1:7:2", "job:5:1:7:3"),
    ],
)
def test_a_moved_conversation_gets_its_new_persons_key(
    kind: ConversationKind, key: str, renamed: str
) -> None:
    old, new = PersonId(2), PersonId(3)
    before = Conversation(id=ConversationId(1), key=key, kind=kind, person_id=old, scope="p2")
    assert rename_conversation(before, old=old, new=new) == renamed
    after = replace(before, key=renamed, person_id=new)
    assert rename_conversation(after, old=new, new=old) == key
