"""The `chart` tool: draws numbers as a picture that is sent with the answer."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

from agent_core.errors import ToolArgumentError
from agent_core.localization import find_language, use_language
from agent_core.state.engine.database import Database
from agent_core.state.people import people
from agent_core.tools import answer_files
from agent_core.tools.contract import Declaration, Effect, ToolContext, ToolResult
from agent_core.tools.pictures.chart_words import Series, describe_chart
from agent_core.tools.pictures.names import name_file
from agent_core.tools.readers.faults import ReaderFailed
from agent_core.tools.readers.pool import ReaderCommand, ReaderPool
from agent_core.tools.schemas import make_schema
from agent_core.transcript import ToolSpec, flatten

MOST_POINTS = 120
MOST_SERIES = 6
"""The largest number of series in a chart; more colours can't be told apart."""
MOST_SLICES = 12
MOST_VALUES = 360
_LARGEST = 1e15
_LONGEST = 200
_SECONDS = 40.0
"""Seconds for a drawing. The first one in a home scans the machine's fonts, which takes a while."""
_MOST_BYTES = 2_000_000
_DRAWER = "agent_core.tools.readers.chart_drawer"
CHARTS_MISSING = (
    "Not drawn: charts need the extra `talaria[charts]`, which is not installed here. Continue"
    " without a picture, and write the numbers as a table. Below the result of a job, a line says"
    " so; in a chat, say in one sentence that the owner can install it."
)
_LABELS = {
    "type": "array",
    "items": {"type": "string"},
    "minItems": 1,
    "maxItems": MOST_POINTS,
}
_VALUES = {**_LABELS, "items": {"type": ["number", "null"]}}
"""Null is a gap: a day without a number."""
_SERIES = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "values": _VALUES},
        "required": ["name", "values"],
        "additionalProperties": False,
    },
    "minItems": 1,
    "maxItems": MOST_SERIES,
}

_SPEC = ToolSpec(
    name="chart",
    description=(
        "Draw a chart (diagram, graph) of numbers as a picture that goes out with your answer:"
        " `bar` to compare, `line` for what changes over time, `pie` for shares of a whole. Give"
        " `values`, one a label, or `series` to compare several. Use it when the person wants a"
        " chart, or where numbers say more that way; don't repeat them all in words. `null` is a"
        " gap. Example:"
        ' {"kind": "bar", "title": "Spent in May", "labels": ["Rent", "Food"], "values": [800,'
        ' 350.5], "unit": "€"}'
    ),
    schema=make_schema(
        ("kind", "title", "labels"),
        kind={"type": "string", "enum": ["bar", "line", "pie"]},
        title={"type": "string"},
        labels=_LABELS,
        values=_VALUES,
        series=_SERIES,
        unit={"type": "string"},
    ),
)


_FULL = ToolResult(text=f"Not drawn: {answer_files.FULL}.", is_error=True)


class ChartTool:
    """The `chart` tool. `fonts` is the folder of the font cache."""

    spec: ToolSpec = _SPEC
    effect: Effect = "idempotent"
    declaration = Declaration()

    def __init__(self, database: Database, readers: ReaderPool, fonts: Path) -> None:
        self._database = database
        self._readers = readers
        self._fonts = fonts

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Draw a chart, and attach it to the answer of this turn.

        Raises `ToolArgumentError` for numbers that can't be drawn, and `StoreError`.
        """
        chart = _read_chart(arguments)
        if find_spec("matplotlib") is None:  # from the extra `charts`; an import would cost 200 MB
            return ToolResult(text=CHARTS_MISSING, is_error=True)
        if not await self._database.read(answer_files.has_room, context):
            return _FULL
        asking = await self._database.read(people.find, person_id=context.person_id)
        with use_language(asking.language if asking else None, find_language()):
            order = _make_order(chart)
        command = ReaderCommand(
            program=_DRAWER,
            arguments=(),
            data=json.dumps(order).encode(),
            seconds=_SECONDS,
            most_bytes=_MOST_BYTES,
            folder=self._fonts,
        )
        try:
            picture = await self._readers.run(command)
        except ReaderFailed as error:
            return ToolResult(text=f"Not drawn: {error}.", is_error=True)
        if not picture.startswith(b"\x89PNG"):
            return ToolResult(text="Not drawn: no picture came of it.", is_error=True)
        name = f"{name_file(chart.title) or 'chart'}.png"

        work = partial(
            answer_files.attach, context=context, name=name, data=picture, media_type="image/png"
        )
        if not await self._database.write("files.attach", work):
            return _FULL
        return ToolResult(text=f"{name} goes out with your answer.")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chart:
    """Holds a chart that the model asked for, checked."""

    kind: str
    title: str
    labels: Sequence[str]
    series: Sequence[Series]
    unit: str


def _read_chart(arguments: Mapping[str, object]) -> _Chart:
    """Check what a schema can't express. Raises `ToolArgumentError`."""
    labels = cast(list[str], arguments["labels"])
    given = cast(list[dict[str, Any]], arguments.get("series", []))
    if bool(given) == ("values" in arguments):
        raise ToolArgumentError("give `values`, or `series` to compare several")
    series = [
        Series(
            name=flatten(one["name"], _LONGEST),
            values=[math.nan if each is None else float(each) for each in one["values"]],
        )
        for one in given or [{"name": "", "values": arguments["values"]}]
    ]
    for one in series:
        if len(labels) != len(one.values):
            raise ToolArgumentError(
                f"there are {len(labels)} labels and {len(one.values)} values; give the same"
                " number of both"
            )
        if any(math.isinf(value) or abs(value) > _LARGEST for value in one.values):
            raise ToolArgumentError(f"a value exceeds {_LARGEST:g}; use a larger unit")
        if all(map(math.isnan, one.values)):
            raise ToolArgumentError("each series needs a number")
    if sum(len(one.values) for one in series) > MOST_VALUES:
        raise ToolArgumentError(f"a chart shows at most {MOST_VALUES} values; sum some up")
    if arguments["kind"] == "pie":
        _check_shares(series)
    return _Chart(
        kind=str(arguments["kind"]),
        title=flatten(str(arguments["title"]), _LONGEST),
        labels=[flatten(label, _LONGEST) for label in labels],
        series=series,
        unit=flatten(str(arguments.get("unit", "")), 40),
    )


def _check_shares(series: Sequence[Series]) -> None:
    """Raise `ToolArgumentError` for numbers that are no shares of a whole."""
    shares = series[0].values
    is_whole = all(share >= 0 for share in shares) and any(shares)  # no gap is at least zero
    if len(series) > 1 or not is_whole or len(shares) > MOST_SLICES:
        raise ToolArgumentError(
            f"a pie shows one series of at most {MOST_SLICES} shares, none below zero; use `bar`"
        )


def _make_order(chart: _Chart) -> dict[str, object]:
    """Make the drawer's input: the numbers, and how the current language writes them."""
    return {
        **asdict(chart),
        "language": find_language(),
        "words": describe_chart(chart.title, chart.labels, chart.series, chart.unit),
    }
