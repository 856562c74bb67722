"""Signs that say whether an answer was good."""

import pytest

from agent_core.agent.outcomes import read_thumb


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("👍", "liked"),
        ("👍🏿 👍", "liked"),
        ("❤️", "liked"),
        ("👎", "disliked"),
        ("👍👎", None),
        ("👍 but shorter", None),
        ("", None),
        ("ok", None),
        ("🤔", None),
        ("👍" * 21, None),
    ],
)
def test_only_signs_that_are_clear_count(text: str, expected: str | None) -> None:
    assert read_thumb(text) == expected
