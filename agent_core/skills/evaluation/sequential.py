"""Sequential tests of paired runs: has success risen, and are tokens saved? Pure.

Success is McNemar's test made sequential: only pairs with one success count, and each is a fair
coin if the skill changes nothing (Q. McNemar, Psychometrika 12, 1947; A. Wald, "Sequential
Analysis", 1947, chapter 6). The bounds were found by exact enumeration: a skill without effect
passes in at most 3.2 %, one that lifts success from 60 to 95 % in 86 %. Hopeless tests end early.

Tokens are judged by the t-test that stays valid however often one looks: the e-value of a Gaussian
mixture over the effect, with the variance integrated out (P. Grünwald, R. de Heide, W. Koolen,
"Safe Testing", arXiv:1906.07801; H. Wang, A. Ramdas, "Anytime-valid t-tests and confidence
sequences for Gaussian means with unknown variance", arXiv:2310.03722). By Ville's inequality, it
exceeds 1 / ALPHA with a chance of at most ALPHA, half of it in the direction of a saving.
"""

import math
from collections.abc import Sequence
from functools import lru_cache

MOST_PAIRS = 28
"""Pairs of runs of a test, so 56 runs; see `bench/skills/verdicts.py` for how many are usual."""
_WINS = (6, 8, 11)
"""Pairs that only the skill wins from which on success has risen, by the number it loses."""
_RARE = 0.01
_HOPED = 0.38
"""The share of pairs that only the skill wins if it lifts success from 60 to 95 %."""
_LEAST_SAVING_PAIRS = 16
"""Pairs without a loss before a saving counts: harm (90 to 70 %) has none in under 1 %."""
_EARLY_PAIRS = 6
"""Pairs from which on a saving must show to be waited for."""
_ALPHA = 0.05
_LEAST_SAVING = math.log(0.95)
"""Savings below 5 % are not worth a line in a prompt."""


def has_risen(wins: int, losses: int) -> bool:
    """Return whether the skill has won enough of the pairs with one success."""
    return losses < len(_WINS) and wins >= _WINS[losses]


def may_rise(pairs: int, wins: int, losses: int) -> bool:
    """Return whether success may still be found to have risen.

    It may not if even a good skill would seldom have won so few pairs.
    """
    if losses >= len(_WINS) or _WINS[losses] - wins > MOST_PAIRS - pairs:
        return False
    return _chance_of_at_most(wins, pairs) > _RARE


def is_saving(pairs: int, log_ratios: Sequence[float]) -> bool:
    """Return whether tokens are saved: the logarithms of with to without lie below 0.

    There is one for each of the `pairs` in which both runs succeeded.
    """
    if pairs < _LEAST_SAVING_PAIRS or not may_save(pairs, log_ratios):
        return False
    return weigh_evidence(log_ratios) >= 1 / _ALPHA


def may_save(pairs: int, log_ratios: Sequence[float]) -> bool:
    """Return whether a saving is seen, or too little has been seen yet."""
    if pairs < _EARLY_PAIRS:
        return True
    return bool(log_ratios) and sum(log_ratios) / len(log_ratios) <= _LEAST_SAVING


def weigh_evidence(values: Sequence[float]) -> float:
    """Return the e-value of a mean other than 0, for normal values of unknown variance."""
    count = len(values)
    if count < 2:
        return 1.0
    mean = math.fsum(values) / count
    variance = math.fsum((value - mean) ** 2 for value in values) / (count - 1)
    freedom = count - 1
    if variance < 1e-12:
        return 1.0 if abs(mean) < 1e-6 else math.inf
    square = count * mean * mean / variance
    ratio = (1 + square / freedom) / (1 + square / (freedom * (1 + count)))
    return math.exp((freedom + 1) / 2 * math.log(ratio) - math.log(1 + count) / 2)


@lru_cache(maxsize=MOST_PAIRS * MOST_PAIRS)
def _chance_of_at_most(wins: int, pairs: int) -> float:
    return sum(
        math.comb(pairs, number) * _HOPED**number * (1 - _HOPED) ** (pairs - number)
        for number in range(wins + 1)
    )
