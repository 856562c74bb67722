"""Words name the moment of a reminder, or they don't."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from agent_core.schedule.said_moments import names_slot

ZONE = "Europe/Berlin"


def at(text: str) -> int:
    moment = datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(ZONE))
    return int(moment.timestamp() * 1000)


NOW = at("2026-11-20T13:00")  # a Friday

NAMED = (
    ("remind me tomorrow at 9 to call Ada", "2026-11-21T09:00"),
    ("tomorrow remind me to call Ada at 9", "2026-11-21T09:00"),
    ("remind me in 20 minutes", "2026-11-20T13:20"),
    ("ping me at 5", "2026-11-20T17:00"),
    ("ping me at 5", "2026-11-21T05:00"),
    ("remind me on tuesday", "2026-11-24T18:30"),
    ("remind me tomorrow morning", "2026-11-21T07:15"),
    ("remind me next week", "2026-11-25T09:00"),
    ("remind me on the weekend", "2026-11-22T10:00"),
    ("remind me on the 5th", "2026-12-05T09:00"),
    ("a timer for 10 minutes", "2026-11-20T13:10"),
    ("weck mich morgen um halb sieben", "2026-11-21T06:30"),
    ("um viertel vor sieben", "2026-11-20T18:45"),
    ("am Montag 10 Uhr", "2026-11-23T10:00"),
    ("in einer Viertelstunde", "2026-11-20T13:15"),
    ("am 3. Dezember um 12", "2026-12-03T12:00"),
)
NOT_NAMED = (
    ("remind me to call Ada", "2026-11-21T09:00"),
    ("remind me tomorrow at 9", "2026-11-21T03:00"),
    ("remind me tomorrow at 9", "2026-11-22T09:00"),
    ("remind me tomorrow at 9 pm", "2026-11-21T09:00"),
    ("remind me in 20 minutes", "2026-11-20T13:40"),
    ("remind me on tuesday", "2026-11-25T09:00"),
    ("remind me tomorrow morning", "2026-11-21T18:00"),
    ("remind me next week", "2026-11-22T09:00"),
    ("um 18 Uhr", "2026-11-20T06:00"),
    ("morgen um 17:15", "2026-11-21T05:15"),
    ("later", "2026-11-20T15:00"),
)


@pytest.mark.parametrize(("sentence", "slot"), NAMED)
def test_words_that_name_a_slot(sentence: str, slot: str) -> None:
    assert names_slot(sentence, at(slot), ZONE, NOW)


@pytest.mark.parametrize(("sentence", "slot"), NOT_NAMED)
def test_words_that_do_not(sentence: str, slot: str) -> None:
    assert not names_slot(sentence, at(slot), ZONE, NOW)
