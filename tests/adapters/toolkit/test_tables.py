"""Monospaced tables have straight columns."""

from collections.abc import Sequence

from adapters.discord import render as discord
from adapters.telegram import render as telegram
from adapters.toolkit.markdown import Listing, Run, TableBlock, draw, fit, parse


def spell(runs: Sequence[Run]) -> str:
    return "".join(run.text for run in runs)


def drawn(markdown: str) -> list[str]:
    (table,) = parse(markdown)
    assert isinstance(table, TableBlock)
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


def test_the_caller_renders_cells() -> None:
    (table,) = parse("|a|\n|-|\n|b|")
    assert isinstance(table, TableBlock)
    assert draw(table, spell=lambda runs: f"<{spell(runs)}\n>") == "<a >\n----\n<b >"


def test_a_table_that_a_phone_can_not_show_becomes_a_list() -> None:
    table = (
        "| Dish | Comes with | Price |\n|-|-|-:|\n"
        "| Tafelspitz | horseradish and roasted potatoes | 24 |\n| Soup | | 6 |\n| | nothing | |"
    )
    (parsed,) = parse(table)
    assert isinstance(parsed, TableBlock)
    assert isinstance(fit(parsed, spell=spell), Listing)
    assert discord.render(table) == (
        "- **Tafelspitz**\n"
        "  - Comes with: horseradish and roasted potatoes\n"
        "  - Price: 24\n"
        "- **Soup**\n"
        "  - Price: 6\n"
        "- Comes with: nothing"
    )
    assert telegram.render(table).text == (
        "• Tafelspitz\n"
        "  ◦ Comes with: horseradish and roasted potatoes\n"
        "  ◦ Price: 24\n"
        "• Soup\n"
        "  ◦ Price: 6\n"
        "• Comes with: nothing"
    )


def test_a_wide_table_of_two_columns_becomes_names_with_values() -> None:
    table = "| Day | Plan |\n|-|-|\n| Monday | take the bins out before eight o'clock |"
    assert discord.render(table) == "- **Monday**: take the bins out before eight o'clock"
    assert telegram.render(table).text == "• Monday: take the bins out before eight o'clock"


def test_a_table_of_forty_columns_stays_a_table() -> None:
    (table,) = parse(f"|a|b|\n|-|-|\n|{'x' * 18}|{'y' * 19}|")
    assert isinstance(table, TableBlock)
    assert fit(table, spell=spell) == draw(table, spell=spell)
    (table,) = parse(f"|a|b|\n|-|-|\n|{'x' * 18}|{'y' * 20}|")
    assert isinstance(table, TableBlock)
    assert isinstance(fit(table, spell=spell), Listing)
