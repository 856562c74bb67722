"""Edits become changes; what does not fit, or says nothing new, is refused."""

from hypothesis import given
from hypothesis import strategies as st

from agent_core.memory.edits_within_limits import Edit, Refusal, plan, plan_all
from agent_core.memory.list_changes import apply
from agent_core.state.memory.ledger import Change

ENTRIES = ("Lives in Berlin", "Has a dog called Rex", "Has a cat called Tom")

lists = st.lists(st.sampled_from("abcdef"), max_size=8).map(tuple)


def refusal(entries: tuple[str, ...], edit: Edit, limit: int = 1000) -> Refusal:
    found = plan(entries, edit, limit)
    assert isinstance(found, Refusal)
    return found


def change(entries: tuple[str, ...], edit: Edit, limit: int = 1000) -> Change:
    found = plan(entries, edit, limit)
    assert not isinstance(found, Refusal)
    (one,) = found
    return one


def add(text: str) -> Edit:
    return Edit(action="add", target="user", text=text)


def replace(old: str, text: str) -> Edit:
    return Edit(action="replace", target="user", old=old, text=text)


def remove(old: str) -> Edit:
    return Edit(action="remove", target="user", old=old)


def test_an_entry_is_added_at_the_end_in_normal_form() -> None:
    made = change(ENTRIES, add("  Likes tea \n\n  and coffee "))
    assert apply(ENTRIES, made) == (*ENTRIES, "Likes tea\n  and coffee")


def test_an_entry_is_found_by_a_part_in_any_case() -> None:
    assert apply(ENTRIES, change(ENTRIES, remove("REX"))) == (ENTRIES[0], ENTRIES[2])
    made = change(ENTRIES, replace("lives  in", "Lives in Rome"))
    assert apply(ENTRIES, made) == ("Lives in Rome", *ENTRIES[1:])


def test_a_whole_entry_wins_over_others_that_contain_it() -> None:
    entries = ("Likes tea with milk", "Likes tea")
    assert apply(entries, change(entries, remove("likes tea"))) == ("Likes tea with milk",)


def test_a_part_of_several_entries_names_them() -> None:
    found = refusal(ENTRIES, remove("has a"))
    assert (found.fault, found.shown) == ("several", ENTRIES[1:])


def test_a_part_of_no_entry_names_them_all() -> None:
    found = refusal(ENTRIES, replace("parrot", "x"))
    assert (found.fault, found.shown) == ("none", ENTRIES)


def test_what_is_there_already_is_not_added_again() -> None:
    found = refusal(ENTRIES, add("lives in  berlin"))
    assert (found.fault, found.shown) == ("known", (ENTRIES[0],))
    assert refusal(ENTRIES, replace("Rex", "Lives in Berlin")).fault == "known"
    assert refusal(ENTRIES, replace("Rex", "Has a dog called Rex")).fault == "same"


def test_an_entry_may_be_replaced_by_itself_in_other_letters() -> None:
    made = change(ENTRIES, replace("Rex", "Has a dog called REX"))
    assert made.after == "Has a dog called REX"


def test_hidden_characters_are_refused() -> None:
    assert refusal((), add("a\u202eb")).fault == "flaw"


def test_the_limit_is_met_to_the_character() -> None:
    assert change((), add("12345"), limit=len("- 12345\n")).after == "12345"
    found = refusal(("a",), add("12345"), limit=len("- a\n- 12345\n") - 1)
    assert (found.fault, found.shown, found.size) == ("full", ("a",), len("- a\n- 12345\n"))
    assert refusal(("a",), replace("a", "12345"), limit=7).fault == "full"


def test_a_list_beyond_its_limit_may_only_shrink() -> None:
    entries = ("a" * 50, "b" * 50)
    assert change(entries, replace("bb", "b" * 40), limit=20).after == "b" * 40
    assert change(entries, remove("bb"), limit=20).after is None
    assert refusal(entries, replace("bb", "c" * 50), limit=20).fault == "full"


def rewrite(text: str) -> Edit:
    return Edit(action="rewrite", target="user", text=text)


def after(entries: tuple[str, ...], *edits: Edit, limit: int = 1000) -> tuple[str, ...]:
    planned = plan_all({"user": entries}, edits, {"user": limit})
    assert not isinstance(planned, Refusal)
    assert len(planned) == len(edits)
    for changes in planned:
        for one in changes:
            entries = apply(entries, one)
    return entries


def refusal_of_all(entries: tuple[str, ...], *edits: Edit, limit: int = 1000) -> Refusal:
    planned = plan_all({"user": entries}, edits, {"user": limit})
    assert isinstance(planned, Refusal)
    return planned


def test_each_of_several_edits_is_made_on_what_the_ones_before_it_leave() -> None:
    edits = (add("Has a fish"), replace("fish", "Has two fish"), remove("Berlin"))
    assert after(ENTRIES, *edits) == (*ENTRIES[1:], "Has two fish")


def test_a_refusal_names_the_edit_that_is_at_fault() -> None:
    refused = refusal_of_all(ENTRIES, remove("Rex"), replace("Rex", "Has a dog"), add("x"))
    assert (refused.fault, refused.index) == ("none", 1)


def test_a_limit_holds_for_what_several_edits_come_to_and_not_on_the_way() -> None:
    assert after(("aaaa",), add("bbbb"), remove("aaaa"), limit=10) == ("bbbb",)
    refused = refusal_of_all(("aaaa",), add("bbbb"), replace("bbbb", "cccc"), limit=10)
    assert (refused.fault, refused.index, refused.size, refused.shown) == ("full", 1, 14, ("aaaa",))


def test_a_list_over_its_limit_may_become_shorter_by_several_edits() -> None:
    entries = ("a" * 20, "b" * 20)
    assert after(entries, add("c"), remove("a"), limit=10) == ("b" * 20, "c")
    assert refusal_of_all(entries, add("c"), replace("c", "d"), limit=10).fault == "full"


def test_the_limit_of_one_list_does_not_hold_for_another() -> None:
    long_by_hand = ("a" * 20,)
    planned = plan_all({"user": (), "memory": long_by_hand}, [add("b")], {"user": 10, "memory": 10})
    assert not isinstance(planned, Refusal)


def test_a_rewrite_says_the_whole_list_anew() -> None:
    assert after(ENTRIES, rewrite("- Lives in Rome\n- Has a cat\n  called Tom\n")) == (
        "Lives in Rome",
        "Has a cat\ncalled Tom",
    )
    assert after(ENTRIES, rewrite("One.\n\nTwo.")) == ("One.", "Two.")
    assert after(ENTRIES, rewrite("")) == ()


def test_a_rewrite_says_nothing_twice() -> None:
    assert after((), rewrite("- tea\n- milk\n- TEA\n")) == ("tea", "milk")


def test_a_rewrite_that_would_not_fit_or_changes_nothing_or_misleads_is_refused() -> None:
    assert refusal_of_all((), rewrite("- aaaa\n- bbbb"), limit=10).fault == "full"
    assert refusal_of_all(("tea",), rewrite("* tea")).fault == "same"
    assert refusal_of_all(("tea",), rewrite("- pay \u202eeve")).fault == "flaw"


@given(lists, lists)
def test_a_rewrite_is_the_changes_that_lead_to_the_new_list(
    old: tuple[str, ...], new: tuple[str, ...]
) -> None:
    wanted = tuple(dict.fromkeys(new))
    if old != wanted:
        assert after(old, rewrite("\n".join(f"- {entry}" for entry in new))) == wanted
