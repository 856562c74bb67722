"""Removing the bot's name from a message leaves no gap."""

import pytest

from adapters.toolkit.text import join_around_name


@pytest.mark.parametrize(
    ("pieces", "said"),
    [
        (["hello"], "hello"),
        (["", ", how are you?"], "how are you?"),
        ([" ", ": tell me"], "tell me"),
        (["hello ", "!"], "hello!"),
        (["hello ", " and welcome"], "hello and welcome"),
        (["hello ", ""], "hello"),
        (["mail", "me"], "mailme"),
        (["so ", "it is"], "so it is"),
        (["", " ", " so"], "so"),
        (["one ", " two ", "."], "one two."),
    ],
)
def test_what_stood_around_the_name_is_joined(pieces: list[str], said: str) -> None:
    assert join_around_name(pieces) == said
