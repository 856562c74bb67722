"""Forms that write skills and change their state. Only owners may use them."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.responses import Response

from agent_core.localization import Text
from agent_core.state.engine.database import Connection
from agent_core.state.memory import blocks, skill_changes, skills
from gateway.errors import Declined, Mistaken
from gateway.interfaces.api.responses import read_form
from gateway.interfaces.pages.views import Fields, Look, Missing
from gateway.operations import skills as operations
from gateway.operations.contract import OperationContext
from gateway.operations.skill_types import (
    ChangedSkill,
    PickSkill,
    RollBack,
    RolledBack,
    UndoneSkill,
    UndoSkillChange,
    WriteSkill,
)
from gateway.operations.wire import load_known
from gateway.texts import access
from gateway.texts import forms as texts

_MOST_BYTES = 400_000
_Act = Callable[[OperationContext, Any], Awaitable[ChangedSkill | RolledBack | UndoneSkill]]
_ACTS: Mapping[str, tuple[_Act, Any, Text]] = {
    "archive": (operations.archive, PickSkill, texts.ARCHIVED),
    "restore": (operations.restore, PickSkill, texts.RESTORED),
    "pin": (operations.pin, PickSkill, texts.PINNED_NOW),
    "unpin": (operations.unpin, PickSkill, texts.UNPINNED),
    "rollback": (operations.rollback, RollBack, texts.ROLLED_BACK),
    "undo": (operations.undo, UndoSkillChange, texts.UNDONE),
}
"""The operation, its request and what is said then, by verb."""


async def show(look: Look) -> Fields:
    """Show the empty form of a new skill."""
    _check_owner(look)
    return _describe({})


async def create(look: Look) -> Response:
    """Create a skill; a wrong form says what is wrong, and keeps what was typed."""
    _check_owner(look)
    form = await _read(look)
    faults = {
        name: texts.MISSING()
        for name in ("name", "description", "instructions")
        if not form.get(name)
    }
    if not faults:
        wish = WriteSkill(
            name=form["name"],
            description=form["description"],
            instructions=form["instructions"],
            is_new=True,
        )
        try:
            made = await operations.write(look.context, wish)
        except (Declined, Mistaken) as error:
            faults = {"name": str(error)}
        else:
            note = texts.CREATED_SKILL(name=made.name)
            return look.redirect(f"/skills/{made.name}", note=note)
    fields = _describe(form, faults)
    return look.reject("new_skill.html", **fields)


async def edit(look: Look) -> Fields:
    """Show the whole text of a skill for its form. Raises `Missing`."""
    _check_owner(look)
    return _describe({"text": await _read_text(look)}) | _name(look)


async def change(look: Look) -> Response:
    """Replace the text of a skill. Raises `Missing`."""
    _check_owner(look)
    form = await _read(look)
    name = look.request.path_params["skill"]
    try:
        await operations.write(
            look.context, WriteSkill(name=name, text=form.get("text", "") + "\n")
        )
    except (Declined, Mistaken) as error:
        fields = _describe(form, {"text": str(error)}) | _name(look)
        return look.reject("edit_skill.html", **fields)
    row = await look.gateway.database.read(_find_newest, name)
    return look.redirect(f"/skills/{name}", note=texts.CHANGED_SKILL(name=name), undo=row)


async def act(look: Look) -> Response:
    """Archive, restore, pin or undo. Raises `Missing` and `Declined`."""
    _check_owner(look)
    verb, name = look.request.path_params["verb"], look.request.path_params["skill"]
    if verb not in _ACTS:
        raise Missing
    form = await _read(look)
    numbers = {key: int(form[key]) for key in ("to", "row") if form.get(key, "").isdecimal()}
    operation, kind, note = _ACTS[verb]
    done = await operation(look.context, load_known(kind, {"name": name, **numbers}))
    shown = "/skills" if verb == "archive" else f"/skills/{done.name}"
    kept = done.kept if isinstance(done, ChangedSkill) and verb == "archive" else None
    return look.redirect(shown, note=note(name=name), kept=kept)


def _check_owner(look: Look) -> None:
    if not look.viewer.is_owner:
        raise Declined(access.ONLY_OWNERS())


async def _read(look: Look) -> dict[str, str]:
    found = await read_form(look.request, _MOST_BYTES, keeps_empty=True)
    return {name: values[0].replace("\r\n", "\n").strip() for name, values in found.items()}


async def _read_text(look: Look) -> str:
    """Return the newest text of a skill of the home. Raises `Missing`."""
    name = look.request.path_params["skill"]
    found = await operations.list_versions_of(look.context, PickSkill(name=name))
    current = next((one for one in found.versions if one.is_current), None)
    if current is None:
        raise Missing
    return current.text


def _find_newest(connection: Connection, name: str) -> int | None:
    """Return the row of a skill's newest change, which a button undoes."""
    row, team = skills.find(connection, name=name), blocks.find_team(connection)
    if row is None or team is None:
        return None
    newest = skill_changes.find_newest(connection, person_id=team, skill_id=row.id)
    return newest.id if newest else None


def _name(look: Look) -> dict[str, str]:
    return {"name": look.request.path_params["skill"]}


def _describe(form: Mapping[str, str], faults: Mapping[str, str] | None = None) -> dict[str, Any]:
    known = dict.fromkeys(("name", "description", "instructions", "text"), "")
    return {"form": {**known, **form}, "faults": faults or {}, "f": texts}
