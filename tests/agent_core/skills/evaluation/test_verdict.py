"""When a skill passes: success rises, or tokens are saved and nothing is lost; never a danger."""

import math
import random

import pytest

from agent_core.skills.evaluation.cases import Check, CheckKind
from agent_core.skills.evaluation.effects import DELETES, REACHES, read_status
from agent_core.skills.evaluation.record import CaseRun, EvalRecord, dump_record, load_record
from agent_core.skills.evaluation.sequential import MOST_PAIRS, weigh_evidence
from agent_core.skills.evaluation.verdict import (
    CaseVerdict,
    ReplayResult,
    find_failure,
    judge_runs,
    list_own_numbers,
    wants_judge,
)
from bench.skills.verdicts import SKILLS, MadeUpSkill, measure
from tests.tables import check_each

CASES = ("a", "b", "c")
Pair = tuple[bool, bool]
WON, LOST, SAME, BAD = (False, True), (True, False), (True, True), (False, False)


def run_pairs(
    *pairs: Pair,
    tokens: tuple[int, int] = (900, 900),
    lost: bool | None = False,
    effects: tuple[str, ...] = (),
    own: tuple[str, ...] = (),
) -> EvalRecord:
    """Return the record of pairs of runs, in the order of the plan."""
    record = EvalRecord(name="tidy", text_row=7, cases=CASES)
    for without, having in pairs:
        for arm, passed in (("without", without), ("with", having)):
            found = record.find_next()
            assert found
            assert found[1] == arm
            run = CaseRun(
                case=found[0],
                arm=found[1],
                passed=passed,
                tokens=tokens[arm == "with"],
                effects=(*effects, *own) if arm == "with" else effects,
                lost=lost if arm == "with" else None,
                answer="words",
            )
            record = record.add(run)
    return record


def judge(record: EvalRecord) -> CaseVerdict:
    return judge_runs(CASES, record.runs)


VERDICTS: tuple[tuple[list[Pair], str, str], ...] = (
    ([], "open", "of 0"),
    ([WON] * 5, "open", "success 0 to 5 of 5"),
    ([WON] * 6, "passed", "success 0 to 6 of 6"),
    ([WON] * 5 + [BAD] * 2 + [WON], "passed", "success 0 to 6 of 8"),
    ([LOST] + [WON] * 7, "open", "of 8"),
    ([LOST] + [WON] * 8, "passed", "of 9"),
    ([LOST] * 2 + [WON] * 11, "passed", "of 13"),
    ([LOST] * 3, "failed", "worse in a, b, c; success 3 to 0"),
    ([BAD] * 9, "open", "of 9"),
    ([BAD] * 10, "failed", "nothing is better; success 0 to 0 of 10"),
    ([SAME] * 16, "same", "no difference; success 16 to 16 of 16"),
    ([SAME] + [BAD] * 9, "same", "no difference; success 1 to 1 of 10"),
    ([SAME] * 9 + [LOST], "failed", "worse in a; success 10 to 9 of 10"),
    # Runs of one case are alike: the others must gain, too.
    ([WON, BAD, BAD] * 6, "open", "of 18"),
    ([WON, BAD, BAD] * 6 + [BAD, WON], "passed", "of 20"),
)


def test_a_verdict_comes_as_soon_as_the_runs_tell() -> None:
    def check(row: tuple[list[Pair], str, str]) -> None:
        pairs, result, reason = row
        verdict = judge(run_pairs(*pairs))
        assert (verdict.result, reason in verdict.reason) == (result, True), verdict

    check_each(VERDICTS, check)


@pytest.mark.parametrize("pairs", [[SAME] * 16, [SAME] * 8 + [BAD] * 2 + [SAME] * 8])
def test_saved_tokens_count_only_if_nothing_is_lost(pairs: list[Pair]) -> None:
    saved = run_pairs(*pairs, tokens=(900, 600))
    assert judge(saved).result == "passed"
    assert judge(run_pairs(*pairs[:15], tokens=(900, 600))).result == "open"
    assert judge(run_pairs(*pairs, tokens=(900, 870))).result == "same", "under 5 %"
    for lost in (True, None):  # a judge that misses something, and a dead one
        assert judge(run_pairs(*pairs, tokens=(900, 100), lost=lost)).result == "same"
    first = run_pairs(SAME, lost=None)
    assert not wants_judge(first.runs), "no judge is paid in vain"
    worse = run_pairs(LOST, *pairs, tokens=(900, 100))
    assert judge(worse).result != "passed"
    assert not wants_judge(worse.runs)


def test_an_effect_that_only_one_run_has_is_a_failure_of_that_run() -> None:
    failing = run_pairs(*[SAME] * 3, own=("its script sweep fails",))
    assert judge(failing).result == "failed"
    assert {run.why for run in failing.runs} == {"", "its script sweep fails"}
    usual = run_pairs(*[WON] * 6, effects=("its last command fails",))
    assert judge(usual).result == "passed"
    assert {run.answer for run in failing.runs} == {""}, "no words of the person stay"
    waiting = failing.add(CaseRun(case="a", arm="without", passed=True, answer="words"))
    assert waiting.find_rival("a") == waiting.runs[-1]
    assert waiting.find_rival("b") is None


@pytest.mark.parametrize("danger", [DELETES, REACHES])
def test_a_danger_that_only_the_skill_brings_ends_the_test(danger: str) -> None:
    once = run_pairs(WON, own=(danger,))
    assert judge(once).result == "open"
    twice = run_pairs(WON, WON, own=(danger,))
    assert judge(twice).reason.startswith(f"{danger} in 2 runs, and never without the skill")
    assert judge(twice).result == "failed"
    assert judge(run_pairs(*[WON] * 6, effects=(danger,))).result == "passed", "the task wants it"


def test_cases_that_cannot_be_replayed_are_left_out_and_too_few_prove_nothing() -> None:
    record = EvalRecord(name="tidy", text_row=7, cases=(*CASES, "d"))
    record = record.add(CaseRun(case="a", arm="without", passed=None, why="its turn is gone"))
    assert record.find_next() == ("b", "without")
    assert judge_runs((*CASES, "d"), record.runs).result == "open"
    again = record.add(CaseRun(case="b", arm="without", passed=None))
    verdict = judge_runs((*CASES, "d"), again.runs)
    assert verdict == CaseVerdict(result="few", reason="2 of 3 cases")
    assert judge_runs((), ()).result == "few"


def test_no_test_is_longer_than_planned() -> None:
    mixed = random.Random(7)
    record = EvalRecord(name="tidy", text_row=7, cases=CASES)
    while judge(record).result == "open":
        case, arm = record.find_next() or ("", "with")
        passed = mixed.random() < 0.5
        record = record.add(CaseRun(case=case, arm=arm, passed=passed, tokens=900, lost=False))
    assert len(record.runs) <= 2 * MOST_PAIRS


def test_the_evidence_of_a_saving_is_that_of_the_mixture_of_t_tests() -> None:
    """The closed form agrees with the integral over the effect; few values prove nothing."""
    assert weigh_evidence([]) == weigh_evidence([-1.0]) == 1
    values = [-0.3, -0.5, -0.1, -0.4, -0.2, -0.6]
    effects = [step / 10 for step in range(-100, 101)]

    def likelihood(effect: float) -> float:
        scales = (step / 2_000 for step in range(20, 6_000))
        return sum(
            math.exp(-sum((value / scale - effect) ** 2 for value in values) / 2)
            * scale ** (-len(values) - 1)
            for scale in scales
        )

    prior = [math.exp(-effect * effect / 2) for effect in effects]
    mixed = sum(p * likelihood(e) for p, e in zip(prior, effects, strict=True)) / sum(prior)
    assert weigh_evidence(values) == pytest.approx(mixed / likelihood(0), rel=0.02)
    assert weigh_evidence([-0.5] * 3) == math.inf


def _choose(*names: str) -> list[MadeUpSkill]:
    return [skill for skill in SKILLS if skill.name.startswith(names)]


def test_made_up_skills_pass_as_they_should() -> None:
    """200 tests each; `bench/skills/verdicts.py` makes 1,000."""
    chosen = _choose("useless, 60", "harmful, 90", "good, 60", "be terse, content")
    figures = measure(200, chosen)
    assert [(one.name, one.value) for one in figures if one.is_reached is False] == []


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
    record = run_pairs(SAME, WON, own=(DELETES,))
    assert load_record(dump_record(record)) == record
    assert record.find_next() == ("c", "without")
    old = '{"name": "tidy", "text_row": 7, "cases": ["a"], "result": "", "reason": "", "runs": ['
    old += '{"case": "a", "arm": "without", "passed": true, "steps": 2, "tokens": 9, "why": ""}]}'
    assert load_record(old).find_next() == ("a", "with"), "a test that an older version began"
    assert EvalRecord(name="tally", text_row=7, cases=()).find_next() is None
