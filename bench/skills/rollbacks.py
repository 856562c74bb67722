"""How often and how soon a skill is rolled back by its uses: `python -m bench.skills.rollbacks`.

Made-up skills with a steady share of bad uses go through the gateway's own judgement of uses. It
also shows the search by which the points of that judgement were found.
"""

import itertools
import math
import random
import statistics
from collections.abc import Sequence

from agent_core.skills.decline import judge_uses
from bench.figures import Figure, percentile, render

_SEED = 1954
_LIVES = 10_000
_USES = 200
"""Uses of a life."""
_GOOD_USES = 60
"""Uses before a change for the worse."""


def find_alarm(uses: Sequence[bool], begun: int = 0) -> int | None:
    """Return the use after `begun` at which a skill is rolled back; None for never."""
    if judge_uses(uses) != "bad":
        return None
    return next(at for at in range(begun, len(uses) + 1) if judge_uses(uses[:at]) == "bad") - begun


def measure(lives: int = _LIVES) -> list[Figure]:
    """Measure the share of rollbacks of good skills, and the delay of those of bad ones."""
    chance = random.Random(_SEED)

    def live(rate: float, uses: int) -> list[bool]:
        return [chance.random() >= rate for _ in range(uses)]

    figures = []
    for bad, goal in ((0.1, 1.0), (0.15, None), (0.2, 5.0)):
        found = sum(judge_uses(live(bad, _USES)) == "bad" for _ in range(lives))
        name = f"{1 - bad:.0%} success, rolled back within {_USES} uses"
        figures.append(Figure(name=name, unit="%", value=100 * found / lives, at_most=goal))
    for begun in (0, _GOOD_USES):
        delays = [
            find_alarm([*live(0.05, begun), *live(0.6, _USES)], begun) or _USES
            for _ in range(lives)
        ]
        name = f"60% bad uses after {begun} good ones"
        mean = statistics.fmean(delays)
        figures += [
            Figure(name=f"{name}, mean", unit="uses", value=mean, at_most=20),
            Figure(name=f"{name}, p95", unit="uses", value=percentile(delays, 0.95), at_most=40),
        ]
    always = find_alarm([False] * _USES)
    figures.append(Figure(name="all uses bad", unit="uses", value=always or _USES, at_most=6))
    return figures


def chain_alarms(points: tuple[int, int, int], bad_rate: float, uses: int) -> list[float]:
    """Return the exact chance of an alarm at each use: the sum is a Markov chain.

    `points` are those of a bad use, of a good one, and those at which a skill is bad.
    """
    bad_use, good_use, bad_at = points
    scores, alarms = {0: 1.0}, []
    for _ in range(uses):
        after: dict[int, float] = {}
        alarm = 0.0
        for score, share in scores.items():
            better, worse = max(0, score - good_use), score + bad_use
            after[better] = after.get(better, 0) + share * (1 - bad_rate)
            if worse >= bad_at:
                alarm += share * bad_rate
            else:
                after[worse] = after.get(worse, 0) + share * bad_rate
        scores = after
        alarms.append(alarm)
    return alarms


def search(most: int = 8) -> list[tuple[float, float, float, tuple[int, int, int]]]:
    """List the points that keep every promise, by the share of false alarms at 80 % success.

    Each comes with that share, the mean delay at 60 % bad uses, and the share noticed in 40 uses.
    """
    found = []
    for bad_use, good_use in itertools.product(range(1, most + 1), repeat=2):
        if math.gcd(bad_use, good_use) > 1:
            continue
        for bad_at in range(3 * bad_use + 1, 6 * bad_use + 1):
            points = bad_use, good_use, bad_at
            alarms = sum(chain_alarms(points, 0.2, _USES))
            if alarms > 0.05 or sum(chain_alarms(points, 0.1, _USES)) > 0.01:
                continue
            harm = chain_alarms(points, 0.6, 500)
            mean, soon = sum(n * share for n, share in enumerate(harm, 1)), sum(harm[:40])
            if mean <= 20 and soon >= 0.95:
                found.append((alarms, mean, soon, points))
    return sorted(found)


def _report() -> None:
    print(render(measure()))
    print("\nbad use, good use, bad at: false alarms at 80 %; mean delay, within 40 at 40 %")
    for alarms, mean, soon, points in search():
        print(f"{points}: {alarms:.2%}; {mean:.1f}, {soon:.1%}")


if __name__ == "__main__":
    _report()
