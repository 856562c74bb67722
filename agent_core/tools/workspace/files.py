"""The tools for files of the workspace: `read_file`, `write_file` and `patch`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent_core.errors import ToolArgumentError, WorkspaceError
from agent_core.state.conversations.images import find_fault, find_pdf_fault, find_type, is_pdf
from agent_core.tools.contract import Declaration, Effect, ToolContext, ToolResult
from agent_core.tools.policy.command_effects import list_file_actions
from agent_core.tools.policy.contract import Action
from agent_core.tools.readers.documents import read_pdf
from agent_core.tools.readers.faults import SourceFailed
from agent_core.tools.readers.pool import ReaderPool
from agent_core.tools.results import add_image, add_pdf, describe_image, describe_pdf
from agent_core.tools.schemas import make_schema
from agent_core.tools.workspace.folder_notes import FolderNotes
from agent_core.tools.workspace.workspaces import Workspaces, find_slug, read_text, refuse_binary
from agent_core.transcript import ToolSpec, make_source, quote

_BLOCK = 1 << 16
_CONTINUING = bytes(range(0x80, 0xC0))
"""Bytes that continue a character in UTF-8."""

MOST_SHOWN = 12_000
"""Characters of a file in one result; about 3,000 tokens."""
_WIDEST = 4
"""Bytes of a character."""
_LINES = 500
_MOST_PDF = 1_000_000
"""Characters that can be read of a PDF file; `web_fetch` has the same limit."""
_MOST_WRITTEN = 1_000_000
"""Bytes in one call; a model writes far less."""
_LONGEST_NAME = 200
_MOST_EDITS = 50
_LONGEST_RANGE = 16
_TEXT = {"type": "string"}
_LINE = {"type": "integer", "minimum": 1}


def count_lines(data: bytes) -> int:
    """Return the number of lines; the last one may lack its line break."""
    return data.count(b"\n") + (not data.endswith(b"\n"))


def find_line(data: bytes, number: int) -> int:
    """Return where a line begins, counted from 0; the file must have it."""
    block = 0
    while number and (found := data.count(b"\n", block, block + _BLOCK)) < number:
        number -= found
        block += _BLOCK
    for _ in range(number):
        block = data.index(b"\n", block) + 1
    return block


def measure_line(data: bytes, begin: int) -> int:
    """Return the characters of the line that begins there, as UTF-8 has them."""
    end = data.find(b"\n", begin)
    line = data[begin : len(data) if end < 0 else end]
    return len(line.translate(None, _CONTINUING))


class ReadFileTool:
    """The `read_file` tool."""

    spec = ToolSpec(
        name="read_file",
        description=(
            "Read a text file of the workspace, or see a picture or PDF there. `search_files` finds"
            " a file whose path you don't know; `web_fetch` reads what is on the web."
        ),
        schema=make_schema(
            ("path",),
            path=_TEXT,
            offset={**_LINE, "description": "first line, 1 by default"},
            limit={**_LINE, "description": f"most lines, {_LINES} by default"},
            pages={"type": "string", "description": "of a PDF: 3 or 3-5; all by default"},
        ),
    )
    effect: Effect = "read"
    declaration = Declaration()

    def __init__(self, workspaces: Workspaces, readers: ReaderPool) -> None:
        self._workspaces = workspaces
        self._readers = readers
        self._notes = FolderNotes(workspaces.backend)

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Read a part of the file, and say how to read on; add each folder's notes once.

        Raises `ToolArgumentError`, `WorkspaceError` and `BackendUnavailable`.
        """
        path = self._workspaces.read_path(arguments)
        slug = find_slug(context)
        found = await self._workspaces.read_any(slug, path)
        if media_type := find_type(found.data):
            return _show_picture(path, found.data, media_type)
        offset, limit = arguments.get("offset", 1), arguments.get("limit", _LINES)
        assert isinstance(offset, int)  # noqa: S101 - the schema says so
        assert isinstance(limit, int)  # noqa: S101
        if is_pdf(found.data):
            return await self._show_pdf(path, found.data, _read_pages(arguments), offset, limit)
        refuse_binary(path, found)
        if not found.data:
            return ToolResult(text=f"`{path}` is empty.")
        count = count_lines(found.data)
        if offset > count:
            raise ToolArgumentError(f"`{path}` has only {count:,} lines")
        notes, sources = await self._notes.find(slug, path, context.conversation_id)
        shown = _show(found.data, count, offset - 1, limit)
        text = f"{notes}\n\n{quote(path, _LONGEST_NAME)}:\n{shown}" if notes else shown
        return ToolResult(text=text, sources=(*sources, make_source("file", path)))

    async def _show_pdf(
        self, path: str, data: bytes, pages: tuple[int, int] | None, offset: int, limit: int
    ) -> ToolResult:
        """Show a PDF file to the model, with a part of its text, or the text of some pages.

        Raises the errors of `run`.
        """
        try:
            found = await read_pdf(data, self._readers, 0, _MOST_PDF, pages)
        except SourceFailed as error:
            raise WorkspaceError(f"`{path}` can't be read: {error}") from error
        extracted = found.text.encode("utf-8", "replace")
        count, fault = count_lines(extracted), find_pdf_fault(data, found.pages)
        if pages and pages[0] > found.pages:
            raise ToolArgumentError(f"`{path}` has only {found.pages:,} pages")
        if not extracted and fault:
            raise WorkspaceError(
                f"`{path}` is a PDF file without text, such as a scan, and {fault}"
            )
        if offset > max(count, 1):
            raise ToolArgumentError(f"the text of `{path}` has only {count:,} lines")
        shown = "It holds no text, such as a scan."
        if extracted:
            shown = _show(extracted, count, offset - 1, limit)
        text = f"{describe_pdf(data, found.pages)}\n{shown}"
        result = ToolResult(text=text, sources=(make_source("file", path),))
        if offset > 1 or pages:
            return result
        return add_pdf(result, data, found.pages, found.whole)


def _read_pages(arguments: Mapping[str, object]) -> tuple[int, int] | None:
    """Return the first and the last page of a range. Raises `ToolArgumentError`."""
    given = read_text(arguments, "pages").replace(" ", "")
    if not given:
        return None
    first, _, last = given.replace("\N{EN DASH}", "-").partition("-")
    if not (first.isdecimal() and (last or first).isdecimal() and len(given) < _LONGEST_RANGE):
        raise ToolArgumentError("`pages` is a number or a range, such as 3-5")
    begin, end = int(first), int(last or first)
    if not 1 <= begin <= end:
        raise ToolArgumentError("`pages` counts from 1, the smaller number first")
    return begin, end


def _show_picture(path: str, data: bytes, media_type: str) -> ToolResult:
    """Show a picture to the model. Raises `WorkspaceError` if it is too large or broken."""
    if fault := find_fault(data, media_type):
        raise WorkspaceError(f"`{path}` is a picture ({media_type}), and {fault}")
    result = ToolResult(text=describe_image(data, media_type), sources=(make_source("file", path),))
    return add_image(result, data, media_type)


def _show(data: bytes, count: int, start: int, limit: int) -> str:
    """Return as many of the `count` lines as fit, and how to read the next ones."""
    begin = find_line(data, start)
    piece = data[begin : begin + _WIDEST * (MOST_SHOWN + 1)].decode("utf-8", "replace")
    shown, room = [], MOST_SHOWN
    for line in piece.split("\n", limit)[:limit]:
        if len(line) >= room:
            break
        shown.append(line)
        room -= len(line) + 1
    if not shown:
        length = measure_line(data, begin)
        return (
            f"{piece[:MOST_SHOWN]}\n[Line {start + 1:,} goes on for {length - MOST_SHOWN:,} more"
            " characters; read them in `terminal` with cut -c.]"
        )
    text, end = "\n".join(shown), start + len(shown)
    if end >= count:
        return text
    return f"{text}\n[Lines {start + 1:,} to {end:,} of {count:,}; read on with offset {end + 1}.]"


class WriteFileTool:
    """The `write_file` tool."""

    spec = ToolSpec(
        name="write_file",
        description=(
            "Create a text file in the workspace, or replace the whole of it; makes its folders."
            " `patch` changes a part; `send_file` sends a file to the person."
        ),
        schema=make_schema(("path", "content"), path=_TEXT, content=_TEXT),
    )
    effect: Effect = "idempotent"
    declaration = Declaration()

    def __init__(self, workspaces: Workspaces) -> None:
        self._workspaces = workspaces

    def list_actions(
        self, arguments: Mapping[str, object], context: ToolContext
    ) -> Sequence[Action]:
        """Return what a file that later commands obey may make them do."""
        return _list_actions(self._workspaces, arguments, context)

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Write the whole file or nothing. Raises the errors of `read_file`."""
        slug, path = find_slug(context), self._workspaces.read_path(arguments)
        data = str(arguments["content"]).encode(errors="replace")
        if len(data) > _MOST_WRITTEN:
            raise ToolArgumentError(
                f"`content` has {len(data):,} bytes, at most {_MOST_WRITTEN:,} can be written;"
                " split it"
            )
        async with self._workspaces.lock(slug), self._workspaces.watch(context, path):
            await self._workspaces.backend.write_file(slug, path, data)
        return ToolResult(text=f"Wrote {path} ({len(data):,} bytes).")


class PatchTool:
    """The `patch` tool: replaces texts that occur once, or everywhere."""

    spec = ToolSpec(
        name="patch",
        description=(
            "Change parts of a text file of the workspace: `new` takes the place of `old`, which is"
            " copied from the file exactly and occurs there once; with `all`, everywhere. Several"
            " changes of a file go into `edits`, made in their order, all or none. Read the file"
            ' first. Example: {"path": "a.py", "edits": [{"old": "x = 1", "new": "x = 2"},'
            ' {"old": "y", "new": "z", "all": true}]}'
        ),
        schema=make_schema(
            ("path",),
            path=_TEXT,
            old=_TEXT,
            new=_TEXT,
            all={"type": "boolean", "description": "replace every occurrence"},
            edits={
                "type": "array",
                "minItems": 1,
                "maxItems": _MOST_EDITS,
                "items": {
                    "type": "object",
                    "properties": {"old": _TEXT, "new": _TEXT, "all": {"type": "boolean"}},
                    "required": ["old", "new"],
                },
            },
        ),
    )
    effect: Effect = "unsafe"
    declaration = Declaration()

    def __init__(self, workspaces: Workspaces) -> None:
        self._workspaces = workspaces

    def list_actions(
        self, arguments: Mapping[str, object], context: ToolContext
    ) -> Sequence[Action]:
        """Return what a file that later commands obey may make them do."""
        return _list_actions(self._workspaces, arguments, context)

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Change the file completely or not at all. Raises the errors of `read_file`."""
        slug, path = find_slug(context), self._workspaces.read_path(arguments)
        edits = _read_edits(arguments)
        async with self._workspaces.lock(slug), self._workspaces.watch(context, path):
            found = await self._workspaces.read(slug, path)
            try:
                text = found.data.decode()
            except UnicodeDecodeError as error:
                raise WorkspaceError(f"`{path}` is not UTF-8 text; change it otherwise") from error
            changed = []
            for number, edit in enumerate(edits, start=1):
                try:
                    text, told = _replace(text, edit, path)
                except ToolArgumentError as error:
                    if len(edits) == 1:
                        raise
                    raise ToolArgumentError(
                        f"edit {number} can't be made, so none was: {error}"
                    ) from error
                changed.append(told)
            await self._workspaces.backend.write_file(slug, path, text.encode())
        return ToolResult(text=f"Changed {path} at {'; '.join(changed)}.")


def _list_actions(
    workspaces: Workspaces, arguments: Mapping[str, object], context: ToolContext
) -> Sequence[Action]:
    backend = workspaces.backend
    return list_file_actions(
        workspaces.read_path(arguments),
        has_network=backend.has_network(find_slug(context)),
        is_confined=backend.is_confined,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Edit:
    """A text to replace, once or everywhere."""

    old: str
    new: str
    is_everywhere: bool


def _read_edits(arguments: Mapping[str, object]) -> list[_Edit]:
    """Return the edits of a call. Raises `ToolArgumentError`."""
    given, names = arguments.get("edits"), {"old", "new"} & arguments.keys()
    if isinstance(given, list) and not names:
        found: list[Mapping[str, object]] = given
    elif given is None and len(names) == 2:
        found = [arguments]
    else:
        raise ToolArgumentError("give either `old` and `new`, or `edits`")
    edits = [
        _Edit(old=str(one["old"]), new=str(one["new"]), is_everywhere=one.get("all") is True)
        for one in found
    ]
    for edit in edits:
        if not edit.old or edit.old == edit.new:
            wrong = "`old` is empty" if not edit.old else "`old` and `new` are the same"
            raise ToolArgumentError(wrong)
    return edits


def _replace(text: str, edit: _Edit, path: str) -> tuple[str, str]:
    """Return the changed text, and where it was changed. Raises `ToolArgumentError`."""
    count = text.count(edit.old)
    if not count:
        raise ToolArgumentError(
            f"`old` does not occur in `{path}`; read the file, and copy the text exactly"
        )
    if count > 1 and not edit.is_everywhere:
        raise ToolArgumentError(
            f"`old` occurs {count:,} times in `{path}`; add lines around it until it is unique"
        )
    line = text[: text.index(edit.old)].count("\n") + 1
    where = f"line {line:,}" if count == 1 else f"{count:,} places, first at line {line:,}"
    return text.replace(edit.old, edit.new), where
