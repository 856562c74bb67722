"""What passes the test of a skill, and what a test costs: `python -m bench.skills.verdicts`.

Made-up skills change success and tokens in a known way. Each is tested 1,000 times by the
gateway's own plan and verdict; only the replays are drawn at random.
"""

import random
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agent_core.skills.evaluation.record import Arm, CaseRun, EvalRecord
from agent_core.skills.evaluation.sequential import MOST_PAIRS
from agent_core.skills.evaluation.verdict import judge_runs, wants_judge
from bench.figures import Figure, percentile, render

_SEED = 1947
_TESTS = 1_000
_SPREADS = (0.15, 0.3)
"""Standard deviations of the tokens of a run, as shares of the mean."""
_TOKENS = 4_000
_CASES = ("a", "b", "c", "d", "e")


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeUpSkill:
    """A skill with known effects.

    `rates` are the shares of success without and with it, `tokens` the ratio of its tokens to
    those without it, and `lost` the share of answers that lack content. The judge finds `found`
    of those, and sees a loss in `erred` of the others. `hardness` spreads the rates of the cases.
    `broken` is the share of cases that always fail, drawn anew for each side: chance that repeated
    runs can't average out.
    """

    name: str
    rates: tuple[float, float]
    tokens: float = 1.0
    lost: float = 0.0
    found: float = 1.0
    erred: float = 0.0
    hardness: float = 0.0
    broken: float = 0.0
    at_most: float | None = None
    at_least: float | None = None


SKILLS = (
    *(
        MadeUpSkill(name=f"useless, {rate:.0%} success", rates=(rate, rate), at_most=5)
        for rate in (0.0, 0.3, 0.6, 0.8, 0.9, 1.0)
    ),
    MadeUpSkill(name="useless, uneven cases", rates=(0.6, 0.6), hardness=0.3, at_most=5),
    MadeUpSkill(name="useless, a tenth of the cases fails by chance", rates=(1.0, 1.0), broken=0.1),
    MadeUpSkill(name="harmful, 90 to 70 %", rates=(0.9, 0.7), at_most=1),
    MadeUpSkill(name="harmful, half the tokens", rates=(0.9, 0.7), tokens=0.5, at_most=1),
    MadeUpSkill(name="good, 60 to 95 %", rates=(0.6, 0.95), at_least=80),
    MadeUpSkill(name="good, a fifth dearer", rates=(0.6, 0.95), tokens=1.2, at_least=80),
    MadeUpSkill(name="good, 0 to 100 %", rates=(0.0, 1.0), at_least=80),
    MadeUpSkill(name="be terse, content lost", rates=(1.0, 1.0), tokens=0.5, lost=0.8, at_most=5),
    MadeUpSkill(
        name="be terse, a judge that errs in 10 %",
        rates=(1.0, 1.0),
        tokens=0.5,
        lost=0.8,
        found=0.9,
        erred=0.1,
        at_most=5,
    ),
    MadeUpSkill(name="fewer tokens, nothing lost", rates=(1.0, 1.0), tokens=0.6, at_least=80),
)


def try_skill(skill: MadeUpSkill, spread: float, chance: random.Random) -> EvalRecord:
    """Test a skill once, until the verdict."""
    shifts: dict[tuple[str, Arm], float] = {}
    for case in _CASES:
        shift = chance.uniform(-skill.hardness, skill.hardness)
        shifts[case, "without"] = shift - (chance.random() < skill.broken)
        shifts[case, "with"] = shift - (chance.random() < skill.broken)
    record = EvalRecord(name=skill.name, text_row=1, cases=_CASES)
    while judge_runs(_CASES, record.runs).result == "open":
        missing = record.find_next()
        assert missing
        case, arm = missing
        run = _draw(skill, case, arm, spread, shifts[case, arm], chance)
        rival = record.find_rival(case)
        if arm == "with" and run.passed and rival and rival.passed and wants_judge(record.runs):
            is_lost = chance.random() < skill.lost
            is_seen = chance.random() < (skill.found if is_lost else skill.erred)
            run = _judge(run, is_seen)
        record = record.add(run)
    return record


def measure(tests: int = _TESTS, skills: Sequence[MadeUpSkill] = SKILLS) -> list[Figure]:
    """Measure the share of passed tests, and the runs that a test takes."""
    return [figure for skill in skills for figure in _measure_skill(skill, tests)]


def _measure_skill(skill: MadeUpSkill, tests: int) -> Iterator[Figure]:
    counts = []
    for spread in _SPREADS:
        chance = random.Random(f"{_SEED} {skill.name} {spread}")
        records = [try_skill(skill, spread, chance) for _ in range(tests)]
        passed = sum(judge_runs(_CASES, one.runs).result == "passed" for one in records)
        counts += [len(one.runs) for one in records]
        yield Figure(
            name=f"{skill.name}, tokens ± {spread:.0%}, passed",
            unit="%",
            value=100 * passed / tests,
            at_most=skill.at_most,
            at_least=skill.at_least,
        )
    yield Figure(name="  runs, mean", unit="runs", value=statistics.fmean(counts))
    yield Figure(
        name="  runs, p95", unit="runs", value=percentile(counts, 0.95), at_most=2 * MOST_PAIRS
    )


def _draw(
    skill: MadeUpSkill, case: str, arm: Arm, spread: float, shift: float, chance: random.Random
) -> CaseRun:
    rate = skill.rates[arm == "with"] + shift
    ratio = skill.tokens if arm == "with" else 1.0
    tokens = round(_TOKENS * ratio * max(0.05, chance.gauss(1, spread)))
    return CaseRun(
        case=case, arm=arm, passed=chance.random() < rate, steps=3, tokens=tokens, answer="words"
    )


def _judge(run: CaseRun, is_lost: bool) -> CaseRun:
    return CaseRun(
        case=run.case, arm=run.arm, passed=run.passed, steps=3, tokens=run.tokens, lost=is_lost
    )


if __name__ == "__main__":
    print(render(measure()))
