"""When a skill passes: no case is worse with it, and success, steps or tokens are better."""

import pytest

from agent_core.skills.evaluation.cases import Check, CheckKind
from agent_core.skills.evaluation.record import Arm, CaseRun, EvalRecord, dump_record, load_record
from agent_core.skills.evaluation.verdict import (
    ReplayResult,
    find_failure,
    judge_runs,
    list_own_numbers,
    read_status,
)
from tests.tables import check_each

Side = list[tuple[bool | None, int, int]]


def runs(before: Side, after: Side) -> list[CaseRun]:
    """Return the runs of cases, each as (passed, steps, tokens)."""
    sides: list[tuple[Arm, Side]] = [("without", before), ("with", after)]
    return [
        CaseRun(case=str(number), arm=arm, passed=passed, steps=steps, tokens=tokens)
        for arm, side in sides
        for number, (passed, steps, tokens) in enumerate(side)
    ]


@pytest.mark.parametrize(
    ("before", "after", "result", "reason"),
    [
        ([(False, 4, 900)] * 3, [(True, 4, 900)] * 3, "passed", "success 0 to 3 of 3"),
        ([(True, 4, 900)] * 3, [(True, 3, 900)] * 3, "passed", "steps 12 to 9"),
        ([(True, 4, 1000)] * 3, [(True, 4, 900)] * 3, "passed", "tokens 3,000 to 2,700"),
        ([(True, 4, 1000)] * 3, [(True, 4, 990)] * 3, "failed", "nothing is better"),
        ([(True, 4, 1000)] * 3, [(True, 5, 2000)] * 3, "failed", "nothing is better"),
        (
            [(True, 4, 900), (False, 4, 900), (False, 4, 900)],
            [(False, 1, 9), (True, 1, 9), (True, 1, 9)],
            "failed",
            "worse in 0",
        ),
        ([(False, 9, 900)] * 3, [(False, 1, 9)] * 3, "failed", "no case succeeds"),
        ([(False, 4, 900)] * 2, [(True, 1, 9)] * 2, "few", "2 of 3 cases"),
        ([(None, 0, 0)] * 3, [(True, 1, 9)] * 3, "few", "0 of 3 cases"),
    ],
)
def test_a_verdict_needs_cases_and_a_gain_without_a_loss(
    before: Side, after: Side, result: str, reason: str
) -> None:
    verdict = judge_runs(runs(before, after))
    assert (verdict.result, reason in verdict.reason) == (result, True), verdict.reason


def test_no_pattern_of_a_skill_keeps_the_gateway_busy() -> None:
    """Python's own search would take longer than the universe exists."""
    found = ReplayResult(answer="a" * 5_000 + "b")
    assert find_failure([Check(kind="matches", value="(a+)+$")], found)


JUDGED = (
    ("exact", "Total: 42", True),
    ("exact", "Total", False),
    ("contains", "TOTAL", True),
    ("contains", "43", False),
    ("lacks", "43", True),
    ("lacks", "total", False),
    ("matches", r"\b4\d\b", True),
    ("matches", r"^42", False),
    ("calls", "terminal", True),
    ("calls", "web_fetch", False),
    ("does_not_call", "web_fetch", True),
    ("does_not_call", "terminal", False),
    ("exit_status", "2", True),
    ("exit_status", "0", False),
)


def test_code_judges_what_it_can() -> None:
    def check(row: tuple[CheckKind, str, bool]) -> None:
        kind, value, passes = row
        found = ReplayResult(answer="Total: 42\n", calls=("terminal",), status=2)
        failure = find_failure([Check(kind=kind, value=value)], found)
        assert (failure == "") is passes
        assert passes or value in failure

    check_each(JUDGED, check)


def test_the_results_of_an_answer_are_the_numbers_that_nobody_gave() -> None:
    answer = "Of the 3 receipts, 41.50 on 2026-11-02 and 1,200 at 10:30."
    assert list_own_numbers(answer, "add up 3 receipts") == {
        "41.50",
        "2026-11-02",
        "1,200",
        "10:30",
    }
    assert read_status("oops\n[Exit status 127.]") == 127
    assert read_status("fine") == 0


def test_a_record_survives_its_task_and_names_the_next_run() -> None:
    record = EvalRecord(name="tally", text_row=7, cases=("a", "b"))
    done = (
        CaseRun(case="a", arm="without", passed=True),
        CaseRun(case="a", arm="with", passed=None),
    )
    again = load_record(
        dump_record(EvalRecord(name="tally", text_row=7, cases=("a", "b"), runs=done))
    )
    assert again.runs == done
    assert record.find_next() == ("a", "without")
    assert again.find_next() == ("b", "without")
    assert EvalRecord(name="tally", text_row=7, cases=()).find_next() is None
