"""Copies of skills that wait for a decision: within limits, without links or unsafe names."""

import os
import secrets
import shutil
import time
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from agent_core.errors import SkillConflict
from agent_core.skills.agreements import hash_folder
from agent_core.skills.catalog import (
    MOST_BYTES,
    MOST_FILES,
    SKILL_FILE,
    read_skill_folder,
    show_name,
)
from agent_core.skills.install.contract import SkillContent, SkillFile, StagedSkill
from agent_core.skills.parser import is_name
from agent_core.state.engine.backup import sync_folder

INCOMING = ".incoming"
"""The subfolder for skills that wait for a decision; it is on the same disk as the skills."""
LEFT_OUT = frozenset({".git", ".hg", ".svn", "__pycache__", ".DS_Store", "Thumbs.db"})
"""Names that no copy includes."""
_MOST_SIZE = 20_000_000
"""The most bytes of a whole skill; an owner can agree to this many."""
_DEEPEST = 8
"""The most folders above a file."""
_LONGEST_PART = 128
_STALE_SECONDS = 86_400
"""Seconds after which a copy counts as left by a killed command; nobody will decide about it."""


def stage_skill(folder: Path, name: str, content: SkillContent) -> StagedSkill:
    """Copy a skill to `folder`/.incoming, where it is not used. Blocks.

    Raises `SkillConflict`, `SkillBroken` and `OSError`. Remove it with `clear_incoming`.
    """
    if not is_name(name):
        raise SkillConflict(
            f"The skill {show_name(name)[:64]} needs a name of at most 64 of a-z, 0-9 and hyphens."
        )
    _clear_stale(folder)
    token = secrets.token_hex(8)
    target = folder / INCOMING / token / name
    try:
        target.mkdir(mode=0o700, parents=True)
        files = [one for one in content.list_files() if not LEFT_OUT & {*one.path.split("/")}]
        _check(name, files)
        for file in files:
            data = content.read(file)
            if len(data) != file.size:
                raise SkillConflict(f"The skill {name} changes while it is read; try again.")
            write_copy(target / PurePosixPath(file.path), data, is_executable=file.is_executable)
        read_skill_folder(target)
        tree = hash_folder(target)
    except BaseException:
        clear_incoming(folder, token)
        raise
    return StagedSkill(
        name=name, token=token, address=content.address, commit=content.commit, tree=tree
    )


def find_staged(folder: Path, token: str, name: str) -> Path:
    """Return the folder of a staged skill; it need not exist."""
    return folder / INCOMING / token / name


def clear_incoming(folder: Path, token: str) -> None:
    """Delete a staged copy that nobody needs any more. Blocks."""
    shutil.rmtree(folder / INCOMING / token, ignore_errors=True)


def walk(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield everything below a folder except folders, with its relative path. Follows no link.

    Raises `OSError`.
    """
    for here, folders, names in os.walk(folder, onerror=_raise):
        linked = [one for one in folders if (Path(here) / one).is_symlink()]
        folders[:] = [one for one in folders if one not in (*LEFT_OUT, *linked)]
        for name in (*names, *linked):
            if name not in LEFT_OUT:
                path = Path(here, name)
                yield path.relative_to(folder).as_posix(), path


def _raise(error: OSError) -> None:
    raise error


def _check(name: str, files: list[SkillFile]) -> None:
    """Check the paths and sizes of a skill's files. Raises `SkillConflict`."""
    if len(files) > MOST_FILES:
        raise SkillConflict(f"The skill {name} has more than {MOST_FILES:,} files.")
    seen: set[str] = set()
    for file in files:
        shown = show_name(file.path)[:80]
        parts = file.path.split("/")
        if file.kind:
            raise SkillConflict(f"The skill {name} contains a {file.kind}: {shown}.")
        if not all(_is_plain(part) for part in parts):
            raise SkillConflict(f"The skill {name} has a file with an unsafe name: {shown}.")
        if len(parts) > _DEEPEST:
            raise SkillConflict(f"The skill {name} has more than {_DEEPEST} folders in each other.")
        if file.path.casefold() in seen:
            raise SkillConflict(
                f"The skill {name} has two files whose names differ only by capitals: {shown}."
            )
        seen.add(file.path.casefold())
        if file.path == SKILL_FILE and file.size > MOST_BYTES:
            raise SkillConflict(
                f"The {SKILL_FILE} of the skill {name} is larger than {MOST_BYTES // 1024} KiB."
            )
    if sum(file.size for file in files) > _MOST_SIZE:
        raise SkillConflict(
            f"The skill {name} is too large: its files have more than {_MOST_SIZE // 10**6} MB."
        )


def _is_plain(part: str) -> bool:
    """True for a file name that means the same on every system."""
    return (
        part not in ("", ".", "..")
        and part.casefold() != ".git"
        and len(part) <= _LONGEST_PART
        and part.isprintable()
        and not any(sign in part for sign in '\\:*?"<>|')
        and not part.endswith((" ", "."))
    )


def write_copy(file: Path, data: bytes, *, is_executable: bool) -> None:
    """Write a new file durably. Raises `OSError`."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    descriptor = os.open(file, flags, 0o700 if is_executable else 0o600)
    with os.fdopen(descriptor, "wb") as opened:
        opened.write(data)
        opened.flush()
        os.fsync(opened.fileno())
    sync_folder(file.parent)


def _clear_stale(folder: Path) -> None:
    """Delete the copies of commands that were killed."""
    incoming = folder / INCOMING
    for place in incoming.iterdir() if incoming.is_dir() else ():
        if place.lstat().st_mtime < time.time() - _STALE_SECONDS:
            clear_incoming(folder, place.name)
