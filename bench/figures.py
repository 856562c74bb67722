"""Measured figures and their goals, as a table and as JSON."""

import json
import platform
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

RESULTS = Path(__file__).resolve().parent / "results"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One line of the table. `bare` is the bare bot's, where it was measured beside.

    `goal` is the figure to reach: `at_most` or `at_least` holds for `ratio` where there is
    one, else for `value`.
    """

    name: str
    unit: str
    value: float
    bare: float | None = None
    at_most: float | None = None
    at_least: float | None = None

    @property
    def ratio(self) -> float | None:
        """The ratio to the bare bot's figure."""
        return self.value / self.bare if self.bare else None

    @property
    def is_reached(self) -> bool | None:
        """Whether the goal is reached; None without a goal."""
        if self.at_most is None and self.at_least is None:
            return None
        judged = self.value if self.ratio is None else self.ratio
        return (self.at_most is None or judged <= self.at_most) and (
            self.at_least is None or judged >= self.at_least
        )


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which that share of the values lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def render(figures: Sequence[Figure]) -> str:
    """Return the table."""
    rows = [("", "gateway", "bare bot", "ratio", "goal", "")]
    for figure in figures:
        bare = "" if figure.bare is None else _number(figure.bare)
        ratio = "" if figure.ratio is None else f"{figure.ratio:.2f}"
        rows.append(
            (
                f"{figure.name}, {figure.unit}",
                _number(figure.value),
                bare,
                ratio,
                _goal(figure),
                {None: "", True: "reached", False: "MISSED"}[figure.is_reached],
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column in (0, 5) else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def save(figures: Sequence[Figure], *, is_quick: bool) -> Path:
    """Write the figures with time and machine."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{time.strftime('%Y%m%d-%H%M%S')}.json"
    body = {
        "quick": is_quick,
        "python": sys.version.split()[0],
        "machine": platform.platform(),
        "figures": [
            asdict(figure) | {"ratio": figure.ratio, "reached": figure.is_reached}
            for figure in figures
        ],
    }
    path.write_text(json.dumps(body, indent=1), encoding="utf-8")
    return path


def _goal(figure: Figure) -> str:
    times = "x" if figure.ratio is not None else ""
    if figure.at_most is not None:
        return f"<= {figure.at_most:g}{times}"
    return f">= {figure.at_least:g}{times}" if figure.at_least is not None else ""


def _number(value: float) -> str:
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"
