"""The language of an answer, by its commonest words."""

import pytest

from gateway.media.voices.languages import recognize


@pytest.mark.parametrize(
    ("text", "expected", "language"),
    [
        ("Der Zug fährt um halb sieben ab und ist pünktlich.", "en", "de"),
        ("The train is late, and you have to wait for it.", "de", "en"),
        ("Le train est en retard, et vous ne partez pas.", "en", "fr"),
        ("El tren llega tarde y no está en la estación.", "en", "es"),
        ("Il treno è in ritardo e non si parte.", "en", "it"),
        ("Termin um 9:30 beim Zahnarzt.", "de", "de"),
        ("OK.", "de", "de"),
        ("42", "en", "en"),
        ("", "fr", "fr"),
        ("Das Meeting ist um 9, the slides are in the folder.", "de", "de"),
        ("Dzień dobry, co słychać?", "pl", "pl"),
    ],
)
def test_an_answer_is_spoken_in_its_own_language(text: str, expected: str, language: str) -> None:
    assert recognize(text, expected) == language
