"""The `chart` tool: draws numbers as a picture that is sent with the answer."""

import json
import math
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import cast

from agent_core.errors import ToolArgumentError
from agent_core.state.conversations import files
from agent_core.state.engine.database import Connection, Database
from agent_core.tools.contract import Declaration, Effect, ToolContext, ToolResult
from agent_core.tools.readers.faults import ReaderFailed
from agent_core.tools.readers.pool import ReaderCommand, ReaderPool
from agent_core.tools.schemas import make_schema
from agent_core.transcript import ToolSpec, flatten

MOST_POINTS = 120
MOST_FILES = 10
"""The largest number of files per turn, including those of `send_file`."""
_LARGEST = 1e15
_LONGEST = 200
_SECONDS = 40.0
"""Seconds for a drawing. The first one in a home scans the machine's fonts, which takes a while."""
_MOST_BYTES = 2_000_000
_DRAWER = "agent_core.digest.readers.chart_drawer"
CHARTS_MISSING = (
    "Not drawn: charts are not installed here. Continue without a picture. A line below your"
    " answer says so."
)

_SPEC = ToolSpec(
    name="chart",
    description=(
        "Draw numbers as a picture that goes out with your answer: bars to compare, a line for"
        " what changes over time. Only where numbers say more that way."
    ),
    schema=make_schema(
        ("kind", "title", "labels", "values"),
        kind={"type": "string", "enum": ["bar", "line"]},
        title={"type": "string"},
        labels={
            "type": "array",
            "items": {"type": "string"},
            "minItems": 1,
            "maxItems": MOST_POINTS,
        },
        values={
            "type": "array",
            "items": {"type": "number"},
            "minItems": 1,
            "maxItems": MOST_POINTS,
        },
        unit={"type": "string"},
    ),
)


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
        order = _read_order(arguments)
        if find_spec("matplotlib") is None:  # from the extra `charts`; an import would cost 200 MB
            return ToolResult(text=CHARTS_MISSING, is_error=True)
        given = await self._database.read(files.list_of_turn, turn_id=context.turn_id)
        if len({one.call_id for one in given} | {context.call_id}) > MOST_FILES:
            return ToolResult(
                text=f"Not drawn: an answer carries at most {MOST_FILES} files.", is_error=True
            )
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
        name = _name_file(str(order["title"]))

        def work(connection: Connection) -> None:
            key = files.store(connection, data=picture, media_type="image/png", now=context.now)
            files.attach(
                connection,
                turn_id=context.turn_id,
                call_id=context.call_id,
                key=key,
                name=name,
                now=context.now,
            )

        await self._database.write("files.attach", work)
        return ToolResult(text=f"{name} goes out with your answer.")


def _read_order(arguments: Mapping[str, object]) -> dict[str, object]:
    """Build the drawer's input. Raises `ToolArgumentError`."""
    labels = cast(list[str], arguments["labels"])
    values = cast(list[float], arguments["values"])
    if len(labels) != len(values):
        raise ToolArgumentError(
            f"there are {len(labels)} labels and {len(values)} values; give the same number of both"
        )
    if not all(math.isfinite(value) and abs(value) <= _LARGEST for value in values):
        raise ToolArgumentError(f"a value exceeds {_LARGEST:g}; use a larger unit")
    return {
        "kind": arguments["kind"],
        "title": flatten(str(arguments["title"]), _LONGEST),
        "labels": [flatten(label, _LONGEST) for label in labels],
        "values": [float(value) for value in values],
        "unit": flatten(str(arguments.get("unit", "")), 40),
    }


def _name_file(title: str) -> str:
    """Derive a plain file name from the title."""
    plain = "".join(sign if sign.isalnum() else "-" for sign in title.lower())
    words = "-".join(word for word in plain.split("-") if word)[:60].strip("-")
    return f"{words or 'chart'}.png"
