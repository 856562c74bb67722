"""Changes of a list lead to it, replay to it, and keep a hand edit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.memory.list_changes import apply, compare, merge, replay
from agent_core.state.memory.ledger import Change

ENTRIES = ("Lives in Berlin", "Has a dog called Rex", "Has a cat called Tom")

lists = st.lists(st.sampled_from("abcdef"), max_size=8).map(tuple)


@given(lists, lists)
def test_the_difference_of_two_lists_leads_from_one_to_the_other(
    old: tuple[str, ...], new: tuple[str, ...]
) -> None:
    entries = old
    for step in compare(old, new):
        entries = apply(entries, step)
    assert entries == new


@given(st.lists(lists, max_size=5))
def test_a_history_of_lists_replays_to_the_last(history: list[tuple[str, ...]]) -> None:
    steps: list[Change] = []
    last: tuple[str, ...] = ()
    for entries in history:
        steps += compare(last, entries)
        last = entries
    assert replay(steps) == last


def test_one_changed_entry_is_one_replacement() -> None:
    steps = compare(ENTRIES, (ENTRIES[0], "Has a dog called Max", ENTRIES[2]))
    assert steps == (
        Change(operation="replace", position=1, before=ENTRIES[1], after="Has a dog called Max"),
    )


def test_a_missing_row_is_noticed_in_a_replay() -> None:
    with pytest.raises(ValueError, match="does not fit"):
        replay([Change(operation="remove", position=0, before="a", after=None)])
    with pytest.raises(ValueError, match="does not fit"):
        replay([Change(operation="add", position=1, before=None, after="a")])


def test_an_edit_of_the_older_file_keeps_what_came_since() -> None:
    base, ours = ("a", "b"), ("a", "b", "c")
    assert merge(base, ours, ("a", "b", "d")) == ("a", "b", "d", "c")
    assert merge(base, ours, ("b",)) == ("b", "c")
    assert merge(base, ("a", "B"), ("a", "b", "d")) == ("a", "B", "d")
    assert merge(base, ("a",), ("a", "b", "d")) == ("a", "d")


def test_an_edit_of_the_newer_file_stands_as_it_is() -> None:
    assert merge(("a", "b"), ("a", "b", "c"), ("b", "c", "d")) == ("b", "c", "d")
    assert merge((), ("a", "b", "c"), ("a", "b")) == ("a", "b")
