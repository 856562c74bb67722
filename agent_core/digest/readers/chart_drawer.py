"""Reader program: numbers in as JSON, a chart out as a PNG of 1000 by 560 pixels."""

import io
import json
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

_WIDTH, _HEIGHT, _DPI = 1000, 560, 100
_PAPER, _INK, _SOFT, _MARK, _BELOW = "#fbfbf9", "#1f2328", "#c9ccd1", "#2f6feb", "#c4432b"
"""A light card with dark ink, readable on light and dark screens."""
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
_LETTER = 11.5
"""The average width of a label's character in pixels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawOrder:
    """The data of a chart."""

    kind: str
    title: str
    labels: Sequence[str]
    values: Sequence[float]
    unit: str


def draw(order: DrawOrder) -> bytes:
    """Draw a chart as PNG."""
    kept = io.BytesIO()
    plot(order).savefig(kept, format="png", dpi=_DPI, facecolor=_PAPER)
    return kept.getvalue()


def plot(order: DrawOrder) -> Figure:
    """Draw a chart whose labels do not overlap."""
    families, known = _choose_fonts("".join((order.title, order.unit, *order.labels)))
    mpl.rcParams["font.family"] = families
    labels = [_name(label, number, known) for number, label in enumerate(order.labels, start=1)]
    figure = Figure(figsize=(_WIDTH / _DPI, _HEIGHT / _DPI), dpi=_DPI, facecolor=_PAPER)
    figure.set_layout_engine("constrained", w_pad=0.2, h_pad=0.2)
    axes = figure.add_subplot(facecolor=_PAPER)
    title = "\n".join(textwrap.wrap(_replace_missing(order.title, known), 52)[:2])
    figure.suptitle(title, x=0.03, ha="left", fontsize=20, fontweight="bold", color=_INK)
    unit = _replace_missing(order.unit, known)
    if order.kind == "line":
        _draw_line(axes, labels, order.values, unit)
    elif len(labels) <= _MOST_HORIZONTAL and not _fit_side_by_side(labels):
        _draw_horizontal(axes, labels, order.values, unit)
    else:
        _draw_vertical(axes, labels, order.values, unit)
    for side in ("top", "right", "left", "bottom"):
        axes.spines[side].set_visible(False)
    axes.tick_params(length=0, colors=_INK, labelsize=15)
    axes.set_axisbelow(True)
    separate_labels(figure, axes)
    return figure


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


def _draw_line(axes: Axes, labels: Sequence[str], values: Sequence[float], unit: str) -> None:
    places = range(len(values))
    is_short = len(values) <= 40
    axes.plot(places, values, color=_MARK, linewidth=3, marker="o" if is_short else "", ms=7)
    axes.margins(x=0.03, y=0.12)
    axes.set_xlim(right=(len(values) - 1) * 1.11 or 1)  # room for the last number
    _rule(axes, unit)
    short = [_cut(label, 18) for label in labels]
    widest = max(len(label) for label in short) * _LETTER + 24
    step = -(-len(short) // max(2, int(880 / widest)))
    shown = list(places)[:: max(step, 1)]
    axes.set_xticks(shown, [short[place] for place in shown])
    axes.annotate(
        _write_number(values[-1]),
        (len(values) - 1, values[-1]),
        xytext=(9, 0),
        textcoords="offset points",
        va="center",
        fontsize=15,
        fontweight="bold",
        color=_INK,
    )
    if min(values) < 0 < max(values):
        axes.axhline(0, color=_INK, linewidth=1)


def _draw_horizontal(axes: Axes, labels: Sequence[str], values: Sequence[float], unit: str) -> None:
    bars = axes.barh(range(len(values)), values, color=_colours(values), height=0.68)
    size = 15 if len(values) <= 10 else 12.5
    axes.bar_label(bars, [_write_number(one) for one in values], padding=5, fontsize=size)
    axes.set_yticks(range(len(values)), [_cut(label, 28) for label in labels])
    axes.invert_yaxis()
    axes.margins(x=0.16, y=0.02)
    _hold_zero(axes.set_xlim, axes.get_xlim(), values)
    axes.set_xticks([])
    if unit:
        axes.set_xlabel(unit, fontsize=15, color=_INK)
    axes.axvline(0, color=_SOFT, linewidth=1.5)
    axes.yaxis.set_tick_params(labelsize=size)


def _draw_vertical(axes: Axes, labels: Sequence[str], values: Sequence[float], unit: str) -> None:
    places = range(len(values))
    bars = axes.bar(places, values, color=_colours(values), width=0.72)
    axes.margins(x=0.015, y=0.14)
    _hold_zero(axes.set_ylim, axes.get_ylim(), values)
    if _fit_side_by_side(labels):
        axes.set_xticks(places, labels)
        axes.bar_label(bars, [_write_number(one) for one in values], padding=4, fontsize=15)
        axes.set_yticks([])
        if unit:
            axes.set_ylabel(unit, fontsize=15, color=_INK)
    else:
        _rule(axes, unit)
        shown = list(places)[:: -(-len(labels) // 36)]
        axes.set_xticks(shown, [_cut(labels[place], 16) for place in shown], rotation=90)
    axes.axhline(0, color=_SOFT, linewidth=1.5)


def _rule(axes: Axes, unit: str) -> None:
    """Draw light grid lines with readable numbers."""
    axes.grid(axis="y", color=_SOFT, linewidth=0.8)
    axes.yaxis.set_major_formatter(lambda value, _: _write_number(value))
    axes.locator_params(axis="y", nbins=6)
    if unit:
        axes.set_ylabel(unit, fontsize=15, color=_INK)


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


def _write_number(value: float) -> str:
    """Format a number with its significant digits: `12,345`, `0.25`, `3.1M`."""
    for size, letter in ((1e12, "T"), (1e9, "B"), (1e6, "M")):
        if abs(value) >= size:
            return f"{value / size:,.4g}{letter}"
    shown = f"{value:,.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:,.3g}"
    return shown.replace("-", "−")


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
    return DrawOrder(
        kind=given["kind"],
        title=given["title"],
        labels=given["labels"],
        values=given["values"],
        unit=given["unit"],
    )


if __name__ == "__main__":
    confine_reader(replace(LIMITS, file=_FONT_FILE), mpl.get_configdir())
    sys.stdout.buffer.write(draw(read_order(sys.stdin.read())))
