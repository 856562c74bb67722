"""The table of kinds of things."""

from importlib.resources import files

import pytest

from agent_core.memory.recall.formatting import find_match, list_held
from agent_core.memory.recall.kinds import list_members
from agent_core.memory.recall.query import read_query
from agent_core.state.tokenizer import UNINDEXED, cut, normalize

LEAST_MEMBERS = 5


def test_every_line_names_a_kind_and_its_members() -> None:
    table = files("agent_core.memory.recall").joinpath("kinds.txt").read_text(encoding="utf-8")
    for line in table.splitlines():
        names, _, members = line.partition(": ")
        words = members.split()
        assert names, line
        assert len(words) == len(set(words)) >= LEAST_MEMBERS, line
        assert UNINDEXED.isdisjoint(cut(line)), line


@pytest.mark.parametrize("name", ["animals", "pet", "Tiere", "DRINKS", "cities"])
def test_kinds_are_found_in_any_form(name: str) -> None:
    members = list_members(normalize(name))
    assert len(members) >= LEAST_MEMBERS
    assert members.isdisjoint(cut(name))


@pytest.mark.parametrize("word", ["anime", "celebrity", "medical", "Mark", "sprach"])
def test_a_word_with_the_stem_of_a_kind_names_none(word: str) -> None:
    assert not list_members(normalize(word))


def test_other_words_have_no_members() -> None:
    assert list_members("cat") == list_members("") == frozenset()


def test_an_excerpt_begins_at_the_member_that_was_found_and_names_it() -> None:
    query, text = read_query("What animals do I have?"), f"{'Hello there. ' * 40}My Cat is ill."
    assert list_held(query, text) == ["cat"]
    assert find_match(query, text) == text.index("Cat")


@pytest.mark.parametrize("asked", ["Welche Tiere habe ich?", "Was hat der Löwe?"])
def test_an_excerpt_begins_at_a_word_with_diacritics_and_names_it(asked: str) -> None:
    query, text = read_query(asked), f"{'Guten Tag. ' * 40}Der Löwe ist krank."
    assert list_held(query, text) == ["löwe"]
    assert find_match(query, text) == text.index("Löwe")
