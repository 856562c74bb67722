"""The record of a skill's test: its cases, and each finished run. The test's task stores it."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

Arm = Literal["without", "with"]
ARMS: tuple[Arm, ...] = ("without", "with")


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRun:
    """A replay of a case, with or without the skill; `why` is the first check that it failed.

    `passed` is None for a case that can't be replayed. `steps` are model calls.
    """

    case: str
    arm: Arm
    passed: bool | None
    steps: int = 0
    tokens: int = 0
    micro_dollars: int = 0
    why: str = ""


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
        """Return the next run that is missing."""
        done = {(run.case, run.arm) for run in self.runs}
        wanted: Sequence[tuple[str, Arm]] = [
            (case, arm) for case in self.cases or () for arm in ARMS
        ]
        return next((one for one in wanted if one not in done), None)


def dump_record(record: EvalRecord) -> str:
    """Encode a record as JSON text."""
    return json.dumps(asdict(record), ensure_ascii=False)


def load_record(text: str) -> EvalRecord:
    """Decode a record. Raises `ValueError`, `KeyError` or `TypeError` for anything else."""
    found = json.loads(text)
    found["runs"] = tuple(CaseRun(**one) for one in found["runs"])
    found["cases"] = None if found["cases"] is None else tuple(found["cases"])
    return EvalRecord(**found)
