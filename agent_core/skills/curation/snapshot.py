"""Snapshots of the home's skills: copies of their folders that one command restores.

The curator takes a snapshot before it moves or merges anything. A restored skill replaces the
present one. That one goes to the archive, so that restoring loses nothing.
"""

import os
import re
import secrets
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from agent_core.errors import SkillConflict
from agent_core.skills.agreements import hash_folder
from agent_core.skills.catalog import ARCHIVE, list_skill_folders
from agent_core.skills.changes import archive_planned, plan_moves
from agent_core.skills.install.installs import record_version
from agent_core.skills.install.stage import INCOMING, walk, write_copy
from agent_core.skills.intents import write_planned
from agent_core.skills.ledger_sync import choose_archive_name, note_loaded
from agent_core.skills.snapshots import read_snapshot
from agent_core.skills.states import CURATOR, find_text_actor
from agent_core.state.engine.backup import sync_folder
from agent_core.state.engine.database import Connection
from agent_core.state.memory import skills
from agent_core.state.memory.ledger import Origin

SNAPSHOTS = ".snapshots"
"""The subfolder of the skills folder with the snapshots; each is named after its time in UTC."""
_KEPT = 5
"""The number of snapshots that are kept: a month of weekly ones."""
_NAME = "%Y%m%dT%H%M%SZ"
_FORM = re.compile(r"\d{8}T\d{6}Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoredSnapshot:
    """The skills that a snapshot brought back, and the curator's newer ones that it archived."""

    name: str
    restored: tuple[str, ...]
    archived: tuple[str, ...]


def take_snapshot(folder: Path, now: int) -> str:
    """Copy the home's skills, and return the name of the snapshot. Blocks.

    Leaves out a skill with links, or with more than 20 MB: no owner can agree to such a skill, and
    the curator does not change it. `now` is in milliseconds since the epoch, UTC. Raises
    `SkillBroken` if the folder can't be listed, and `OSError`.
    """
    snapshots, known = folder / SNAPSHOTS, list_snapshots(folder)
    name = datetime.fromtimestamp(now / 1000, UTC).strftime(_NAME)
    if name in known:
        return name
    if known and name < known[0]:  # the clock was put back: the newest one must be the last one
        later = datetime.strptime(known[0], _NAME) + timedelta(seconds=1)
        name = later.strftime(_NAME)
    target, unfinished = snapshots / name, snapshots / f".{name}"
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(mode=0o700, parents=True)
    for place in list_skill_folders(folder):
        if not place.is_symlink() and hash_folder(place):
            _copy(place, unfinished / place.name)
    unfinished.rename(target)
    sync_folder(snapshots)
    oldest = list_snapshots(folder)[:_KEPT][-1]
    for old in snapshots.iterdir():
        called = old.name.removeprefix(".")  # including those that a crash left unfinished
        if _FORM.fullmatch(called) and called < oldest:
            shutil.rmtree(old)
    return name


def list_snapshots(folder: Path) -> list[str]:
    """List the names of the snapshots, newest first. Blocks. Raises `OSError`."""
    snapshots = folder / SNAPSHOTS
    found = snapshots.iterdir() if snapshots.is_dir() else ()
    return sorted((one.name for one in found if _is_snapshot(one)), reverse=True)


def _is_snapshot(path: Path) -> bool:
    return _FORM.fullmatch(path.name) is not None and path.is_dir()


def restore_snapshot(connection: Connection, folder: Path, origin: Origin) -> RestoredSnapshot:
    """Record the return of the newest snapshot; `write_planned` moves its skills into place.

    Skills that the curator has written since then go to the archive, unless they are pinned or a
    job needs them. Skills of people stay. Blocks. Raises `SkillConflict` if there is no snapshot,
    or nothing differs from it, `SkillBroken` if the folder is unreadable, and `OSError`.
    """
    write_planned(connection, folder)
    hand = Origin(actor="hand", now=origin.now, evidence="found before a snapshot came back")
    for place in list_skill_folders(folder):
        note_loaded(connection, folder, place.name, hand)
    names = list_snapshots(folder)
    if not names:
        raise SkillConflict("There is no snapshot yet; the curator takes one before it changes.")
    snapshot = folder / SNAPSHOTS / names[0]
    why = Origin(actor=origin.actor, now=origin.now, evidence=f"restored from snapshot {names[0]}")
    kept = [place.name for place in list_skill_folders(snapshot)]
    restored = [one for one in kept if _restore(connection, folder, snapshot / one, why)]
    needed = skills.list_needed(connection)
    archived = []
    for place in list_skill_folders(folder):
        row = skills.find(connection, name=place.name)
        if row is None or place.name in (*kept, *needed) or row.is_pinned:
            continue
        if find_text_actor(connection, row) == CURATOR:
            archive_planned(connection, folder, place.name, why)
            archived.append(place.name)
    if not restored and not archived:
        raise SkillConflict(f"The skills are as they were in the snapshot {names[0]}.")
    return RestoredSnapshot(name=names[0], restored=tuple(restored), archived=tuple(archived))


def _restore(connection: Connection, folder: Path, copy: Path, why: Origin) -> bool:
    """Record the return of one skill, and plan its moves; False if it has not changed."""
    place = folder / copy.name
    tree = hash_folder(copy)
    if place.is_symlink() or (place.is_dir() and hash_folder(place) == tree):
        return False
    staged = f"{INCOMING}/{secrets.token_hex(8)}/{copy.name}"
    _copy(copy, folder / staged)
    moves = []
    if os.path.lexists(place):
        moves.append((copy.name, f"{ARCHIVE}/{choose_archive_name(folder, copy.name)}"))
    record_version(connection, copy.name, read_snapshot(copy), why)
    plan_moves(connection, copy.name, [*moves, (staged, copy.name)], tree)
    return True


def _copy(place: Path, target: Path) -> None:
    """Copy the files of a skill durably. Raises `OSError`."""
    target.mkdir(mode=0o700, parents=True)
    for path, file in walk(place):
        is_executable = bool(file.stat().st_mode & 0o100)
        write_copy(target / path, file.read_bytes(), is_executable=is_executable)
