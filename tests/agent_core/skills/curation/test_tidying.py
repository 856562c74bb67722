"""What a model may propose about a memory, and which of it is dropped."""

import json

import pytest

from agent_core.ids import CallId
from agent_core.skills.curation.record import CurationRecord, Tidying, dump_record, load_record
from agent_core.skills.curation.tidying import (
    KnownEntry,
    make_edits,
    make_tidy_request,
    read_tidyings,
)
from agent_core.transcript import ToolCallPart

DAY = 86_400_000
ENTRIES = [
    KnownEntry(target="user", text="Lives in Graz", at=1 * DAY),
    KnownEntry(target="user", text="Lives in Vienna since May 2026", at=9 * DAY),
    KnownEntry(target="user", text="Home is Vienna", at=5 * DAY),
    KnownEntry(target="memory", text="The boat is called Bella", at=1 * DAY),
    KnownEntry(target="memory", text="The boat needs paint in 2027", at=2 * DAY),
]


def call(kind: str = "duplicate", **given: object) -> ToolCallPart:
    asked = {"kind": kind, "remove": [2], "keep": 1, "reason": "Both say the same."}
    arguments = {key: value for key, value in (asked | given).items() if value is not None}
    return ToolCallPart(call_id=CallId("c"), name="tidy", arguments=json.dumps(arguments))


def test_a_duplicate_goes_and_the_other_entry_stays() -> None:
    (proposal,), dropped = read_tidyings([call()], ENTRIES, ())
    change = proposal.change
    assert isinstance(change, Tidying)
    assert (change.removed, change.kept, dropped) == (("Home is Vienna",), ENTRIES[1].text, 0)
    assert [(one.action, one.old) for one in make_edits(change)] == [("remove", "Home is Vienna")]
    record = CurationRecord(subject="memory", digest="d", proposals=(proposal,))
    assert load_record(dump_record(record)) == record


def test_an_entry_may_give_way_to_one_of_the_other_list() -> None:
    (proposal,), _ = read_tidyings([call(keep=3)], ENTRIES, ())
    assert isinstance(proposal.change, Tidying)
    assert (proposal.change.target, proposal.change.kept) == ("user", ENTRIES[3].text)


def test_the_older_of_two_contradicting_entries_goes() -> None:
    older = call("contradiction", remove=[0])
    newer = call("contradiction", remove=[1], keep=0)
    found, dropped = read_tidyings([newer, older], ENTRIES, ())
    assert [one.change.removed for one in found if isinstance(one.change, Tidying)] == [
        ("Lives in Graz",)
    ]
    assert dropped == 1


def test_a_shorter_text_has_every_number_and_no_new_word() -> None:
    def shorten(text: str) -> ToolCallPart:
        return call("shorten", remove=[3, 4], keep=None, text=text)

    sound = shorten("The boat Bella needs paint in 2027")
    for bad in ("The boat Bella needs paint", "The boat Bella needs oil in 2027", ""):
        assert read_tidyings([shorten(bad)], ENTRIES, ()) == ([], 1)
    (proposal,), _ = read_tidyings([sound], ENTRIES, ())
    assert isinstance(proposal.change, Tidying)
    edits = make_edits(proposal.change)
    assert [(one.action, one.text, one.old) for one in edits] == [
        ("replace", "The boat Bella needs paint in 2027", ENTRIES[3].text),
        ("remove", "", ENTRIES[4].text),
    ]


@pytest.mark.parametrize(
    "bad",
    [
        call(remove=[9]),
        call(remove=[]),
        call(remove=["2"]),
        call(keep=2),
        call(keep=None),
        call(remove=[2, 3]),
        call(reason=""),
        call(text="Home is Vienna, so send money"),
        call(kind="invent"),
        ToolCallPart(call_id=CallId("c"), name="tidy", arguments="[]"),
    ],
    ids=["far", "none", "text", "itself", "alone", "list", "reason", "new", "kind", "nonsense"],
)
def test_unsound_proposals_are_dropped(bad: ToolCallPart) -> None:
    assert read_tidyings([bad], ENTRIES, ()) == ([], 1)


def test_an_entry_is_in_one_proposal_and_nothing_is_proposed_twice() -> None:
    found, dropped = read_tidyings([call(), call("contradiction", remove=[0])], ENTRIES, ())
    assert (len(found), dropped) == (1, 1)
    known = frozenset(("Home is Vienna", ENTRIES[1].text))
    assert read_tidyings([call()], ENTRIES, [known]) == ([], 1)


def test_the_request_shows_dates_and_how_full_the_lists_are() -> None:
    shown = str(make_tidy_request("m", ENTRIES, {"user": 100, "memory": 1_000}).messages[0])
    assert "List user, 57 % full:" in shown
    assert '[1] 1970-01-10: "Lives in Vienna since May 2026"' in shown
