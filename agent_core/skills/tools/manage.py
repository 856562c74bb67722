"""The `skill_manage` tool: the agent writes the home's skills, for an owner."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from agent_core.errors import CoreError, SkillConflict, ToolArgumentError
from agent_core.localization import Text
from agent_core.memory.approval import PATIENCE, Approval, show_difference
from agent_core.skills.catalog import SKILL_FILE, SkillCatalog
from agent_core.skills.changes import (
    archive_planned,
    check_create,
    check_file,
    check_patch,
    find_version,
    plan,
    restore_planned,
)
from agent_core.skills.intents import SkillChange, has_written_all, write_planned
from agent_core.skills.states import describe_added
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory import skills
from agent_core.state.memory.ledger import Origin
from agent_core.tools.contract import Declaration, Effect, ToolContext, ToolResult
from agent_core.tools.schemas import make_schema
from agent_core.transcript import ToolSpec

_EVIDENCE = 2_000
_ACTIONS = ("create", "patch", "add_file", "archive", "restore")
_NEEDED = {"create": ("text",), "patch": ("old", "text"), "add_file": ("file", "text")}
_STATES = {
    "draft": "It is a draft: `/{name}` starts it, and new sessions list it once its test passes.",
    "trial": "The new text is on trial, and tested in the background.",
    "active": "New sessions list it.",
}
_WISH = Text("{name} wants to change a skill that everyone here uses:")


class SkillManageTool:
    """The `skill_manage` tool. An owner's call runs at once; others' calls wait for an owner."""

    effect: Effect = "idempotent"
    declaration = Declaration(cost="free", time_limit=PATIENCE, waits_for_person=True)
    spec = ToolSpec(
        name="skill_manage",
        description=(
            "Write or change a skill, which says how a kind of work is done, for work that comes"
            " back. Not for facts (`memory`) or for times (`remind`). `create` takes the whole"
            " SKILL.md as `text`; `patch` replaces the passage `old`, which occurs once, by `text`;"
            " `add_file` adds `file`, such as scripts/count.py; `archive` and `restore` move one."
            " Read a skill before you patch it, and prefer a patch to a new one."
        ),
        schema=make_schema(
            ("action", "name"),
            action={"enum": list(_ACTIONS)},
            name={"type": "string"},
            text={"type": "string"},
            old={"type": "string"},
            file={"type": "string"},
        ),
    )

    def __init__(self, catalog: SkillCatalog, database: Database, approval: Approval) -> None:
        self._catalog = catalog
        self._database = database
        self._approval = approval

    async def preview(
        self, arguments: Mapping[str, object], context: ToolContext
    ) -> str | ToolResult:
        """Describe the exact change; see `Proposable`. Raises what `run` raises."""
        try:
            return await self._show(arguments)
        except CoreError as error:
            return _refuse(error)

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Make a change, or ask an owner first.

        Raises `ToolArgumentError`, `StoreError` and `QuestionPending`.
        """
        key = f"{context.turn_id}:{context.call_id}"
        origin = Origin(
            actor=f"turn:{context.turn_id}",
            now=context.now,
            evidence=context.evidence[:_EVIDENCE],
            call_key=key,
            sources=context.sources,
        )
        try:
            made = await self._database.read(find_version, key)
            if made is not None:  # an earlier process has made it
                return await self._finish(arguments, made)
            shown = await self._show(arguments)
            is_allowed = await self._approval.is_owner_present(context)
            why = "" if is_allowed else await self._approval.ask(context, _WISH, shown)
            if why:
                return _refuse(why)
            return await self._change(arguments, origin)
        except (CoreError, FileExistsError) as error:
            if isinstance(error, ToolArgumentError):
                raise
            return _refuse(error)

    async def _show(self, arguments: Mapping[str, object]) -> str:
        action, name = str(arguments["action"]), str(arguments["name"])
        if action in ("archive", "restore"):
            return f"{action} {name}"
        change = await asyncio.to_thread(self._check, arguments)
        path = f"{name}/{change.path}"
        return show_difference(change.before or "", change.after, (path, path))

    def _check(self, arguments: Mapping[str, object]) -> SkillChange:
        """Check a change of a file. Blocks. Raises `ToolArgumentError` and the errors of the
        checks.
        """
        action, name = str(arguments["action"]), str(arguments["name"])
        for needed in _NEEDED[action]:
            if needed not in arguments:
                raise ToolArgumentError(f"`{action}` needs `{needed}`")
        text = str(arguments["text"])
        if action == "create":
            return check_create(self._catalog, name, f"{text.strip()}\n")
        if action == "patch":
            return check_patch(self._catalog, name, str(arguments["old"]), text)
        return check_file(self._catalog, name, str(arguments["file"]), text)

    async def _change(self, arguments: Mapping[str, object], origin: Origin) -> ToolResult:
        action, name = str(arguments["action"]), str(arguments["name"])
        folder = self._catalog.folder
        if action in ("archive", "restore"):
            await self._database.write("skills.write_planned", write_planned, folder)
            record = archive_planned if action == "archive" else restore_planned
            await self._database.write("skills.move", record, folder, name, origin)
            return await self._finish(arguments, None)
        change = await asyncio.to_thread(self._check, arguments)
        if change.path != SKILL_FILE:
            evidence = describe_added(change.path, origin.evidence)
            origin = replace(origin, evidence=evidence[:_EVIDENCE])
        version = await self._database.write("skills.plan", plan, folder, change, origin)
        if version is None:
            raise SkillConflict(f"The skill {name} was changed meanwhile; read it again.")
        return await self._finish(arguments, version)

    async def _finish(self, arguments: Mapping[str, object], version: int | None) -> ToolResult:
        """Write the file of a recorded change. Raises `SkillConflict`."""
        name, folder = str(arguments["name"]), self._catalog.folder
        is_written = await self._database.write(
            "skills.write_planned", partial(_write_and_check, folder=folder)
        )
        if not is_written:
            raise SkillConflict("It is recorded, but can't be written yet; Talaria tries again.")
        if str(arguments["action"]) in ("archive", "restore"):
            return ToolResult(text=f"Done: {arguments['action']} {name}.")
        row = await self._database.read(skills.find, name=name)
        note = _STATES.get(row.state, "") if row else ""
        text = f"Done: {name} is at version {version}. {note.format(name=name)}"
        return ToolResult(text=text.strip())


def _write_and_check(connection: Connection, *, folder: Path) -> bool:
    write_planned(connection, folder)
    return has_written_all(connection)


def _refuse(why: object) -> ToolResult:
    return ToolResult(text=f"No skill was changed: {str(why).rstrip('.')}.", is_error=True)
