"""Reader program: numbers in as JSON, a chart out as a PNG of 1000 by 560 pixels."""

import io
import json
import math
import sys
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager, get_font
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from agent_core.execution.subprocesses.confinement import confine_reader
from agent_core.tools.readers.limits import LIMITS

_WIDTH, _HEIGHT, _DPI = 1000, 600, 130
"""Pixels, and as many of them an inch that letters are readable on a phone, a third as wide."""
_LEGEND = 60
"""Pixels that a chart of several series is higher, for the line of their names."""
_PAPER, _INK, _SOFT, _MARK, _BELOW = "#fbfbf9", "#1f2328", "#c9ccd1", "#2f6feb", "#c4432b"
"""A light card with dark ink, readable on light and dark screens."""
_COLOURS = (
    *(_MARK, "#e8740c", "#1f9d68", "#8b46c8", "#c4432b", "#0b8fa8"),
    *("#9a7b14", "#d2568f", "#5b6470", "#7fa8f5", "#f2b27a", "#84cbab"),
)
"""Colours of series and slices, in order; neighbours differ in lightness, too."""
_FONT_FILE = 4_000_000
"""Bytes of matplotlib's font cache."""
_FAMILIES = (
    *("DejaVu Sans", "Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans SC", "Noto Sans JP"),
    *("WenQuanYi Zen Hei", "WenQuanYi Micro Hei", "IPAGothic", "Droid Sans Fallback"),
    *("Noto Sans", "Noto Sans Arabic", "Noto Sans Hebrew", "Noto Sans Devanagari"),
    *("Noto Sans Thai", "Noto Emoji", "Symbola", "Arial Unicode MS", "PingFang SC"),
    *("Unifont", "Unifont Upper"),
)
"""Fonts with wide coverage, in order of preference."""
_LAST_RESORT = "Last Resort"
"""A font of boxes, which has every character and shows none."""
_SIZES = (12.0, 10.0)
"""Font sizes to try for labels that overlap, in points."""
_MISSING = "□"
_MOST_HORIZONTAL = 14
"""The largest number of horizontal bars with a label each; more are drawn vertically."""
_MOST_TALL = 6
"""The largest number of slices whose lines are two high."""
_MOST_NUMBERED = 8
"""The largest number of bars of several series with a number each."""
_LARGE = (1e12, 1e9, 1e6)
_UNITS = {"en": ("T", "B", "M"), "de": (" Bio.", " Mrd.", " Mio.")}
_MONEY = ("€", "$", "£", "EUR", "USD", "GBP", "CHF", "Euro", "euros", "dollars")
_SWAPPED = str.maketrans(",.", ".,")
_LETTER = 15.0
"""The average width of a label's character in pixels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawSeries:
    """The numbers of one colour, NaN for a gap; `name` is empty if it is the only one."""

    name: str
    values: Sequence[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawOrder:
    """The data of a chart. `words` describe it for readers whom no picture reaches."""

    kind: str
    title: str
    labels: Sequence[str]
    series: Sequence[DrawSeries]
    unit: str
    language: str = "en"
    words: str = ""


def draw(order: DrawOrder) -> bytes:
    """Draw a chart as PNG."""
    kept = io.BytesIO()
    described = {"Description": order.words} if order.words else {}
    plot(order).savefig(kept, format="png", dpi=_DPI, facecolor=_PAPER, metadata=described)
    return kept.getvalue()


def plot(order: DrawOrder) -> Figure:
    """Draw a chart whose labels do not overlap."""
    names = [one.name for one in order.series]
    families, known = _choose_fonts("".join((order.title, order.unit, *order.labels, *names, "€")))
    mpl.rcParams["font.family"] = families
    labels = [_name(label, number, known) for number, label in enumerate(order.labels, start=1)]
    shown = replace(
        order,
        labels=labels,
        unit=_replace_missing(order.unit, known),
        series=[replace(one, name=_replace_missing(one.name, known)) for one in order.series],
    )
    height = _HEIGHT if len(names) == 1 else _HEIGHT + _LEGEND
    figure = Figure(figsize=(_WIDTH / _DPI, height / _DPI), dpi=_DPI, facecolor=_PAPER)
    figure.set_layout_engine("constrained", w_pad=0.2, h_pad=0.2)
    axes = figure.add_subplot(facecolor=_PAPER)
    title = "\n".join(textwrap.wrap(_replace_missing(order.title, known), 42)[:2])
    figure.suptitle(title, x=0.03, ha="left", fontsize=20, fontweight="bold", color=_INK)
    _draw_kind(axes, shown)
    for side in ("top", "right", "left", "bottom"):
        axes.spines[side].set_visible(False)
    axes.tick_params(length=0, colors=_INK, labelsize=15)
    axes.set_axisbelow(True)
    if len(names) > 1:
        figure.legend(
            loc="outside lower left",
            ncols=max(1, int(900 / (max(map(len, names)) * _LETTER + 80))),
            frameon=False,
            fontsize=15,
            labelcolor=_INK,
        )
    separate_labels(figure, axes)
    return figure


def _draw_kind(axes: Axes, order: DrawOrder) -> None:
    """Choose the form that fits the numbers, and draw it."""
    if order.kind == "pie":
        _draw_pie(axes, order)
    elif order.kind == "line":
        _draw_lines(axes, order)
    elif len(order.series) > 1:
        _draw_groups(axes, order)
    elif len(order.labels) <= _MOST_HORIZONTAL and not _fit_side_by_side(order.labels):
        _draw_horizontal(axes, order)
    else:
        _draw_vertical(axes, order)


def separate_labels(figure: Figure, axes: Axes) -> None:
    """Shrink labels that overlap, and then leave out as many as necessary, evenly spread."""
    numbers = [text for text in axes.texts if text.get_text()]
    for group in (axes.get_xticklabels(), axes.get_yticklabels(), numbers):
        texts = [text for text in group if text.get_text()]
        boxes = measure(figure, texts)
        for size in _SIZES:
            if not count_overlaps(boxes):
                break
            for text in texts:
                text.set_fontsize(size)
            boxes = measure(figure, texts)
        step = 1
        while count_overlaps(boxes[::step]):
            step += 1
        for place, text in enumerate(texts):
            text.set_visible(place % step == 0)


def measure(figure: Figure, texts: Sequence[Text]) -> list[Bbox]:
    """Lay out the figure, and return the boxes of the visible texts."""
    figure.draw_without_rendering()
    return [text.get_window_extent() for text in texts if text.get_visible()]


def count_overlaps(boxes: Sequence[Bbox]) -> int:
    """Count the neighbours that overlap."""
    return sum(one.padded(1).overlaps(other) for one, other in pairwise(boxes))


def _draw_lines(axes: Axes, order: DrawOrder) -> None:
    count = len(order.labels)
    places = range(count)
    for one, colour in zip(order.series, _COLOURS, strict=False):
        mark = "o" if count <= 40 else ""
        axes.plot(places, one.values, color=colour, linewidth=3, marker=mark, ms=7, label=one.name)
    axes.margins(x=0.03, y=0.12)
    axes.set_xlim(right=(count - 1) * 1.11 or 1)  # room for the last numbers
    _rule(axes, order)
    short = [_cut(label, 18) for label in order.labels]
    widest = max(len(label) for label in short) * _LETTER + 24
    step = -(-len(short) // max(2, int(880 / widest)))
    shown = list(places)[:: max(step, 1)]
    axes.set_xticks(shown, [short[place] for place in shown])
    ends = [
        max((place, value) for place, value in enumerate(one.values) if not math.isnan(value))
        for one in order.series
    ]
    for place, last in sorted(ends, key=lambda end: end[1]):
        axes.annotate(
            _write(last, order),
            (place, last),
            xytext=(9, 0),
            textcoords="offset points",
            va="center",
            fontsize=15,
            fontweight="bold",
            color=_INK,
        )
    values = _list_numbers(order)
    if min(values) < 0 < max(values):
        axes.axhline(0, color=_INK, linewidth=1)


def _draw_pie(axes: Axes, order: DrawOrder) -> None:
    """Draw shares as a ring, with a line for each beside it: label, number, percent."""
    values = order.series[0].values
    whole = sum(values)
    wedges, *_ = axes.pie(
        values,
        colors=_COLOURS,
        startangle=90,
        counterclock=False,
        radius=1.15,
        wedgeprops={"width": 0.5, "edgecolor": _PAPER, "linewidth": 2},
    )
    is_short = len(values) <= _MOST_TALL
    between, widest = ("\n", 22) if is_short else (": ", 14)
    lines = [
        f"{_cut(label, widest)}{between}{_join(_write(value, order), order.unit)}"
        f" ({_write_percent(value / whole, order.language)})"
        for label, value in zip(order.labels, values, strict=True)
    ]
    axes.legend(
        wedges,
        lines,
        loc="center left",
        bbox_to_anchor=(1.06, 0.5),
        frameon=False,
        fontsize=15 if is_short else 13,
        labelcolor=_INK,
        handlelength=1,
        labelspacing=0.6 if is_short else 0.3,
    )


def _draw_groups(axes: Axes, order: DrawOrder) -> None:
    """Draw the bars of several series side by side."""
    count, groups = len(order.series), len(order.labels)
    width = 0.8 / count
    for number, one in enumerate(order.series):
        places = [place + (number - (count - 1) / 2) * width for place in range(groups)]
        axes.bar(places, one.values, color=_COLOURS[number], width=width * 0.92, label=one.name)
    if count * groups <= _MOST_NUMBERED:
        _number_groups(axes, order, width)
    axes.margins(x=0.015, y=0.14)
    _hold_zero(axes.set_ylim, axes.get_ylim(), _list_numbers(order))
    _rule(axes, order)
    if _fit_side_by_side(order.labels):
        axes.set_xticks(range(groups), order.labels)
    else:
        ticks = list(range(groups))[:: -(-groups // 36)]
        axes.set_xticks(ticks, [_cut(order.labels[one], 16) for one in ticks], rotation=90)
    axes.axhline(0, color=_SOFT, linewidth=1.5)


def _number_groups(axes: Axes, order: DrawOrder, width: float) -> None:
    """Write the number of each bar, from left to right, so that neighbours follow each other."""
    middle = (len(order.series) - 1) / 2
    for place in range(len(order.labels)):
        for number, one in enumerate(order.series):
            value = one.values[place]
            if math.isnan(value):
                continue
            is_below = value < 0
            axes.annotate(
                _write(value, order),
                (place + (number - middle) * width, value),
                xytext=(0, -3 if is_below else 3),
                textcoords="offset points",
                ha="center",
                va="top" if is_below else "bottom",
                fontsize=13,
                color=_INK,
            )


def _draw_horizontal(axes: Axes, order: DrawOrder) -> None:
    values = order.series[0].values
    bars = axes.barh(range(len(values)), values, color=_colours(values), height=0.68)
    size = 15 if len(values) <= 10 else 12.5
    shown = [_write(one, order) for one in values]
    axes.bar_label(bars, shown, padding=5, fontsize=size)
    axes.set_yticks(range(len(values)), [_cut(label, 22) for label in order.labels])
    axes.invert_yaxis()
    axes.margins(x=0.16, y=0.02)
    _hold_zero(axes.set_xlim, axes.get_xlim(), _list_numbers(order))
    axes.set_xticks([])
    if order.unit:
        axes.set_xlabel(order.unit, fontsize=15, color=_INK)
    axes.axvline(0, color=_SOFT, linewidth=1.5)
    axes.yaxis.set_tick_params(labelsize=size)


def _draw_vertical(axes: Axes, order: DrawOrder) -> None:
    values, labels = order.series[0].values, order.labels
    places = range(len(values))
    bars = axes.bar(places, values, color=_colours(values), width=0.72)
    axes.margins(x=0.015, y=0.14)
    _hold_zero(axes.set_ylim, axes.get_ylim(), _list_numbers(order))
    if _fit_side_by_side(labels):
        axes.set_xticks(places, labels)
        shown = [_write(one, order) for one in values]
        axes.bar_label(bars, shown, padding=4, fontsize=15)
        axes.set_yticks([])
        if order.unit:
            axes.set_ylabel(order.unit, fontsize=15, color=_INK)
    else:
        _rule(axes, order)
        ticks = list(places)[:: -(-len(labels) // 36)]
        axes.set_xticks(ticks, [_cut(labels[place], 16) for place in ticks], rotation=90)
    axes.axhline(0, color=_SOFT, linewidth=1.5)


def _rule(axes: Axes, order: DrawOrder) -> None:
    """Draw light grid lines with readable numbers."""
    axes.grid(axis="y", color=_SOFT, linewidth=0.8)
    axes.yaxis.set_major_formatter(lambda value, _: _write(value, order))
    axes.locator_params(axis="y", nbins=6)
    if order.unit:
        axes.set_ylabel(order.unit, fontsize=15, color=_INK)


def _list_numbers(order: DrawOrder) -> list[float]:
    """List all numbers without the gaps."""
    return [value for one in order.series for value in one.values if not math.isnan(value)]


def _hold_zero(
    set_limits: Callable[[float, float], object],
    limits: tuple[float, float],
    values: Sequence[float],
) -> None:
    """Start bars at zero, without empty space on the other side of it."""
    low, high = limits
    low = 0.0 if min(values) >= 0 else low
    high = 0.0 if max(values) <= 0 else high
    set_limits(low, high if high > low else low + 1)


def _fit_side_by_side(labels: Sequence[str]) -> bool:
    return sum(max(len(label), 4) * _LETTER + 20 for label in labels) < 900


def _colours(values: Sequence[float]) -> list[str]:
    return [_MARK if value >= 0 else _BELOW for value in values]


def write_number(value: float, language: str = "en") -> str:
    """Format a number with its significant digits: `12,345`, `0.25`, `3.1M`; `3,1 Mio.`."""
    for size, unit in zip(_LARGE, _UNITS.get(language, _UNITS["en"]), strict=True):
        if abs(value) >= size:
            return _localize(f"{value / size:,.4g}", language) + unit
    if abs(value) >= 1000 or value == int(value):
        shown = f"{value:,.0f}"
    else:
        shown = f"{value:.2f}".rstrip("0").rstrip(".") if abs(value) >= 1 else f"{value:.3g}"
    return _localize(shown, language)


def _write(value: float, order: DrawOrder) -> str:
    """Format a number of a chart; money has two decimal places, or none. A gap is empty."""
    if math.isnan(value):
        return ""
    if order.unit in _MONEY and value != int(value) and abs(value) < 100_000:
        return _localize(f"{value:,.2f}", order.language)
    return write_number(value, order.language)


def _write_percent(share: float, language: str) -> str:
    return f"{share:.0%}" if language == "en" else f"{share * 100:.0f} %"


def _localize(number: str, language: str) -> str:
    swapped = number.translate(_SWAPPED) if language == "de" else number
    return swapped.replace("-", "−")


def _join(number: str, unit: str) -> str:
    return f"{number} {unit}".strip()


def _cut(label: str, most: int) -> str:
    return label if len(label) <= most else f"{label[: most - 1].rstrip()}…"


def _choose_fonts(text: str) -> tuple[list[str], set[int]]:
    """Choose fonts until they have every character of a text; return them and the characters.

    The preferred families come first, then any other font of the machine.
    """
    paths: dict[str, str] = {}
    for entry in fontManager.ttflist:
        if entry.style == "normal" and not entry.name.startswith(_LAST_RESORT):
            paths.setdefault(entry.name, entry.fname)
    preferred = [name for name in _FAMILIES if name in paths]
    missing = {ord(sign) for sign in text if sign.isprintable() and not sign.isspace()}
    chosen, known = list[str](), set[int]()
    for name in (*preferred, *sorted(paths.keys() - set(preferred))):
        found = set(get_font(paths[name]).get_charmap())
        if not chosen or missing & found:
            chosen.append(name)
            known |= found
            missing -= found
        if not missing:
            break
    return chosen or ["DejaVu Sans"], known


def _name(label: str, number: int, known: set[int]) -> str:
    """Make a label drawable; one without any drawable character becomes its number."""
    shown = _replace_missing(label, known)
    return shown if shown.strip(f"{_MISSING} ") else f"#{number}"


def _replace_missing(text: str, known: set[int]) -> str:
    """Replace each run of characters that no font has with a box.

    Escapes `$`, which would begin a formula, and removes invisible joiners.
    """
    kept: list[str] = []
    for sign in text:
        if ord(sign) in (0x200D, 0xFE0E, 0xFE0F):
            continue
        shown = sign if ord(sign) in known or not known else _MISSING
        if shown != _MISSING or kept[-1:] != [_MISSING]:
            kept.append(shown)
    return "".join(kept).replace("$", "\\$")


def read_order(text: str) -> DrawOrder:
    """Parse a chart's data from JSON."""
    given = json.loads(text)
    return DrawOrder(**{**given, "series": [DrawSeries(**one) for one in given["series"]]})


if __name__ == "__main__":
    confine_reader(replace(LIMITS, file=_FONT_FILE), mpl.get_configdir())
    sys.stdout.buffer.write(draw(read_order(sys.stdin.read())))
