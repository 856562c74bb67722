"""How often and how soon a skill is rolled back by its uses: `python -m bench.learning.rollbacks`.

Made-up skills with a steady share of bad uses go through the sequential test of the gateway.
"""

import random

from agent_core.skills.decline import judge_uses

_SKILLS = 2_000
_USES = 50
_SPAN = 100
"""Uses of a skill whose new text is worse."""
_MOST = 200
"""Uses after which a decline counts as never noticed."""
_GOOD, _BAD = 0.1, 0.4
"""Shares of bad uses, of a skill to keep and of one that does harm; those of the test itself."""


def main() -> None:
    chance = random.Random(16)
    for rate in (_GOOD, 0.15):
        false = sum(_find_rollback(rate, _USES, [], chance) is not None for _ in range(_SKILLS))
        print(f"{rate:.0%} bad uses: {false / _SKILLS:.1%} rolled back within {_USES} uses")
    for good_uses in (0, 40):
        delays = sorted(_find_delay(good_uses, chance) for _ in range(_SKILLS))
        print(
            f"{_BAD:.0%} bad uses after {good_uses} good ones: rolled back after"
            f" {delays[_SKILLS // 2]} uses in the median, {delays[_SKILLS * 95 // 100]} at p95"
        )
    for is_tested in (False, True):
        shares = [_count_good(is_tested, chance) for _ in range(_SKILLS)]
        name = "with" if is_tested else "without"
        print(
            f"a new text with {_BAD:.0%} bad uses after one with {_GOOD:.0%}, {_SPAN} uses:"
            f" {sum(shares) / _SKILLS / _SPAN:.1%} go well {name} rollbacks"
        )


def _count_good(is_tested: bool, chance: random.Random) -> int:
    """Return how many uses go well after a change for the worse."""
    uses: list[bool] = []
    rate, good = _BAD, 0
    for _ in range(_SPAN):
        uses.append(chance.random() >= rate)
        good += uses[-1]
        if is_tested and rate == _BAD and judge_uses(uses) == "bad":
            rate, uses = _GOOD, []
    return good


def _find_rollback(rate: float, most: int, uses: list[bool], chance: random.Random) -> int | None:
    """Return the use at which a skill is rolled back, counted from now; None for never."""
    for number in range(1, most + 1):
        uses.append(chance.random() >= rate)
        if judge_uses(uses) == "bad":
            return number
    return None


def _find_delay(good_uses: int, chance: random.Random) -> int:
    """Return the uses until a decline is noticed, of a skill that went well before."""
    while True:
        uses: list[bool] = []
        if _find_rollback(_GOOD, good_uses, uses, chance) is None:
            return _find_rollback(_BAD, _MOST, uses, chance) or _MOST


if __name__ == "__main__":
    main()
