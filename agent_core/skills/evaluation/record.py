"""The record of a skill's test: its cases, and each finished run. The test's task stores it."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Literal

Arm = Literal["without", "with"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRun:
    """A replay of a case, with or without the skill; `why` is the first check that it failed.

    `passed` is None for a case that can't be replayed. `steps` are model calls, `effects` what the
    run did besides answering. `lost` tells whether a blind judge misses content in the answer that
    the other run's has; None without a verdict. `answer` is kept until that judge has read it.
    """

    case: str
    arm: Arm
    passed: bool | None
    steps: int = 0
    tokens: int = 0
    micro_dollars: int = 0
    why: str = ""
    effects: tuple[str, ...] = ()
    lost: bool | None = None
    answer: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPair:
    """A case once without and once with the skill."""

    without: CaseRun
    having: CaseRun


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalRecord:
    """A test of one text of a skill. `cases` is None until they are chosen.

    `text_row` is the ledger row of the text. `is_asked` is true if a person asked for the test.
    `result` is "" until the test is over, then `passed`, `failed`, `few` (too few cases), or
    `void`.
    """

    name: str
    text_row: int
    is_asked: bool = False
    cases: tuple[str, ...] | None = None
    runs: tuple[CaseRun, ...] = ()
    result: str = ""
    reason: str = ""

    def find_next(self) -> tuple[str, Arm] | None:
        """Return the next run: each case in turn, without and with the skill, over and over.

        A case that can't be replayed is not tried again. None if no case is left.
        """
        dropped = {run.case for run in self.runs if run.passed is None}
        left = [case for case in self.cases or () if case not in dropped]
        if not left:
            return None
        done = Counter((run.case, run.arm) for run in self.runs)
        case = min(left, key=lambda one: done[one, "with"])
        return case, "with" if done[case, "without"] > done[case, "with"] else "without"

    def find_rival(self, case: str) -> CaseRun | None:
        """Return the run of a case that waits for its second half."""
        own = [run for run in self.runs if run.case == case]
        return own[-1] if own and own[-1].arm == "without" else None

    def add(self, run: CaseRun) -> "EvalRecord":
        """Return the record with a further run.

        The second run of a pair completes it: an effect that only one of them has is a failure of
        that one, whatever its answer says. The words of the answer are dropped.
        """
        rival = self.find_rival(run.case) if run.arm == "with" else None
        if rival is None:
            return replace(self, runs=(*self.runs, run))
        closed = _close_run(rival, run)
        runs = tuple(closed if one is rival else one for one in self.runs)
        return replace(self, runs=(*runs, _close_run(run, rival)))


def list_pairs(runs: Sequence[CaseRun]) -> list[RunPair]:
    """List the complete pairs of runs that say something, in the order of their ends."""
    waiting: dict[str, CaseRun] = {}
    pairs = []
    for run in runs:
        if run.arm == "without":
            waiting[run.case] = run
            continue
        rival = waiting.pop(run.case, None)
        if rival and rival.passed is not None and run.passed is not None:
            pairs.append(RunPair(without=rival, having=run))
    return pairs


def _close_run(run: CaseRun, rival: CaseRun) -> CaseRun:
    own = [effect for effect in run.effects if effect not in rival.effects]
    if own and run.passed:
        run = replace(run, passed=False, why=", ".join(own))
    return replace(run, answer="")


def dump_record(record: EvalRecord) -> str:
    """Encode a record as JSON text."""
    return json.dumps(asdict(record), ensure_ascii=False)


def load_record(text: str) -> EvalRecord:
    """Decode a record. Raises `ValueError`, `KeyError` or `TypeError` for anything else."""
    found = json.loads(text)
    found["runs"] = tuple(
        CaseRun(**{**one, "effects": tuple(one.get("effects", ()))}) for one in found["runs"]
    )
    found["cases"] = None if found["cases"] is None else tuple(found["cases"])
    return EvalRecord(**found)
