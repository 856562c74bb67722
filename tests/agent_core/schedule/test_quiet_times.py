"""A moment counts as named only where a person's words name it."""

from datetime import UTC

import pytest

from agent_core.schedule.quiet_times import names_moment
from agent_core.schedule.triggers import milliseconds, read_once


@pytest.mark.parametrize(
    ("words", "at"),
    [
        ("remind me at 8 to call", "08:00"),
        ("remind me at 8 to call", "20:00"),
        ("at 8:30 pm please", "20:30"),
        ("um 20 Uhr bitte", "20:00"),
        ("morgen 7h30", "07:30"),
        ("@ 9", "09:00"),
        ("9 o'clock sharp", "09:00"),
        ("10 p.m. today", "22:00"),
        ("tomorrow at noon", "12:00"),
        ("um Mitternacht", "00:00"),
        ("in 20 minutes", "03:17"),
        ("in einer Stunde", "23:11"),
    ],
)
def test_words_that_name_the_moment(words: str, at: str) -> None:
    assert names_moment(words, milliseconds_at(at), "UTC")


@pytest.mark.parametrize(
    ("words", "at"),
    [
        ("remind me tonight", "20:00"),
        ("on Sunday, buy 8 eggs", "08:00"),
        ("on the 9th", "09:00"),
        ("at 7 to buy bread", "08:00"),
        ("um 20 Uhr", "08:00"),
        ("at 8 am", "09:00"),
        ("in the evening", "20:00"),
    ],
)
def test_words_that_leave_the_moment_open(words: str, at: str) -> None:
    assert not names_moment(words, milliseconds_at(at), "UTC")


def milliseconds_at(time: str) -> int:

    return milliseconds(read_once(f"2026-11-22T{time}").at.replace(tzinfo=UTC))
