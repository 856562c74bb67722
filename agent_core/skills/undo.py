"""Within a transaction: a change of a skill taken back, on the disk and by a row of its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agent_core.errors import SkillStays
from agent_core.ids import PersonId
from agent_core.memory import files
from agent_core.skills import ledger_sync
from agent_core.skills.catalog import ARCHIVE, FILE, list_folders
from agent_core.skills.snapshots import explain_omission, is_whole, read_snapshot, write_back
from agent_core.state.engine.database import Connection
from agent_core.state.memory import ledger, skill_changes, skills
from agent_core.state.memory.ledger import LedgerEntry, Origin
from agent_core.state.memory.skills import SkillRow


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoneSkillChange:
    """What was taken back of the skill `name`, and by which row. `derived` are the rows about
    it from in between, oldest first. `is_text_only` where the folder itself was not there any
    more: what it held besides its SKILL.md did not come back.
    """

    name: str
    undone: LedgerEntry
    row: LedgerEntry
    derived: tuple[LedgerEntry, ...]
    is_text_only: bool = False


def undo(connection: Connection, folder: Path, row_id: int, now: int) -> UndoneSkillChange:
    """Take back a row about a skill; files and ledger have to have been compared before.

    A new text is taken back only while the file reads so, a skill that came is put away whatever
    became of its text, and one that went comes back. Raises `SkillStays`, what moving a folder
    raises, `OSError`, and `StoreDamaged`.
    """
    team, row, skill = _find(connection, row_id)
    later = skill_changes.list_later(connection, person_id=team, skill_id=skill.id, after=row_id)
    if taker := _find_taker(row_id, later):
        raise SkillStays(f"Row {row_id} is taken back already, by row {taker}.")
    newest = later[-1] if later else row
    origin = Origin(actor="house", now=now, undoes=row_id)
    is_text_only = False
    match row.change.operation:
        case "replace":
            _write(connection, folder / skill.name, row, newest, origin)
        case "add":
            if newest.change.after is None:
                raise SkillStays(f"The skill {skill.name} is not there any more; row {newest.id}.")
            ledger_sync.archive_skill(connection, folder, skill.name, origin)
        case "remove":
            if newest.change.after is not None:
                raise SkillStays(f"The skill {skill.name} is there again; row {newest.id}.")
            is_text_only = _bring(connection, folder, skill.name, row, origin)
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


def _find(connection: Connection, row_id: int) -> tuple[PersonId, LedgerEntry, SkillRow]:
    found = ledger.find_row(connection, entry_id=row_id)
    if found is None or found[1].target != "skill":
        raise SkillStays(f"Row {row_id} is of no skill; `talaria skills log` lists those that are.")
    team, row = found
    return (
        team,
        row,
        next(one for one in skills.list_all(connection) if one.id == row.change.position),
    )


def _find_taker(row_id: int, later: Sequence[LedgerEntry]) -> int | None:
    """The row that takes another back, unless that was taken back itself."""
    takers = (row.id for row in later if row.origin.undoes == row_id)
    return next((taker for taker in takers if _find_taker(taker, later) is None), None)


def _write(
    connection: Connection, place: Path, row: LedgerEntry, newest: LedgerEntry, origin: Origin
) -> None:
    before, after = row.change.before, row.change.after
    if newest.change.after != after or before is None or after is None:
        raise SkillStays(
            f"The skill {place.name} does not read any more as row {row.id} made it; take row"
            f" {newest.id} back first."
        )
    if not is_whole(before):
        raise SkillStays(
            f"What the skill {place.name} said before row {row.id} was not kept:"
            f" {explain_omission(before)}."
        )
    write_back(place, before, after)
    ledger_sync.record_text(connection, name=place.name, text=before, origin=origin)


def _bring(
    connection: Connection, folder: Path, name: str, row: LedgerEntry, origin: Origin
) -> bool:
    """Take a skill back as it went; True if only its text could be."""
    text = row.change.before or ""
    away = [
        place
        for place in list_folders(folder / ARCHIVE)
        if ledger_sync.original_name(place) == name and read_snapshot(place) == text
    ]
    if away:
        ledger_sync.restore_skill(connection, folder, away[-1].name, origin)
        return False
    if not is_whole(text):
        raise SkillStays(
            f"The skill {name} is not in the archive, and its text was not kept: {explain_omission(text)}."
        )
    place = folder / name
    place.mkdir(mode=0o700, parents=True)
    files.write(place / FILE, text, files.ABSENT.hash)
    skills.take_back(connection, name=name, now=origin.now)
    ledger_sync.record_text(connection, name=name, text=text, origin=origin)
    return True
