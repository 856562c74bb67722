"""The `send_file` tool: sends a text file with the answer."""

import json
from collections.abc import Mapping

from agent_core.errors import ToolArgumentError
from agent_core.state.conversations import files
from agent_core.state.engine.database import Connection, Database
from agent_core.tools.contract import Effect, ToolContext, ToolResult
from agent_core.tools.untrusted_text import is_hidden
from agent_core.transcript import ToolSpec

MOST_BYTES = 1_000_000
"""Per file: a model writes far less in one call, and every platform accepts it."""
MOST_FILES = 10
"""Per turn."""
_LONGEST_NAME = 100

_MEDIA_TYPES = {
    "csv": "text/csv",
    "html": "text/html",
    "ics": "text/calendar",
    "json": "application/json",
    "md": "text/markdown",
}
"""Media types by file extension; anything else is plain text."""

_SPEC = ToolSpec(
    name="send_file",
    description=(
        "Send the person a text file with your answer, when they want one or it is too long for"
        " chat. `name` has an ending and no folder."
    ),
    schema=json.dumps(
        {
            "type": "object",
            "properties": {"name": {"type": "string"}, "text": {"type": "string"}},
            "required": ["name", "text"],
            "additionalProperties": False,
        },
        separators=(",", ":"),
    ),
)


class SendFileTool:
    """The `send_file` tool. The gateway sends stored files with the turn's answer."""

    spec = _SPEC
    effect: Effect = "idempotent"
    is_cheap = True

    def __init__(self, database: Database) -> None:
        self._database = database

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Store one file for the answer of this turn.

        Raises `ToolArgumentError` for a name or text that can't be sent, and `StoreError`.
        """
        name, data = _read_name(arguments.get("name")), _read_text(arguments.get("text"))
        media_type = _MEDIA_TYPES.get(name.rpartition(".")[2].lower(), "text/plain")

        def work(connection: Connection) -> bool:
            given = files.list_of_turn(connection, turn_id=context.turn_id)
            calls = {one.call_id for one in given} | {context.call_id}
            if len(calls) > MOST_FILES:
                return False
            key = files.store(connection, data=data, media_type=media_type, now=context.now)
            files.attach(
                connection,
                turn_id=context.turn_id,
                call_id=context.call_id,
                key=key,
                name=name,
                now=context.now,
            )
            return True

        if not await self._database.write("files.attach", work):
            return ToolResult(
                text=f"Not sent: an answer carries at most {MOST_FILES} files.", is_error=True
            )
        return ToolResult(text=f"{name} ({len(data):,} bytes) goes out with your answer.")


def _read_name(given: object) -> str:
    name = given.strip() if isinstance(given, str) else ""
    if not name.strip("."):
        raise ToolArgumentError("`name` must be the name of a file")
    if len(name) > _LONGEST_NAME:
        raise ToolArgumentError(f"`name` is longer than {_LONGEST_NAME} characters")
    if any(sign in '/\\:*?"<>|' or is_hidden(sign) for sign in name):
        raise ToolArgumentError("`name` must be a plain name: no folder, no signs like / : * ?")
    return name


def _read_text(given: object) -> bytes:
    if not isinstance(given, str) or not given:
        raise ToolArgumentError("`text` must be what the file says")
    data = given.encode(errors="replace")
    if len(data) > MOST_BYTES:
        raise ToolArgumentError(
            f"`text` has {len(data):,} bytes, at most {MOST_BYTES:,} can be sent; split it"
        )
    return data
