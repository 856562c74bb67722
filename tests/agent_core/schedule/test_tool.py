"""The tools for jobs beside others that change the same job."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from agent_core.errors import ToolArgumentError
from agent_core.ids import CallId, JobId, PersonId, RoomId, TurnId
from agent_core.schedule import job_editor
from agent_core.schedule.job_editor import JobAlreadyRunning, JobOwner, JobRequest, JobRules
from agent_core.schedule.rules import Spans
from agent_core.schedule.specs import MANAGE_JOBS
from agent_core.schedule.tool import JobTool
from agent_core.schedule.triggers import load_timing, read_cron
from agent_core.state.conversations.questions import Choice
from agent_core.state.engine.database import Connection, Database
from agent_core.state.jobs import job_runs, jobs
from agent_core.state.jobs.jobs import Job
from agent_core.tools.contract import ToolContext
from agent_core.tools.user_questions import Answer, UserPrompt
from tests.agent_core.state.rows import Dialogue, add_dialogue, add_person, add_turn
from tests.databases import open_database
from tests.patience import PATIENCE

NOW = 1_790_000_000_000
"""In September 2026."""
RULES = JobRules()


class Person:
    """Chooses a button if one is expected; otherwise nothing needs to be asked.

    As the contract says, a call that asks again gets the answer of its first question.
    """

    def __init__(self) -> None:
        self.chooses = ""
        self.asked: list[UserPrompt] = []
        self._chosen: dict[str, Choice] = {}

    async def ask(self, inquiry: UserPrompt) -> Choice | Answer:
        assert self.chooses, inquiry.text
        if inquiry.call_id not in self._chosen:
            self.asked.append(inquiry)
            chosen = next(one for one in inquiry.choices if one.label == self.chooses)
            self._chosen[inquiry.call_id] = chosen
        return self._chosen[inquiry.call_id]


class NoCalendars:
    """A reader for people without a calendar."""

    async def read(self, at: str, *, person_id: PersonId, room_id: RoomId | None) -> Spans:
        raise ToolArgumentError("there is no such file")


class Desk:
    """Ann in a turn, with a job of every morning."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.person = Person()
        self._tool = JobTool(
            MANAGE_JOBS,
            database,
            self.person,
            zone="Europe/Berlin",
            rules=RULES,
            changed=lambda: None,
            name_places=lambda *_: ["here"],
            calendars=NoCalendars(),
        )

    async def open(self) -> "Desk":
        def work(connection: Connection) -> tuple[Dialogue, TurnId, Job]:
            dialogue = add_dialogue(connection, add_person(connection))
            request = JobRequest(
                kind="message", body="Good morning.", timing=read_cron("0 8 * * *")
            )
            whose = JobOwner(person_id=dialogue.person.id, room_id=None, actor="test")
            job = job_editor.draft_job(request, whose, zone="Europe/Berlin", rules=RULES, now=NOW)
            made = job_editor.create_job(connection, job, rules=RULES, now=NOW)
            return dialogue, add_turn(connection, dialogue), made

        self._dialogue, self._turn_id, self.job = await self.database.write("open", work)
        return self

    async def asks(
        self,
        action: str,
        call_id: str = "c1",
        *,
        said: str = "",
        job: JobId | str | None = None,
        **more: object,
    ) -> str:
        context = ToolContext(
            person_id=self._dialogue.person.id,
            owner_id=self._dialogue.person.id,
            memory_owner=None,
            conversation_id=self._dialogue.conversation.id,
            scope="",
            turn_id=self._turn_id,
            call_id=CallId(call_id),
            now=NOW,
            evidence=said,
        )
        given = {"action": action, "job": job or self.job.id, **more}
        return (await self._tool.run(given, context)).text

    async def adds(self, body: str) -> Job:
        """Add another daily message of Ann."""

        def work(connection: Connection) -> Job:
            request = JobRequest(kind="message", body=body, timing=read_cron("0 9 * * *"))
            whose = JobOwner(person_id=self._dialogue.person.id, room_id=None, actor="test")
            job = job_editor.draft_job(request, whose, zone="Europe/Berlin", rules=RULES, now=NOW)
            return job_editor.create_job(connection, job, rules=RULES, now=NOW)

        return await self.database.write("add", work)

    async def asks_while(self, change: Callable[[Connection], object], action: str) -> str:
        """Ask while a change is being written that nobody can see yet."""
        is_asked = threading.Event()

        def work(connection: Connection) -> None:
            assert is_asked.wait(20)
            change(connection)

        changing = asyncio.create_task(self.database.write("change", work))
        asking = asyncio.create_task(self.asks(action))
        try:
            async with asyncio.timeout(PATIENCE):
                while not self.is_queued():
                    await asyncio.sleep(0.001)
        finally:
            is_asked.set()
        await changing
        return await asking

    def is_queued(self) -> bool:
        """True once a write waits behind the one that is under way."""
        return any(write.name == "jobs.change" for write in self.database._pending)

    async def find(self) -> Job:
        found = await self.database.read(lambda c: jobs.find(c, job_id=self.job.id))
        assert found
        return found


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    database = await open_database(tmp_path / "state.db")
    yield await Desk(database).open()
    await database.close()


@pytest.mark.parametrize("action", ["pause", "resume", "delete", "run_now"])
async def test_a_job_that_ends_while_something_is_done_to_it_has_ended(
    desk: Desk, action: str
) -> None:
    def end(connection: Connection) -> None:
        jobs.await_slot(connection, job_id=desk.job.id, slot=None, is_over=True)

    with pytest.raises(ToolArgumentError, match="there is no job"):
        await desk.asks_while(end, action)
    assert (await desk.find()).state == "over"
    runs = await desk.database.read(lambda c: job_runs.list_of_job(c, job_id=desk.job.id, limit=9))
    assert runs == []


async def test_what_a_job_became_meanwhile_is_paused_and_not_what_it_was(desk: Desk) -> None:
    coming = ("2026-09-24T08:00", NOW + 86_400_000)

    def go_on(connection: Connection) -> None:
        jobs.await_slot(connection, job_id=desk.job.id, slot=coming, is_over=False)

    assert "is paused" in await desk.asks_while(go_on, "pause")
    paused = await desk.find()
    assert (paused.state, paused.next_slot) == ("paused", coming)


async def test_one_that_is_under_way_is_not_run_once_more(desk: Desk) -> None:
    assert "runs once now" in await desk.asks("run_now")
    assert "runs once now" in await desk.asks("run_now")  # the same call, said again
    with pytest.raises(JobAlreadyRunning, match="already running"):
        await desk.asks("run_now", "c2")
    runs = await desk.database.read(lambda c: job_runs.list_of_job(c, job_id=desk.job.id, limit=9))
    assert len(runs) == 1


async def test_a_deleted_job_is_named_with_the_way_back(desk: Desk) -> None:
    said = await desk.asks("delete", said="Delete the good morning message.")
    assert said == 'Job 1 "Good morning." is deleted. /jobs restore 1 brings it back.'


@pytest.mark.parametrize("said", ["Delete the one about the bank.", "Drop the dentist one."])
async def test_a_wrong_number_is_asked_about_and_the_right_one_is_taken(
    desk: Desk, said: str
) -> None:
    bank = await desk.adds("Go to the bank.")
    desk.person.chooses = "Go to the bank."
    done = await desk.asks("delete", said=said)
    assert done.startswith(f"Job {bank.id} ")
    assert (await desk.find()).state == "active"
    (question,) = desk.person.asked
    assert {one.label for one in question.choices} == {
        "Go to the bank.",
        "Good morning.",
        "None of these",
    }


async def test_none_of_the_jobs_is_touched_if_none_is_meant(desk: Desk) -> None:
    desk.person.chooses = "None of these"
    done = await desk.asks("pause", said="Stop the dentist thing.")
    assert done == "Nothing was changed. The person meant none of the jobs."
    assert (await desk.find()).state == "active"


@pytest.mark.parametrize("said", ["", "Delete number 1.", "Lösch den guten Morgen: good!"])
async def test_a_number_that_fits_is_not_asked_about(desk: Desk, said: str) -> None:
    assert "is deleted" in await desk.asks("delete", said=said)


@pytest.mark.parametrize("job", ["good morning", "Good morning.", "#1", " 1 ", "the good one"])
async def test_a_job_may_be_named_by_its_words(desk: Desk, job: str) -> None:
    await desk.adds("Go to the bank.")
    assert (await desk.asks("delete", job=job)).startswith("Job 1 ")


@pytest.mark.parametrize(
    ("job", "reason"),
    [
        ("dentist", 'no job fits "dentist"; there are: 1. "Good morning."; 2. "Good night."'),
        ("", 'no job fits ""; there are: 1. "Good morning."'),
        ("#7", "there is no job 7 here"),
    ],
)
async def test_words_that_name_no_job_are_answered_with_the_jobs(
    desk: Desk, job: str, reason: str
) -> None:
    await desk.adds("Good night.")
    with pytest.raises(ToolArgumentError) as refusal:
        await desk.asks("delete", job=job or "  ")
    assert reason in str(refusal.value)
    assert (await desk.find()).state == "active"


@pytest.mark.parametrize(
    ("action", "job"),
    [
        ("delete", "good evening"),
        ("delete", "guten good"),
        ("pause", "good evening"),
        ("change", "good evening"),
        ("run_now", "the good dentist"),
    ],
)
async def test_a_job_that_only_resembles_the_words_is_asked_about(
    desk: Desk, action: str, job: str
) -> None:
    when = {"when": "at 7:30"} if action == "change" else {}
    desk.person.chooses = "None of these"
    before = await desk.find()
    done = await desk.asks(action, job=job, said=f"{action} {job}", **when)
    assert done == "Nothing was changed. The person meant none of the jobs."
    assert await desk.find() == before
    (question,) = desk.person.asked
    assert question.text == f"There is no reminder “{job}”. Do you mean one of these?"
    assert [one.label for one in question.choices] == ["Good morning.", "None of these"]
    desk.person.chooses = "Good morning."
    done = await desk.asks(action, "c2", job=job, said=f"{action} {job}", **when)
    assert not done.startswith("Nothing")
    assert await desk.find() != before or action == "run_now"


async def test_words_that_fit_several_jobs_are_asked_about(desk: Desk) -> None:
    night = await desk.adds("Good night.")
    desk.person.chooses = "Good night."
    assert (await desk.asks("delete", job="good", said="cancel good")).startswith(f"Job {night.id}")
    assert [one.text for one in desk.person.asked] == ["Which one do you mean?"]
    assert (await desk.find()).state == "active"


@pytest.mark.parametrize("said", ["Cancel good dentist", "bitte lösch Good Zahnarzt"])
async def test_a_number_that_only_resembles_a_bare_order_is_asked_about(
    desk: Desk, said: str
) -> None:
    desk.person.chooses = "None of these"
    assert (await desk.asks("delete", said=said)).startswith("Nothing was changed.")
    assert (await desk.find()).state == "active"


async def test_a_time_alone_keeps_the_days_of_a_job(desk: Desk) -> None:
    desk.person.chooses = "Yes, do that"
    said = await desk.asks("change", job="good morning", when="at 7:30")
    assert "07:30" in said
    assert load_timing((await desk.find()).timing) == read_cron("30 7 * * *")


async def test_a_field_is_read_within_other_and_beside_it(desk: Desk) -> None:
    desk.person.chooses = "Yes, do that"
    await desk.asks("change", urgent=True)
    assert (await desk.find()).is_urgent
    await desk.asks("change", "c2", other={"urgent": False, "title": "Greeting"})
    found = await desk.find()
    assert (found.is_urgent, found.title) == (False, "Greeting")
    with pytest.raises(ToolArgumentError, match="can't have `colour`"):
        await desk.asks("change", "c3", other={"colour": "red"})
