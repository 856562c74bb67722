"""Words that a message has to contain to start a job."""

import pytest

from gateway.jobs.events import contains_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A new invoice came.", "new invoice"),
        ("NEW\n  Invoice!", "new invoice"),
        ("anything", ""),
        ("Die Straße ist frei", "STRASSE"),
        ("c++ is hard", "C++"),
        ("新しい請求書が届きました", "請求書"),
        ("Rechnung: 12 €", "rechnung"),
    ],
)
def test_words_are_found_side_by_side_in_any_case(text: str, words: str) -> None:
    assert contains_words(text, words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a renewed invoice", "new invoice"),
        ("new invoices", "new invoice"),
        ("new and old invoice", "new invoice"),
        ("", "new"),
        ("newinvoice", "new invoice"),
        (".*", "a"),
        ("anything", ".*"),
    ],
)
def test_parts_of_words_and_words_apart_are_not_found(text: str, words: str) -> None:
    assert not contains_words(text, words)
