"""Jobs from the request in chat to their delivery: once, to the right place, without noise."""

import asyncio
from functools import partial
from pathlib import Path

import pytest

from agent_core.chats import Chat
from agent_core.errors import ModelRejected
from agent_core.ids import JobId, PersonId
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import jobs
from agent_core.state.jobs.jobs import Target
from agent_core.state.people import delivery_targets, people
from agent_core.state.people.people import NewAccount
from agent_core.state.queues import deferred_messages
from gateway.jobs.destinations import name_places
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel, Play, say
from tests.integration.clock import Clock
from tests.integration.harness import Harness, running
from tests.integration.jobs.asked_jobs import (
    SETTINGS,
    digest,
    ended,
    makes,
    one_job,
    schedule,
    states,
)
from tests.integration.jobs_support import ana, give_job, greet
from tests.patience import PATIENCE


def reminder(**arguments: object) -> Play:
    return schedule(kind="message", text="Take the bread out.", **arguments)


def _has_left(model: FakeModel, count: int) -> bool:
    return len(model.plays) <= count


def texts(harness: Harness) -> list[str]:
    """Return what people see."""
    return [shown.text for shown in harness.chat.shown]


async def test_a_reminder_comes_at_its_time_and_once(tmp_path: Path) -> None:
    clock = Clock(2026, 11, 20, 12, 0)
    model = FakeModel(reminder(in_minutes=20), say("I will remind you."))
    async with running(tmp_path, model, now=clock, **SETTINGS) as harness:
        await harness.chat.says("remind me in 20 minutes to take the bread out")
        await harness.chat.sees_text("I will remind you.\n\n⏰ today, ")
        clock.move(harness, minutes=19)
        await harness.at_rest()
        assert "Take the bread out." not in texts(harness)
        clock.move(harness, minutes=1)
        # The receipt holds the same words, so their first sight is not the reminder.
        await harness.chat.until(lambda: "⏰ Take the bread out." in texts(harness))
        clock.move(harness, days=3)
        await harness.at_rest()
        assert texts(harness).count("⏰ Take the bread out.") == 1
        found = await harness.read(lambda c: jobs.find(c, job_id=JobId(1)))
        assert found is None or found.kind == "system" or found.state == "over"


async def test_a_plain_rule_needs_no_confirmation(tmp_path: Path) -> None:
    clock = Clock(2026, 11, 20, 12, 0)
    model = FakeModel(reminder(times=["08:00"], rule="FREQ=DAILY;INTERVAL=2"), say("I will."))
    async with running(tmp_path, model, now=clock, **SETTINGS) as harness:
        await harness.chat.says("remind me every 2 days at 8 to take the bread out")
        shown = await harness.chat.sees_text("I will.")
        assert "⏰ Every 2 days, at 8:00, from tomorrow: Take the bread out. Next:" in shown.text
        assert (await one_job(harness)).next_slot == ("2026-11-21T08:00", clock() + 19 * 3_600_000)


async def test_a_repeated_job_needs_a_confirmation(tmp_path: Path) -> None:
    clock = Clock(2026, 11, 20, 12, 0)
    model = FakeModel(digest(cron="0 8 * * 1"), say("Done, Mondays at 8."))
    async with running(tmp_path, model, now=clock, **SETTINGS) as harness:
        await harness.chat.says("every Monday at 8, please")
        echo = await harness.chat.sees_text("shall I")
        assert "Every Monday, 8:00" in echo.text
        assert "Mon 23 Nov, 8:00; Mon 30 Nov, 8:00; Mon 7 Dec, 8:00" in echo.text
        assert await harness.read(lambda c: jobs.list_of_person(c, person_id=ana(c))) == []
        await harness.chat.press("Yes, do that")
        await harness.chat.sees_text("Done, Mondays at 8.")
        job = await one_job(harness)
        assert job.next_slot == ("2026-11-23T08:00", clock() + 67 * 3_600_000)


async def test_a_no_makes_no_job(tmp_path: Path) -> None:
    clock = Clock(2026, 11, 20, 12, 0)
    model = FakeModel(digest(cron="0 8 * * 1"), say("Fine, nothing then."))
    async with running(tmp_path, model, now=clock, **SETTINGS) as harness:
        await harness.chat.says("every Monday at 8, please")
        await harness.chat.sees_text("shall I")
        await harness.chat.press("No")
        await harness.chat.sees_text("Fine, nothing then.")
        await harness.at_rest()
        assert await harness.read(lambda c: jobs.list_of_person(c, person_id=ana(c))) == []
        assert "The person said no" in str(model.requests[-1].messages[-1])


async def test_a_prompt_runs_as_a_turn_and_its_answer_is_sent(tmp_path: Path) -> None:
    clock = Clock(2026, 11, 20, 12, 0)
    model = FakeModel(
        digest(cron="0 8 * * 1"), say("yes please"), say("Three things today."), say("And again.")
    )
    async with running(tmp_path, model, now=clock, **SETTINGS) as harness:
        job = await makes(harness)
        clock.move(harness, days=2, hours=19)
        await harness.chat.sees_text("Three things today.\n\n_Digest_")
        await ended(harness, 1, job.id)
        facts = str(model.requests[-1].messages[-1])
        assert "Scheduled: job" in facts
        assert "Write my digest." in facts
        assert len(model.requests[-1].messages) == 1  # a new session: nothing of the chat is in it
        clock.move(harness, days=7)
        await harness.chat.sees_text("And again.")
        await ended(harness, 2, job.id)
        assert await states(harness) == ["done", "done"]
        assert len(model.requests[-1].messages) == 1


async def test_a_job_may_see_its_earlier_runs(tmp_path: Path) -> None:
    clock = Clock(2026, 11, 20, 12, 0)
    model = FakeModel(
        digest(cron="0 8 * * 1", aware=True), say("yes please"), say("One."), say("Two.")
    )
    async with running(tmp_path, model, now=clock, **SETTINGS) as harness:
        await makes(harness)
        clock.move(harness, days=2, hours=19)
        await harness.chat.sees_text("One.")
        await harness.at_rest()
        clock.move(harness, days=7)
        await harness.chat.sees_text("Two.")
        assert "One." in str(model.requests[-1].messages)


async def test_empty_output_is_not_sent(tmp_path: Path) -> None:
    clock = Clock(2026, 11, 20, 12, 0)
    model = FakeModel(digest(cron="0 8 * * 1"), say("yes please"), say("[SILENT]"))
    async with running(tmp_path, model, now=clock, **SETTINGS) as harness:
        job = await makes(harness)
        before = list(texts(harness))
        clock.move(harness, days=2, hours=19)
        await ended(harness, 1, job.id)
        assert texts(harness) == before
        assert await states(harness) == ["done"]


async def test_a_missed_slot_is_caught_up_once_and_says_so(tmp_path: Path) -> None:
    clock = Clock(2026, 11, 20, 12, 0)
    model = FakeModel(digest(cron="0 8 * * *"), say("yes please"))
    async with running(tmp_path, model, now=clock, **SETTINGS) as harness:
        await makes(harness)
    late = FakeModel(say("News."))
    clock = Clock(2026, 11, 24, 11, 0)
    async with running(tmp_path, late, now=clock, **SETTINGS) as harness:
        shown = await harness.chat.sees_text("News.")
        due = "Sat 21 Nov, 8:00; Sun 22 Nov, 8:00; yesterday, 8:00; today, 8:00"
        assert f"_This was due {due}._" in shown.text
        await harness.at_rest()
        assert late.plays == []


async def test_missed_slots_are_left_out_and_reported(tmp_path: Path) -> None:
    clock = Clock(2026, 11, 20, 12, 0)
    model = FakeModel(digest(cron="0 8 * * *", late="skip"), say("yes please"))
    async with running(tmp_path, model, now=clock, **SETTINGS) as harness:
        await makes(harness)
    async with running(
        tmp_path, FakeModel(), now=Clock(2026, 11, 24, 11, 0), **SETTINGS
    ) as harness:
        shown = await harness.chat.sees_text("was due 4 times while I was switched off")
        assert "Next: tomorrow, 8:00" in shown.text
        assert await states(harness) == ["skipped"] * 4


async def test_quiet_hours_defer_messages_and_send_them_together(tmp_path: Path) -> None:
    clock = Clock(2026, 11, 20, 12, 0)
    model = FakeModel(
        schedule(
            "c1",
            kind="message",
            title="Bread",
            text="Bread is ready.",
            at="2026-11-20T23:00",
            urgent=False,
        ),
        say("Noted the first."),
        schedule(
            "c2",
            kind="message",
            title="Cat",
            text="Feed the cat.",
            at="2026-11-21T06:00",
            urgent=False,
        ),
        say("Noted the second."),
    )
    async with running(tmp_path, model, now=clock, **SETTINGS) as harness:
        await harness.chat.says("/settings quiet_hours 22:00-07:00")
        await harness.chat.says("first")
        await harness.chat.sees_text("Noted the first.")
        await harness.chat.says("second")
        await harness.chat.sees_text("Noted the second.")
        await harness.at_rest()
        before = len(harness.chat.shown)
        clock.move(harness, hours=10, minutes=0)
        await asyncio.sleep(0.01)
        clock.move(harness, hours=7, minutes=30)  # 06:30 in Berlin
        while (
            len(await harness.read(lambda c: deferred_messages.list_of_person(c, person_id=ana(c))))
            < 2
        ):
            await asyncio.sleep(0.002)
        assert len(harness.chat.shown) == before
        clock.move(harness, minutes=31)
        shown = await harness.chat.sees_text("During your quiet time, 2 messages arrived")
        for title in ("Bread is ready.", "Feed the cat."):
            assert shown.text.count(title) == 1, "each is named once"
        assert len(harness.chat.shown) == before + 1


async def test_an_urgent_job_is_sent_in_quiet_hours(tmp_path: Path) -> None:
    clock = Clock(2026, 11, 20, 22, 0)
    model = FakeModel(reminder(in_minutes=20, urgent=True), say("Sure."))
    async with running(tmp_path, model, now=clock, **SETTINGS) as harness:
        await harness.chat.says("/settings quiet_hours 22:00-07:00")
        await harness.chat.says("remind me")
        await harness.chat.sees_text("Sure.")
        clock.move(harness, minutes=20)
        await harness.chat.sees_text("Take the bread out.")


async def test_a_failure_is_retried_and_reported_once_like_its_recovery(
    tmp_path: Path,
) -> None:
    clock = Clock(2026, 11, 20, 12, 0)
    broken: list[Play] = [[ModelRejected("no such thing")] for _ in range(6)]
    model = FakeModel(digest(cron="0 8 * * *"), say("yes please"), *broken, say("Back."))
    async with running(tmp_path, model, now=clock, **SETTINGS) as harness:
        job = await makes(harness)
        clock.move(harness, hours=19)
        for attempt in range(3):
            await harness.until(partial(_has_left, model, 6 - attempt))
            await harness.at_rest()
            clock.move(harness, minutes=6)
        await ended(harness, 1, job.id)
        await harness.chat.sees_text("failed")
        clock.move(harness, days=1, minutes=-18)
        for attempt in range(3):
            await harness.until(partial(_has_left, model, 3 - attempt))
            await harness.at_rest()
            clock.move(harness, minutes=6)
        await ended(harness, 2, job.id)
        clock.move(harness, days=1, minutes=-18)
        shown = await harness.chat.sees_text("Back.")
        assert "After 2 failures, this works again" in shown.text
        assert sum("failed" in text for text in texts(harness)) == 1
        assert await states(harness) == ["failed", "failed", "done"]


async def test_a_job_that_always_fails_is_paused_with_a_notice(tmp_path: Path) -> None:
    clock = Clock(2026, 11, 20, 12, 0)
    model = FakeModel(digest(cron="0 8 * * *"), say("yes please"))
    async with running(tmp_path, model, now=clock, **SETTINGS) as harness:
        job = await makes(harness)
        model.plays = [[ModelRejected("no such thing")] for _ in range(9)]
        clock.move(harness, hours=19)
        for left in reversed(range(9)):
            await harness.until(partial(_has_left, model, left))
            await harness.at_rest()
            is_day_over = left % 3 == 0
            clock.move(harness, **({"days": 1, "minutes": -12} if is_day_over else {"minutes": 6}))
        await harness.chat.sees_text("I've paused")
        assert (await one_job(harness)).state == "paused"
        assert job.id == (await one_job(harness)).id


async def test_an_unreachable_target_is_replaced_by_the_persons_last_chat(
    tmp_path: Path,
) -> None:
    clock = Clock(2026, 11, 20, 12, 0)
    other = FakeChat(name="other")
    model = FakeModel(reminder(in_minutes=20), say("Sure."))
    async with running(tmp_path, model, now=clock, others={"other": other}, **SETTINGS) as harness:
        await harness.chat.says("remind me")
        await harness.chat.sees_text("Sure.")
        await harness.at_rest()

        def leave(connection: Connection) -> None:
            connection.execute(
                "INSERT INTO unreachable_chats (platform, chat, reason, retired_at)"
                " SELECT 'fake', chat, 'gone', 1 FROM turns LIMIT 1"
            )
            connection.execute(
                "INSERT INTO turns (conversation_id, session_id, person_id, platform, chat, state,"
                " started_at) SELECT conversation_id, session_id, person_id, 'other', chat,"
                " 'answered', 1 FROM turns LIMIT 1"
            )

        await harness.gateway.database.write("test", leave)
        clock.move(harness, minutes=20)
        await other.sees_text("Take the bread out.")


def _write_on_the_page(connection: Connection) -> None:
    """Let Ana's newest turns be on the page, more than a short look back covers."""
    for _ in range(60):
        connection.execute(
            "INSERT INTO turns (conversation_id, session_id, person_id, platform, chat, state,"
            " started_at) SELECT conversation_id, session_id, person_id, 'console',"
            " '[\"local\",null,true]', 'answered', 1 FROM turns LIMIT 1"
        )


PAGE = Target.of(Chat(platform="console", address='["local",null,true]'))


@pytest.mark.parametrize("targets", [(Target(kind="home"),), (PAGE,)])
async def test_a_reminder_made_on_the_page_comes_in_the_chat_app(
    tmp_path: Path, targets: tuple[Target, ...]
) -> None:
    clock = Clock(2026, 11, 20, 12, 0)
    page = FakeChat(name="console")
    model = FakeModel(say("Hello."))
    async with running(tmp_path, model, now=clock, others={"console": page}, **SETTINGS) as harness:
        await greet(harness)
        await harness.gateway.database.write("test", _write_on_the_page)
        job = await give_job(harness, "Water the ferns", "2026-11-20T13:01", targets=targets)
        places = await harness.read(
            lambda c: name_places(c, ana(c), job.targets, PAGE),
        )
        assert places[0] == "our latest direct conversation (now on fake)"
        assert places[1:] == (["this chat"] if targets == (PAGE,) else [])
        clock.move(harness, minutes=1)
        await harness.chat.sees_text("⏰ Water the ferns")
        if targets == (PAGE,):
            await page.sees_text("⏰ Water the ferns")
        await harness.at_rest()
        assert [one.text for one in page.shown] == ["⏰ Water the ferns"] * (targets == (PAGE,))


async def test_a_reminder_asked_for_on_the_page_names_the_chat_app(tmp_path: Path) -> None:
    clock = Clock(2026, 11, 20, 12, 0)
    app, page = FakeChat(name="fake"), FakeChat(name="console")
    model = FakeModel(reminder(in_minutes=20), say("I will."))
    async with running(
        tmp_path,
        model,
        chat=page,
        platform="console",
        others={"fake": app},
        now=clock,
        **SETTINGS,
    ) as harness:

        def link(connection: Connection) -> None:
            person = next(one for one in people.list_all(connection) if one.is_owner)
            account = NewAccount(
                platform="fake", user_id="1", display_name="Ana", admitted_by="code"
            )
            people.attach_account(connection, account, person_id=person.id, now=0)
            home = Chat(platform="fake", address='["1",null,true]')
            delivery_targets.set_home(connection, person_id=person.id, chat=home)

        await page.says("/help", user="local", chat="local")
        await page.until(lambda: bool(page.shown))
        await harness.gateway.database.write("test", link)
        await page.says("remind me to take the bread out", user="local", chat="local")
        shown = await page.sees_text("I will.")
        assert "Take the bread out. Sent to: your home chat, fake; this chat" in shown.text
        clock.move(harness, minutes=20)
        await app.sees_text("⏰ Take the bread out.")
        await page.until(lambda: "⏰ Take the bread out." in texts(harness))


async def test_without_a_chat_app_a_reminder_comes_on_the_page_once(tmp_path: Path) -> None:
    clock = Clock(2026, 11, 20, 12, 0)
    page = FakeChat(name="console")
    model = FakeModel(say("Hello."))
    async with running(tmp_path, model, now=clock, others={"console": page}, **SETTINGS) as harness:
        await greet(harness)

        def move(connection: Connection) -> None:
            _write_on_the_page(connection)
            connection.execute("DELETE FROM outbox")
            connection.execute(
                "UPDATE turns SET platform = 'console', chat = :chat", {"chat": chat}
            )

        chat = PAGE.place.address
        await harness.gateway.database.write("test", move)
        job = await give_job(harness, "Water the ferns", "2026-11-20T13:01", targets=(PAGE,))
        places = await harness.read(lambda c: name_places(c, ana(c), job.targets, PAGE))
        assert places == ["this chat"]
        elsewhere = await harness.read(lambda c: name_places(c, ana(c), job.targets, None))
        assert elsewhere == ["Console"], "it stands alone, so no “the”, and no dative in German"
        clock.move(harness, minutes=1)
        await page.sees_text("⏰ Water the ferns")
        await harness.at_rest()
        assert [one.text for one in page.shown] == ["⏰ Water the ferns"]


async def test_lists_of_jobs_begin_with_the_next_one(tmp_path: Path) -> None:
    clock = Clock(2026, 11, 20, 12, 0)
    async with running(tmp_path, FakeModel(say("Hello.")), now=clock, **SETTINGS) as harness:
        await greet(harness)
        late = await give_job(harness, "late", "2026-12-24T18:00")
        event = await give_job(harness, "event", "on message tea")
        soon = await give_job(harness, "soon", "2026-11-21T08:00")
        found = await harness.read(lambda c: jobs.list_of_person(c, person_id=ana(c)))
        assert [job.id for job in found] == [soon.id, late.id, event.id]
        await harness.chat.says("/reminders")
        shown = (await harness.chat.sees_text("Your reminders:")).text
        assert [line[4:].partition("*")[0] for line in shown.splitlines() if "- **" in line] == [
            *("soon", "late", "event")
        ]
        await harness.chat.says(f"/reminders from {late.id}")
        await harness.chat.until(lambda: len(harness.chat.shown) >= 3)
        assert "soon" not in harness.chat.shown[-1].text


async def test_jobs_are_sent_to_the_home(tmp_path: Path) -> None:
    clock = Clock(2026, 11, 20, 12, 0)
    model = FakeModel(digest(cron="0 8 * * *", to=["home"]), say("yes please"), say("News."))
    async with running(tmp_path, model, now=clock, **SETTINGS) as harness:
        await makes(harness)
        home = Chat(platform="fake", address='["77",null,true]')
        await harness.gateway.database.write(
            "test", lambda c: delivery_targets.set_home(c, person_id=ana(c), chat=home)
        )
        clock.move(harness, hours=19)
        shown = await harness.chat.sees_text("News.")
        assert shown.chat_id == "77"


async def test_a_running_job_cannot_make_jobs(tmp_path: Path) -> None:
    clock = Clock(2026, 11, 20, 12, 0)
    model = FakeModel(
        digest(cron="0 8 * * *"), say("yes please"), reminder(in_minutes=5), say("News.")
    )
    async with running(tmp_path, model, now=clock, **SETTINGS) as harness:
        await makes(harness)
        clock.move(harness, hours=19)
        await harness.chat.sees_text("News.")
        await harness.at_rest()
        assert "a running job can't create, change or start jobs" in str(
            model.requests[-1].messages
        )
        assert len(await harness.read(lambda c: jobs.list_of_person(c, person_id=ana(c)))) == 1


async def test_the_number_of_jobs_per_person_is_limited(tmp_path: Path) -> None:
    clock = Clock(2026, 11, 20, 12, 0)
    model = FakeModel(
        reminder(in_minutes=5),
        say("Noted the first."),
        schedule("c2", kind="message", text="x", in_minutes=6),
        say("There is room for one only."),
    )
    limit = {"TALARIA_JOBS__PER_PERSON": "1"}
    async with running(tmp_path, model, now=clock, **SETTINGS, **limit) as harness:
        await harness.chat.says("a")
        await harness.chat.sees_text("Noted the first.")
        await harness.chat.says("b")
        await harness.chat.sees_text("There is room for one only.")
        assert "the most that one person may have" in str(model.requests[-1].messages)


@pytest.mark.parametrize("back", [{"hours": -5}, {"days": -9}, {"days": -366}])
async def test_a_clock_set_back_skips_and_repeats_no_run(
    tmp_path: Path, back: dict[str, float]
) -> None:
    clock = Clock(2026, 11, 20, 12, 0)
    model = FakeModel(
        schedule(kind="message", title="Daily", text="Good morning.", cron="0 8 * * *"),
        say("yes please"),
    )
    async with running(tmp_path, model, now=clock, **SETTINGS) as harness:
        await harness.chat.says("every day at 8, please")
        await harness.chat.sees_text("yes please")
        await harness.at_rest()
        clock.move(harness, hours=19, minutes=1)
        await harness.until(lambda: texts(harness).count("⏰ Good morning.") == 1)
        await harness.at_rest()
        clock.move(harness, **back)
        await seen(harness, clock)
        clock.move(harness, days=1, hours=5)
        await harness.until(lambda: count_mornings(harness) == 2)
        clock.move(harness, minutes=5)
        await seen(harness, clock)
        assert count_mornings(harness) == 2


def count_mornings(harness: Harness) -> int:
    """Return how often the daily message came, on time or late."""
    return sum(text.startswith("⏰ Good morning.") for text in texts(harness))


async def seen(harness: Harness, clock: Clock) -> None:
    """Return once the scheduler waits for a moment that is yet to come, and none is far off."""
    async with asyncio.timeout(PATIENCE):
        while True:
            job = await one_job(harness)
            if job.next_slot and clock() < job.next_slot[1] <= clock() + 90_000_000:
                return
            await asyncio.sleep(0.002)


async def test_the_gateway_has_system_jobs(tmp_path: Path) -> None:
    clock = Clock(2026, 11, 20, 12, 0)
    async with running(tmp_path, FakeModel(), now=clock, **SETTINGS) as harness:
        own = await harness.read(jobs.list_system)
        assert [job.body for job in own] == ["backup", "curator", "retention"]
        clock.move(harness, hours=40)
        for job in own:
            await ended(harness, 1, job.id)
            assert (await states(harness, job.id))[-1] == "done"
        assert len(list((tmp_path / "backups").glob("nightly-*.tar.gz"))) == 1
        assert await harness.read(lambda c: people.find(c, person_id=PersonId(99))) is None
