"""Names and texts of strangers are safe to show and store."""

import pytest

from adapters.toolkit.text import count_units, plain_name, plain_text


def test_a_text_keeps_everything_storable() -> None:
    assert plain_text("a\x00b\ud800c\n\u202ed") == "a\ufffdb\ufffdc\n\u202ed"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("  Anna\n\tLind  ", "Anna Lind"),
        ("Anna\u202e\u200b\x07", "Anna"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("\u200d\u200c", ""),
        ("x" * 200, "x" * 80),
    ],
)
def test_a_name_is_one_line_without_tricks(name: str, shown: str) -> None:
    assert plain_name(name) == shown


@pytest.mark.parametrize(
    ("text", "units"), [("", 0), ("abc", 3), ("ä", 1), ("👀", 2), ("\ud800", 1)]
)
def test_units_are_those_of_utf_16(text: str, units: int) -> None:
    assert count_units(text) == units
