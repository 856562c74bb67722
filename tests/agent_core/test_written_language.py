"""The language in which a person wrote: told by frequent words, or not at all."""

import pytest

from agent_core.written_language import find_written


@pytest.mark.parametrize(
    ("words", "language"),
    [
        ("Remind me tomorrow to feed the dog", "en"),
        ("Erinnere mich morgen, den Hund zu füttern", "de"),
        ("Merk dir: ich trinke Tee!", "de"),
        ("Lisbon", None),
        ("", None),
        ("17:30", None),
    ],
)
def test_a_language_is_told_by_its_frequent_words(words: str, language: str | None) -> None:
    assert find_written(words) == language
