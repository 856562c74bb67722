"""Charts of stacked columns, drawn as SVG; they need no script and no inline style."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

_HEIGHT = 100
"""Height of the picture, in SVG units."""
_ROUND = (10, 15, 20, 25, 30, 40, 50, 60, 80, 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class BarPart:
    """A rectangle of a column; `series` is the number of its series, from 0."""

    series: int
    y: float
    height: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column with its total. Its parts are in the order of the series, from the bottom up."""

    label: str
    total: int
    parts: Sequence[BarPart]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A chart; `top` is the amount at the upper end of its scale."""

    names: Sequence[str]
    columns: Sequence[Column]
    top: int


def draw(labels: Sequence[str], series: Sequence[tuple[str, Sequence[int]]]) -> Chart:
    """Draw series of amounts. Each series has a name, and one amount for each label."""
    columns = [tuple(amounts[at] for _, amounts in series) for at in range(len(labels))]
    top = _round_up(max(map(sum, columns), default=0))
    return Chart(
        names=[name for name, _ in series],
        columns=[
            Column(label=label, total=sum(amounts), parts=_stack(amounts, top))
            for label, amounts in zip(labels, columns, strict=True)
        ],
        top=top,
    )


def _stack(amounts: Sequence[int], top: int) -> list[BarPart]:
    parts, below = [], 0
    for number, amount in enumerate(amounts):
        below += amount
        if amount:
            y = round(_HEIGHT - below * _HEIGHT / top, 2)
            parts.append(BarPart(series=number, y=y, height=round(amount * _HEIGHT / top, 2)))
    return parts


def _round_up(amount: int) -> int:
    """Return the next round number that is not below `amount`, for the top of a scale."""
    tenth: int = 10 ** max(math.floor(math.log10(max(amount, 1))) - 1, 0)
    return next(one * tenth for one in _ROUND if one * tenth >= amount)
