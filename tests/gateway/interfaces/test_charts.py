"""Charts of stacked columns: every amount has its place, and the scale reads well."""

import pytest

from gateway.interfaces.pages.charts import BarPart, draw


def test_parts_stack_from_the_ground_and_nothing_has_no_part() -> None:
    chart = draw(["a", "b", "c"], [("x", [50, 0, 0]), ("y", [50, 25, 0])])
    assert (chart.names, chart.top) == (["x", "y"], 100)
    assert [(one.label, one.total) for one in chart.columns] == [("a", 100), ("b", 25), ("c", 0)]
    assert [list(one.parts) for one in chart.columns] == [
        [BarPart(series=0, y=50.0, height=50.0), BarPart(series=1, y=0.0, height=50.0)],
        [BarPart(series=1, y=75.0, height=25.0)],
        [],
    ]


@pytest.mark.parametrize(
    ("amount", "top"),
    [(0, 10), (1, 10), (10, 10), (11, 15), (21, 25), (99, 100), (101, 150), (8_000_001, 10**7)],
)
def test_the_scale_ends_at_a_number_that_reads_well(amount: int, top: int) -> None:
    assert draw(["a"], [("x", [amount])]).top == top


def test_a_chart_without_series_is_empty() -> None:
    chart = draw(["a"], [])
    assert [(one.total, list(one.parts)) for one in chart.columns] == [(0, [])]
