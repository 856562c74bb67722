"""Platform payloads are parsed field by field, and invalid values rejected."""

from typing import Any

import pytest

from adapters.toolkit.text import inside, number_in, part, parts, text_in, words_in


def test_present_fields_are_read() -> None:
    source = {"one": {"a": 1}, "many": [{"b": 2}], "count": 3, "said": "hi"}
    assert part(source, "one") == inside(source, "one") == {"a": 1}
    assert parts(source, "many") == [{"b": 2}]
    assert number_in(source, "count") == 3
    assert text_in(source, "said") == words_in(source, "said") == "hi"


@pytest.mark.parametrize("source", [{}, {"x": None}])
def test_missing_fields_are_none_or_the_default(source: dict[str, Any]) -> None:
    assert part(source, "x") is None
    assert inside(source, "x") == {}
    assert parts(source, "x") == []
    assert number_in(source, "x", default=0) == 0
    assert words_in(source, "x") == ""


@pytest.mark.parametrize("read", [number_in, text_in])
def test_missing_required_fields_are_named(read: Any) -> None:
    with pytest.raises(ValueError, match='"x" should be a'):
        read({}, "x")


@pytest.mark.parametrize("read", [part, inside, parts, number_in, text_in, words_in])
@pytest.mark.parametrize("odd", [True, 1.5, ["a"], [{}, None]])
def test_wrong_types_are_refused(read: Any, odd: object) -> None:
    with pytest.raises(ValueError, match='"x" should be a'):
        read({"x": odd}, "x")


def test_an_empty_object_is_there() -> None:
    assert part({"x": {}}, "x") == {}


def test_the_first_text_that_is_there_counts_even_if_it_is_empty() -> None:
    assert text_in({"b": "second", "c": "third"}, "a", "b", "c") == "second"
    assert words_in({"a": "", "b": "second"}, "a", "b") == ""
