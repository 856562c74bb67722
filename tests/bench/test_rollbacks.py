"""The judgement of a skill's uses keeps its promises: exactly, and over random lives."""

import pytest

from agent_core.skills.decline import BAD_AT, BAD_USE, GOOD_USE
from bench.skills.rollbacks import chain_alarms, find_alarm, measure

POINTS = (BAD_USE, GOOD_USE, BAD_AT)


def test_good_skills_stay_and_harm_is_noticed_soon() -> None:
    assert sum(chain_alarms(POINTS, 0.1, 200)) <= 0.001
    assert sum(chain_alarms(POINTS, 0.15, 200)) <= 0.01
    assert sum(chain_alarms(POINTS, 0.2, 200)) <= 0.03
    harm = chain_alarms(POINTS, 0.6, 2_000)
    assert sum(harm) == pytest.approx(1)
    assert sum(number * share for number, share in enumerate(harm, 1)) <= 18
    assert sum(harm[:40]) >= 0.96
    assert sum(chain_alarms(POINTS, 1, 6)) == 1


def test_random_lives_reach_the_same_goals() -> None:
    figures = measure(600)
    assert [figure.name for figure in figures if figure.is_reached is False] == []
    assert find_alarm([True] * 60 + [False] * 6, 60) == 6
    assert find_alarm([True] * 60) is None
