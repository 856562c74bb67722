"""Within a transaction: the home's skills held against the ledger, and what became of them in it.

The files are the truth, and a row of the ledger is written for what they say; each has the whole
SKILL.md before and after. The files are read, and moved, on the thread of the transaction: so
nobody else writes down what they said before.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import get_args

from agent_core.errors import SkillMissing, SkillStays
from agent_core.memory.files import sync_folder
from agent_core.skills.catalog import ARCHIVE, SkillCatalog, list_folders, show_name
from agent_core.skills.curator import CuratorView, Difference, Found, Step
from agent_core.skills.snapshots import read_snapshot
from agent_core.state.engine.database import Connection
from agent_core.state.memory import blocks, ledger, skill_changes, skills
from agent_core.state.memory.ledger import Change, LedgerEntry, Operation, Origin

_MARK = "~"
"""Before the number of a further one; no skill can be called so."""


def archive_folder(folder: Path, name: str) -> str:
    """Move a skill into the archive; gives its name there, with a number if that was taken.

    Blocks. Raises `SkillMissing`, and `OSError` if it can't be moved; it stays then.
    """
    place, archive = folder / name, folder / ARCHIVE
    if place not in list_folders(folder):
        raise SkillMissing(f"there is no skill {name} in {folder}")
    archive.mkdir(mode=0o700, exist_ok=True)
    target, number = archive / name, 1
    while os.path.lexists(target):
        number += 1
        target = archive / f"{name}{_MARK}{number}"
    _move(place, target)
    return target.name


def restore_folder(folder: Path, name: str) -> str:
    """Move a skill out of the archive, by its name there; gives the name that it has now.

    Blocks. Raises `SkillMissing`, `FileExistsError` where another has its place, and `OSError`.
    """
    place = folder / ARCHIVE / name
    if place not in list_folders(folder / ARCHIVE):
        raise SkillMissing(f"there is no skill {name} in {folder / ARCHIVE}")
    target = folder / original_name(place)
    if os.path.lexists(target):
        raise FileExistsError(f"{target} is there already; put that away first")
    _move(place, target)
    return target.name


def original_name(place: Path) -> str:
    """What a skill was called before its folder was given a number."""
    name, _, number = place.name.rpartition(_MARK)
    return name if name and number.isdecimal() else place.name


def _move(place: Path, target: Path) -> None:
    place.rename(target)
    sync_folder(target.parent)
    sync_folder(place.parent)


FOUND: frozenset[str] = frozenset(get_args(Found))


def inspect_skills(connection: Connection, catalog: SkillCatalog) -> CuratorView:
    """How the skills stand, by their files and by what is known of them.

    Raises `SkillBroken` if their folder can't be read, and `StoreDamaged`.
    """
    everything = catalog.list_all()
    return CuratorView(
        own=[one for one in everything if one.origin == "home"],
        others={one.name for one in everything if one.origin == "bundled"},
        away=catalog.list_away(),
        known={row.name: row for row in skills.list_there(connection)},
        wanted=skills.list_wanted(connection),
        changes=_compare(connection, catalog.folder),
    )


def note_found(
    connection: Connection, view: CuratorView, steps: Iterable[Step], origin: Origin
) -> None:
    """Write down what was done by hand, or before a crash: `steps` of that kind, and its rows."""
    for step in steps:
        match step.kind:
            case "see":
                skills.see(connection, name=step.name, now=origin.now)
            case "archived":
                skills.set_state(connection, name=step.name, state="archived")
            case "returned":
                skills.take_back(connection, name=step.name, now=origin.now)
            case "forget":
                skills.forget(connection, name=step.name)
    for name, change in view.changes.items():
        record_text(connection, name=name, text=change.after, origin=origin)


def note_loaded(connection: Connection, folder: Path, name: str, origin: Origin) -> None:
    """Write down how one of the home's skills reads just now, if it has changed.

    Raises `SkillBroken` if the folder can't be read, and `StoreDamaged`.
    """
    place = folder / name
    if place not in list_folders(folder):
        return
    row = skills.find(connection, name=name)
    if row and row.state == "archived":
        skills.take_back(connection, name=name, now=origin.now)
    record_text(connection, name=name, text=read_snapshot(place), origin=origin)


def archive_skill(connection: Connection, folder: Path, name: str, origin: Origin) -> str:
    """Move a skill into the archive; gives its name there.

    Raises `SkillStays` where it is needed, and what `moving.archive_skill` raises; it stays then.
    """
    row = skills.find(connection, name=name)
    if row and row.is_pinned:
        raise SkillStays(f"The skill {name} is pinned; `talaria skills unpin {name}` allows it.")
    if name in skills.list_wanted(connection):
        raise SkillStays(f"A job uses the skill {name}; change or drop that job first.")
    kept = archive_folder(folder, name)
    hand = Origin(actor="hand", now=origin.now, evidence="found so when it was put away")
    record_text(connection, name=name, text=read_snapshot(folder / ARCHIVE / kept), origin=hand)
    skills.set_state(connection, name=name, state="archived")
    record_text(connection, name=name, text=None, origin=_tell_place(origin, f"put away as {kept}"))
    return kept


def restore_skill(connection: Connection, folder: Path, kept: str, origin: Origin) -> str:
    """Take a skill back by its name in the archive; gives the name that it has now.

    Raises what `moving.restore_skill` raises; it stays then.
    """
    name = restore_folder(folder, kept)
    skills.take_back(connection, name=name, now=origin.now)
    told = _tell_place(origin, f"taken back from {kept}")
    record_text(connection, name=name, text=read_snapshot(folder / name), origin=told)
    return name


def record_text(
    connection: Connection, *, name: str, text: str | None, origin: Origin
) -> LedgerEntry | None:
    """Add the row by which a skill reads so from now on, None for not at all; none if it does."""
    if text is not None:
        skills.see(connection, name=name, now=origin.now)
    row = skills.find(connection, name=name)
    team = blocks.make_team(connection, now=origin.now)
    newest = row and skill_changes.find_newest(connection, person_id=team, skill_id=row.id)
    before = newest.change.after if newest else None
    if row is None or before == text:
        return None
    change = Change(operation=_name(before, text), position=row.id, before=before, after=text)
    return ledger.record(connection, person_id=team, target="skill", change=change, origin=origin)


def _compare(connection: Connection, folder: Path) -> dict[str, Difference]:
    seen = {show_name(place.name): read_snapshot(place) for place in list_folders(folder)}
    known: dict[str, str | None] = {}
    team = blocks.find_team(connection)
    for row in skills.list_all(connection) if team else ():
        newest = team and skill_changes.find_newest(connection, person_id=team, skill_id=row.id)
        known[row.name] = newest.change.after if newest else None
    return {
        name: Difference(before=known.get(name), after=seen.get(name))
        for name in sorted({*known, *seen})
        if known.get(name) != seen.get(name)
    }


def _tell_place(origin: Origin, place: str) -> Origin:
    evidence = f"{origin.evidence}; {place}" if origin.evidence else place
    return Origin(actor=origin.actor, now=origin.now, evidence=evidence, undoes=origin.undoes)


def _name(before: str | None, after: str | None) -> Operation:
    if before is None:
        return "add"
    return "remove" if after is None else "replace"
