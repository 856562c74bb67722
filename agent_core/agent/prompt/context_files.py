"""Read context files (AGENTS.md and the like) from a working folder."""

import asyncio
import logging
import stat
from dataclasses import dataclass
from pathlib import Path

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextFile:
    """A file as it enters the prompt. `name` is its path within the folder."""

    name: str
    text: str
    is_cut: bool = False
    is_trusted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextFolder:
    """A working folder, and the names of the files in it that enter the prompt.

    `limit` is the total number of their characters. `is_trusted` means that the owner vouches for
    them; otherwise they count as words of others. Files in `workspaces` always do, because a
    command may have written them.
    """

    path: Path
    names: tuple[str, ...]
    limit: int
    is_trusted: bool = False
    workspaces: Path | None = None


async def read_context(folder: ContextFolder) -> tuple[ContextFile, ...]:
    """Read the files of the folder that exist, in the order of their names.

    What exceeds the limit is cut. Anything but a regular UTF-8 file within the folder (links
    resolved) is skipped with a warning.
    """
    return await asyncio.to_thread(_read_all, folder)


def _read_all(folder: ContextFolder) -> tuple[ContextFile, ...]:
    files: list[ContextFile] = []
    seen: set[Path] = set()
    room = limit = folder.limit
    for name in folder.names if limit > 0 else ():
        path = _find(folder.path, name)
        if path is None or path in seen:
            continue
        seen.add(path)
        text = _read(path, name, room)
        is_cut = len(text) > room
        if is_cut:
            _log.warning("context file %s is cut to %d characters", name, limit)
        kept = text[:room].strip()
        if kept:
            is_trusted = folder.is_trusted and not _is_in_workspace(folder, path)
            files.append(ContextFile(name=name, text=kept, is_cut=is_cut, is_trusted=is_trusted))
        room -= min(len(text), room)
    return tuple(files)


def _is_in_workspace(folder: ContextFolder, path: Path) -> bool:
    return bool(folder.workspaces and path.is_relative_to(folder.workspaces.resolve()))


def _find(folder: Path, name: str) -> Path | None:
    """The regular file of this name within the folder, links resolved."""
    try:
        root = folder.resolve()
        path = (root / name).resolve(strict=True)
        is_plain = stat.S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        return None
    except (OSError, RuntimeError) as error:  # RuntimeError: a loop of links, before 3.13
        _log.warning("context file %s is skipped: %s", name, error)
        return None
    if not path.is_relative_to(root) or not is_plain:
        _log.warning("context file %s is skipped: it is no plain file in its folder", name)
        return None
    return path


def _read(path: Path, name: str, room: int) -> str:
    """The file's text up to one character over `room`; empty if it is not readable as UTF-8."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            return file.read(room + 1)
    except (OSError, UnicodeDecodeError) as error:
        _log.warning("context file %s is skipped: %s", name, error)
        return ""
