"""The copy of a skill's files in a person's workspace, where its scripts run."""

import asyncio
import hashlib
import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path

from agent_core.errors import CoreError, WorkspaceError
from agent_core.execution.contract import Backend
from agent_core.skills.catalog import EVALS, SKILL_FILE, CatalogEntry, SkillCatalog
from agent_core.tools.contract import ToolContext

FOLDER = ".skills"
"""The folder of the workspace with the files of skills."""
_RECORD = ".copied.json"
"""The hashes of the files as they were last copied."""
_EDITED = ".edited"
"""The ending of a copy that somebody changed in the workspace."""
_MOST_FILES = 200
_MOST_BYTES = 10_000_000
_SECONDS = 20.0


class _TooLarge(Exception):
    """The files of a skill exceed the limits of a copy."""


async def copy_files(
    backend: Backend,
    catalog: SkillCatalog,
    entry: CatalogEntry,
    context: ToolContext,
    *,
    is_usual: bool = True,
) -> str:
    """Copy a trusted skill's files to the workspace of the call; return a sentence about that.

    "" without files or without a workspace. The skill's own file replaces a file that was changed
    there, so that only trusted scripts run; the changed file is kept beside it. `is_usual` is false
    for a backend other than that of the reader's `terminal`.
    """
    owner = context.memory_owner
    if owner is None or owner.kind != "human" or entry.place is None or not entry.is_trusted:
        return ""
    place = f"{FOLDER}/{entry.name}"
    try:
        found = await asyncio.to_thread(_read_all, entry.place)
        # If somebody changed the files since, the owner has agreed to other ones.
        if not found or not (await asyncio.to_thread(catalog.find, entry.name)).is_trusted:
            return ""
        async with asyncio.timeout(_SECONDS):
            edited = await _write_changed(backend, owner.slug, place, found)
    except _TooLarge:
        return "Its files are too many or too large for your workspace."
    except TimeoutError:
        return f"Its files can't be copied to your workspace within {_SECONDS:.0f} seconds."
    except (CoreError, OSError) as error:
        return f"Its files can't be copied to your workspace: {error}"
    kept = f" Changed copies are kept as {', '.join(edited)}." if edited else ""
    if not is_usual:
        return (
            f"Its files are in {place}/ at the backend {backend.name}, where its own tools and its"
            f" jobs work; `terminal` works elsewhere.{kept}"
        )
    return (
        f"Its files are in {place}/ of your workspace: run its scripts there with `terminal`,"
        f" such as `python3 {place}/FILE`.{kept}"
    )


async def _write_changed(
    backend: Backend, workspace: str, place: str, found: Mapping[str, bytes]
) -> list[str]:
    """Write the files that differ; return the names of changed copies that were kept."""
    record = f"{place}/{_RECORD}"
    copied = _read_record(await _read(backend, workspace, record))
    hashes = {path: hashlib.sha256(data).hexdigest() for path, data in found.items()}
    edited = []
    for path, data in found.items():
        present = await _read(backend, workspace, f"{place}/{path}")
        if present == data:
            continue
        if present and hashlib.sha256(present).hexdigest() != copied.get(path):
            edited.append(f"{place}/{path}{_EDITED}")
            await backend.write_file(workspace, edited[-1], present)
        await backend.write_file(workspace, f"{place}/{path}", data)
    if copied != hashes:
        await backend.write_file(workspace, record, json.dumps(hashes).encode())
    return edited


async def _read(backend: Backend, workspace: str, path: str) -> bytes | None:
    """Read a file of the workspace; None if there is none. Raises `_TooLarge`."""
    try:
        found = await backend.read_file(workspace, path, _MOST_BYTES)
    except WorkspaceError:
        return None  # a later write reports the error if it persists
    if found.size > len(found.data):
        raise _TooLarge
    return found.data


def _read_record(data: bytes | None) -> Mapping[str, object]:
    """Parse the hashes of the last copy; none if commands of the workspace damaged them."""
    try:
        found = json.loads(data or b"{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _read_all(place: Path) -> dict[str, bytes]:
    """Read the plain files beside the SKILL.md. Blocks. Raises `_TooLarge` and `OSError`."""
    found: dict[str, bytes] = {}
    left = _MOST_BYTES
    for here, folders, names in os.walk(place):
        left_out = ("__pycache__", EVALS) if Path(here) == place else ("__pycache__",)
        folders[:] = sorted(one for one in folders if one not in left_out)
        for name in sorted(names):
            path = Path(here, name)
            relative = path.relative_to(place).as_posix()
            if relative == SKILL_FILE or not relative.isprintable():
                continue
            data = _read_plain(path, left)
            if data is None:
                continue
            left -= len(data)
            if len(found) >= _MOST_FILES or left < 0:
                raise _TooLarge
            found[relative] = data
    return found


def _read_plain(path: Path, most: int) -> bytes | None:
    """Read at most `most` + 1 bytes of a regular file; None for a link, a pipe or a device."""
    if not stat.S_ISREG(path.lstat().st_mode):
        return None
    # Somebody may put a link or a pipe there now: do not follow it, and do not block.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as opened:
        return opened.read(most + 1) if stat.S_ISREG(os.fstat(descriptor).st_mode) else None
