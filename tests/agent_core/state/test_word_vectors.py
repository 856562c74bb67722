"""Vectors of words: what means the same points in the same direction, in two languages."""

import math
from importlib.resources import files
from operator import mul

import pytest

from agent_core.state import word_vectors
from agent_core.state.word_vectors import (
    DIMENSIONS,
    LEAST_ALIKE,
    Likeness,
    embed,
    list_words,
    measure_frequency,
    point,
)


def compare(one: str, other: str) -> float:
    cosine: float = sum(map(mul, point(one), point(other)))
    return cosine


def measure(text: str) -> float:
    return math.hypot(*embed(text))


def test_a_word_has_a_frequency_in_general() -> None:
    assert measure_frequency("the") > measure_frequency("doctor") > measure_frequency("piano") > 0
    assert measure_frequency("qzxvbk") == 0


@pytest.mark.parametrize(
    ("text", "near", "far"),
    [
        ("doctor", "hospital", "invoice"),
        ("Urlaub", "holiday", "hospital"),
        ("der Hund braucht Futter", "food for pets", "train tickets"),
        ("yellow leaves", "garden flowers", "tax return"),
        ("Steuererklärung", "tax", "garden"),
    ],
)
def test_words_of_one_subject_are_closer(text: str, near: str, far: str) -> None:
    assert compare(text, near) > compare(text, far) + 0.1


def test_a_frequent_word_weighs_little() -> None:
    assert measure("the") < 0.1 * measure("invoice")
    assert compare("the invoice of the shop", "invoice shop") > 0.9


def test_a_compound_is_read_as_its_parts() -> None:
    assert compare("winterreifen", "winter reifen") > 0.99
    assert compare("qqinvoice", "invoice") > 0.5


def test_large_letters_change_nothing() -> None:
    assert point("INVOICE Shop") == point("invoice shop")


@pytest.mark.parametrize("text", ["", "12 + 34", "発票", "🙂", "x" * 5_000])
def test_a_text_without_known_words_points_nowhere(text: str) -> None:
    assert list(point(text)) == [0.0] * DIMENSIONS


def test_a_long_text_is_read_up_to_its_limit() -> None:
    spelled = [chr(97 + n // 26) + chr(97 + n % 26) + "invoice" for n in range(400)]
    assert embed(" ".join(spelled)) == embed(" ".join(spelled[:300]))


def test_a_direction_has_the_length_one() -> None:
    assert math.hypot(*point("an invoice for the customer")) == pytest.approx(1.0, abs=1e-5)


def test_the_table_is_sorted_and_whole() -> None:
    folder = files(word_vectors.__package__ or "")
    words = folder.joinpath("words.txt").read_text(encoding="utf-8").splitlines()
    encoded = [word.encode() for word in words]
    assert encoded == sorted(set(encoded))
    entries = folder.joinpath("word_vectors.bin").read_bytes()
    assert len(entries) == len(words) * (1 + DIMENSIONS // 2)
    assert len(entries) + sum(map(len, encoded)) < 4_000_000


def test_words_that_mean_the_same_are_alike() -> None:
    likeness = Likeness(["pet", "holiday", "発票"])
    assert likeness.compare("dog").keys() == {0}
    assert likeness.compare("urlaub").keys() == {1}
    assert likeness.compare("invoice") == {}
    assert likeness.compare("発票") == {}


def test_an_unknown_word_counts_as_its_longest_known_beginning() -> None:
    likeness = Likeness(["invoice", "vacation"])
    assert likeness.compare("invoiceqx") == likeness.compare("invoice")
    assert likeness.compare("invoiceqxqxqxqxqx") == {}


def test_a_likeness_is_the_cosine_of_two_words() -> None:
    likeness = Likeness(["pet", "animal", "holiday", "trip"])
    for word in ("dog", "tourism", "vacation"):
        for place, cosine in likeness.compare(word).items():
            known = compare(("pet", "animal", "holiday", "trip")[place], word)
            assert cosine == pytest.approx(known, abs=1e-5)
            assert cosine > LEAST_ALIKE
    assert likeness.compare("animal")[1] == pytest.approx(1.0, abs=1e-5)


def test_words_are_letters_in_small_letters() -> None:
    assert list_words("My 2 Dogs, über_all!") == ["my", "dogs", "über", "all"]
