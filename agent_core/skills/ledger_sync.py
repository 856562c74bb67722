"""Synchronisation of the ledger with skills that people edit, within a transaction.

Each ledger row has the whole SKILL.md before and after. What a person did by hand is recorded as it
is found. A skill with files that are planned and not written yet is left alone: there, the ledger
is ahead of the disk. Files are read on the transaction's thread, so that no other writer can record
an older state.
"""

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import get_args

from agent_core.errors import SkillConflict, SkillMissing
from agent_core.skills.catalog import ARCHIVE, SkillCatalog, list_skill_folders, show_name
from agent_core.skills.curator import CurationStep, CuratorView, FoundStep, SkillDifference
from agent_core.skills.intents import list_unwritten
from agent_core.skills.snapshots import read_snapshot
from agent_core.skills.states import judge_text, list_made
from agent_core.state.engine.database import Connection
from agent_core.state.memory import blocks, ledger, skill_changes, skills
from agent_core.state.memory.ledger import Change, LedgerEntry, Origin

_MARK = "~"
"""The separator before the number of a duplicate; no skill name contains it."""


def _find(folder: Path, name: str) -> Path:
    if folder / name not in list_skill_folders(folder):
        raise SkillMissing(f"there is no skill {name} in {folder}")
    return folder / name


def _find_name(folder: Path, kept: str) -> str:
    """Return the name that an archived skill gets when it returns."""
    name = original_name(_find(folder / ARCHIVE, kept))
    if os.path.lexists(folder / name):
        raise FileExistsError(f"{folder / name} already exists; archive it first")
    return name


def choose_archive_name(folder: Path, name: str) -> str:
    """Choose the name of a skill in the archive, numbered if its own is taken. Blocks."""
    chosen, number = name, 1
    while os.path.lexists(folder / ARCHIVE / chosen):
        number += 1
        chosen = f"{name}{_MARK}{number}"
    return chosen


def original_name(place: Path) -> str:
    """Return the name of a skill without the number of its archive folder."""
    name, _, number = place.name.rpartition(_MARK)
    return name if name and number.isdecimal() else place.name


FOUND: frozenset[str] = frozenset(get_args(FoundStep))


def inspect_skills(connection: Connection, catalog: SkillCatalog) -> CuratorView:
    """Compare the skills on disk with the database.

    Raises `SkillBroken` if their folder is unreadable, and `StoreDamaged`.
    """
    everything = catalog.list_all()
    away = {original_name(Path(kept)) for kept in catalog.list_away()}
    unwritten = list_unwritten(connection)
    changes = _compare(connection, catalog.folder)
    return CuratorView(
        own=[one for one in everything if one.origin == "home" and one.name not in unwritten],
        others={one.name for one in everything if one.origin != "home"},
        away=away,
        # One that was gone may have returned and gone into the archive since the last look.
        known={
            row.name: row
            for row in skills.list_all(connection)
            if (row.state != "gone" or row.name in away) and row.name not in unwritten
        },
        wanted=skills.list_needed(connection),
        made=list_made(connection),
        changes={name: one for name, one in changes.items() if name not in unwritten},
    )


def note_found(
    connection: Connection, view: CuratorView, steps: Iterable[CurationStep], origin: Origin
) -> None:
    """Record changes made by hand or before a crash: `FoundStep`, and their ledger rows."""
    for step in steps:
        match step.kind:
            case "see":
                skills.note_seen(connection, name=step.name, now=origin.now)
            case "archived":
                skills.set_state(connection, name=step.name, state="archived")
            case "returned":
                skills.restore(connection, name=step.name, now=origin.now)
            case "forget":
                skills.forget(connection, name=step.name)
    for name, change in view.changes.items():
        record_text(connection, name=name, text=change.after, origin=origin)


def note_loaded(connection: Connection, folder: Path, name: str, origin: Origin) -> None:
    """Record the present text of a skill, if it has changed.

    Raises `SkillBroken` if the folder is unreadable, and `StoreDamaged`.
    """
    place = folder / name
    if place not in list_skill_folders(folder) or name in list_unwritten(connection):
        return
    row = skills.find(connection, name=name)
    if row and row.state == "archived":
        skills.restore(connection, name=name, now=origin.now)
    record_text(connection, name=name, text=read_snapshot(place), origin=origin)


def record_archived(connection: Connection, folder: Path, name: str, origin: Origin) -> str:
    """Record that a skill is in the archive, and return its name there; the caller moves it.

    Raises `SkillConflict` if it is pinned or in use, `SkillMissing`, and `OSError` if there can be
    no archive.
    """
    _check_free(connection, name)
    place = _find(folder, name)
    (folder / ARCHIVE).mkdir(mode=0o700, exist_ok=True)
    kept = choose_archive_name(folder, name)
    hand = Origin(actor="hand", now=origin.now, evidence="found so when it was archived")
    record_text(connection, name=name, text=read_snapshot(place), origin=hand)
    skills.set_state(connection, name=name, state="archived")
    archived = _with_place(origin, f"archived as {kept}")
    record_text(connection, name=name, text=None, origin=archived)
    return kept


def _check_free(connection: Connection, name: str) -> None:
    row = skills.find(connection, name=name)
    if row and row.is_pinned:
        raise SkillConflict(f"The skill {name} is pinned; `talaria skills unpin {name}` unpins it.")
    if name in skills.list_needed(connection):
        raise SkillConflict(f"A job uses the skill {name}; change or delete that job first.")


def record_restored(connection: Connection, folder: Path, kept: str, origin: Origin) -> str:
    """Record that a skill is back, and return its name; the caller moves it from the archive.

    Raises `SkillMissing`, and `FileExistsError` if the name is taken.
    """
    name = _find_name(folder, kept)
    skills.restore(connection, name=name, now=origin.now)
    restored = _with_place(origin, f"restored from {kept}")
    text = read_snapshot(folder / ARCHIVE / kept)
    record_text(connection, name=name, text=text, origin=restored)
    return name


def record_text(
    connection: Connection, *, name: str, text: str | None, origin: Origin
) -> LedgerEntry | None:
    """Record the text of a skill, None if it was removed. Returns None if nothing changed."""
    if text is not None:
        skills.note_seen(connection, name=name, now=origin.now)
    row = skills.find(connection, name=name)
    team = blocks.make_team(connection, now=origin.now)
    newest = row and skill_changes.find_newest(connection, person_id=team, skill_id=row.id)
    before = newest.change.after if newest else None
    if row is None or before == text:
        return None
    change = Change(
        operation=ledger.name_operation(before, text), position=row.id, before=before, after=text
    )
    entry = ledger.record(connection, person_id=team, target="skill", change=change, origin=origin)
    judge_text(connection, name=name, entry=entry)
    return entry


def _compare(connection: Connection, folder: Path) -> dict[str, SkillDifference]:
    seen = {show_name(place.name): read_snapshot(place) for place in list_skill_folders(folder)}
    known: dict[str, str | None] = {}
    team = blocks.find_team(connection)
    for row in skills.list_all(connection) if team else ():
        newest = team and skill_changes.find_newest(connection, person_id=team, skill_id=row.id)
        known[row.name] = newest.change.after if newest else None
    return {
        name: SkillDifference(before=known.get(name), after=seen.get(name))
        for name in sorted({*known, *seen})
        if known.get(name) != seen.get(name)
    }


def _with_place(origin: Origin, place: str) -> Origin:
    evidence = f"{origin.evidence}; {place}" if origin.evidence else place
    return replace(origin, evidence=evidence)
