"""Installed skills and their versions within a transaction: the ledger row first, then the files.

A row holds the origin of a skill and the hash of its files.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agent_core.errors import SkillConflict
from agent_core.skills.agreements import agree, hash_folder
from agent_core.skills.catalog import ARCHIVE, SKILL_FILE, SkillCatalog, list_skill_folders
from agent_core.skills.changes import plan, plan_moves
from agent_core.skills.install.contract import StagedSkill
from agent_core.skills.install.stage import INCOMING, find_staged
from agent_core.skills.intents import SkillChange, write_planned
from agent_core.skills.ledger_sync import (
    choose_archive_name,
    note_loaded,
    original_name,
    record_text,
)
from agent_core.skills.snapshots import explain_omission, is_whole, read_snapshot
from agent_core.skills.states import is_version
from agent_core.state.engine.database import Connection
from agent_core.state.memory import blocks, ledger, skill_changes, skills
from agent_core.state.memory.ledger import Change, LedgerEntry, Origin

_MOST_VERSIONS = 1_000
_EVIDENCE = re.compile(
    r"installed from (?P<address>\S.*?)(?: at [0-9a-f]{40,64})?; files [0-9a-f]+.*"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillVersion:
    """A version of a skill's text; `number` counts from 1.

    `kept` is the archive folder that still has all files of the version; "" if only the text is
    left.
    """

    number: int
    row: LedgerEntry
    is_current: bool
    kept: str


def plan_install(
    connection: Connection, folder: Path, staged: StagedSkill, now: int, *, agrees: bool = False
) -> None:
    """Record a staged skill; `write_planned` moves it. An earlier version goes to the archive.

    With `agrees`, the owner agrees to the scanned files, scripts included.

    Raises `SkillConflict` if a skill of another origin has the name, or if the copy has changed
    since it was scanned.
    """
    write_planned(connection, folder)
    name, place = staged.name, folder / staged.name
    copy = find_staged(folder, staged.token, name)
    if not staged.tree or hash_folder(copy) != staged.tree:
        raise SkillConflict(f"The copy of the skill {name} has changed since the scan; try again.")
    moves = []
    hand = Origin(actor="hand", now=now, evidence="found before another version came")
    if os.path.lexists(place):
        if _find_address(connection, name) != staged.address:
            raise SkillConflict(
                f"There is already a skill {name} that does not come from there;"
                f" `talaria skills archive {name}` makes room for this one."
            )
        if hash_folder(place) == staged.tree:
            raise SkillConflict(f"The skill {name} is installed already, with the same files.")
        note_loaded(connection, folder, name, hand)
        moves.append((name, f"{ARCHIVE}/{choose_archive_name(folder, name)}"))
    elif skills.find(connection, name=name):
        record_text(connection, name=name, text=None, origin=hand)
    commit = f" at {staged.commit}" if staged.commit else ""
    evidence = f"installed from {staged.address}{commit}; files {staged.tree}"
    origin = Origin(actor="house", now=now, evidence=evidence)
    record_version(connection, name, read_snapshot(copy), origin)
    if agrees:
        agree(folder, place, copy)
    moves.append((f"{INCOMING}/{staged.token}/{name}", name))
    plan_moves(connection, name, moves, staged.tree)


def list_versions(connection: Connection, folder: Path, name: str) -> Sequence[SkillVersion]:
    """List the versions of a skill, oldest first; files and ledger must be in sync. Blocks."""
    rows = [row for row in reversed(_list_rows(connection, name)) if is_version(row)]
    kept = {
        read_snapshot(place): place.name
        for place in list_skill_folders(folder / ARCHIVE)
        if original_name(place) == name
    }
    present = read_snapshot(folder / name)
    newest = max((i for i, row in enumerate(rows) if row.change.after == present), default=-1)
    return [
        SkillVersion(
            number=index + 1,
            row=row,
            is_current=index == newest,
            kept=kept.get(row.change.after or "", "") if index != newest else "",
        )
        for index, row in enumerate(rows)
    ]


def plan_rollback(
    connection: Connection, catalog: SkillCatalog, name: str, number: int | None, now: int
) -> SkillVersion:
    """Record the return to a version, by default to the previous one; `write_planned` makes it.

    If the archive has all files of the version, these return and the present ones are archived.
    Otherwise only the text returns. Raises `SkillConflict` with the reason for a refusal.
    """
    folder = catalog.folder
    write_planned(connection, folder)
    place = folder / name
    if place not in list_skill_folders(folder):
        raise SkillConflict(f"The home has no skill {name}; `talaria skills list` shows all.")
    hand = Origin(actor="hand", now=now, evidence="found before another version came")
    note_loaded(connection, folder, name, hand)
    chosen = _choose(list_versions(connection, folder, name), name, number)
    text, present = chosen.row.change.after or "", read_snapshot(place)
    origin = Origin(actor="house", now=now, evidence=f"rolled back to version {chosen.number}")
    if not is_whole(text):
        raise SkillConflict(
            f"The text of version {chosen.number} was not kept: {explain_omission(text)}."
        )
    if not chosen.kept:
        change = SkillChange(name=name, path=SKILL_FILE, before=present, after=text)
        if plan(connection, catalog.folder, change, origin) is None:
            raise SkillConflict(f"The skill {name} was changed meanwhile; try again.")
        return chosen
    record_version(connection, name, text, origin)
    aside = f"{ARCHIVE}/{choose_archive_name(folder, name)}"
    plan_moves(connection, name, [(name, aside), (f"{ARCHIVE}/{chosen.kept}", name)])
    return chosen


def _choose(versions: Sequence[SkillVersion], name: str, number: int | None) -> SkillVersion:
    """Choose a version by its number, or else the newest version except the present one. Raises
    `SkillConflict`.
    """
    current = next((one for one in versions if one.is_current), None)
    text = current.row.change.after if current else None
    if number is None:
        last = current.number if current else 0
        found = [one for one in versions if one.number < last and one.row.change.after != text]
        found = found[-1:]
    else:
        found = [one for one in versions if one.number == number]
    if not found:
        which = "earlier version" if number is None else f"version {number}"
        raise SkillConflict(
            f"The skill {name} has no {which}; `talaria skills versions {name}` lists them."
        )
    if found[0].row.change.after == text:
        raise SkillConflict(f"The skill {name} has the text of version {found[0].number} already.")
    return found[0]


def record_version(connection: Connection, name: str, text: str, origin: Origin) -> None:
    """Record a version even if its text is the same and only other files are new."""
    skills.restore(connection, name=name, now=origin.now)
    if record_text(connection, name=name, text=text, origin=origin) is None:
        position = _list_rows(connection, name)[0].change.position
        change = Change(operation="replace", position=position, before=text, after=text)
        team = blocks.make_team(connection, now=origin.now)
        ledger.record(connection, person_id=team, target="skill", change=change, origin=origin)


def is_installed(connection: Connection, name: str) -> bool:
    """Return whether a skill in the home was installed from elsewhere."""
    return _find_address(connection, name) != ""


def _find_address(connection: Connection, name: str) -> str:
    """Return the address from which a skill was last installed, unless it was removed since."""
    for row in _list_rows(connection, name):
        if row.change.after is None:
            return ""
        match = _EVIDENCE.fullmatch(row.origin.evidence)
        if match and row.origin.actor == "house":
            return match["address"]
    return ""


def _list_rows(connection: Connection, name: str) -> list[LedgerEntry]:
    """List the rows of a skill, newest first."""
    team = blocks.find_team(connection)
    known = skills.find(connection, name=name)
    if team is None or known is None:
        return []
    return skill_changes.list_of_skill(
        connection, person_id=team, skill_id=known.id, limit=_MOST_VERSIONS
    )
