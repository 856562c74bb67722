"""Front matter is read as YAML means it, and what can't be read is said, never guessed."""

from contextlib import suppress

import pytest
from hypothesis import given, strategies
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from agent_core.skills.parser import find_colon, read_front_matter
from tests.tables import check_each

TEXTS = (
    ("a: plain words", "plain words"),
    ("a: plain # and a remark", "plain"),
    ("a: one#two", "one#two"),
    ("a:   spaces around   ", "spaces around"),
    ("a: http://example.org/x", "http://example.org/x"),
    ("a: it's fine", "it's fine"),
    ('a: "in quotes: yes"', "in quotes: yes"),
    (r'a: "tab\t quote\" line\n \\ \x41 \u00e4 \U0001F600"', 'tab\t quote" line\n \\ A ä 😀'),
    ("a: 'it''s: so'  # why", "it's: so"),
    ('a: ""', ""),
    ("a:", ""),
    ("a:   # nothing", ""),
    ("a: 1.0", "1.0"),
    ("a: true", "true"),
    ("a: -5 degrees", "-5 degrees"),
    ("a: first\n  second\n  third", "first second third"),
    ("a:\n  begins below\n  and goes on", "begins below and goes on"),
    ('a: "first\n  second"', "first second"),
    ("a: >\n  folded\n  words\n\n  new line\n", "folded words\nnew line\n"),
    ("a: >-\n  folded\n  words\n", "folded words"),
    ("a: |\n  as it\n    stands: here\n  # and this\n", "as it\n  stands: here\n# and this\n"),
    ("a: |-\n  late\n", "late"),
    ("# a remark\n\na: b\n", "b"),
)


def test_a_text_is_what_yaml_says_it_is() -> None:
    def check(row: tuple[str, str]) -> None:
        text, value = row
        assert read_front_matter(text) == {"a": value}

    check_each(TEXTS, check)


def test_a_mapping_of_one_level_is_read() -> None:
    text = "metadata:\n  author: example-org\n  version: \"1.0\"\n\n  # more\n  a.b/c: 'x'\nname: n"
    assert read_front_matter(text) == {
        "metadata": {"author": "example-org", "version": "1.0", "a.b/c": "x"},
        "name": "n",
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a: b\na: c", 'line 3: found duplicate key "a" with value "c"'),
        ("a: b\nwords alone", "line 3"),
        ("- a", "lines like `name: text`"),
        ("words", "lines like `name: text`"),
        ("a: Use it: now", "line 2: mapping values are not allowed here; put a text with a colon"),
        ("a: [b, c]", "`a` must be a text; write the items of a list as one text"),
        ("a:\n  - b\n  - c", "`a` must be a text; write the items of a list as one text"),
        ("a:\n  b: [c]", "`a` must be a text"),
        ("a:\n  b: {c: d}", "`a` must be a text"),
        ("[a]: b", "a name must be a text"),
        ("a: *b", "line 2: found undefined alias"),
        ("a: @b", "line 2"),
        ('a: "b', "line 2"),
        ('a: "b" c', "line 2"),
        (r'a: "\q"', "line 2"),
        (r'a: "\ud800"', "`a` contains an invalid character"),
        ("a: b\x01", "a forbidden character"),
        ("a:\n\tb: c", "line 3"),
        ("a: |\n    b\n  c", "line 4"),
        ("a: b\n---\nc: d", "another document"),
        ("a: " + "[" * 1_000, "nested too deeply"),
        ("a: " + "b" * 20_000, "more than 16,384 characters"),
    ],
)
def test_what_can_not_be_read_is_said(text: str, sentence: str) -> None:
    with pytest.raises(ValueError) as caught:
        read_front_matter(text)
    assert sentence in str(caught.value)


@given(strategies.text(alphabet="ab:-#[]{}&*!|>%@`,\"'\\ \n\t~?1.é", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(ValueError):
        for value in read_front_matter(text).values():
            assert isinstance(value, str) or all(isinstance(one, str) for one in value.values())


def read_with_yaml(text: str) -> dict[str, str] | None:
    """What a YAML parser reads; None if it refuses, or if something in it is not a text."""
    try:
        found = YAML(typ="base", pure=True).load(text)
    except YAMLError:
        return None
    is_flat = isinstance(found, dict) and all(isinstance(one, str) for one in found.values())
    return found if is_flat else None


PLAIN_LINES = (
    *(
        "Sorts lists.",
        "yes",
        "null",
        "a, [b] {c}",
        'it\'s "so"',
        "a#b",
        "a:b",
        "x  ",
        "A é 漢 😀",
    ),
    *("a #b", "a # b", "a:  b", "a: b", "a:", "a: ", "a ::", "[a, b]", "&a b", "*a"),
    *("!a b", "|", ">", "'q'", '"q"', "- a", "? a", "@a", "%a", "`a", "# a", "", "1.0", "~"),
    *("a\n  b", "a\n\tb", "a\nname: c", "a\nother: c", "a\tb", "a\x85b", "a\u2028b", "a\xa0b"),
    *("a\n# b", "a\n---\nb: c", "a\n...", "a\n- b", "a\n\nother: b", "a\nother:b", "a\x07b"),
)


def test_plain_lines_read_as_a_yaml_parser_reads_them() -> None:
    def check(value: str) -> None:
        text = f"name: {value}\n"
        try:
            found = read_front_matter(text)
        except ValueError:
            found = {}
        expected = read_with_yaml(text)
        assert found == (expected or {}), value

    check_each(PLAIN_LINES, check)


@given(strategies.text(alphabet="ab:-#[]{}\"'\\ \n\t.é", max_size=30))
def test_a_colon_is_found_only_where_a_yaml_parser_refuses_it(end: str) -> None:
    text = f"name: Use when: x\nkey: a{end}"
    for front in (text, text.partition("\n")[2]):
        line = find_colon(front)
        if line:
            with pytest.raises(MarkedYAMLError) as caught:
                YAML(typ="base", pure=True).load(front)
            assert caught.value.problem == "mapping values are not allowed here"
            assert caught.value.problem_mark.line + 2 == line
    assert find_colon(text) == 2
