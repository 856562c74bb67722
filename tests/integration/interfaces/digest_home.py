"""A home with Ann, who has a digest, and Bob."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_core.ids import PersonId
from agent_core.schedule import job_editor
from agent_core.schedule.job_editor import JobOwner, JobRequest, JobRules
from agent_core.schedule.triggers import read_cron
from agent_core.state.engine.database import Connection, Database, now
from agent_core.state.jobs import jobs
from agent_core.state.jobs.jobs import Job, JobKind
from agent_core.state.people import people
from gateway.app.settings import load
from gateway.home import DATABASE
from gateway.interfaces.client import perform
from tests.fakes.chat import FakeChat
from tests.integration.served import served

NOW = now()


@dataclass
class CommandLine:
    """A command line on a home with Ann, who has a digest, and Bob."""

    home: Path
    chat: FakeChat

    async def ask(self, operation: str, **asked: object) -> Mapping[str, Any]:
        given = {"TALARIA_HOME": str(self.home), "TALARIA_PEOPLE__TIME_ZONE": "Europe/Berlin"}
        return await asyncio.to_thread(
            perform, self.home, f"jobs.{operation}", asked, load_settings=lambda: load(given)
        )

    async def read(self, number: int) -> Job:
        """Return a stored job."""
        database = await Database.open(self.home / DATABASE)
        try:
            found = await database.read(lambda c: find(c, number))
        finally:
            await database.close()
        assert found
        return found


def find(connection: Connection, number: int) -> Job | None:
    return next(
        (
            job
            for person in people.list_all(connection)
            for job in jobs.list_of_person(connection, person_id=person.id)
            if job.id == number
        ),
        None,
    )


def add_people(connection: Connection) -> None:
    """Store Ann, Bob, and Ann's digest."""
    ann = people.insert(connection, slug="ann", name="Ann", role="owner", now=0)
    people.insert(connection, slug="bob", name="Bob", role="member", now=0)
    make(connection, ann.id)


def make(
    connection: Connection, person_id: PersonId, title: str = "Digest", kind: JobKind = "prompt"
) -> Job:
    wish = JobRequest(kind=kind, title=title, body=f"Say *{title}*.", timing=read_cron("0 8 * * 1"))
    whose = JobOwner(person_id=person_id, room_id=None, actor="test")
    rules = JobRules()
    new = job_editor.draft_job(wish, whose, zone="Europe/Berlin", rules=rules, now=NOW)
    return job_editor.create_job(connection, new, rules=rules, now=NOW)


async def write(home: Path, *works: Callable[[Connection], object]) -> None:
    database = await Database.open(home / DATABASE)
    for work in works:
        await database.write("test", work)
    await database.close()


@asynccontextmanager
async def cli(
    home: Path, how: str, *works: Callable[[Connection], object]
) -> AsyncIterator[CommandLine]:
    """A command line with or without a running gateway."""
    await write(home, add_people, *works)
    chat = FakeChat()
    if how == "running":
        async with served(home, adapters={"fake": chat}):
            yield CommandLine(home, chat)
    else:
        yield CommandLine(home, chat)
