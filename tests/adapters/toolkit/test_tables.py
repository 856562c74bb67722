"""Tables in letters of one width stand in straight columns."""

from collections.abc import Sequence

from adapters.toolkit.markdown import Run, Table, draw, parse


def spell(runs: Sequence[Run]) -> str:
    return "".join(run.text for run in runs)


def drawn(markdown: str) -> list[str]:
    (table,) = parse(markdown)
    assert isinstance(table, Table)
    return draw(table, spell=spell).split("\n")


def test_columns_are_as_wide_as_their_widest_cell_and_aligned() -> None:
    assert drawn("|a|b|c|\n|-|:-:|-:|\n|long|x|1|\n|y|wide|23|") == [
        "a    |  b   |  c",
        "-----+------+---",
        "long |  x   |  1",
        "y    | wide | 23",
    ]


def test_wide_letters_take_two_columns_and_marks_none() -> None:
    assert drawn("|a|b|\n|-|-|\n|日本|x|\n|e\u0301|y|") == [
        "a    | b",
        "-----+--",
        "日本 | x",
        "e\u0301    | y",
    ]


def test_a_cell_is_spelled_by_whoever_asks() -> None:
    (table,) = parse("|a|\n|-|\n|b|")
    assert isinstance(table, Table)
    assert draw(table, spell=lambda runs: f"<{spell(runs)}\n>") == "<a >\n----\n<b >"
