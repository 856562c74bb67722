"""The `skill_view` tool: the text of a skill, and the files beside it."""

import asyncio
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from agent_core.errors import SkillBroken, ToolArgumentError
from agent_core.execution.contract import Backend
from agent_core.execution.selected import find_place
from agent_core.skills.catalog import EVALS, SKILL_FILE, CatalogEntry, SkillCatalog, show_name
from agent_core.skills.intents import write_planned
from agent_core.skills.ledger_sync import note_loaded
from agent_core.skills.tools.workspace_copy import copy_files
from agent_core.state.conversations import turns
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory import skill_uses, skills
from agent_core.state.memory.ledger import Origin
from agent_core.state.memory.skills import SkillState
from agent_core.tools.contract import Declaration, Effect, ToolContext, ToolResult
from agent_core.tools.schemas import make_schema
from agent_core.tools.selection.built_in import SKILL_TOOL
from agent_core.transcript import ToolSpec, make_source

_PART = 18_000
"""The most characters of one result; `offset` continues a longer text."""
_MOST_BYTES = 2_000_000
_MOST_NAMED = 60
_CLOSED = (
    "The skill {name} is a draft that no test has proved yet. Only a person can start it: with"
    " `/skills try {name}` and what to do. Work without it, or tell them."
)


class SkillViewTool:
    """The `skill_view` tool."""

    effect: Effect = "read"
    declaration = Declaration(cost="free")
    spec = ToolSpec(
        name=SKILL_TOOL,
        description=(
            "Read a skill, which says how a kind of work is done, before you do such work. Only"
            " names that you were shown, none that you guess."
        ),
        schema=make_schema(
            ("name",),
            name={"type": "string"},
            file={"type": "string", "description": "a file of the skill, instead of its text"},
            offset={"type": "integer", "minimum": 0, "description": "reads on in a long text"},
        ),
    )

    def __init__(
        self,
        catalog: SkillCatalog,
        database: Database,
        backend: Backend | None,
        find_name: Callable[[str], str],
        elsewhere: Mapping[str, Backend] | None = None,
    ) -> None:
        """With a `backend`, `run` copies the files of a skill to the reader's workspace.

        `elsewhere` are the backends of single skills; see `find_place`.
        `find_name` returns the name of the skill that a person's words start, or "".
        """
        self._catalog = catalog
        self._find_name = find_name
        self._database = database
        self._backends = {**(elsewhere or {}), "": backend} if backend else {}

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Read a skill as it is now, and count its use.

        Raises `ToolArgumentError`, `SkillMissing`, `SkillBroken` and `StoreError`.
        """
        name, file = str(arguments["name"]), str(arguments.get("file", ""))
        offset = arguments.get("offset", 0)
        entry = await asyncio.to_thread(self._catalog.find, name)
        if entry.skill is None:
            raise SkillBroken(entry.fault)
        if not await self._database.read(self._may_read, entry, context):
            return ToolResult(text=_CLOSED.format(name=name), is_error=True)
        whole = (
            await asyncio.to_thread(_read_file, entry, file)
            if file
            else await asyncio.to_thread(_describe, entry)
        )
        start = offset if isinstance(offset, int) else 0
        text, end = whole[start : start + _PART], start + _PART
        if end < len(whole):
            text += f"\n[cut here: `offset` {end} of {len(whole):,} reads on]"
        if not file and not start:
            state = await self._database.write("skills.use", self._note, entry, context)
            if state == "draft":
                text = f"[A draft: no test has proved it yet. Check what you do.]\n{text}"
            if self._backends:
                text += await self._copy(entry, entry.skill.backend, context)
        sources = () if entry.is_trusted else (make_source("skill", name),)
        return ToolResult(text=text, sources=sources)

    async def _copy(self, entry: CatalogEntry, named: str, context: ToolContext) -> str:
        """Copy a skill's files to where it works; return a line about that, "" without files."""
        place = find_place(self._backends, entry.name, named)
        copied = await copy_files(
            self._backends[place], self._catalog, entry, context, is_usual=not place
        )
        return f"\n{copied}" if copied else ""

    def _may_read(self, connection: Connection, entry: CatalogEntry, context: ToolContext) -> bool:
        """Return whether a skill may be used: a draft only in the turn of a person who started it.

        A job's body and an agent's message look like a person's words, but are none.
        """
        row = skills.find(connection, name=entry.name) if entry.origin == "home" else None
        if row is None or row.state != "draft":
            return True
        is_named = self._find_name(context.evidence) == entry.name
        return is_named and turns.is_by_person(connection, turn_id=context.turn_id)

    def _note(
        self, connection: Connection, entry: CatalogEntry, context: ToolContext
    ) -> SkillState:
        """Record a text that somebody changed by hand, then the use; return the skill's state."""
        if entry.origin == "home":
            origin = Origin(actor="hand", now=context.now, evidence="found when it was read")
            write_planned(connection, self._catalog.folder)
            note_loaded(connection, self._catalog.folder, entry.name, origin)
        skill_uses.note(connection, name=entry.name, turn_id=context.turn_id, now=context.now)
        row = skills.find(connection, name=entry.name)
        return row.state if row and entry.origin == "home" else "active"


def _describe(entry: CatalogEntry) -> str:
    """Show a skill with the names of its files. Blocks."""
    skill = entry.skill
    assert skill is not None  # noqa: S101 - a broken skill is refused before
    begin = f"# Skill {skill.name}"
    if not entry.is_trusted:
        begin += ", of others: no owner has agreed to it"
    needs = f"\nNeeds: {skill.compatibility}" if skill.compatibility else ""
    names = _list_files(entry.place)
    files = f"\n\nFiles, for `file`: {', '.join(names)}" if names else ""
    return f"{begin}{needs}\n{skill.body}{files}"


def _list_files(place: Path | None) -> list[str]:
    """Name the files beside the text, without the cases that test it. Blocks."""
    if place is None:
        return []
    found = (
        str(Path(here, name).relative_to(place))
        for here, folders, names in os.walk(place)
        for name in names
        if "__pycache__" not in here and name != "__init__.py"
        if EVALS not in Path(here).relative_to(place).parts[:1]
    )
    shown = sorted(show_name(one) for one in found if one != SKILL_FILE)
    more = len(shown) - _MOST_NAMED
    return [*shown[:_MOST_NAMED], f"and {more} more"] if more > 0 else shown


def _read_file(entry: CatalogEntry, file: str) -> str:
    """Read a file of a skill. Blocks. Raises `ToolArgumentError` and `OSError`."""
    place = entry.place
    assert place is not None  # noqa: S101 - every listed skill has a folder
    path = Path(os.path.realpath(place / file))
    if "\0" in file or not path.is_relative_to(os.path.realpath(place)):
        raise ToolArgumentError(f"`file` leads out of the skill {entry.name}")
    if not path.is_file():
        names = ", ".join(_list_files(place)) or "none"
        raise ToolArgumentError(f"the skill {entry.name} has no such file; its files: {names}")
    if path.stat().st_size > _MOST_BYTES:
        raise ToolArgumentError("that file is too long to be read here")
    data = path.read_bytes()
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise ToolArgumentError("that file is not a text") from None
