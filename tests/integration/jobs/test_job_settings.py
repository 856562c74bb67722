"""Settings of a job: chosen in chat and on the command line, and confirmed first."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from agent_core.agent.named.folder import AgentFolder
from agent_core.chats import Chat
from agent_core.execution.local import LocalBackend
from agent_core.execution.sandbox import SandboxLimits
from agent_core.execution.selected import UNKNOWN, SelectedBackends
from agent_core.ids import CallId, PersonId, RunId, TurnId
from agent_core.schedule.resources import JobTurn
from agent_core.skills.catalog import SkillCatalog
from agent_core.skills.tools.directory import SkillDirectory
from agent_core.state.conversations import sessions
from agent_core.state.conversations.sessions import Conversation
from agent_core.state.jobs import jobs
from agent_core.state.jobs.jobs import Job, Options
from agent_core.state.people import delivery_targets
from agent_core.tools.contract import MemoryOwner, ToolContext
from agent_core.tools.secret_scan import SecretMask
from agent_core.transcript import ToolCallPart
from gateway.app.agent_folders import make_editor
from gateway.app.gateway import Gateway
from gateway.app.job_rules import make_rules
from gateway.app.toolboxes import ToolboxMaker
from gateway.errors import Declined
from gateway.jobs.destinations import ChatMessenger
from tests.agent_core.skills.skill_folders import write_skill
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel, Play, ask, call, say
from tests.integration.clock import Clock
from tests.integration.harness import Harness, running
from tests.integration.interfaces.digest_home import add_people, cli, write
from tests.integration.jobs_support import ana, give_job, greet, greeted, over, texts
from tests.integration.processes import Done, talaria
from tests.tables import await_each

SETTINGS = {
    "TALARIA_PEOPLE__TIME_ZONE": "Europe/Berlin",
    "TALARIA_MODEL__NAME": "thinker",
    "TALARIA_MODEL__CHEAP": "quick",
    # A limit in dollars needs the price of the model that it is for.
    "TALARIA_COST__PRICES": "thinker in=3 out=15 date=2026-11-01, quick in=1 out=5 date=2026-11-01",
}

LAST = "our latest direct conversation (now on fake)"


def wish(action: str, **arguments: object) -> Play:
    return ask(call("schedule", json.dumps({"action": action, **arguments}), "c1"))


def digest(**arguments: object) -> Play:
    given = {"kind": "prompt", "title": "Digest", "text": "Write.", "cron": "0 8 * * 1"}
    return wish("create", **given | arguments)


@asynccontextmanager
async def berlin(tmp_path: Path, *plays: Play, **others: FakeChat) -> AsyncIterator[Harness]:
    clock = Clock(2026, 11, 20, 12, 0)
    async with running(tmp_path, greeted(*plays), now=clock, others=others, **SETTINGS) as harness:
        await greet(harness)
        yield harness


async def echoed(harness: Harness, said: str = "every Monday at 8, please") -> str:
    """What is asked before a job counts."""
    await harness.chat.says(said)
    return (await harness.chat.sees_text("shall I")).text


async def the_job(harness: Harness) -> Job:
    found = await harness.read(lambda c: jobs.list_of_person(c, person_id=ana(c)))
    assert len(found) == 1
    return found[0]


async def says_yes(harness: Harness, done: str) -> Job:
    await harness.chat.press("Yes, do that")
    await harness.chat.sees_text(done)
    await harness.at_rest()
    return await the_job(harness)


def last_result(harness: Harness) -> str:
    """What the model was told by its tool."""
    return str(harness.model.requests[-1].messages[-1])


async def test_the_confirmation_shows_target_and_daily_limit(tmp_path: Path) -> None:
    asked = digest(day_usd=0.5, to=["here", "home", "slack"], late="skip")
    async with berlin(tmp_path, asked, say("Made.")) as harness:
        echo = await echoed(harness)
        assert echo.startswith("Every Monday, 8:00: shall I do this?\n\nWrite.\n\nNext: Mon 23 Nov")
        assert echo.split("\n")[5:] == [
            f"Sent to: this chat; {LAST}; Slack, as soon as we've talked there; until then {LAST}",
            "If I'm switched off at that time, it is left out, and I tell you",
            "This reminder may cost at most $0.50 a day",
        ]


async def test_targets_have_names_that_people_know(tmp_path: Path) -> None:
    async with berlin(tmp_path, digest(to=["home"]), say("Made.")) as harness:
        home = Chat(platform="discord", address='["7",null,true]')
        await harness.gateway.database.write(
            "test", lambda c: delivery_targets.set_home(c, person_id=ana(c), chat=home)
        )
        assert "\nSent to: your home chat, Discord" in await echoed(harness)


async def test_every_job_setting_can_be_chosen_in_chat(tmp_path: Path) -> None:
    asked = digest(
        model="quick", tools=["recall", "gather"], skills=["digest"], aware=True, day_usd=2
    )
    async with berlin(tmp_path, asked, say("Made it.")) as harness:
        echo = await echoed(harness)
        for line in (
            "I remember my earlier answers to this reminder",
            "Model: quick",
            "Tools: recall, gather",
            "Skills: digest",
            "This reminder may cost at most $2.00 a day",
        ):
            assert f"\n{line}" in echo
        job = await says_yes(harness, "Made it.")
        assert job.options == Options(
            is_aware=True,
            model="quick",
            tools=("recall", "gather"),
            skills=("digest",),
            day_micro_dollars=2_000_000,
        )
        assert (
            "Tools: recall, gather. Skills: digest. This reminder may cost at most $2.00 a day."
            in last_result(harness)
        )


async def test_an_empty_setting_restores_the_default(tmp_path: Path) -> None:
    asked = digest(model="quick", tools=["recall"], skills=["digest"], aware=True, day_usd=2)
    async with berlin(tmp_path, asked, say("Made it.")) as harness:
        await echoed(harness)
        job = await says_yes(harness, "Made it.")
        again = wish("change", job=job.id, model="", tools=[], skills=[], aware=False, day_usd=0)
        harness.model.plays[:] = [again, say("Changed it.")]
        await harness.chat.says("as usual, please")
        await harness.until(lambda: any("Yes, do that" in one.labels for one in harness.chat.shown))
        assert (await says_yes(harness, "Changed it.")).options == Options()


async def test_an_invalid_job_setting_is_one_clear_sentence(tmp_path: Path) -> None:
    rows: list[tuple[dict[str, object], str]] = [
        ({"model": "gpt-9"}, "there is no model gpt-9 here; there is thinker, quick."),
        ({"tools": ["shell"]}, "there is no tool shell for jobs; there is memory, recall,"),
        ({"skills": ["poetry"]}, "there is no skill poetry"),
        ({"day_usd": -1}, "`day_usd` is at most 1000, or 0 for no limit."),
        ({"day_usd": 1e-9}, "in `day_usd`, it is too small to be counted; the least is"),
        ({"tools": [str(n) for n in range(21)]}, "`tools` takes at most 20 names."),
        ({"text": "  "}, "say what to do."),
        ({"cron": None, "at": "2026-02-31T08:00"}, "is not a time"),
        ({"cron": "0 8 31 2 *"}, "never occurs"),
        ({"cron": "61 * * * *"}, "minute 0-59"),
        ({"cron": "0 8 * *"}, "has five fields"),
        ({"cron": "some monday"}, "`when` can't be read"),
        ({"cron": None}, "`when` is missing"),
        ({"cron": None, "at": "2020-01-01T08:00"}, "that time is past."),
        ({"cron": None, "in_minutes": 0}, "`when` is missing"),
        (
            {"cron": None, "in_minutes": 10**9},
            "a span is at least 1 minute and at most 527040 minutes, a year.",
        ),
        (
            {"cron": None, "at": "9999-12-31T23:59", "zone": "America/New_York"},
            "the year must be 1900 to 9000.",
        ),
        (
            {"cron": None, "at": "0001-01-01T00:00", "zone": "Asia/Tokyo"},
            "the year must be 1900 to 9000.",
        ),
        ({"zone": "Mars/Base"}, "is not a time zone"),
        ({"cron": "*/2 * * * *"}, "more often than every 5 minutes"),
    ]
    async with berlin(tmp_path) as harness:

        async def check(row: tuple[dict[str, object], str]) -> None:
            asked, sentence = row
            given = {name: value for name, value in asked.items() if value is not None}
            play = digest(**given)
            if "cron" in asked and asked["cron"] is None:
                whole = {"kind": "prompt", "text": "Write."} | given
                play = wish("create", **whole)
            harness.model.plays[:] = [play, say("So it can't be.")]
            harness.chat.shown.clear()
            count = len(harness.model.requests)
            await harness.chat.says("please")
            await harness.chat.sees_text("So it can't be.")
            await harness.at_rest()
            told = [str(request.messages[-1]) for request in harness.model.requests[count:]]
            assert any(sentence in words for words in told)
            assert await harness.read(lambda c: jobs.list_of_person(c, person_id=ana(c))) == []

        await await_each(rows, check)


async def test_sundays_are_0_and_7(tmp_path: Path) -> None:
    async with berlin(tmp_path, digest(cron="0 0 * * 7"), say("Made.")) as harness:
        assert "Next: Sun 22 Nov, 0:00; Sun 29 Nov, 0:00" in await echoed(harness)


async def test_a_job_keeps_its_kind(tmp_path: Path) -> None:
    async with berlin(tmp_path, digest(), say("Made it.")) as harness:
        await echoed(harness)
        job = await says_yes(harness, "Made it.")
        harness.model.plays[:] = [wish("change", job=job.id, kind="message"), say("It stays.")]
        await harness.chat.says("only send it")
        await harness.chat.sees_text("It stays.")
        assert "the kind of a job can't change; delete it and create a message job." in last_result(
            harness
        )


def make_maker(gateway: Gateway, folder: Path) -> ToolboxMaker:
    return ToolboxMaker(
        settings=gateway.settings,
        database=gateway.database,
        memory=gateway.memory,
        user_prompts=gateway.user_prompts,
        external_memory=gateway.external_memory,
        backend=None,
        purposes={},
        background=None,
        messenger=ChatMessenger(gateway.dispatcher, lambda _: "UTC"),
        zone="UTC",
        secret_mask=SecretMask(()),
        forget_people=gateway.identity.forget_known,
        wake_jobs=gateway.wake_jobs,
        now=gateway.now,
        agents=make_editor(
            folder, gateway.database, AgentFolder(folder), gateway.now, gateway.load_ids
        ),
        skills=SkillDirectory(SkillCatalog(*gateway.settings.skill_places), gateway.database, 0),
        quotas=gateway.quotas,
    )


async def test_a_job_and_a_skill_work_where_the_owner_said(tmp_path: Path) -> None:
    here, there, lab = (make_files(tmp_path / name) for name in ("here", "there", "lab"))
    async with berlin(tmp_path) as harness:
        asker = await harness.read(ana)
        purposes = {"job:Nightly": there, "skill:lab": lab}
        maker = make_maker(harness.gateway, tmp_path)
        boxes = replace(maker, backend=here, purposes=purposes).make(())
        conversation = await harness.read(
            lambda c: sessions.find_conversation(
                c, key=sessions.name_direct(asker), person_id=asker
            )
        )
        assert conversation
        for number, (job, place) in enumerate(
            (
                (JobTurn(run_id=RunId(1), title="Daily"), "here"),
                (JobTurn(run_id=RunId(2), title="Nightly", skills=("lab",)), "there"),
                (JobTurn(run_id=RunId(3), title="Tests", skills=("other", "lab")), "lab"),
            )
        ):
            box = boxes.select(conversation, job)
            written = ToolCallPart(
                call_id=CallId(f"c{number}"),
                name="write_file",
                arguments=json.dumps({"path": "made", "content": place}),
            )
            result = await box.run(written, make_context(conversation, asker, written.call_id))
            assert not result.is_error, result.text
            assert (tmp_path / place / "ana" / "made").read_text() == place
        box = boxes.select(conversation, JobTurn(run_id=RunId(2), title="Nightly"))
        assert not {"delegate_task", "message_agent", "process"} & {*box.names}
        arguments = json.dumps({"command": "ls", "background": True})
        asked = ToolCallPart(call_id=CallId("b"), name="terminal", arguments=arguments)
        result = await box.run(asked, make_context(conversation, asker, asked.call_id))
        assert "can't run in the background" in result.text


async def test_a_skill_names_its_backend_in_its_own_file(tmp_path: Path) -> None:
    here, lab, moon = (make_files(tmp_path / name) for name in ("here", "lab", "moon"))
    async with berlin(tmp_path) as harness:
        asker = await harness.read(ana)
        for name, named in (("one", "lab"), ("two", "moon"), ("three", "mars"), ("four", "lab")):
            place = write_skill(harness.gateway.settings.home / "skills", name, "Do it.")
            text = (place / "SKILL.md").read_text()
            front = text.replace("\n---", f"\nmetadata:\n  backend: {named}\n---", 1)
            (place / "SKILL.md").write_text(front)
        purposes = {
            "skill:four": here,
            "backend:lab": lab,
            "backend:moon": SelectedBackends(None, {"ben": moon}, refusal="ana may not"),
            UNKNOWN: SelectedBackends(None, {}, refusal="there is none"),
        }
        maker = make_maker(harness.gateway, tmp_path)
        boxes = replace(maker, backend=here, purposes=purposes).make(())
        conversation = await harness.read(
            lambda c: sessions.find_conversation(
                c, key=sessions.name_direct(asker), person_id=asker
            )
        )
        assert conversation
        for skill, told in (
            ("one", "lab"),
            ("two", "ana may not"),
            ("three", "there is none"),
            ("four", "here"),
        ):
            written = ToolCallPart(
                call_id=CallId(skill),
                name="write_file",
                arguments=json.dumps({"path": skill, "content": skill}),
            )
            job = JobTurn(run_id=RunId(1), title="Daily", skills=(skill,))
            box = boxes.select(conversation, job)
            result = await box.run(written, make_context(conversation, asker, written.call_id))
            if result.is_error:
                assert told in result.text
            else:
                assert (tmp_path / told / "ana" / skill).read_text() == skill


def make_files(folder: Path) -> LocalBackend:
    """Make a backend that keeps files; its commands can't start."""
    limits = SandboxLimits(memory=1, processes=1, file=1_000_000, workspace=1_000_000)
    return LocalBackend(folder, limits, program="/missing/bwrap")


def make_context(conversation: Conversation, asker: PersonId, call_id: CallId) -> ToolContext:
    return ToolContext(
        person_id=asker,
        owner_id=asker,
        memory_owner=MemoryOwner(person_id=asker, slug="ana"),
        conversation_id=conversation.id,
        scope=conversation.scope,
        turn_id=TurnId(1),
        call_id=call_id,
        now=0,
        evidence="",
    )


async def test_a_job_can_name_only_tools_it_has(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(), **SETTINGS) as harness:
        means = make_rules(harness.gateway.settings).means
        gateway = harness.gateway
        stock = make_maker(gateway, tmp_path)
        boxes = stock.make(())
        assert boxes.private_job
        assert boxes.room_job
        assert sorted(means.tools) == sorted(boxes.private_job.names)
        assert sorted(means.room_tools) == sorted(boxes.room_job.names)


def jobs_of(home: Path, *words: str) -> Done:
    return talaria(home, "jobs", *words, **SETTINGS)


async def test_the_command_line_chooses_shows_and_changes(tmp_path: Path) -> None:
    await write(tmp_path, add_people)
    made = jobs_of(
        tmp_path,
        *("add", "--person", "ann", "--cron", "0 7 LW * *", "--prompt", "Sum the month up."),
        *("--model", "quick", "--tools", "recall, gather", "--skills", "digest"),
        *("--aware", "--day-usd", "1.5", "--urgent"),
    )
    assert made.code == 0, made.err
    ways = [
        "Sent to: their latest direct conversation",
        "If I'm switched off at that time, it comes once, as soon as I'm back",
        "It comes in quiet hours and on days off, too",
        "I remember my earlier answers to this reminder",
        "Model: quick",
        "Tools: recall, gather",
        "Skills: digest",
        "This reminder may cost at most $1.50 a day",
    ]
    assert made.out.splitlines()[2:] == ways
    assert made.out.splitlines()[1].endswith("(Europe/Berlin)")
    changed = jobs_of(
        tmp_path,
        *("change", "2", "--at", "2199-01-01T08:00", "--title", "Month", "--prompt", "Sum up."),
        *("--model", "", "--tools", "", "--skills", "", "--no-aware", "--day-usd", "0"),
        *("--no-urgent", "--late", "all", "--to", "home"),
    )
    assert changed.code == 0, changed.err
    assert "Month: Once, Tue 2199-01-01 08:00" in changed.out
    assert changed.out.splitlines()[2:] == [
        ways[0],
        "If I'm switched off at that time, each missed one comes as soon as I'm back",
    ]
    assert "> Sum up." in jobs_of(tmp_path, "show", "2").out


async def test_an_impossible_change_is_one_sentence(tmp_path: Path) -> None:
    rows: list[tuple[dict[str, object], str]] = [
        ({}, "Say what to change"),
        ({"kind": "message", "text": "x"}, "The kind of job 1 can't change."),
        ({"kind": "prompt", "text": " "}, "text is missing"),
        ({"id": 9, "title": "x"}, "There is no job 9"),
        ({"model": "gpt-9"}, "there is no model gpt-9 here"),
        ({"tools": ["shell"]}, "there is no tool shell for jobs"),
        ({"skills": ["poetry"]}, "there is no skill poetry"),
        ({"day_usd": float("nan")}, "`day_usd` is at most 1000"),
    ]
    async with cli(tmp_path, "beside") as at:
        before = await at.read(1)

        async def check(row: tuple[dict[str, object], str]) -> None:
            asked, sentence = row
            with pytest.raises(Declined) as caught:
                await at.ask("change", **{"id": 1, **asked})
            assert sentence in str(caught.value)
            assert await at.read(1) == before

        await await_each(rows, check)


def test_an_unreadable_change_is_one_sentence(tmp_path: Path) -> None:
    done = jobs_of(tmp_path, "change", "1", "--cron", "0 8 31 2 *")
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert "never occurs" in done.err


async def test_an_hourly_job_goes_on_in_a_zone_further_west(tmp_path: Path) -> None:
    clock = Clock(2026, 11, 20, 12, 0)
    async with running(tmp_path, greeted(), now=clock, **SETTINGS) as harness:
        await greet(harness)
        job = await give_job(harness, "Stretch.", "0 * * * *")
        for count in range(1, 5):  # 14:00 to 17:00 in Berlin
            clock.move(harness, hours=1)
            await over(harness, job, count)
        await harness.chat.says("/settings time_zone America/New_York")
        await harness.chat.sees_text("Time zone: New York")
        await harness.chat.says("/jobs move Europe/Berlin")
        await harness.chat.sees_text("moved 1 reminder")
        for count in range(5, 9):  # 12:00 to 15:00 in New York
            clock.move(harness, hours=1)
            await over(harness, job, count)
        await harness.at_rest()
        assert texts(harness).count("⏰ Stretch.") == 8


async def test_jobs_leave_a_zone_by_the_name_that_their_person_reads(tmp_path: Path) -> None:
    async with running(tmp_path, greeted(), now=Clock(2026, 11, 20, 12, 0), **SETTINGS) as harness:
        await greet(harness)
        await give_job(harness, "Stretch.", "0 9 * * *", zone="Etc/GMT-2")
        await harness.chat.says("/jobs move UTC+2")
        await harness.chat.sees_text("moved 1 reminder")
