"""Arguments of calls as objects, whatever a model wrote."""

import pytest

from agent_core.models.arguments import read_object


def nest(levels: int, opening: str = "[", closing: str = "]") -> str:
    return '{"a":' + opening * levels + closing * levels + "}"


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "[1]", "null", '"a"'),
        nest(200),
        nest(100_000),
        "[" * 100_000,
        '{"a":' * 201 + "1" + "}" * 201,
    ],
    ids=range(9),
)
def test_what_is_no_object_or_too_deep_is_none(text: str) -> None:
    assert read_object(text) is None


def test_an_object_is_read() -> None:
    assert read_object(nest(199)) is not None
    assert read_object('{"a":' * 200 + "1" + "}" * 200) is not None
    brackets = "[" * 100_000
    assert read_object(f'{{"a":"{brackets}"}}') == {"a": brackets}


def test_the_depth_of_the_caller_changes_nothing() -> None:
    def read_below(frames: int) -> object:
        return read_below(frames - 1) if frames else read_object(nest(199))

    assert read_below(0) == read_below(300)
