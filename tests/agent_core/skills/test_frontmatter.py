"""Front matter is read as YAML means it, and what can't be read is said, never guessed."""

import pytest

from agent_core.skills.frontmatter import read_front_matter


@pytest.mark.parametrize(
    ("text", "value"),
    [
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
        ("a: >\n  folded\n  words\n\n  new line\n", "folded words\nnew line"),
        ("a: >-\n  folded\n  words\n", "folded words"),
        ("a: |\n  as it\n    stands: here\n  # and this\n", "as it\n  stands: here\n# and this"),
        ("a: |\n\n  late\n", "late"),
        ("# a remark\n\na: b\n", "b"),
    ],
)
def test_a_text_is_what_yaml_says_it_is(text: str, value: str) -> None:
    assert read_front_matter(text) == {"a": value}


def test_a_mapping_of_one_level_is_read() -> None:
    text = "metadata:\n  author: example-org\n  version: \"1.0\"\n\n  # more\n  a.b/c: 'x'\nname: n"
    assert read_front_matter(text) == {
        "metadata": {"author": "example-org", "version": "1.0", "a.b/c": "x"},
        "name": "n",
    }


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a: b\na: c", "`a` is there twice"),
        ("  a: b", "line 2 is indented"),
        ("a: b\nwords alone", "line 3 is no `name: text`: words alone"),
        ("- a", "line 2 is no `name: text`"),
        ("a:b", "line 2 is no `name: text`"),
        ("a: Use it: now", "a colon and a space"),
        ("a: what:", "a colon and a space"),
        ("a: [b, c]", "`a` is a list"),
        ("a:\n  - b\n  - c", "`a` is a list"),
        ("a: {b: c}", "begins with {"),
        ("a: *b", "begins with *"),
        ("a: &b c", "begins with &"),
        ("a: !b c", "begins with !"),
        ("a: @b", "begins with @"),
        ("a: ? b", "begins with ?"),
        ('a: "b', 'does not end with its "'),
        ('a: "b" c', 'does not end with its "'),
        ("a: 'b", "does not end with its '"),
        (r'a: "\q"', r"holds \q, which means nothing"),
        (r'a: "\ud800"', "a letter that there is not"),
        (r'a: "\UFFFFFFFF"', "a letter that there is not"),
        ("a:\n  b: c\n    d: e", "more than one level"),
        ("a:\n  b: c\n  b: d", "`a` has `b` twice"),
        ("a:\n\tb: c", "tabs"),
        ("a:\n  b: |\n    c", "a text of several lines"),
        ("a: |\n    b\n  c", "not indented alike"),
    ],
)
def test_what_can_not_be_read_is_said(text: str, sentence: str) -> None:
    with pytest.raises(ValueError) as caught:
        read_front_matter(text)
    assert sentence in str(caught.value)
