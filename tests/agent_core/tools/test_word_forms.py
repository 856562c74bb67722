"""Forms of words that were said are covered, and nothing else is."""

import pytest

from agent_core.tools.own_words.word_forms import is_covered, names

COVERED = (
    ("Call Ada", "remind me to call Ada"),
    ("You called Ada's sisters", "call Ada's sister"),
    ("Ada anrufen", "ruf Ada an"),
    ("Ruf Ada an", "Ada anzurufen"),
    ("Fährt nach Graz", "ich fahre nach Graz"),
    ("Zahnarzttermin", "Zahnarzt Termin"),
    ("Blumen gießen", "blumengießen"),
    ("2 tickets at 9:00", "two tickets at 9"),
    ("Doesn't drink coffee", "I don't drink coffee"),
    ("Call Ada 📞", "call Ada"),
)
NOT_COVERED = (
    ("Call Bob", "call Ada"),
    ("Call Adam", "call Ada"),
    ("Bobby anrufen", "Bob anrufen"),
    ("Call 0900", "call Ada"),
    ("Pay 50", "pay 5"),
    ("https://a.example", "see a example"),
    ("a@b.example", "a b example"),
    ("evil.example", "evil example"),
    ("rm -rf ~", "rm rf"),
    ("/erase", "erase"),
    ("Call \u0410d\u0430", "call Ada"),
    ("Call\u200b Ada", "call Ada"),
    ("7F3K", "the code"),
)


@pytest.mark.parametrize(("text", "said"), COVERED)
def test_forms_are_covered(text: str, said: str) -> None:
    assert is_covered(text, said)


@pytest.mark.parametrize(("text", "said"), NOT_COVERED)
def test_nothing_else_is(text: str, said: str) -> None:
    assert not is_covered(text, said)


def test_a_name_must_tell_a_thing_from_the_others() -> None:
    assert names("cancel the gym one", "Gym", ["Haircut"])
    assert names("cancel gym and haircut", "Gym", ["Haircut"])
    assert not names("cancel the meeting", "Meeting with Bob", ["Meeting with Ada"])
    assert not names("cancel the reminder", "Reminder of the gym", [])
