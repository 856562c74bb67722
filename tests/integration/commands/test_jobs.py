"""/jobs and /sethome: what they show, who may use them, and that each acts once."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from agent_core.chats import Chat
from agent_core.ids import PersonId, RoomId
from agent_core.schedule import job_editor
from agent_core.schedule.job_editor import JobOwner, JobRequest, JobRules
from agent_core.schedule.resources import JobResources
from agent_core.schedule.triggers import read_cron, read_every
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import job_runs, jobs
from agent_core.state.jobs.job_runs import Run
from agent_core.state.jobs.jobs import Job, JobKind, Options, Target
from agent_core.state.people import delivery_targets, people, rooms
from agent_core.state.queues import deferred_messages
from agent_core.state.queues.deferred_messages import NewDeferredMessage
from gateway.commands.catalog import COMMANDS
from gateway.commands.jobs import JobCommands
from gateway.jobs.new_times import NewTimes
from gateway.texts import jobs as jobs_texts
from tests.fakes.model import FakeModel, ask, call, say
from tests.integration.accounts import ChatAccount
from tests.integration.clock import Clock
from tests.integration.harness import Harness, running
from tests.integration.shared_harness import SharedHarness
from tests.tables import await_each

ZONE = "Europe/Berlin"
PLACE = Target(kind="place", platform="fake", chat='["1",null,true]')


@asynccontextmanager
async def berlin(tmp_path: Path) -> AsyncIterator[tuple[Harness, ChatAccount, Clock]]:
    """A gateway in which Ana is known, at noon of a Friday."""
    clock = Clock(2026, 11, 20, 11, 0)
    async with running(tmp_path, FakeModel(), now=clock, TALARIA_PEOPLE__TIME_ZONE=ZONE) as harness:
        account = ChatAccount(harness, "1", "Ana")
        await account.says("/whoami")
        yield harness, account, clock


async def add(
    harness: Harness,
    clock: Clock,
    title: str = "Digest",
    *,
    user: str = "1",
    room: RoomId | None = None,
    kind: JobKind = "message",
    **wished: object,
) -> Job:
    """A job of a person, or of a room by a person."""
    wish = JobRequest(
        **{  # type: ignore[arg-type]
            "kind": kind,
            "title": title,
            "body": f"What {title} says.",
            "timing": read_cron("0 8 * * 1"),
            "targets": (PLACE,),
        }
        | wished
    )

    def work(connection: Connection) -> Job:
        person = people.find_by_account(connection, platform="fake", user_id=user)
        assert person
        whose = JobOwner(person_id=person.id, room_id=room, actor="test")
        rules = JobRules(means=JobResources(tools=("recall",)))
        new = job_editor.draft_job(wish, whose, zone=ZONE, rules=rules, now=clock())
        return job_editor.create_job(connection, new, rules=rules, now=clock())

    return await harness.gateway.database.write("test", work)


async def job(harness: Harness, number: int) -> Job:
    found = await harness.read(
        lambda c: next((one for one in all_jobs(c) if one.id == number), None)
    )
    assert found
    return found


def all_jobs(connection: Connection) -> list[Job]:
    rows = connection.execute("SELECT id FROM jobs WHERE kind <> 'system' ORDER BY id").fetchall()
    found = (jobs.find(connection, job_id=row[0]) for row in rows)
    return [one for one in found if one]


async def runs(harness: Harness, number: int) -> list[Run]:
    one = await job(harness, number)
    return await harness.read(lambda c: job_runs.list_of_job(c, job_id=one.id, limit=9))


async def test_a_new_person_has_no_jobs(tmp_path: Path) -> None:
    async with berlin(tmp_path) as (_, ana, _clock):
        assert await ana.says("/jobs") == jobs_texts.NONE()
        assert await ana.says("/jobs 7") == "There's no reminder 7 here. /reminders lists them."
        assert (
            await ana.says("/jobs pause 7") == "There's no reminder 7 here. /reminders lists them."
        )


async def test_unknown_arguments_are_answered_with_the_usage(tmp_path: Path) -> None:
    async with berlin(tmp_path) as (harness, ana, clock):
        await add(harness, clock)

        async def check(said: str) -> None:
            assert await ana.says(f"/jobs {said}") == jobs_texts.USAGE(number=3)

        rows = ["pause", "pause x", "3 pause", "drop 3 no", "pause 3 4", "²"]
        await await_each(rows, check)
        assert await ana.says("/jobs please stop") == jobs_texts.NONE_WITH(words="please stop")


async def test_words_name_a_reminder(tmp_path: Path) -> None:
    async with berlin(tmp_path) as (harness, ana, clock):
        oven = await add(harness, clock, "Check the oven")
        await add(harness, clock, "Check the mail")
        assert (await ana.says("/reminders OVEN")).startswith("**Check the oven**")
        both = await ana.says("/erinnerungen check")
        assert "oven" in both
        assert "mail" in both
        assert await ana.says("/reminders pause check") == both
        await ana.says("/reminders lösche oven")
        assert (await job(harness, oven.id)).state == "dropped"


async def test_jobs_are_listed_with_description_next_run_and_buttons(tmp_path: Path) -> None:
    async with berlin(tmp_path) as (harness, ana, clock):
        first = await add(harness, clock)
        second = await add(harness, clock, "Tea", zone="Asia/Tokyo")
        await ana.says(f"/jobs pause {second.id}")
        shown = await ana.says("/jobs")
        assert f"- **Digest** ({first.id}): Every Monday, 8:00. Next: Mon 23 Nov, 8:00." in shown
        assert (
            f"- **Tea** ({second.id}): Every Monday, 8:00 (Tokyo time). Paused on request." in shown
        )
        assert f"({ZONE})" not in shown
        assert harness.chat.shown[-1].labels == ["Digest", "Tea"]
        await ana.presses("Tea")
        opened = next(one for one in harness.chat.shown if one.text.startswith("**Tea**\nEvery"))
        assert opened.text.startswith("**Tea**\nEvery Monday, 8:00 (Tokyo time). Paused")
        assert opened.labels == ["Resume", "Run now", "Delete", "All reminders"]
        await ana.presses("All reminders")
        assert opened.text == shown
        assert await ana.says("/reminders") == shown
        assert await ana.says("/erinnerungen") == shown


async def test_a_long_list_is_split_into_pages(tmp_path: Path) -> None:
    async with berlin(tmp_path) as (harness, ana, clock):
        made = [await add(harness, clock, f"{number} {'x' * 70}") for number in range(30)]
        shown = await ana.says("/jobs")
        assert len(shown) < 2000
        seen, at = 0, "/jobs"
        while at:
            shown = await ana.says(at)
            seen += shown.count("- **")
            _, found, rest = shown.partition("more: ")
            at = rest.split("\n")[0] if found else ""
        assert seen == len(made)
        assert len(harness.chat.shown[-1].labels) <= 15


async def test_a_job_is_shown_in_full_with_its_runs(tmp_path: Path) -> None:
    async with berlin(tmp_path) as (harness, ana, clock):
        made = await add(
            harness,
            clock,
            kind="prompt",
            is_urgent=True,
            late="skip",
            targets=(Target(kind="home"), PLACE, Target(kind="account", platform="slack")),
            options=Options(is_aware=True, day_micro_dollars=1_500_000, tools=("recall",)),
        )

        def ran(connection: Connection) -> None:
            for number, state in enumerate(("done", "failed", "skipped")):
                run_id = job_runs.claim(
                    connection,
                    job_id=made.id,
                    slot=(f"s{number}", clock()),
                    due_at=clock(),
                    missed=number,
                    now=clock(),
                )
                assert run_id
                job_runs.begin(connection, run_id=run_id, now=clock())
                reason = "" if state == "done" else "no net."
                job_runs.end(
                    connection,
                    run_id=run_id,
                    state=state,  # type: ignore[arg-type]
                    now=clock(),
                    reason=reason,
                )

        await harness.gateway.database.write("test", ran)
        shown = await ana.says(f"/jobs {made.id}")
        for line in (
            "Every Monday, 8:00. Next: Mon 23 Nov, 8:00; Mon 30 Nov, 8:00;",
            "I do this:\n> What Digest says.",
            "- Sent to: our latest direct conversation (now on fake); this chat; Slack",
            "- If I'm switched off at that time, it is left out, and I tell you",
            "- It comes in quiet hours and on days off, too",
            "- I remember my earlier answers to this reminder",
            "- Tools: recall",
            "- This reminder may cost at most $1.50 a day",
            "- today, 12:00: done",
            "- today, 12:00: failed (no net); missed before that: 1",
            "- today, 12:00: skipped (no net); missed before that: 2",
        ):
            assert line in shown
        assert len(shown) < 2000


async def test_pausing_and_resuming_is_audited_and_wakes_the_scheduler(tmp_path: Path) -> None:
    async with berlin(tmp_path) as (harness, ana, clock):
        made = await add(harness, clock)
        said = await ana.says(f"/jobs pause {made.id}")
        assert said == f"**Digest** is paused. /reminders resume {made.id} restarts it."
        assert harness.chat.shown[-1].labels[0] == "Resume"
        clock.move(harness, days=4)
        await harness.at_rest()
        assert await runs(harness, made.id) == []
        said = await ana.says(f"/jobs resume {made.id}")
        assert said == "**Digest** is active again. Next: Mon 30 Nov, 8:00."
        assert (await job(harness, made.id)).state == "active"


async def test_a_manual_run_starts_at_once_and_keeps_the_schedule(tmp_path: Path) -> None:
    async with berlin(tmp_path) as (harness, ana, clock):
        made = await add(harness, clock)
        assert await ana.says(f"/jobs run {made.id}") == "⏰ What Digest says."
        await harness.chat.sees_text("What Digest says.")
        await harness.at_rest()
        assert [run.state for run in await runs(harness, made.id)] == ["done"]
        assert (await job(harness, made.id)).next_slot == made.next_slot
        assert "12:00, on request: done" in await ana.says(f"/jobs {made.id}")


async def test_a_double_press_runs_a_job_once_and_a_later_press_again(tmp_path: Path) -> None:
    async with berlin(tmp_path) as (harness, ana, clock):
        made = await add(harness, clock)
        await ana.says(f"/jobs {made.id}")
        listed = harness.chat.shown[-1]
        for count in (1, 1, 2):
            await ana.presses("Run now")
            assert listed.text == "**Digest** comes now."
            assert [run.state for run in await runs(harness, made.id)] == ["done"] * count
            clock.move(harness, seconds=2)


async def test_a_running_job_is_not_started_twice(tmp_path: Path) -> None:
    async with berlin(tmp_path) as (harness, ana, clock):
        made = await add(harness, clock)

        def wait(connection: Connection) -> None:
            slot = ("s1", clock())
            job_runs.claim(
                connection, job_id=made.id, slot=slot, due_at=clock() + 60_000, now=clock()
            )

        await harness.gateway.database.write("test", wait)
        said = await ana.says(f"/jobs run {made.id}")
        assert said == "I'm already working on **Digest**."
        assert len(await runs(harness, made.id)) == 1


async def test_a_repeated_event_runs_a_job_once(tmp_path: Path) -> None:
    async with berlin(tmp_path) as (harness, ana, clock):
        made = await add(harness, clock)
        for _ in range(2):
            await ana.says(f"/jobs run {made.id}", event="the same", id="m1")
        await harness.chat.sees_text("What Digest says.")
        await harness.at_rest()
        assert len(await runs(harness, made.id)) == 1


async def test_a_dropped_job_is_not_listed(tmp_path: Path) -> None:
    async with berlin(tmp_path) as (harness, ana, clock):
        made = await add(harness, clock)
        await ana.says(f"/jobs {made.id}")
        keys = [one.key for one in harness.chat.shown[-1].keyboard]
        assert f"c:jobs:delete:{made.id}" in keys
        # Cards that older versions sent say `drop`.
        assert await ana.says(f"/jobs drop {made.id} yes") == jobs_texts.describe_dropped(made)
        other = await add(harness, clock)
        assert await ana.says(f"/jobs delete {other.id}") == jobs_texts.describe_dropped(other)
        assert harness.chat.shown[-1].labels == ["Bring it back", "All reminders"]
        assert await ana.says("/jobs") == jobs_texts.NONE()
        assert "There's no reminder" in await ana.says(f"/jobs {made.id}")


async def test_the_undo_of_an_older_change_keeps_the_later_ones(tmp_path: Path) -> None:
    async with berlin(tmp_path) as (harness, ana, clock):
        made = await add(harness, clock)

        async def change(wish: JobRequest) -> str:
            def work(connection: Connection) -> str:
                found = jobs.find(connection, job_id=made.id)
                assert found
                changed = job_editor.redraft_job(found, wish, rules=JobRules(), now=clock())
                job_editor.change_job(connection, changed, clock())
                return job_editor.name_change_undo(connection, made.id)

            return await harness.gateway.database.write("test", work)

        moved = await change(JobRequest(timing=read_cron("0 9 * * 1"), title="Bread"))
        renamed = await change(JobRequest(title="Rolls"))
        said = await ana.says(f"/{moved}")
        assert said == (
            "**Rolls** is as it was. Next: Mon 23 Nov, 8:00. I kept your later changes to it."
        )
        assert (await job(harness, made.id)).timing == made.timing
        said = await ana.says(f"/{moved}")
        assert said.startswith("The reminder was changed again after that, so it stays as it is.")
        assert (await job(harness, made.id)).title == "Rolls"
        await ana.says(f"/{renamed}")
        assert (await job(harness, made.id)).title == "Bread"


async def test_a_change_is_undone_and_a_dropped_job_comes_back(tmp_path: Path) -> None:
    async with berlin(tmp_path) as (harness, ana, clock):
        made = await add(harness, clock)
        assert "nothing to undo" in await ana.says(f"/jobs undo {made.id}")
        wish = JobRequest(title="Bread", timing=read_cron("0 9 * * 1"))

        def work(connection: Connection) -> Job:
            changed = job_editor.redraft_job(made, wish, rules=JobRules(), now=clock())
            return job_editor.change_job(connection, changed, clock())

        await harness.gateway.database.write("test", work)
        said = await ana.says(f"/jobs undo {made.id}")
        assert said == "**Digest** is as it was. Next: Mon 23 Nov, 8:00."
        assert await job(harness, made.id) == made
        await ana.says(f"/jobs undo {made.id}")
        assert (await job(harness, made.id)).title == "Bread"
        assert "There's no reminder" in await ana.says(f"/jobs restore {made.id}")
        await ana.says(f"/jobs drop {made.id}")
        bob = ChatAccount(harness, "2", "Bob")
        for said in ("restore", "undo"):
            assert "There's no reminder" in await bob.says(f"/jobs {said} {made.id}")
        assert "There's no reminder" in await ana.says(f"/jobs undo {made.id}")
        assert "is as it was. Next: " in await ana.says(f"/jobs restore {made.id}")
        assert (await job(harness, made.id)).state == "active"


async def test_a_job_whose_time_has_passed_cannot_resume(tmp_path: Path) -> None:
    async with berlin(tmp_path) as (harness, ana, clock):
        made = await add(harness, clock, timing=read_every(3600, clock()))

        await ana.says(f"/jobs pause {made.id}")
        one = await job(harness, made.id)
        past = replace(one, timing="once 2026-11-20T08:00", next_slot=None)
        await harness.gateway.database.write("test", lambda c: jobs.change(c, past))
        said = await ana.says(f"/jobs resume {made.id}")
        assert (
            said
            == "The time of that reminder has passed. Tell me a new time, such as “tomorrow 9:00”."
        )
        assert (await job(harness, made.id)).state == "paused"


async def test_buttons_change_the_list_that_has_them(tmp_path: Path) -> None:
    async with berlin(tmp_path) as (harness, ana, clock):
        made = await add(harness, clock)
        await ana.says("/jobs")
        shown, count = harness.chat.shown[-1], len(harness.chat.shown)
        await ana.presses("Digest")
        await ana.presses("Pause")
        assert "**Digest** is paused." in shown.text
        await ana.presses("Resume")
        assert "Next: Mon 23 Nov, 8:00." in shown.text
        await ana.presses("Delete")
        assert shown.text == jobs_texts.ask_to_drop(made)
        await ana.presses(jobs_texts.KEEP())
        assert (await job(harness, made.id)).state == "active"
        await ana.presses("Delete")
        await ana.presses(jobs_texts.DROP())
        assert shown.text == jobs_texts.describe_dropped(made)
        await ana.presses("Bring it back")
        assert "**Digest** is as it was. Next: Mon 23 Nov, 8:00." in shown.text
        assert (await job(harness, made.id)).state == "active"
        assert len(harness.chat.shown) == count


async def test_nobody_sees_or_changes_another_persons_jobs(tmp_path: Path) -> None:
    async with berlin(tmp_path) as (harness, _, clock):
        made = await add(harness, clock)
        bob = ChatAccount(harness, "2", "Bob")
        assert await bob.says("/jobs") == jobs_texts.NONE()
        for said in ("", "pause ", "resume ", "run ", "drop "):
            assert "There's no reminder" in await bob.says(f"/jobs {said}{made.id}")
        assert (await job(harness, made.id)) == made


async def test_all_see_a_rooms_jobs_and_two_may_change_them(
    tmp_path: Path,
) -> None:
    async with berlin(tmp_path) as (harness, ana, clock):
        here = SharedHarness(harness=harness, model=harness.model, home=tmp_path)
        await here.says("2", "/jobs", room="den")
        own = await add(harness, clock, "Own")

        def find(connection: Connection) -> RoomId:
            found = rooms.find(connection, platform="fake", chat_id="den")
            assert found
            return found.id

        den = await harness.read(find)
        await here.says("3", "/whoami")
        made = await add(harness, clock, "Rent", room=den)
        listed = await here.says("2", "/jobs", room="den")
        assert "This group's reminders" in listed
        assert "**Rent**" in listed
        assert "**Own**" not in listed
        assert "There's no reminder" in await here.says("1", f"/jobs {own.id}", room="den")
        refused = await here.says("2", f"/jobs pause {made.id}", room="den")
        assert refused == "That reminder belongs to “Ana”. Only they or an owner can change it."
        assert (await job(harness, made.id)).state == "active"
        await here.make_owner("3")
        assert "is paused" in await here.says("3", f"/jobs pause {made.id}", room="den")
        assert "is active again" in await here.says("1", f"/jobs resume {made.id}", room="den")
        assert "**Rent**" in await ana.says("/jobs")


async def test_another_persons_press_in_a_room_changes_no_list(tmp_path: Path) -> None:
    async with berlin(tmp_path) as (harness, _, clock):
        here = SharedHarness(harness=harness, model=harness.model, home=tmp_path)
        await here.says("1", "/jobs", room="den")
        await here.says("2", "/whoami", room="den")

        def find(connection: Connection) -> RoomId:
            found = rooms.find(connection, platform="fake", chat_id="den")
            assert found
            return found.id

        made = await add(harness, clock, "Rent", room=await harness.read(find))
        await here.says("1", f"/jobs {made.id}", room="den")
        shown = harness.chat.shown[-1]
        await harness.chat.press("Delete", user="2", name="Bob", direct=False)
        await harness.at_rest()
        assert "That reminder belongs to “Ana”." in shown.text
        assert "**Rent**" in shown.text
        assert "Rent" in shown.labels
        assert (await job(harness, made.id)).state == "active"


async def test_a_groups_message_keeps_its_language_whoever_presses(tmp_path: Path) -> None:
    async with berlin(tmp_path) as (harness, _, clock):
        here = SharedHarness(harness=harness, model=harness.model, home=tmp_path)
        await here.says("1", "/jobs", room="den")
        await here.says("2", "/settings language de")

        def find(connection: Connection) -> RoomId:
            found = rooms.find(connection, platform="fake", chat_id="den")
            assert found
            return found.id

        await add(harness, clock, "Rent", room=await harness.read(find))
        await here.says("1", "/jobs", room="den")
        shown = harness.chat.shown[-1]
        await harness.chat.press("Rent", user="2", name="Bob", direct=False)
        await harness.at_rest()
        assert shown.labels == ["All reminders"]
        assert await here.says("2", "/jobs delete garden", room="den") == (
            "Hier gibt es keine Erinnerung mit „garden“. /reminders zeigt alle."
        )


async def home_of(harness: Harness, user: str = "1") -> Chat | None:
    def look(connection: Connection) -> Chat | None:
        person = people.find_by_account(connection, platform="fake", user_id=user)
        assert person
        return delivery_targets.find(connection, person_id=person.id).chat

    return await harness.read(look)


async def test_sethome_sets_and_resets_the_home(tmp_path: Path) -> None:
    async with berlin(tmp_path) as (harness, ana, _):
        assert await ana.says("/sethome") == jobs_texts.HOME_HERE()
        assert await home_of(harness) == Chat(platform="fake", address='["1",null,true]')
        assert await ana.says("/sethome there") == jobs_texts.HOME_USAGE()
        assert await ana.says("/sethome off") == jobs_texts.HOME_OFF()
        assert await home_of(harness) is None


async def test_a_home_has_no_one_time_ticket(tmp_path: Path) -> None:
    async with berlin(tmp_path) as (harness, ana, _):
        await ana.says("/sethome", ticket="t1")
        assert await home_of(harness) == Chat(platform="fake", address='["1",null,true]')


async def test_a_room_is_a_home_for_owners_only(tmp_path: Path) -> None:
    async with berlin(tmp_path) as (harness, _, _clock):
        here = SharedHarness(harness=harness, model=harness.model, home=tmp_path)
        said = await here.says("1", "/sethome", room="den")
        assert said == jobs_texts.HOME_NOT_IN_GROUP()
        assert await home_of(harness) is None
        await here.make_owner("1")
        assert await here.says("1", "/sethome", room="den") == jobs_texts.HOME_IN_GROUP()
        home = await home_of(harness)
        assert home
        assert home.address.startswith('["den"')
        assert await here.says("1", "/sethome off", room="den") == jobs_texts.HOME_OFF()


async def hold(harness: Harness, until: int) -> None:
    def work(connection: Connection) -> None:
        person = people.find_by_account(connection, platform="fake", user_id="1")
        assert person
        one = NewDeferredMessage(
            person_id=PersonId(person.id),
            chat=Chat(platform="fake", address='["1",null,true]'),
            title="Bread",
            body="Bread is ready.",
            release_at=until,
        )
        deferred_messages.defer(connection, one, now=0)

    await harness.gateway.database.write("test", work)


async def test_deferred_messages_are_sent_when_quiet_hours_are_removed(tmp_path: Path) -> None:
    async with berlin(tmp_path) as (harness, ana, clock):
        await ana.says("/settings quiet_hours 11:00-18:00")
        await hold(harness, clock() + 6 * 3_600_000)
        await ana.says("/settings quiet_hours off")
        await harness.chat.sees_text("Bread is ready.")


async def test_deferred_messages_wait_for_shorter_quiet_hours(tmp_path: Path) -> None:
    async with berlin(tmp_path) as (harness, ana, clock):
        await ana.says("/settings quiet_hours 11:00-18:00")
        await hold(harness, clock() + 6 * 3_600_000)
        await ana.says("/settings quiet_hours 11:00-14:00")
        assert await harness.read(deferred_messages.find_next_at) == clock() + 2 * 3_600_000
        clock.move(harness, hours=2)
        await harness.chat.sees_text("Bread is ready.")


async def test_deferred_messages_are_sent_when_a_day_off_is_removed(tmp_path: Path) -> None:
    async with berlin(tmp_path) as (harness, ana, clock):
        await ana.says("/settings days_off fri")
        await hold(harness, clock() + 12 * 3_600_000)
        await ana.says("/settings verbosity quiet")
        assert await harness.read(deferred_messages.find_next_at) == clock() + 12 * 3_600_000
        await ana.says("/settings days_off weekend")
        await harness.chat.sees_text("Bread is ready.")


async def test_deferred_messages_are_sent_when_the_model_removes_quiet_hours(
    tmp_path: Path,
) -> None:
    clock = Clock(2026, 11, 20, 11, 0)
    model = FakeModel(ask(call("settings", '{"quiet_hours": ""}')), say("Done."))
    async with running(tmp_path, model, now=clock, TALARIA_PEOPLE__TIME_ZONE=ZONE) as harness:
        ana = ChatAccount(harness, "1", "Ana")
        await ana.says("/settings quiet_hours 11:00-18:00")
        await hold(harness, clock() + 6 * 3_600_000)
        await ana.says("no quiet hours any more")
        await harness.chat.sees_text("Bread is ready.")


async def test_the_home_tab_shows_the_next_run(tmp_path: Path) -> None:
    async with berlin(tmp_path) as (harness, ana, clock):
        assert jobs_texts.NO_DIGESTS() in await ana.says("/home")
        await add(harness, clock)
        assert "- **Digest**: Mon 23 Nov, 8:00" in await ana.says("/home")


async def test_both_are_in_the_menu(tmp_path: Path) -> None:
    async with berlin(tmp_path) as (harness, _, _):
        gateway = harness.gateway
        new_times = NewTimes(gateway.questions, gateway.zone_of)
        handled = JobCommands(gateway.database, JobRules(), "", new_times).handlers()
    assert list(handled) == ["reminders", "erinnerungen", "jobs", "sethome"]
    listed = [spec.name for spec in COMMANDS if spec.name in handled]
    assert listed == ["reminders", "sethome"]
