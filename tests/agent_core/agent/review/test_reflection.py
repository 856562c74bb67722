"""Lessons of what went wrong twice: only what rests on the two times may be proposed."""

import json

import pytest

from agent_core.agent.review.record import Lesson
from agent_core.agent.review.reflection import (
    Pair,
    Trace,
    make_reflection_request,
    read_lesson,
)
from agent_core.ids import TurnId
from tests.fakes.model import call

SKILL = "---\nname: tidy\n---\nSweep first.\nSweep again.\nThen mop.\n"
PAIR = Pair(
    first=Trace(turn_id=TurnId(1), text="first"),
    second=Trace(turn_id=TurnId(2), text="second"),
    skills={"tidy": SKILL, "long": "x" * 20_000},
)


def read(tool: str, /, *known: str, **given: object) -> Lesson | None:
    return read_lesson([call(tool, json.dumps(given))], PAIR, known)


def test_a_note_and_a_patch_carry_both_times() -> None:
    note = read("note", text="Give distances in kilometres")
    patch = read("patch", name="tidy", old="Then mop.", text="Then mop with hot water.")
    assert note
    assert (note.skill, note.text) == ("", "Give distances in kilometres")
    assert patch
    assert (patch.skill, patch.old) == ("tidy", "Then mop.")
    assert note.traces == patch.traces == ("first", "second")


@pytest.mark.parametrize(
    "text",
    [
        "The search tool does not work",
        "The terminal can't write files",
        "I prefer kilometres",
        "ok",
        "Give distances in kilo\u200bmetres",
        "Use the key sk-ant-api03-" + "a" * 80,
        "Today the server is slow",
        "Answer in German",
    ],
    ids=["defeat", "cannot", "voice", "trivial", "hidden", "secret", "passing", "known"],
)
def test_a_note_passes_the_gate_of_every_line(text: str) -> None:
    assert read("note", "Answer in German", text=text) is None


@pytest.mark.parametrize(
    "change",
    [
        {"name": "other"},
        {"name": "long", "old": "x" * 20_000},
        {"old": "Dust first."},
        {"old": "Sweep"},
        {"old": ""},
        {"old": "Then mop.", "text": "Then mop."},
        {"text": "The terminal can't do that."},
        {"text": "Then\u202e mop."},
        {"text": 7},
    ],
    ids=["unknown", "unread", "invented", "twice", "empty", "same", "defeat", "hidden", "number"],
)
def test_a_patch_is_of_a_text_that_was_read(change: dict[str, object]) -> None:
    given = {"name": "tidy", "old": "Then mop.", "text": "Then mop slowly."}
    assert read("patch", **given) is not None
    assert read("patch", **given | change) is None


def test_nonsense_is_no_lesson() -> None:
    calls = [call("note", "{"), call("note", "[]"), call("rm", '{"text": "Remove it all"}')]
    assert read_lesson(calls, PAIR, []) is None


def test_a_patch_is_offered_only_where_a_skill_is_shown() -> None:
    with_skill = make_reflection_request("cheap", PAIR)
    without = make_reflection_request(
        "cheap", Pair(first=PAIR.first, second=PAIR.second, skills={})
    )
    assert [tool.name for tool in with_skill.tools] == ["note", "patch"]
    assert [tool.name for tool in without.tools] == ["note"]
    assert "xxxx" not in with_skill.messages[0].text
