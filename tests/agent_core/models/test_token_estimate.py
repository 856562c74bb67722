"""Estimates come near what providers count, in any script."""

import pytest

from agent_core.models.token_estimate import estimate_input, estimate_messages
from agent_core.transcript import user_message
from tests.agent_core.models.calls import ask


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("a quick brown fox " * 100, 400, 500),
        ("быстрая бурая лиса " * 100, 700, 1200),
        ("敏捷的棕色狐狸" * 100, 600, 800),
        ("\ud800", 1, 4),
        ("", 0, 0),
    ],
)
def test_a_text_is_about_as_many_tokens_as_its_script_makes_it(
    text: str, least: int, most: int
) -> None:
    assert least <= estimate_messages((user_message(text),), ()) <= most


def test_a_request_counts_what_stands_in_it() -> None:
    bare = estimate_input(ask(user_message("x" * 400)))
    longer = estimate_input(ask(user_message("x" * 400), user_message("y" * 400)))
    assert longer - bare == 100
