"""Charts in words: bars of characters, for readers whom no picture reaches; pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan

from wcwidth import wcswidth

from agent_core.localization import format_number

_MOST_ROWS = 24
_WIDEST_LABEL = 20
_LONGEST_BAR = 24
_EIGHTHS = " ▏▎▍▌▋▊▉"
_BLOCK = "█"
_GAP = "–"


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Numbers of one colour; there is one for each label. `name` is empty if it is the only one."""

    name: str
    values: Sequence[float]


def describe_chart(title: str, labels: Sequence[str], series: Sequence[Series], unit: str) -> str:
    """Render a chart as lines, with the numbers of the current language."""
    rows = [
        (label if len(series) == 1 else f"{label} · {one.name}", one.values[place])
        for place, label in enumerate(labels)
        for one in series
    ]
    shown = rows[:_MOST_ROWS]
    longest = max((abs(value) for _, value in shown if not isnan(value)), default=0) or 1
    width = max((wcswidth(_cut(label)) for label, _ in shown), default=0)
    lines = [f"{_pad(_cut(label), width)}  {_draw(value, longest)}" for label, value in shown]
    heading = f"{title} ({unit})" if unit else title
    more = ["…"] if len(rows) > len(shown) else []
    return "\n".join([heading, *lines, *more])


def _draw(value: float, longest: float) -> str:
    return _GAP if isnan(value) else f"{_draw_bar(abs(value) / longest)} {_write(value)}"


def _write(value: float) -> str:
    """Format a number with at most two decimal places."""
    spec = ",.0f" if value == int(value) else ",.2f" if abs(value) >= 0.1 else ",.3g"
    return format_number(value, spec).replace("-", "−")


def _draw_bar(share: float) -> str:
    eighths = round(share * _LONGEST_BAR * 8)
    rest = _EIGHTHS[eighths % 8].strip()
    return f"{_BLOCK * (eighths // 8)}{rest}" or _EIGHTHS[1]


def _cut(label: str) -> str:
    return label if len(label) <= _WIDEST_LABEL else f"{label[: _WIDEST_LABEL - 1].rstrip()}…"


def _pad(label: str, width: int) -> str:
    return label + " " * (width - max(wcswidth(label), 0))
