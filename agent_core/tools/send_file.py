"""The `send_file` tool: sends a text file, or a workspace file, together with the answer."""

import json
import mimetypes
from collections.abc import Mapping
from functools import partial

from agent_core.errors import ToolArgumentError
from agent_core.execution.contract import Backend
from agent_core.state.engine.database import Database
from agent_core.tools import answer_files
from agent_core.tools.contract import Declaration, Effect, ToolContext, ToolResult
from agent_core.tools.schemas import make_schema
from agent_core.tools.workspace.workspaces import find_slug, strip_home
from agent_core.transcript import ToolSpec, is_hidden

MOST_BYTES = 1_000_000
"""Bytes per file; a model writes far less in one call, and every platform accepts this size."""
MOST_WORKSPACE_BYTES = 8_000_000
"""Bytes per workspace file; Discord accepts at most 10 MB, other platforms more."""
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
        "Send the person a text file with your answer, when they want a file or the answer is too"
        ' long for chat. `name` has an ending and no folder. Example: {"name": "plan.md", "text":'
        ' "# Plan …"}'
    ),
    schema=make_schema(("name", "text"), name={"type": "string"}, text={"type": "string"}),
)


_WORKSPACE_SPEC = ToolSpec(
    name="send_file",
    description=(f"{_SPEC.description} Or give `path` alone: any file of the workspace."),
    schema=json.dumps(
        {
            "type": "object",
            "properties": {name: {"type": "string"} for name in ("name", "text", "path")},
            "minProperties": 1,
            "additionalProperties": False,
        },
        separators=(",", ":"),
    ),
)


class SendFileTool:
    """The `send_file` tool. The gateway sends stored files with the turn's answer."""

    spec = _SPEC
    effect: Effect = "idempotent"
    declaration = Declaration(cost="free")

    def __init__(self, database: Database, backend: Backend | None = None) -> None:
        """If a `backend` is given, the tool can also send files of the person's workspace."""
        self._database = database
        self._backend = backend
        if backend:
            self.spec = _WORKSPACE_SPEC

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Store one file for the answer of this turn.

        Raises `ToolArgumentError` for an invalid name or text, `WorkspaceError` for a path,
        `BackendUnavailable` and `StoreError`.
        """
        if self._backend and "path" in arguments:
            if len(arguments) > 1:
                raise ToolArgumentError("give `path` alone, or `name` and `text`")
            path = str(arguments["path"])
            name, data, media_type = await read_workspace_file(self._backend, path, context)
        else:
            name, data = _read_name(arguments.get("name")), _read_text(arguments.get("text"))
            media_type = _MEDIA_TYPES.get(name.rpartition(".")[2].lower(), "text/plain")

        work = partial(
            answer_files.attach, context=context, name=name, data=data, media_type=media_type
        )
        if not await self._database.write("files.attach", work):
            return ToolResult(text=f"Not sent: {answer_files.FULL}.", is_error=True)
        return ToolResult(text=f"{name} ({len(data):,} bytes) goes out with your answer.")


async def read_workspace_file(
    backend: Backend, path: str, context: ToolContext
) -> tuple[str, bytes, str]:
    """Return name, bytes and media type of a workspace file.

    Raises `ToolArgumentError` if it can't be sent, `WorkspaceError` and `BackendUnavailable`.
    """
    path = path.replace("\0", "")
    path = strip_home(path) if backend.is_confined else path
    found = await backend.read_file(find_slug(context), path, MOST_WORKSPACE_BYTES)
    if not 0 < found.size <= MOST_WORKSPACE_BYTES:
        raise ToolArgumentError(
            f"`{path}` has {found.size:,} bytes; 1 to {MOST_WORKSPACE_BYTES:,} can be sent"
        )
    name = _read_name(path.rpartition("/")[2])
    return name, found.data, mimetypes.guess_type(name)[0] or "application/octet-stream"


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
