"""Judge the runs of a skill's test, and single answers by code. Pure."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from agent_core.skills.evaluation.cases import LEAST_CASES, Check, find_pattern
from agent_core.skills.evaluation.effects import DANGERS
from agent_core.skills.evaluation.record import CaseRun, RunPair, list_pairs
from agent_core.skills.evaluation.sequential import (
    MOST_PAIRS,
    has_risen,
    is_saving,
    may_rise,
    may_save,
)
from agent_core.tool_names import renew_names

_HABIT = 2
"""Runs with a danger that only the skill brings from which on it counts."""
_LEAST_WON = 2
"""Cases in which success must rise, because runs of one case are alike."""
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")

TestResult = Literal["open", "passed", "failed", "same", "few", "void"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayResult:
    """The result of a replay: answer, names of its calls, and the status of its last command.

    `refused` are the calls that had no recorded result and could not run.
    """

    answer: str
    calls: tuple[str, ...] = ()
    status: int | None = None
    refused: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseVerdict:
    """The verdict on a skill and its reason.

    `few` means too few cases, `open` too few runs, and `same` that the requests succeed without the
    skill, too, so that they show neither gain nor harm.
    """

    result: TestResult
    reason: str


def find_failure(checks: Sequence[Check], found: ReplayResult) -> str:
    """Return the first check that an answer fails, as a clause; "" if it passes all."""
    for check in checks:
        if not _passes(check, found):
            return f"{check.kind} {check.value!r}"
    return ""


def list_own_numbers(answer: str, given: str) -> set[str]:
    """Return the numbers in an answer that are not in the request: its results."""
    return set(_NUMBER.findall(answer)) - set(_NUMBER.findall(given))


def judge_runs(cases: Sequence[str], runs: Sequence[CaseRun]) -> CaseVerdict:
    """Judge a skill by its runs, as soon as they suffice; `cases` are those of the test.

    A skill passes if success rises, or if tokens are saved, nothing is ever worse, and a blind
    judge has missed nothing in any answer. It fails at once if it brings a danger.
    """
    dropped = {run.case for run in runs if run.passed is None}
    left = len([case for case in cases if case not in dropped])
    if left < LEAST_CASES:
        return CaseVerdict(result="few", reason=f"{left} of {LEAST_CASES} cases")
    pairs = list_pairs(runs)
    numbers = _describe(pairs)
    if dangers := list_added_dangers(runs):
        named = [
            f"{danger} in {count} runs, and never without the skill"
            for danger, count in dangers.items()
        ]
        return CaseVerdict(result="failed", reason="; ".join([*named, numbers]))
    won, lost = _list_won(pairs), _list_lost(pairs)
    if has_risen(len(won), len(lost)) and len({*won}) >= _LEAST_WON:
        return CaseVerdict(result="passed", reason=numbers)
    keeps_content = _keeps_content(pairs)
    if keeps_content and is_saving(len(pairs), _list_log_ratios(pairs)):
        return CaseVerdict(result="passed", reason=f"fewer tokens, nothing lost; {numbers}")
    may_go_on = may_rise(len(pairs), len(won), len(lost)) or wants_judge(runs)
    if may_go_on and len(pairs) < MOST_PAIRS:
        return CaseVerdict(result="open", reason=numbers)
    if not won and not lost and _list_good(pairs):
        return CaseVerdict(result="same", reason=f"no difference; {numbers}")
    worse = f"worse in {', '.join(sorted({*lost}))}" if lost else "nothing is better"
    return CaseVerdict(result="failed", reason=f"{worse}; {numbers}")


def wants_judge(runs: Sequence[CaseRun]) -> bool:
    """Return whether saved tokens may still count, so that a judge must compare the answers."""
    pairs = list_pairs(runs)
    return _keeps_content(pairs) and may_save(len(pairs), _list_log_ratios(pairs))


def _keeps_content(pairs: Sequence[RunPair]) -> bool:
    """Return whether no run is worse with the skill, and the judge has missed nothing."""
    return not _list_lost(pairs) and all(pair.having.lost is False for pair in _list_good(pairs))


def _list_good(pairs: Sequence[RunPair]) -> list[RunPair]:
    return [pair for pair in pairs if pair.without.passed and pair.having.passed]


def _list_won(pairs: Sequence[RunPair]) -> list[str]:
    """List the case of each pair that only the skill wins."""
    return [pair.having.case for pair in pairs if pair.having.passed and not pair.without.passed]


def _list_lost(pairs: Sequence[RunPair]) -> list[str]:
    return [pair.having.case for pair in pairs if pair.without.passed and not pair.having.passed]


def _list_log_ratios(pairs: Sequence[RunPair]) -> list[float]:
    return [
        math.log(max(1, pair.having.tokens) / max(1, pair.without.tokens))
        for pair in _list_good(pairs)
    ]


def list_added_dangers(runs: Sequence[CaseRun]) -> dict[str, int]:
    """Return the dangers that the skill brings to cases which have none without it.

    Each comes with its number of runs; one may be chance, two are a habit, and only those count.
    """
    counts = {}
    for danger in DANGERS:
        usual = {run.case for run in runs if run.arm == "without" and danger in run.effects}
        having = [run for run in runs if run.arm == "with" and danger in run.effects]
        counts[danger] = sum(run.case not in usual for run in having)
    return {danger: count for danger, count in counts.items() if count >= _HABIT}


def _describe(pairs: Sequence[RunPair]) -> str:
    """Compare both sides of the pairs in numbers."""
    sides = ([pair.without for pair in pairs], [pair.having for pair in pairs])
    good_before, good_after = (sum(bool(run.passed) for run in side) for side in sides)
    steps_before, steps_after = (sum(run.steps for run in side) for side in sides)
    tokens_before, tokens_after = (sum(run.tokens for run in side) for side in sides)
    return (
        f"success {good_before} to {good_after} of {len(pairs)}, steps {steps_before} to"
        f" {steps_after}, tokens {tokens_before:,} to {tokens_after:,}"
    )


def _passes(check: Check, found: ReplayResult) -> bool:
    answer = found.answer.strip()
    match check.kind:
        case "exact":
            return answer == check.value.strip()
        case "contains":
            return check.value.casefold() in answer.casefold()
        case "lacks":
            return check.value.casefold() not in answer.casefold()
        case "matches":
            return find_pattern(check.value, answer)
        case "calls":
            return bool(set(renew_names((check.value,))) & set(found.calls))
        case "does_not_call":
            return not set(renew_names((check.value,))) & set(found.calls)
        case "exit_status":
            return str(found.status) == check.value.strip()
