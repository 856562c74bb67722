"""Markdown becomes Telegram's text and entities."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.telegram.render import ENTITY_LIMIT, TEXT_LIMIT, Entity, Page, measure, render
from adapters.toolkit.split_long_messages import split_markdown
from adapters.toolkit.text import count_units
from tests.adapters.markdown_texts import MARKDOWN


def marked(page: Page) -> list[tuple[str, str]]:
    """Each entity's kind and the text that it covers."""
    text = page.text.encode("utf-16-le")
    return [
        (entity.kind, text[2 * entity.offset :][: 2 * entity.length].decode("utf-16-le"))
        for entity in page.entities
    ]


def test_plain_text_stays_as_it_is() -> None:
    assert render("Good morning!\nIt is 5 o'clock.") == Page(text="Good morning!\nIt is 5 o'clock.")


def test_looks_become_entities() -> None:
    page = render("**bold *both*** ~~gone~~ `co*de`")
    assert page.text == "bold both gone co*de"
    assert marked(page) == [
        ("bold", "bold both"),
        ("italic", "both"),
        ("strikethrough", "gone"),
        ("code", "co*de"),
    ]


def test_offsets_count_utf16_units() -> None:
    page = render("😀👩‍👩‍👧 **שלום** e\u0301 *😀*")
    assert marked(page) == [("bold", "שלום"), ("italic", "😀")]
    assert page.entities[0].offset == 2 + 8 + 1


def test_a_title_is_bold_and_blocks_are_apart() -> None:
    page = render("# A *title*\ntext\n***\n> said\n> twice")
    assert page.text == "A title\n\ntext\n\n———\n\nsaid\ntwice"
    assert marked(page) == [("bold", "A title"), ("italic", "title"), ("blockquote", "said\ntwice")]


def test_lists_have_bullets_numbers_and_steps() -> None:
    page = render("3. three\n4. four\n   - in\n     - inner\n\n- [ ] todo\n- - x")
    assert page.text == "3. three\n4. four\n  ◦ in\n    ▪ inner\n\n• [ ] todo\n• ◦ x"


def test_a_block_of_code_keeps_its_language() -> None:
    page = render("run:\n```python\nif x:\n    **y**\n```")
    assert page.text == "run:\n\nif x:\n    **y**"
    assert page.entities == (Entity(kind="pre", offset=6, length=15, language="python"),)


def test_a_table_is_drawn_in_columns() -> None:
    page = render(
        "| name | n | 数 |\n|:--|--:|:-:|\n| **a** | 10 | x |\n| bcdef | 2 | [l](https://e.org) |"
    )
    assert page.text == (
        "name  |  n |        数\n"
        "------+----+------------------\n"
        "a     | 10 |         x\n"
        "bcdef |  2 | l (https://e.org)"
    )
    assert [kind for kind, _ in marked(page)] == ["pre"]


def test_a_link_that_telegram_opens_is_an_entity() -> None:
    page = render("see [the **docs**](https://example.com/a?b=c#d) and ![](https://e.org/i.png)")
    assert page.text == "see the docs and https://e.org/i.png"
    assert page.entities[0] == Entity(
        kind="text_link", offset=4, length=8, url="https://example.com/a?b=c#d"
    )
    assert marked(page)[1] == ("bold", "docs")


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("[file **x**](docs/a.md)", "file x (docs/a.md)"),
        ("[here](http://localhost:8000/)", "here (http://localhost:8000/)"),
        ("[me](mailto:a@b.org)", "me (mailto:a@b.org)"),
        ("<a@b.org>", "a@b.org"),
        ("[x](javascript:alert)", "[x](javascript:alert)"),
    ],
)
def test_a_link_that_telegram_would_not_open_is_spelled_out(markdown: str, text: str) -> None:
    page = render(markdown)
    assert page.text == text
    assert not [entity for entity in page.entities if entity.kind == "text_link"]


def test_code_takes_no_other_look() -> None:
    assert marked(render("**a `b` c**")) == [("bold", "a "), ("code", "b"), ("bold", " c")]
    assert marked(render("[`b`](https://e.org)")) == [("text_link", "b")]


def test_quotes_are_not_nested_in_each_other() -> None:
    assert marked(render("> a\n> > b\n> > > c")) == [("blockquote", "a\nb\nc")]


def test_what_telegram_can_not_carry_is_replaced() -> None:
    assert render("a\x00b\ud800c\x1bd").text == "a\ufffdb\ufffdcd"


def test_markup_around_nothing_is_shown_raw() -> None:
    assert render("[](https://e.org)").text == "[](https://e.org)"
    assert render("```\n\n```").text == "```\n\n```"
    assert render(" \n\t").text == ""


def test_blanks_at_the_ends_are_cut_and_entities_stay_in_place() -> None:
    page = render("&nbsp; x\n```\n  y\n```\n**z** &nbsp;")
    assert page.text == "x\n\n  y\n\nz"
    assert marked(page) == [("pre", "  y"), ("bold", "z")]


def test_code_at_the_start_keeps_the_indentation_of_its_first_line() -> None:
    page = render("```\n\n  x\n```\n**y**")
    assert page.text == "  x\n\ny"
    assert marked(page) == [("pre", "  x"), ("bold", "y")]


def test_beyond_a_hundred_entities_words_stay_and_looks_go() -> None:
    page = render("*i* " * 60 + "**b** " * 60 + "`c` " * 60 + "[l](https://e.org) ")
    assert page.text.split() == ["i"] * 60 + ["b"] * 60 + ["c"] * 60 + ["l"]
    kinds = [entity.kind for entity in page.entities]
    assert len(kinds) == ENTITY_LIMIT
    assert (kinds.count("text_link"), kinds.count("code"), kinds.count("bold")) == (1, 60, 39)


def test_links_are_never_given_up_for_want_of_room() -> None:
    text = "\n".join(f"[{number}](https://e.org/{number})" for number in range(250))
    parts = split_markdown(text, limit=TEXT_LIMIT, measure=measure)
    assert sum(len(render(part).entities) for part in parts) == 250


def test_four_thousand_emoji_are_two_messages() -> None:
    parts = split_markdown("😀" * 4000, limit=TEXT_LIMIT, measure=measure)
    assert len(parts) <= 3
    assert "".join(render(part).text for part in parts) == "😀" * 4000


@given(MARKDOWN)
def test_every_page_is_one_that_telegram_takes(markdown: str) -> None:
    page = render(markdown)
    units = page.text.encode("utf-16-le")
    end = len(units) // 2
    assert page.text == page.text.rstrip()
    begins_with_code = any(one.kind == "pre" and one.offset == 0 for one in page.entities)
    assert page.text == page.text.lstrip() or begins_with_code
    assert len(page.entities) <= ENTITY_LIMIT
    for entity in page.entities:
        assert 0 <= entity.offset < entity.offset + entity.length <= end
        units[2 * entity.offset :][: 2 * entity.length].decode("utf-16-le")
    alone = [entity for entity in page.entities if entity.kind in ("code", "pre", "text_link")]
    for first, second in itertools.pairwise(alone):
        assert first.offset + first.length <= second.offset
    quotes = [entity for entity in page.entities if entity.kind == "blockquote"]
    for first, second in itertools.pairwise(quotes):
        assert first.offset + first.length <= second.offset


@pytest.mark.parametrize(
    "markdown",
    ["word\n***\n", "word\n- x\n\n", "1.\n", "word\n# t\n", "-\t\tx\n", "> q\n\nword\n- y\n"],
)
def test_growth_by_rendering_is_counted_beforehand(markdown: str) -> None:
    text = markdown * 100
    assert count_units(render(text).text) <= measure(text) <= TEXT_LIMIT


@pytest.mark.slow
@given(MARKDOWN)
def test_nothing_is_longer_than_it_was_measured(markdown: str) -> None:
    assert count_units(render(markdown).text) <= measure(markdown)


@pytest.mark.slow
@given(MARKDOWN, st.integers(min_value=1, max_value=40))
def test_every_part_fits_once_rendered(markdown: str, times: int) -> None:
    for part in split_markdown("\n".join([markdown] * times), limit=TEXT_LIMIT, measure=measure):
        assert count_units(render(part).text) <= TEXT_LIMIT
        assert render(part).text or not part.replace("\x1b", "").strip()
