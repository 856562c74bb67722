"""Undo of a skill change within a transaction: a ledger row, and the intent to change the files."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from agent_core.errors import SkillConflict
from agent_core.ids import PersonId
from agent_core.skills.catalog import ARCHIVE, SKILL_FILE, list_skill_folders
from agent_core.skills.changes import archive_planned, plan, restore_planned
from agent_core.skills.intents import SkillChange
from agent_core.skills.ledger_sync import original_name
from agent_core.skills.snapshots import check_regular, explain_omission, is_whole, read_snapshot
from agent_core.skills.states import read_states
from agent_core.state.engine.database import Connection
from agent_core.state.memory import ledger, skill_changes, skills
from agent_core.state.memory.ledger import LedgerEntry, Origin
from agent_core.state.memory.skills import SkillRow, SkillState


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoneSkillChange:
    """The undone change of the skill `name`, and its undo row.

    `derived` are the rows in between, oldest first. `is_text_only` is true if the folder no longer
    existed, so that only its SKILL.md came back.
    """

    name: str
    undone: LedgerEntry
    row: LedgerEntry
    derived: tuple[LedgerEntry, ...]
    is_text_only: bool = False


def undo_skill_change(
    connection: Connection, folder: Path, row_id: int, origin: Origin
) -> UndoneSkillChange:
    """Undo a ledger row of a skill, for an `origin`; files and ledger must be in sync.

    A change of the text is undone only if the file still has the new text. An added skill is
    archived whatever its text is now, and a removed skill returns. `write_planned` changes the
    files. Raises `SkillConflict`, `SkillMissing`, `FileExistsError`, `OSError` and `StoreDamaged`.
    """
    team, row, skill = _find(connection, row_id)
    if states := read_states(row):
        return _undo_state(connection, row, skill, states, origin)
    if row.change.before == row.change.after:
        raise SkillConflict(f"Row {row_id} only added a file; delete it in {folder / skill.name}.")
    later = skill_changes.list_later(connection, person_id=team, skill_id=skill.id, after=row_id)
    if undo_row := _find_undo_row(row_id, later):
        raise SkillConflict(f"Row {row_id} is already undone, by row {undo_row}.")
    newest = later[-1] if later else row
    origin = replace(origin, undoes=row_id)
    is_text_only = False
    match row.change.operation:
        case "replace":
            _write(connection, folder / skill.name, row, newest, origin)
        case "add":
            if newest.change.after is None:
                raise SkillConflict(
                    f"The skill {skill.name} no longer exists since row {newest.id}."
                )
            archive_planned(connection, folder, skill.name, origin)
        case "remove":
            if newest.change.after is not None:
                raise SkillConflict(f"The skill {skill.name} exists again since row {newest.id}.")
            is_text_only = _restore(connection, folder, skill.name, row, origin)
    made = skill_changes.list_later(connection, person_id=team, skill_id=skill.id, after=newest.id)[
        -1
    ]
    return UndoneSkillChange(
        name=skill.name,
        undone=row,
        row=made,
        derived=tuple(later),
        is_text_only=is_text_only,
    )


def _undo_state(
    connection: Connection,
    row: LedgerEntry,
    skill: SkillRow,
    states: tuple[SkillState, SkillState],
    origin: Origin,
) -> UndoneSkillChange:
    """Restore the state of a skill before a row, if it still has the state that the row set."""
    before, after = states
    if skill.state != after:
        raise SkillConflict(f"The skill {skill.name} is not {after} any more; it is {skill.state}.")
    origin = replace(origin, undoes=row.id)
    made = skill_changes.set_state(
        connection, name=skill.name, state=before, why=f"row {row.id} is undone", origin=origin
    )
    assert made is not None  # noqa: S101 - the states differ
    return UndoneSkillChange(name=skill.name, undone=row, row=made, derived=())


def _find(connection: Connection, row_id: int) -> tuple[PersonId, LedgerEntry, SkillRow]:
    found = ledger.find_row(connection, entry_id=row_id)
    if found is None or found[1].target != "skill":
        raise SkillConflict(f"Row {row_id} does not belong to a skill; see `talaria skills log`.")
    team, row = found
    return (
        team,
        row,
        next(one for one in skills.list_all(connection) if one.id == row.change.position),
    )


def _find_undo_row(row_id: int, later: Sequence[LedgerEntry]) -> int | None:
    """Find the active row that undid another one."""
    takers = (row.id for row in later if row.origin.undoes == row_id)
    return next((undo_row for undo_row in takers if _find_undo_row(undo_row, later) is None), None)


def _write(
    connection: Connection, place: Path, row: LedgerEntry, newest: LedgerEntry, origin: Origin
) -> None:
    before, after = row.change.before, row.change.after
    if newest.change.after != after or before is None or after is None:
        raise SkillConflict(
            f"The skill {place.name} has changed since row {row.id}; undo row {newest.id} first."
        )
    if not is_whole(before):
        raise SkillConflict(
            f"The text of skill {place.name} before row {row.id} was not kept:"
            f" {explain_omission(before)}."
        )
    check_regular(place)
    change = SkillChange(name=place.name, path=SKILL_FILE, before=after, after=before)
    if plan(connection, place.parent, change, origin) is None:
        raise SkillConflict(f"{place / SKILL_FILE} was changed meanwhile; check it and try again.")


def _restore(
    connection: Connection, folder: Path, name: str, row: LedgerEntry, origin: Origin
) -> bool:
    """Restore a removed skill; returns True if only its text came back."""
    text = row.change.before or ""
    away = [
        place
        for place in list_skill_folders(folder / ARCHIVE)
        if original_name(place) == name and read_snapshot(place) == text
    ]
    if away:
        restore_planned(connection, folder, away[-1].name, origin)
        return False
    if not is_whole(text):
        raise SkillConflict(
            f"The skill {name} is not in the archive, and its text was not kept:"
            f" {explain_omission(text)}."
        )
    if os.path.lexists(folder / name):
        raise FileExistsError(f"{folder / name} already exists; archive it first")
    skills.restore(connection, name=name, now=origin.now)
    change = SkillChange(name=name, path=SKILL_FILE, before=None, after=text)
    plan(connection, folder, change, origin)
    return True
