"""Rules of tools that no turn can follow are refused when they are written."""

import pytest

from agent_core.tools.selection.call_rules import CallRule
from agent_core.tools.selection.rule_check import check_rules, read_rule

KNOWN = ("look", "plan", "send", "save")


def check(*rows: dict[str, object], has: tuple[str, ...] = KNOWN) -> str:
    """Return the fault of rules; "" for none."""
    try:
        check_rules([read_rule(row) for row in rows], KNOWN, lambda name: name in has)
    except ValueError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    "rows",
    [
        (),
        ({"tool": "look", "must_run_first": True}, {"tool": "plan", "must_run_first": True}),
        ({"tool": "look", "then_only": ["plan"]}, {"tool": "plan", "then_only": ["look"]}),
        ({"tool": "send", "ends_turn": True, "only_after": ["look", "plan"]},),
        (
            {"tool": "look", "must_run_first": True, "then_only": ["plan"]},
            {"tool": "send", "ends_turn": True, "must_run_before_end": True},
        ),
        ({"tool": "send", "ends_turn": True}, {"tool": "save", "must_run_before_end": True}),
        ({"tool": "look", "then_only": ["look"]},),
        ({"tool": "look", "most_per_turn": 1, "then_only": ["plan"]},),
    ],
)
def test_rules_that_a_turn_can_follow_are_accepted(rows: tuple[dict[str, object], ...]) -> None:
    assert check(*rows) == ""


@pytest.mark.parametrize(
    ("rows", "fault"),
    [
        (
            [{"tool": "loook", "ends_turn": True}],
            "there is no tool loook (did you mean look?)",
        ),
        (
            [{"tool": "look", "then_only": ["sned"]}],
            "there is no tool sned (did you mean send?)",
        ),
        (
            [{"tool": "look", "ends_turn": True}, {"tool": "look", "most_per_turn": 2}],
            "two rules are about look; make one of them",
        ),
        (
            [{"tool": "look", "ends_turn": True, "then_only": ["plan"]}],
            "the tool look ends the turn, so nothing can follow it: then_only must go",
        ),
        (
            [{"tool": "look", "must_run_first": True, "only_after": ["plan"]}],
            "the tool look can't both run first and only after plan",
        ),
        ([{"tool": "look", "only_after": ["look"]}], "the tool look can't wait for itself"),
        (
            [{"tool": "look", "only_after": ["plan"]}, {"tool": "plan", "only_after": ["look"]}],
            "with these rules, look can never run",
        ),
        (
            [
                {"tool": "look", "must_run_first": True, "ends_turn": True},
                {"tool": "send", "must_run_before_end": True},
            ],
            "with these rules, send can never run",
        ),
        (
            [
                {"tool": "look", "must_run_first": True, "then_only": ["look"]},
                {"tool": "send", "must_run_before_end": True},
            ],
            "with these rules, send can never run",
        ),
        (
            [
                {"tool": "look", "must_run_first": True, "ends_turn": True},
                {"tool": "send", "only_after": ["look"]},
            ],
            "with these rules, send can never run",
        ),
        (
            [
                {"tool": "plan", "then_only": ["plan"], "must_run_before_end": True},
                {"tool": "look", "then_only": ["look"], "must_run_before_end": True},
            ],
            "with these rules, no turn can run look and plan before its end",
        ),
    ],
)
def test_rules_that_no_turn_can_follow_are_refused(
    rows: list[dict[str, object]], fault: str
) -> None:
    assert check(*rows) == fault


def test_an_agent_without_the_tool_is_refused() -> None:
    first = {"tool": "send", "must_run_first": True}
    assert check(first, has=("look",)) == "the tool send must run first, but it has no such tool"
    then: dict[str, object] = {"tool": "look", "then_only": ["send"]}
    assert check(then, has=("look",)) == "the rule of look names send, but it has no such tool"


def test_many_rules_are_checked_quickly() -> None:
    names = [f"tool{number}" for number in range(20)]
    rules = [
        CallRule(tool=name, must_run_before_end=True, only_after=tuple(names[:number][-1:]))
        for number, name in enumerate(names)
    ]
    loose = [CallRule(tool=name, must_run_before_end=True) for name in names]
    plain = [CallRule(tool=f"tool{number}", most_per_turn=3) for number in range(50)]
    for some in (rules, loose, plain):
        check_rules(some, (), lambda name: True)
