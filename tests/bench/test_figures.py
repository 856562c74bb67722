"""Goals apply to the ratio if there is one, and the table shows missed goals."""

import pytest

from bench.figures import Figure, percentile, render


@pytest.mark.parametrize(
    ("figure", "is_reached"),
    [
        (Figure(name="a", unit="ms", value=7, bare=4, at_most=2), True),
        (Figure(name="a", unit="ms", value=9, bare=4, at_most=2), False),
        (Figure(name="a", unit="turns/s", value=7, bare=10, at_least=0.7), True),
        (Figure(name="a", unit="turns/s", value=6, bare=10, at_least=0.7), False),
        (Figure(name="a", unit="MB", value=120, at_most=120), True),
        (Figure(name="a", unit="%", value=89, at_least=90), False),
        (Figure(name="a", unit="s", value=1), None),
        (Figure(name="a", unit="s", value=1, bare=3), None),
    ],
)
def test_a_goal_applies_to_ratio_or_value(figure: Figure, is_reached: bool | None) -> None:
    assert figure.is_reached is is_reached


def test_the_table_shows_missed_goals() -> None:
    table = render(
        [
            Figure(name="slow", unit="ms", value=9, bare=3, at_most=2),
            Figure(name="small", unit="MB", value=1234.5, at_most=2000),
        ]
    )
    slow, small = table.splitlines()[1:]
    assert slow.split() == ["slow,", "ms", "9.00", "3.00", "3.00", "<=", "2x", "MISSED"]
    assert small.split() == ["small,", "MB", "1,234", "<=", "2000", "reached"]


def test_percentiles_are_measured_values() -> None:
    values = [float(number) for number in range(100, 0, -1)]
    assert percentile(values, 0.5) == 51
    assert percentile(values, 0.99) == 100
    assert percentile([3.0], 0.99) == 3
