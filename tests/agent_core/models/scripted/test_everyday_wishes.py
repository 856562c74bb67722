"""Everyday wishes become the reminders that people mean, or are named as not understood."""

from datetime import datetime
from pathlib import Path

from agent_core.models.scripted.commands import (
    AskWhen,
    CancelAll,
    Courtesy,
    LeaveIt,
    ManageJob,
    NoTime,
    Remind,
    ReplyContext,
    StandInCommand,
)
from agent_core.models.scripted.parse import read_answer, read_command
from tests.tables import check_each

NOW = datetime(2026, 11, 30, 12, 8)
"""A Monday, a little after noon."""
LINES = Path(__file__).with_name("everyday_wishes.txt").read_text("utf-8").splitlines()
ROWS = [tuple(part.strip() for part in row.split(" | ")) for row in LINES if row[0] != "#"]


def show(wish: Remind) -> str:
    """When a reminder is due, in one of its forms."""
    span = wish.in_minutes and f"in {wish.in_minutes}"
    rule = wish.rule and f"{wish.times} {wish.rule}"
    return wish.at or wish.words or wish.cron or rule or span or f"every {wish.every_minutes}"


def test_everyday_wishes_mean_what_people_mean() -> None:
    assert len(ROWS) > 90

    def check(row: tuple[str, ...]) -> None:
        words, when, text = row
        command = read_command(words, NOW)
        if when.startswith("?"):
            assert isinstance(command, NoTime)
            assert (command.read, command.unread) == (when[1:].strip(), text)
        else:
            assert isinstance(command, Remind)
            assert (show(command), command.text) == (when, text)

    check_each(ROWS, check)


def test_reminders_are_managed_in_everyday_words() -> None:
    def check(row: tuple[str, StandInCommand]) -> None:
        assert read_command(row[0], NOW) == row[1]

    rows: list[tuple[str, StandInCommand]] = [
        *((words, CancelAll()) for words in ("cancel all my reminders", "delete all reminders")),
        ("lösch alle Erinnerungen", CancelAll()),
        ("lösche bitte alle meine erinnerungen", CancelAll()),
        ("pause drink", ManageJob(action="pause", words="drink")),
        ("please pause the drink reminder", ManageJob(action="pause", words="drink")),
        ("pausiere trinken", ManageJob(action="pause", words="trinken")),
        ("resume drink", ManageJob(action="resume", words="drink")),
        ("setze trinken fort", ManageJob(action="resume", words="trinken")),
        ("stop reminding me to drink", ManageJob(action="delete", words="drink")),
        ("erinnere mich nicht mehr an den Müll", ManageJob(action="delete", words="Müll")),
        ("cancel dentist please", ManageJob(action="delete", words="dentist")),
        ("lösch bitte den Zahnarzt", ManageJob(action="delete", words="Zahnarzt")),
        ("vielen Dank!", Courtesy(kind="thanks", words="vielen Dank")),
    ]
    check_each(rows, check)


def test_the_answer_to_when_is_an_hour_of_the_day_or_a_no() -> None:
    wish = AskWhen(text="drink water")
    assert read_answer("at 5", wish, NOW) == Remind(text="drink water", at="2026-11-30T17:00")
    for words in ("no", "nein", "no thanks", "Nein, danke."):
        assert isinstance(read_answer(words, wish, NOW), LeaveIt), words


def test_a_bare_hour_that_is_over_by_evening_is_of_the_next_day() -> None:
    wish, evening = AskWhen(text="drink water"), NOW.replace(hour=18, minute=20)

    def check(row: tuple[str, str]) -> None:
        said, at = row
        whole = read_command(f"remind me {said} to drink water", evening)
        assert read_answer(said, wish, evening) == whole == Remind(text="drink water", at=at)

    rows = [
        ("at 5", "2026-12-01T17:00"),
        ("um 5", "2026-12-01T17:00"),
        ("at 1", "2026-12-01T13:00"),
        ("at 6:30", "2026-11-30T18:30"),
        ("at 6", "2026-12-01T06:00"),
        ("at 7", "2026-11-30T19:00"),
        ("at 5 am", "2026-12-01T05:00"),
        ("tomorrow at 5", "2026-12-01T05:00"),
    ]
    check_each(rows, check)
    late = NOW.replace(hour=23, minute=31)
    for said in ("at 5", "um 5"):
        whole = read_command(f"remind me {said} to fly", late)
        assert whole == Remind(text="fly", at="2026-12-01T05:00"), said
    clock = read_command("stell einen wecker auf 5 uhr", evening)
    assert isinstance(clock, Remind)
    assert clock.at == "2026-12-01T05:00"
    for alarm, text in (("wake me at 5", "Wake up"), ("wecke mich um 5", "Aufwachen")):
        assert read_command(alarm, evening) == Remind(text=text, at="2026-12-01T05:00"), alarm


def test_the_hint_fits_the_wish() -> None:
    for words, hint in (
        ("remind me later today to call", "remind me tomorrow at 9:00 to stretch"),
        ("remind me every blue moon to howl", "remind me every 2 days at 8:00 to stretch"),
        ("remind me at 9 to call mum on Friday", "“remind me on Friday at 9 to …”"),
    ):
        command = read_command(words, NOW)
        assert isinstance(command, NoTime)
        context = ReplyContext(before={}, now={}, is_first=False, delay=0.0)
        assert hint in command.reply((), context), words
