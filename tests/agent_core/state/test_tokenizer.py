"""Text of any script becomes the words of the index."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.state.tokenizer import (
    MAX_WORD,
    cut,
    list_pieces,
    list_runs,
    normalize,
    stem,
)
from tests.tables import check_each

FORMS = (
    *(("caresses", "caress"), ("ponies", "poni"), ("cats", "cat"), ("feed", "feed")),
    *(("agreed", "agre"), ("plastered", "plaster"), ("motoring", "motor"), ("sing", "sing")),
    *(("conflated", "conflat"), ("troubled", "troubl"), ("hopping", "hop"), ("fizzed", "fizz")),
    *(("failing", "fail"), ("filing", "file"), ("happy", "happi"), ("sky", "sky")),
    *(("relational", "relat"), ("rational", "ration"), ("digitizer", "digit")),
    *(("vietnamization", "vietnam"), ("hopefulness", "hope"), ("sensibiliti", "sensibl")),
    *(("triplicate", "triplic"), ("electrical", "electr"), ("goodness", "good")),
    *(("replacement", "replac"), ("adoption", "adopt"), ("effective", "effect")),
    *(("probate", "probat"), ("rate", "rate"), ("controll", "control"), ("roll", "roll")),
    *(("went", "go"), ("bought", "bui"), ("buy", "bui"), ("children", "child")),
    *(("is", "be"), ("ox", "ox"), ("собаки", "собаки"), ("x1ing", "x1ing")),
)


def test_forms_of_a_word_have_one_stem() -> None:
    def check(row: tuple[str, str]) -> None:
        word, expected = row
        assert stem(word) == expected

    check_each(FORMS, check)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Rex's dogs aren't here, I'll call", ["rex", "dog", "aren", "here", "i", "call"]),
        ("it costs 1,234.50 or 12,5", ["it", "cost", "1234", "50", "or", "12", "5"]),
        ("snake_case a-b c.d", ["snake", "case", "a", "b", "c", "d"]),
        ("getURLName", ["geturlnam", "get", "url", "name"]),
        ("Réservé à l’Hôtel Müller", ["reserv", "a", "l", "hotel", "muller"]),
        ("STRASSE Straße", ["strass", "strass"]),
        ("我的狗", ["我的", "的狗", "狗"]),
        ("iphone手机", ["iphon", "手机", "机"]),
        ("สวัส", ["สวั", "วัส", "ัส", "ส"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("ok 🎉€ +1", ["ok", "🎉", "€", "1"]),
        ("\x00a\ud800b\u200bc", ["a", "b", "c"]),
    ],
)
def test_text_is_cut_into_words(text: str, expected: list[str]) -> None:
    assert cut(text) == expected


@given(st.text())
def test_nothing_in_a_word_could_end_it_in_the_index(text: str) -> None:
    for word in cut(text):
        assert 0 < len(word.encode()) <= MAX_WORD * 4
        assert all(sign.isalnum() or ord(sign) > 127 for sign in word)


@given(st.text(alphabet="ab 狗手机หมาชื่é🎉'1,"))
def test_whatever_is_looked_for_is_in_the_text_it_was_taken_from(text: str) -> None:
    words = cut(text)
    for run in list_runs(normalize(text)):
        pieces, is_start = list_pieces(run)
        for piece in pieces:
            assert any(word.startswith(piece) if is_start else word == piece for word in words)
