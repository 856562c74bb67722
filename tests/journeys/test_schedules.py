"""Schedules in words: what the person confirms, and when jobs then run."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.emulators.sources import Sources
from tests.emulators.telegram_cast import ANNA
from tests.integration.clock import Clock
from tests.integration.processes import talaria
from tests.journeys.accounts import texts
from tests.journeys.stage import Stage, call, calls, results

SUNDAY = (2026, 11, 22, 12, 0, 20)
YES = "Yes, do that"

everywhere = pytest.mark.parametrize("platform", ["telegram", "discord", "slack"])


def remind(**when: object) -> object:
    return calls(call("schedule", action="create", kind="message", text="Call Ada.", **when))


@everywhere
async def test_a_fortnight_with_two_times_is_echoed_and_comes(
    deployment: Stage, platform: str
) -> None:
    anna, clock = deployment.account(platform, ANNA), Clock(*SUNDAY)
    deployment.now = clock
    async with deployment.open() as harness:
        await harness.hears(anna, "/settings time_zone UTC")  # the profile on Slack names Berlin
        call_again = remind(
            times=["08:00", "18:30"],
            rule="FREQ=WEEKLY;INTERVAL=2;BYDAY=TH",
            skip=["holidays:DE"],
            until="2027-03-31",
        )
        deployment.plan(call_again, "Agreed.")
        await harness.notes(anna.says("every 2 weeks on Thursday at 8:00 and 18:30, but not on …"))
        await harness.asks(anna, YES)
        shown = texts(anna)[-1]
        assert (
            "Every 2 weeks on Thursday, at 8:00 and at 18:30, except public holidays (DE),"
            " from Thu 26 Nov, until Wed 31 Mar: shall I send this?"
        ) in shown
        assert "Thu 26 Nov, 8:00; Thu 26 Nov, 18:30; Thu 10 Dec, 8:00" in shown
        await harness.press(anna, YES)
        await harness.until(lambda: texts(anna)[-1].startswith("Agreed.\n\n⏰ "))
        clock.move(harness, hours=3 * 24 + 20)
        await harness.until(lambda: texts(anna).count("⏰ Call Ada.") == 1)
        clock.move(harness, hours=10, minutes=30)
        await harness.until(lambda: texts(anna).count("⏰ Call Ada.") == 2)
        clock.move(harness, hours=8 * 24)
        await harness.at_rest()
        assert texts(anna).count("⏰ Call Ada.") == 2


FREE = """BEGIN:VCALENDAR\r
VERSION:2.0\r
{events}END:VCALENDAR\r
"""
EVENT = (
    "BEGIN:VEVENT\r\nUID:{day}@test\r\nSUMMARY:Free\r\nDTSTART;VALUE=DATE:{day}\r\n"
    "TRANSP:TRANSPARENT\r\nEND:VEVENT\r\n"
)
MEETING = (
    "BEGIN:VEVENT\r\nUID:m@test\r\nSUMMARY:Meeting\r\nDTSTART:20261124T070000Z\r\n"
    "DTEND:20261124T090000Z\r\nEND:VEVENT\r\n"
)
DAILY = {"times": ["08:00"], "rule": "FREQ=DAILY"}


def make_calendar(*days: str) -> str:
    return FREE.format(events=MEETING + "".join(EVENT.format(day=day) for day in days))


@everywhere
async def test_days_of_an_own_calendar_are_skipped_and_read_daily(
    deployment: Stage, platform: str
) -> None:
    anna, clock = deployment.account(platform, ANNA), Clock(*SUNDAY)
    deployment.now = clock
    zone = {"TALARIA_PEOPLE__TIME_ZONE": "UTC", "TALARIA_DIGEST__ALLOW_HOSTS": "127.0.0.1"}
    async with Sources() as web, deployment.open(**zone) as harness:
        await harness.hears(anna, "/settings time_zone UTC")
        address = web.serve("/secret/off.ics", make_calendar("20261123"), "text/calendar")
        deployment.plan(remind(**DAILY, skip=[f"calendar {address}"]), "Agreed.")
        await harness.notes(anna.says(f"every day at 8, except on the days in {address}"))
        await harness.asks(anna, YES)
        shown = texts(anna)[-1]
        assert (
            "except on days with a whole-day event in 127.0.0.1 (1 day now): shall I send this?"
            in shown
        )
        assert "secret" not in shown
        assert "Tue 24 Nov, 8:00; Wed 25 Nov, 8:00" in shown
        await harness.press(anna, YES)
        await harness.until(lambda: texts(anna)[-1].startswith("Agreed.\n\n⏰ "))
        reads = len(web.asked)
        web.serve("/secret/off.ics", make_calendar("20261123", "20261124"), "text/calendar")
        clock.move(harness, hours=18)  # Monday, 06:00
        await harness.until(lambda: len(web.asked) == reads + 1)
        await harness.at_rest()
        assert "Wed 25 Nov, 8:00" in await harness.hears(anna, "/jobs 5")
        web.pages.clear()
        clock.move(harness, hours=24)  # Tuesday, 06:00: the calendar can't be read
        await harness.until(lambda: len(web.asked) == reads + 2)
        clock.move(harness, hours=2, minutes=30)
        await harness.at_rest()
        assert "Call Ada." not in texts(anna)
        clock.move(harness, hours=23, minutes=30)
        await harness.until(lambda: texts(anna).count("⏰ Call Ada.") == 1)


async def test_a_restart_without_the_calendar_changes_no_slot(stage: Stage) -> None:
    anna, clock = stage.account("telegram", ANNA), Clock(*SUNDAY)
    stage.now = clock
    own = stage.home / "sources" / "off.ics"
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text(make_calendar("20261123", "20261125"))
    async with stage.open() as harness:
        await harness.hears(anna, "/settings time_zone UTC")
        stage.plan(remind(**DAILY, skip=["calendar off.ics"]), "Agreed.")
        await harness.notes(anna.says("every day at 8, except on the days in off.ics"))
        await harness.asks(anna, YES)
        await harness.press(anna, YES)
        await harness.until(lambda: texts(anna)[-1].startswith("Agreed.\n\n⏰ "))
    own.unlink()
    clock.pass_unseen(hours=44)
    async with stage.open() as harness:  # Tuesday, 08:00
        await harness.until(lambda: texts(anna).count("⏰ Call Ada.") == 1)
        clock.move(harness, hours=24)
        await harness.at_rest()
        assert "Next: tomorrow, 8:00; Fri 27 Nov" in await harness.hears(anna, "/jobs 5")
        assert texts(anna).count("⏰ Call Ada.") == 1


async def test_an_unreadable_calendar_is_reported_when_the_job_is_made(stage: Stage) -> None:
    anna = stage.account("telegram", ANNA)
    stage.now = Clock(*SUNDAY)
    own = stage.home / "sources" / "people" / "anna"
    own.mkdir(parents=True)
    (own / "broken.ics").write_text("no calendar")
    async with Sources() as web, stage.open() as harness:
        address = web.serve("/off.ics", make_calendar("20261123"), "text/calendar")
        for word, reason in (
            ("calendar none.ics", "there is no such file in the home's sources folder"),
            ("calendar broken.ics", "the calendar can't be read"),
            (f"calendar {address}", "127.0.0.1 is not a public address"),
            ("calendar https://news.example/?q=secret", "message does not contain this address"),
        ):
            stage.plan(remind(**DAILY, skip=[word]), "Can't.")
            assert await harness.hears(anna, f"every day at 8, except in {address}") == "Can't."
            assert reason in results(stage.turns[-1])[0]
        assert not web.asked
        assert "You have no reminders" in await harness.hears(anna, "/jobs")


async def test_an_own_calendar_file_is_echoed_in_german(stage: Stage) -> None:
    anna = stage.account("telegram", ANNA)
    stage.now = Clock(*SUNDAY)
    (stage.home / "sources").mkdir(parents=True, exist_ok=True)
    (stage.home / "sources" / "off days.ics").write_text(make_calendar("20261123", "20261124"))
    async with stage.open() as harness:
        await harness.hears(anna, "/settings time_zone UTC")
        await harness.hears(anna, "/settings language de")
        stage.plan(remind(**DAILY, skip=["calendar off days.ics"]), "Gut.")
        await harness.notes(anna.says("jeden Tag um 8, außer an den Tagen in off days.ics"))
        await harness.until(lambda: "off days.ics (jetzt 2 Tage)" in texts(anna)[-1])
        assert "Mi 25. Nov., 8:00; Do 26. Nov., 8:00" in texts(anna)[-1]


async def test_the_command_line_takes_rules_and_own_calendars(stage: Stage) -> None:
    anna = stage.account("telegram", ANNA)
    async with stage.open() as harness:
        await harness.hears(anna, "/settings time_zone UTC")
    ahead = [datetime.now(UTC).date() + timedelta(days=days) for days in (1, 2)]
    (stage.home / "sources").mkdir(parents=True, exist_ok=True)
    own = stage.home / "sources" / "off.ics"
    own.write_text(make_calendar(f"{ahead[0]:%Y%m%d}"))
    job = ("--times", "08:00,18:30", "--skip", "calendar off.ics", "--message", "Call Ada.")
    made = talaria(stage.home, "jobs", "add", "--person", "anna", *job)
    assert made.code == 0, made.err
    assert "except on days with a whole-day event in off.ics (1 day now)" in made.out
    assert f"{ahead[0]} 08:00" not in made.out
    assert f"{ahead[1]} 08:00" in made.out
    own.unlink()
    refused = talaria(stage.home, "jobs", "change", "5", *job[:4])
    assert refused.code
    assert "the calendar can't be read: there is no such file" in refused.err


async def test_an_inexpressible_rule_is_refused_with_the_nearest(stage: Stage) -> None:
    anna = stage.account("telegram", ANNA)
    stage.now = Clock(*SUNDAY)
    async with stage.open() as harness:
        stage.plan(remind(times=["09:00"], rule="FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30"), "Can't.")
        assert await harness.hears(anna, "every 30 February at 9, call Ada") == "Can't."
        refused = results(stage.turns[-1])[0]
        assert "never occurs; the nearest is FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=-1" in refused
        assert "You have no reminders" in await harness.hears(anna, "/jobs")


async def test_cron_with_a_day_and_a_weekday_is_shown_as_either(stage: Stage) -> None:
    anna = stage.account("telegram", ANNA)
    stage.now = Clock(*SUNDAY)
    async with stage.open() as harness:
        stage.plan(remind(cron="0 8 1-7 * MON"), "Agreed.")
        await harness.notes(anna.says("the first Monday of the month at 8"))
        await harness.asks(anna, YES)
        shown = "Every month on day 1 to 7, and also on Monday, at 8:00: shall I send this?"
        assert shown in texts(anna)[-1]
