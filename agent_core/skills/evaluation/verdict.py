"""Judge the runs of a skill's test, and single answers by code. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agent_core.skills.evaluation.cases import LEAST_CASES, Check, find_pattern
from agent_core.skills.evaluation.record import CaseRun

_SAVED = 0.95
"""The share of the tokens below which a saving counts: answers vary by some percent by chance."""
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_STATUS = re.compile(r"\[Exit status (\d+)\.\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayResult:
    """The result of a replay: answer, names of its calls, and the status of its last command."""

    answer: str
    calls: tuple[str, ...] = ()
    status: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseVerdict:
    """The verdict on a skill and its reason: `passed`, `failed`, or `few` for too few cases."""

    result: str
    reason: str


def read_status(result: str) -> int:
    """Return the exit status in the result of a command; 0 if it names none."""
    found = _STATUS.search(result)
    return int(found[1]) if found else 0


def find_failure(checks: Sequence[Check], found: ReplayResult) -> str:
    """Return the first check that an answer fails, as a clause; "" if it passes all."""
    for check in checks:
        if not _passes(check, found):
            return f"{check.kind} {check.value!r}"
    return ""


def list_own_numbers(answer: str, given: str) -> set[str]:
    """Return the numbers in an answer that are not in the request: its results."""
    return set(_NUMBER.findall(answer)) - set(_NUMBER.findall(given))


def judge_runs(runs: Sequence[CaseRun]) -> CaseVerdict:
    """Judge a skill by its runs: no case may be worse with it; success, steps or tokens improve.

    Only cases that could be replayed both ways count.
    """
    by_arm = {
        arm: {run.case: run for run in runs if run.arm == arm and run.passed is not None}
        for arm in ("without", "with")
    }
    cases = [case for case in by_arm["with"] if case in by_arm["without"]]
    if len(cases) < LEAST_CASES:
        return CaseVerdict(result="few", reason=f"{len(cases)} of {LEAST_CASES} cases")
    before, after = ([by_arm[arm][case] for case in cases] for arm in ("without", "with"))
    good_before, good_after = (sum(bool(run.passed) for run in side) for side in (before, after))
    steps_before, steps_after = (sum(run.steps for run in side) for side in (before, after))
    tokens_before, tokens_after = (sum(run.tokens for run in side) for side in (before, after))
    worse = [
        one.case
        for one, other in zip(before, after, strict=True)
        if one.passed and not other.passed
    ]
    numbers = (
        f"success {good_before} to {good_after} of {len(cases)}, steps {steps_before} to"
        f" {steps_after}, tokens {tokens_before:,} to {tokens_after:,}"
    )
    if worse:
        return CaseVerdict(result="failed", reason=f"worse in {', '.join(worse)}; {numbers}")
    if not good_after:
        return CaseVerdict(result="failed", reason=f"no case succeeds; {numbers}")
    is_better = (
        good_after > good_before
        or steps_after < steps_before
        or tokens_after < _SAVED * tokens_before
    )
    if not is_better:
        return CaseVerdict(result="failed", reason=f"nothing is better; {numbers}")
    return CaseVerdict(result="passed", reason=numbers)


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
            return check.value in found.calls
        case "does_not_call":
            return check.value not in found.calls
        case "exit_status":
            return str(found.status) == check.value.strip()
