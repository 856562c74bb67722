"""`talaria jobs`: list, change, make and preview, with and without a running gateway."""

import re
import sys
from collections.abc import Awaitable
from pathlib import Path

import pytest

from agent_core.ids import CallId, ConversationId, PersonId
from agent_core.state.conversations import files, messages, sessions, turns
from agent_core.state.conversations.messages import TranscriptPlace
from agent_core.state.conversations.turns import StoredTurn
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import job_runs
from agent_core.state.people import people
from agent_core.transcript import Message, TextPart
from gateway.errors import Declined, Mistaken
from tests.fakes.chat import FakeChat
from tests.integration.interfaces.digest_home import (
    NOW,
    CommandLine,
    add_people,
    cli,
    find,
    make,
    write,
)
from tests.integration.processes import Done, talaria, talaria_beside
from tests.integration.served import served
from tests.tables import await_each, check_each

HOUR = 3_600_000
WEEK = 7 * 24 * HOUR
HOW = pytest.mark.parametrize("how", ["running", "beside"])


@pytest.fixture
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("h")


def ask(connection: Connection, person_id: PersonId) -> tuple[StoredTurn, ConversationId]:
    """Store a turn in a direct conversation."""
    dialogue = sessions.ensure_conversation(
        connection,
        sessions.NewConversation(key="talk", kind="direct", person_id=person_id, is_direct=True),
        now=NOW,
    )
    session = sessions.find_open(connection, conversation_id=dialogue.id)
    session_id = (
        session.id if session else sessions.insert(connection, conversation_id=dialogue.id, now=NOW)
    )
    connection.execute(
        "INSERT INTO turns (conversation_id, session_id, person_id, platform, chat, state,"
        " started_at) VALUES (:talk, :session, :who, 'fake', '[\"1\",null,true]', 'answered', 1)",
        {"talk": dialogue.id, "session": session_id, "who": person_id},
    )
    return turns.list_recent(connection, limit=1)[0], dialogue.id


def add_tea_job(connection: Connection) -> None:
    """Store Ann and a message job of hers."""
    ann = next(one for one in people.list_all(connection) if one.slug == "ann")
    ask(connection, ann.id)
    make(connection, ann.id, "Tea", "message")


def ran(connection: Connection, number: int, words: str, *, slot: str) -> None:
    """Store a run whose turn said something."""
    job = find(connection, number)
    assert job
    assert job.person_id
    turn, dialogue_id = ask(connection, job.person_id)
    run_id = job_runs.claim(connection, job_id=job.id, slot=(slot, NOW), due_at=NOW, now=NOW)
    assert run_id
    job_runs.begin(connection, run_id=run_id, now=NOW)
    job_runs.attach(connection, run_id=run_id, turn_id=turn.id)
    job_runs.end(connection, run_id=run_id, state="done", now=NOW)
    catalog = TranscriptPlace(
        session_id=turn.session_id,
        turn_id=turn.id,
        person_id=job.person_id,
        conversation_id=dialogue_id,
        platform="fake",
    )
    said = [
        Message(role="user", parts=(TextPart(text="Do it."),)),
        Message(role="assistant", parts=(TextPart(text="First I look."),)),
        Message(role="assistant", parts=(TextPart(text=words),)),
    ]
    messages.append(connection, catalog, said, now=NOW)


async def refused(asked: Awaitable[object], *, is_mistake: bool) -> str:
    with pytest.raises(Declined) as caught:
        await asked
    assert isinstance(caught.value, Mistaken) == is_mistake
    return str(caught.value)


@HOW
async def test_jobs_are_listed_for_all_for_a_person_and_for_the_gateway(
    home: Path, how: str
) -> None:
    def more(connection: Connection) -> None:
        bob = next(one for one in people.list_all(connection) if one.slug == "bob")
        make(connection, bob.id, "Tea", "message")

    async with cli(home, how, more) as at:
        found = (await at.ask("list"))["jobs"]
        assert [(job["person"], job["title"], job["kind"]) for job in found] == [
            ("ann", "Digest", "prompt"),
            ("bob", "Tea", "message"),
        ]
        assert found[0]["meaning"] == "At 08:00 on Monday"
        assert [job["title"] for job in (await at.ask("list", person="bob"))["jobs"]] == ["Tea"]
        own = (await at.ask("list", system=True))["jobs"]
        assert [job["title"] for job in own] == (
            ["Backup of the database", "Review of the skills", "Deletion of expired data"]
            if how == "running"
            else []
        )
        said = await refused(at.ask("list", person="eve"), is_mistake=True)
        assert said.startswith("There is no person eve;")


@HOW
async def test_a_job_is_paused_resumed_run_and_dropped(home: Path, how: str) -> None:
    async with cli(home, how) as at:
        assert (await at.ask("pause", id=1))["state"] == "paused"
        shown = await at.ask("show", id=1)
        assert (shown["state"], shown["reason"]) == ("paused", "from the command line")
        assert (await at.ask("resume", id=1))["state"] == "active"
        assert (await at.ask("delete", id=1))["state"] == "dropped"
        assert (await at.ask("list"))["jobs"] == []
        assert (await at.ask("show", id=1))["state"] == "dropped"
        said = await refused(at.ask("pause", id=1), is_mistake=False)
        assert said == "Job 1 is deleted and can't be changed."
        assert "There is no job 9." in await refused(at.ask("run", id=9), is_mistake=False)
        assert "the number of a job" in await refused(at.ask("show", id="x"), is_mistake=True)


@HOW
async def test_jobs_after_a_stopped_job_are_named(home: Path, how: str) -> None:
    async with cli(home, how, add_people) as at:
        asked = {"person": "ann", "kind": "message", "text": "Next.", "on": "after 1"}
        follower = await at.ask("add", **asked)
        said = f"Reminder {follower['id']} “Next.” waits for this one, and doesn't come without it."
        assert (await at.ask("pause", id=1))["note"] == said
        assert (await at.ask("resume", id=1))["note"] == ""
        assert (await at.ask("delete", id=1))["note"] == said


@HOW
async def test_a_job_gets_a_new_web_address(home: Path, how: str) -> None:
    async with cli(home, how, add_people) as at:
        asked = {"person": "ann", "kind": "message", "text": "Deployed.", "on": "webhook"}
        made = await at.ask("add", **asked)
        first, second = [(await at.ask("webhook", id=made["id"]))["address"] for _ in range(2)]
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/hooks/[\w-]{43}", first)
        assert first != second
        assert "doesn't wait for a web request" in await refused(
            at.ask("webhook", id=1), is_mistake=True
        )


@HOW
async def test_a_change_is_undone_and_a_replaced_address_stays_closed(home: Path, how: str) -> None:
    async with cli(home, how, add_people) as at:
        asked = {"person": "ann", "kind": "message", "text": "Deployed.", "on": "webhook"}
        number = (await at.ask("add", **asked))["id"]
        assert "there's nothing to undo" in await refused(
            at.ask("undo", id=number), is_mistake=True
        )
        await at.ask("webhook", id=number)
        await at.ask("change", id=number, title="Released")
        assert (await at.ask("undo", id=number))["title"] == "Deployed."
        assert (await at.ask("undo", id=number))["title"] == "Released"
        await at.ask("webhook", id=number)
        assert "there's nothing to undo" in await refused(
            at.ask("undo", id=number), is_mistake=True
        )


@HOW
async def test_only_the_command_line_gives_a_command_back(home: Path, how: str) -> None:
    async with cli(home, how, add_people) as at:
        script = {"kind": "script", "words": ["df", "-h"]}
        number = (await at.ask("add", person="ann", cron="0 8 * * *", **script))["id"]
        await at.ask("change", id=number, kind="script", words=["uptime"])
        assert (await at.ask("undo", id=number))["state"] == "active"
        assert "df -h" in (await at.ask("show", id=number))["does"]


async def test_a_requested_run_happens_at_the_next_start(home: Path) -> None:
    async with cli(home, "beside", add_tea_job) as at:
        await at.ask("run", id=2)
        said = await refused(at.ask("run", id=2), is_mistake=False)
        assert said == "Job 2 is running already."
        shown = await at.ask("show", id=2)
        assert shown["runs"][0].endswith("on request: about to start")
        async with served(home, adapters={"fake": at.chat}):
            await at.chat.sees_text("Say *Tea*.")


async def test_a_requested_run_in_a_gateway_happens_at_once(home: Path) -> None:
    async with cli(home, "running", add_tea_job) as at:
        await at.ask("run", id=2)
        await at.chat.sees_text("Say *Tea*.")


async def test_system_jobs_can_be_paused_but_not_dropped(home: Path) -> None:
    async with cli(home, "running") as at:
        own = (await at.ask("list", system=True))["jobs"][0]["id"]
        said = await refused(at.ask("delete", id=own), is_mistake=False)
        assert said == f"Job {own} is a system job: it can be paused, but not deleted."
        assert (await at.ask("pause", id=own))["state"] == "paused"
        assert (await at.ask("resume", id=own))["state"] == "active"


@HOW
async def test_jobs_of_each_kind_are_made(home: Path, how: str) -> None:
    async with cli(home, how) as at:
        reported = {"person": "bob", "kind": "message", "text": "Tea!", "every_minutes": 90}
        tea = await at.ask("add", **reported, to=["home", "telegram"], urgent=True, late="skip")
        assert (tea["title"], tea["meaning"]) == ("Tea!", "Every 90 minutes")
        asked = {"person": "bob", "kind": "prompt", "text": "Look", "cron": "@daily"}
        look = await at.ask("add", **asked, title="Daily look", zone="Asia/Tokyo")
        assert (look["title"], look["zone"]) == ("Daily look", "Asia/Tokyo")
        words = ["df", "-h", "--", "/"]
        disk = await at.ask("add", person="ann", kind="script", words=words, at="2199-01-01T08:00")
        assert (disk["title"], disk["kind"]) == ("df -h -- /", "script")
    made = await CommandLine(home, FakeChat()).read(tea["id"])
    assert [(one.kind, one.platform) for one in made.targets] == [
        ("home", ""),
        ("account", "telegram"),
    ]
    assert (made.is_urgent, made.late) == (True, "skip")
    assert (await CommandLine(home, FakeChat()).read(disk["id"])).body == '["df", "-h", "--", "/"]'


@HOW
async def test_a_job_takes_its_time_in_words_and_is_planned_before(home: Path, how: str) -> None:
    wish = {"person": "bob", "kind": "message", "text": "Tea!", "when": "every monday at 19:00"}
    async with cli(home, how) as at:
        before = (await at.ask("list"))["jobs"]
        plan = await at.ask("plan", **wish)
        assert plan["zone"] == {"running": "UTC", "beside": "Europe/Berlin"}[how], "the home's zone"
        assert plan["times"] == sorted(plan["times"])
        assert set(map(int.__sub__, plan["times"][1:], plan["times"])) <= {
            WEEK - HOUR,
            WEEK,
            WEEK + HOUR,
        }
        assert (await at.ask("list"))["jobs"] == before, "a plan adds nothing"
        made = await at.ask("add", **wish)
        assert (made["meaning"], made["next_at"]) == (plan["meaning"], plan["times"][0])
        told = await refused(at.ask("plan", **wish | {"when": "someday"}), is_mistake=True)
        assert told.startswith("I can't read “someday” as a time.")
        both = at.ask("add", **wish, cron="@daily")
        assert "Give only one of" in await refused(both, is_mistake=True)


async def test_an_impossible_job_is_rejected(home: Path) -> None:
    rows: list[tuple[dict[str, object], str]] = [
        ({"at": "2001-01-01T08:00"}, "That time is past. Choose a later one."),
        ({"cron": "* * * * *"}, "I can't do this work that often."),
        ({"cron": "61 * * * *"}, "is not a cron expression"),
        ({"every_minutes": 0}, "an interval takes from"),
        ({"every_minutes": 9, "at": "2199-01-01T08:00"}, "give only one of"),
        ({}, "say when"),
        ({"cron": "@daily", "zone": "Mars/Base"}, "is not a time zone"),
        ({"cron": "@daily", "late": "never"}, "one of catch_up, skip, all"),
        ({"cron": "@daily", "kind": "system"}, "a prompt, a message or a script"),
        ({"cron": "@daily", "kind": "script"}, "The command is missing."),
        ({"cron": "@daily", "kind": "script", "words": [1]}, "Put the command"),
        ({"cron": "@daily", "kind": "script", "words": [" "]}, "The command is missing."),
        ({"cron": "@daily", "text": "x" * 4001}, "at most 4000 characters"),
    ]
    async with cli(home, "beside") as at:

        async def check(row: tuple[dict[str, object], str]) -> None:
            asked = {"person": "bob", "kind": "prompt", "text": "Look"} | row[0]
            assert row[1] in await refused(at.ask("add", **asked), is_mistake=True)
            assert len((await at.ask("list"))["jobs"]) == 1

        await await_each(rows, check)


async def test_a_prompts_last_result_is_previewed_per_platform(home: Path) -> None:
    def work(connection: Connection) -> None:
        ran(connection, 1, "Three **things**.", slot="s1")
        ran(connection, 1, "[SILENT]", slot="s2")

    async with cli(home, "running", work) as at:
        shown = (await at.ask("preview", id=1))["platforms"]
    assert shown == [
        {"name": name, "messages": ["Three **things**.\n\n_Digest_"], "files": []}
        for name in ("console", "fake")
    ]


async def test_all_files_are_shown_with_their_kind_and_size(home: Path) -> None:
    def work(connection: Connection) -> None:
        ran(connection, 1, "[SILENT]", slot="s1")
        turn = turns.list_recent(connection, limit=1)[0]
        key = files.store(connection, data=b"png", media_type="image/png", now=1)
        files.attach(
            connection, turn_id=turn.id, call_id=CallId("c"), key=key, name="week.png", now=1
        )

    async with cli(home, "running", work) as at:
        console, fake = (await at.ask("preview", id=1))["platforms"]
    week = {"name": "week.png", "media_type": "image/png", "size": 3}
    assert fake == {"name": "fake", "messages": ["**Digest**"], "files": [week]}
    assert console["files"] == [week]


async def test_a_command_is_shown_as_it_would_be_typed(home: Path) -> None:
    async with cli(home, "beside") as at:
        words = ["sh", "-c", "echo it's 5"]
        made = await at.ask("add", person="ann", kind="script", words=words, cron="@daily")
        shown = await at.ask("show", id=made["id"])
    assert shown["does"] == "sh -c 'echo it'\"'\"'s 5'"


async def test_before_the_first_run_a_sample_is_shown(home: Path) -> None:
    async with cli(home, "running") as at:
        shown = await at.ask("preview", id=1)
        assert shown["is_sample"]
        for platform in shown["platforms"]:
            (message,) = platform["messages"]
            assert message.startswith("I post the answer here, and the notification shows")
            assert message.endswith("_Digest_")
        made = await at.ask("add", person="ann", kind="script", words=["df"], cron="@daily")
        shown = await at.ask("preview", id=made["id"])
        (message,) = shown["platforms"][1]["messages"]
        assert "The output of this command appears here:\n\n> df" in message
        own = (await at.ask("list", system=True))["jobs"][0]["id"]
        said = await refused(at.ask("preview", id=own), is_mistake=False)
        assert said == f"Job {own} is a system job: it sends nothing."


async def test_without_a_gateway_the_enabled_platforms_are_shown(home: Path) -> None:
    await write(home, add_people)
    added = talaria(
        home, "jobs", "add", "--person", "ann", "--cron", "@daily", "--message", "**Hi** <you>"
    )
    assert added.code == 0, added.err
    done = talaria(
        home,
        *("jobs", "preview", "2"),
        TELEGRAM_BOT_TOKEN="1:a-token-that-nobody-asks-for",
        DISCORD_BOT_TOKEN="a.token.that-nobody-asks-for",
    )
    assert done.code == 0, done.err
    assert "--- telegram ---\n<b>Hi</b> &lt;you&gt;\n" in done.out
    assert "--- discord ---\n**Hi** <you>\n" in done.out
    assert "--- console ---\n**Hi** <you>\n" in done.out


def made(home: Path, *words: str) -> Done:
    return talaria(home, "jobs", "add", "--person", "ann", *words)


async def test_the_command_line_makes_lists_and_shows(home: Path) -> None:
    await write(home, add_people)
    command = (sys.executable, "-c", "print('hi')")
    done = made(home, "--every", "30", "--title", "Hi", "--urgent", "--script", "--", *command)
    assert done.code == 0, done.err
    assert "Hi: Every 30 minutes" in done.out
    listed = talaria(home, "jobs")
    assert listed.out == talaria(home, "jobs", "list").out
    assert len(listed.out.splitlines()) == 3
    assert listed.out.startswith(f"Jobs of {home}:\n")
    shown = talaria(home, "jobs", "show", "2").out
    assert shown.startswith(f"Job of {home}:\n")
    assert "-c" in shown
    assert "It comes in quiet hours and on days off, too" in shown
    assert "No runs." in shown
    none = f"Jobs of {home}:\nThere are no jobs.\n"
    assert talaria(home, "jobs", "list", "--person", "bob").out == none
    assert talaria(home, "jobs", "--person", "bob").out == none
    assert talaria(home, "jobs", "--system").out == none
    assert talaria(home, "jobs", "pause", "2").out == "Job 2 (Hi) is paused.\n"
    assert talaria(home, "jobs", "rm", "2").out == "Job 2 (Hi) is deleted.\n"


async def test_invalid_input_is_one_sentence_and_code_2(home: Path) -> None:
    rows: list[tuple[tuple[str, ...], str]] = [
        (
            ("add", "--person", "ann"),
            "Give one of these: --cron --every --at --times --on --when.",
        ),
        (("add", "--person", "ann", "--cron", "1 2", "--message", "x"), "five fields"),
        (("add", "--person", "ann", "--at", "soon", "--message", "x"), "is not a time"),
        (("add", "--person", "ann", "--at", "2001-01-01T08:00", "--message", "x"), "is past"),
        (
            ("add", "--person", "ann", "--every", "1", "--prompt", "x"),
            "that often. Choose a longer",
        ),
        (("add", "--person", "ann", "--every", "9", "--script"), "The command is missing."),
        (("add", "--person", "ann", "--every", "9", "--message", "x", "--zone", "X"), "time zone"),
        (("add", "--person", "ann", "--every", "9", "--message", "x", "--to", "fax"), "fax"),
        (("pause",), "ID"),
        (("show", "one"), "'one' is not a job number"),
    ]
    await write(home, add_people)

    def check(row: tuple[tuple[str, ...], str]) -> None:
        done = talaria(home, "jobs", *row[0])
        assert (done.code, done.out) == (2, "")
        assert row[1] in done.err
        assert done.err.count("\n") == 1

    check_each(rows, check)


async def test_invalid_input_is_code_2_with_a_gateway_too(home: Path) -> None:
    async with cli(home, "running"):
        words = ("--person", "ann", "--every", "1", "--prompt", "x")
        done = await talaria_beside(home, "jobs", "add", *words)
        assert (done.code, done.err.count("\n")) == (2, 1)
        done = await talaria_beside(home, "jobs", "show", "99")
        assert (done.code, done.err) == (1, "There is no job 99.\n")


def test_the_help_says_who_may_make_commands(home: Path) -> None:
    for words in (("jobs", "--help"), ("jobs", "add", "--help")):
        assert (
            "Scripts (--script) can be added here only, not from a chat: they run as Talaria's user"
            in " ".join(talaria(home, *words).out.split())
        )
