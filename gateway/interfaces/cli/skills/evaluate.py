"""`talaria skills eval`: test a skill now, and show its cases with and without it."""

import argparse
import time
from collections.abc import Mapping, Sequence

from gateway.app.settings import Settings
from gateway.errors import Declined
from gateway.interfaces.client import NoGateway, ask
from gateway.operations.skill_types import EvaluatedCase, EvaluateSkill, SkillTest
from gateway.operations.wire import dump, load

_LOOK = 1.0
"""Seconds between two checks of a running test."""
_RESULTS = {
    "passed": "passed",
    "failed": "failed",
    "same": "no difference",
    "few": "not tested",
    "void": "not tested",
}


def evaluate(arguments: argparse.Namespace, settings: Settings, _: Mapping[str, str]) -> int:
    """Test a skill in the running gateway, and print a table. Raises `Declined`."""
    cause: str | None = None
    shown = 0
    while True:
        try:
            asked = dump(EvaluateSkill(name=arguments.name, cause=cause))
            answer = load(SkillTest, ask(settings.home, "skills.eval", asked))
        except NoGateway:
            raise Declined("A test calls the model: start Talaria with `talaria run`.") from None
        cause = answer.cause
        for run in answer.runs[shown:]:
            print(f"  {run.case}, {run.arm} the skill: {_describe_run(run)}", flush=True)
        shown = len(answer.runs)
        if answer.state == "dead":
            raise Declined(f"The test failed: {answer.why}")
        if answer.result:
            print("\n".join(describe_test(answer)))
            return 0 if answer.result == "passed" else 1
        time.sleep(_LOOK)


def describe_test(answer: SkillTest) -> list[str]:
    """Format a finished test: a line for each case, and the verdict."""
    cases = list(dict.fromkeys(run.case for run in answer.runs))
    table = [("CASE", "WITHOUT", "WITH")]
    for case in cases:
        runs = [run for run in answer.runs if run.case == case]
        without, having = (
            _describe_runs([run for run in runs if run.arm == arm]) for arm in ("without", "with")
        )
        table.append((case, without, having))
    verdict = f"{answer.name}: {_RESULTS[answer.result]}: {answer.reason}."
    return [*(_align(table) if cases else []), verdict]


def _describe_run(run: EvaluatedCase) -> str:
    if run.passed is None:
        return f"left out: {run.why}"
    word = "good" if run.passed else f"bad ({run.why})"
    return f"{word}, {run.steps} steps, {run.tokens:,} tokens"


def _describe_runs(runs: Sequence[EvaluatedCase]) -> str:
    if len(runs) < 2:
        return _describe_run(runs[0]) if runs else ""
    good = [bool(run.passed) for run in runs if run.passed is not None].count(True)
    steps, tokens = (sum(getattr(run, key) for run in runs) for key in ("steps", "tokens"))
    faults = ", ".join(dict.fromkeys(run.why for run in runs if run.why))
    found = f"{good} of {len(runs)} good, {steps} steps, {tokens:,} tokens"
    return f"{found} ({faults})" if faults else found


def _align(table: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in table
    ]
