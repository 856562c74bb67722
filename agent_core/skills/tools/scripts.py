"""The scripts of skills as tools: `skill__NAME__SCRIPT`, run in the person's own workspace.

A skill offers a script by naming it in `metadata.tools`. Its arguments follow from the JSON Schema
in `metadata.schema-SCRIPT`, or else from the signature of its Python function `main`. Providers
allow no colon and no dot in a tool's name (OpenAI and Anthropic: `[a-zA-Z0-9_-]{1,64}`), so two
underscores stand for both.
"""

import ast
import asyncio
import json
import re
import shlex
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path

from agent_core.errors import SkillBroken, SkillMissing
from agent_core.execution.contract import Backend
from agent_core.execution.selected import find_place
from agent_core.ids import PersonId
from agent_core.skills.agreements import hash_folder, read_agreements
from agent_core.skills.catalog import CatalogEntry, SkillCatalog
from agent_core.skills.install.installs import is_installed
from agent_core.skills.tools.directory import SkillDirectory
from agent_core.skills.tools.workspace_copy import FOLDER, copy_files
from agent_core.state.engine.database import Database
from agent_core.state.memory import skill_uses
from agent_core.tools.contract import Declaration, Effect, Pause, Tool, ToolContext, ToolResult
from agent_core.tools.mcp.schema import reduce_schema
from agent_core.tools.policy.contract import Action
from agent_core.tools.workspace.catalog import make_terminal
from agent_core.tools.workspace.places import CommandPlaces
from agent_core.tools.workspace.terminal import TerminalTool
from agent_core.tools.workspace.versions import FileVersions
from agent_core.transcript import ToolSpec, flatten

TOOLS = "tools"
"""The key of `metadata` with the names of scripts, separated by spaces."""
_SCHEMA = "schema-"
_PREFIX = "skill"
_LONGEST_NAME = 64
_LONGEST_LINE = 300
_SUFFIXES = (".py", ".sh")
_CALLER = f"{FOLDER}/call.py"
_CALL = b"""\
import json, runpy, sys
path, given = sys.argv[1], json.loads(sys.argv[2])
sys.argv = [path]
found = runpy.run_path(path, run_name="skill")["main"](**given)
if found is not None:
    print(found if isinstance(found, str) else json.dumps(found, ensure_ascii=False, indent=1))
"""
"""Calls `main` of a script with its arguments, and prints what it returns."""
_TYPES = {"str": "string", "int": "integer", "float": "number", "bool": "boolean"}


class SkillScripts:
    """The scripts that skills offer; a source of tools, see `ToolSource`."""

    def __init__(
        self,
        directory: SkillDirectory,
        database: Database,
        backend: Backend,
        seconds: int,
        places: CommandPlaces | None = None,
        versions: FileVersions | None = None,
        elsewhere: Mapping[str, Backend] | None = None,
    ) -> None:
        """`seconds` is the most that a run may take. `elsewhere` are the backends of single skills;
        see `find_place`.
        """
        self._directory = directory
        self._database = database
        self._backends = {**(elsewhere or {}), "": backend}
        self._make_terminal = partial(
            make_terminal, seconds=seconds, places=places, versions=versions
        )
        self._terminals: dict[str, TerminalTool] = {}
        self.declaration: Declaration = self._find_terminal("").declaration
        self._seen: Sequence[CatalogEntry] = ()
        self._tools: tuple[Tool, ...] = ()

    async def list_tools(self, person_id: PersonId) -> Sequence[Tool]:
        """List the tools; reads the skills again only if one has changed. Raises `StoreError`."""
        entries = [one for one in self._directory.list_offered() if _list_names(one)]
        if entries != self._seen:
            names = [one.name for one in entries]
            foreign = await self._database.read(
                lambda c: [name for name in names if is_installed(c, name)]
            )
            self._tools = await asyncio.to_thread(self._make, entries, foreign)
            self._seen = entries
        return self._tools

    def _make(self, entries: Sequence[CatalogEntry], foreign: Sequence[str]) -> tuple[Tool, ...]:
        """Make the tools. Installed skills get tools only if an owner agreed to them. Blocks."""
        tools: dict[str, Tool] = {}
        for entry in entries:
            if entry.name in foreign and not is_agreed(self._directory.catalog, entry):
                continue
            named = entry.skill.backend if entry.skill else ""
            place = find_place(self._backends, entry.name, named)
            for name in _list_names(entry):
                spec = read_script(entry, name)
                if spec:
                    tools[spec[0].name] = ScriptTool(self, entry.name, place, *spec)
        return tuple(tools.values())

    def list_actions(self, place: str, command: str, context: ToolContext) -> Sequence[Action]:
        """Return the actions of a command, as for any command in the workspace."""
        return self._find_terminal(place).list_actions({"command": command}, context)

    def hold_place(
        self, place: str, context: ToolContext, pause: Pause
    ) -> AbstractAsyncContextManager[None]:
        """Hold a place for a run; see `HoldsPlace`."""
        return self._find_terminal(place).hold_place({}, context, pause)

    def _find_terminal(self, place: str) -> TerminalTool:
        if place not in self._terminals:
            self._terminals[place] = self._make_terminal(self._backends[place])
        return self._terminals[place]

    async def run(self, name: str, place: str, command: str, context: ToolContext) -> ToolResult:
        """Copy a skill's files to the workspace of a place, run a command, and count the use.

        Raises `SkillMissing`, `SkillBroken`, and the errors of `terminal`.
        """
        catalog = self._directory.catalog
        entry = await asyncio.to_thread(catalog.find, name)
        installed = await self._database.read(is_installed, name)
        if installed and not await asyncio.to_thread(is_agreed, catalog, entry):
            raise SkillMissing(
                f"an owner has not agreed to the scripts of {name} as they are now;"
                f" `talaria skills agree {name}` does"
            )
        if not entry.is_trusted or entry.skill is None:
            raise SkillBroken(entry.fault or f"no owner has agreed to the skill {name}")
        backend = self._backends[place]
        copied = await copy_files(backend, catalog, entry, context)
        if not copied.startswith("Its files are in"):
            return ToolResult(text=copied or "There is no workspace here.", is_error=True)
        owner = context.memory_owner
        assert owner is not None  # noqa: S101 - the files were copied to the owner's workspace
        await backend.write_file(owner.slug, _CALLER, _CALL)
        await self._database.write(
            "skills.use",
            skill_uses.note,
            name=name,
            turn_id=context.turn_id,
            now=context.now,
        )
        return await self._find_terminal(place).run({"command": command}, context)


class ScriptTool:
    """A tool that runs a script of a skill. The policy judges it like the command that it runs."""

    effect: Effect = "unsafe"

    def __init__(
        self, scripts: SkillScripts, skill: str, place: str, spec: ToolSpec, path: str
    ) -> None:
        """`path` is relative to the skill's folder; `place` is a key of the backends."""
        self._scripts = scripts
        self._skill = skill
        self._place = place
        self._path = path
        self.spec = spec
        self.declaration: Declaration = scripts.declaration

    def list_actions(
        self, arguments: Mapping[str, object], context: ToolContext
    ) -> Sequence[Action]:
        """Return the actions of the script; see `DeclaresActions`."""
        return self._scripts.list_actions(self._place, self._compose(arguments), context)

    def hold_place(
        self, arguments: Mapping[str, object], context: ToolContext, pause: Pause
    ) -> AbstractAsyncContextManager[None]:
        """Hold a place for the script; see `HoldsPlace`."""
        return self._scripts.hold_place(self._place, context, pause)

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Run the script with its arguments. Raises what `SkillScripts.run` raises."""
        return await self._scripts.run(self._skill, self._place, self._compose(arguments), context)

    def _compose(self, arguments: Mapping[str, object]) -> str:
        """Compose the command; a subshell keeps the working folder of the conversation's shell."""
        given = shlex.quote(json.dumps(arguments, ensure_ascii=False))
        script = shlex.quote(f"{FOLDER}/{self._skill}/{self._path}")
        how = f"python3 {_CALLER} {script}" if self._path.endswith(".py") else f"bash {script}"
        return f'(cd "$WORKSPACE" && {how} {given})'


def offers_scripts(catalog: SkillCatalog) -> bool:
    """Return whether any skill offers a script. Blocks."""
    try:
        return any(_list_names(one) for one in catalog.list_all())
    except SkillBroken:
        return False  # `talaria skills check` shows the reason


def is_agreed(catalog: SkillCatalog, entry: CatalogEntry) -> bool:
    """Return whether an owner agreed to a skill's files as they are. Blocks."""
    if entry.place is None:
        return False
    agreed = read_agreements(catalog.folder).get(str(entry.place.absolute()))
    return agreed is not None and agreed == hash_folder(entry.place)


def name_tool(skill: str, script: str) -> str:
    """Return the name of a script as a tool."""
    return f"{_PREFIX}__{skill}__{re.sub('[^A-Za-z0-9_-]', '_', script)}"


def read_script(entry: CatalogEntry, name: str) -> tuple[ToolSpec, str] | None:
    """Read a script's spec and its path in the skill; None if it can't be a tool. Blocks."""
    place, tool = entry.place, name_tool(entry.name, name)
    assert entry.skill is not None  # noqa: S101 - only good skills are offered
    if place is None or "/" in name or len(tool) > _LONGEST_NAME:
        return None
    found = next(
        (one for ending in _SUFFIXES if (one := place / "scripts" / f"{name}{ending}").is_file()),
        None,
    )
    if found is None:
        return None
    path = f"scripts/{found.name}"
    about, schema = _describe(found)
    if given := entry.skill.metadata.get(f"{_SCHEMA}{name}"):
        schema = _read_schema(given)
    if schema is None:
        return None
    try:
        reduced = reduce_schema(schema)
    except (ValueError, RecursionError):
        return None  # models refuse every request with such a tool
    words = flatten(f"{about or entry.skill.description}", _LONGEST_LINE)
    text = f"A script of the skill {entry.name}: {words}"
    return ToolSpec(name=tool, description=text, schema=reduced), path


def _list_names(entry: CatalogEntry) -> list[str]:
    return entry.skill.metadata.get(TOOLS, "").split() if entry.skill else []


def _read_schema(text: str) -> dict[str, object] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    is_object = isinstance(found, dict) and found.get("type") == "object"
    return found if is_object else None


def _describe(path: Path) -> tuple[str, dict[str, object] | None]:
    """Read the first docstring line and the arguments of a script's `main` without running it.
    Blocks.
    """
    if path.suffix != ".py":
        return "", None
    try:
        tree = ast.parse(path.read_text())
    except (OSError, ValueError, SyntaxError, RecursionError, MemoryError):
        return "", None
    main = next(
        (one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name == "main"), None
    )
    if main is None:
        return "", None
    about = (ast.get_docstring(main) or ast.get_docstring(tree) or "").partition("\n")[0]
    return about, _read_signature(main)


def _read_signature(main: ast.FunctionDef) -> dict[str, object] | None:
    """Return the schema of a function's arguments; None if an argument is not plain."""
    given = main.args
    if given.vararg or given.kwarg or given.posonlyargs:
        return None
    optional = len(given.defaults)
    required = [one.arg for one in given.args[: len(given.args) - optional]]
    required += [
        one.arg
        for one, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)
        if default is None
    ]
    properties: dict[str, object] = {}
    for one in (*given.args, *given.kwonlyargs):
        known = _read_type(one.annotation)
        if known is None:
            return None
        properties[one.arg] = known
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _read_type(annotation: ast.expr | None) -> dict[str, object] | None:
    if isinstance(annotation, ast.Name) and annotation.id in _TYPES:
        return {"type": _TYPES[annotation.id]}
    is_list = (
        isinstance(annotation, ast.Subscript)
        and isinstance(annotation.value, ast.Name)
        and annotation.value.id == "list"
    )
    if is_list and isinstance(annotation, ast.Subscript):
        item = _read_type(annotation.slice)
        return {"type": "array", "items": item} if item else None
    return None
