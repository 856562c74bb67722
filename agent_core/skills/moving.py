"""Puts skills of the home away and takes them back: a rename that is on the disk afterwards."""

import os
from pathlib import Path

from agent_core.errors import SkillMissing
from agent_core.memory.files import sync_folder
from agent_core.skills.shelf import ARCHIVE, list_folders

_MARK = "~"
"""Before the number of a further one; no skill can be called so."""


def put_away(folder: Path, name: str) -> str:
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


def bring_back(folder: Path, name: str) -> str:
    """Move a skill out of the archive, by its name there; gives the name that it has now.

    Blocks. Raises `SkillMissing`, `FileExistsError` where another has its place, and `OSError`.
    """
    place = folder / ARCHIVE / name
    if place not in list_folders(folder / ARCHIVE):
        raise SkillMissing(f"there is no skill {name} in {folder / ARCHIVE}")
    target = folder / own_name(place)
    if os.path.lexists(target):
        raise FileExistsError(f"{target} is there already; put that away first")
    _move(place, target)
    return target.name


def own_name(place: Path) -> str:
    """What a skill was called before its folder was given a number."""
    name, _, number = place.name.rpartition(_MARK)
    return name if name and number.isdecimal() else place.name


def _move(place: Path, target: Path) -> None:
    place.rename(target)
    sync_folder(target.parent)
    sync_folder(place.parent)
