"""Replace the content of a home by a restored one; a crash leaves either the old or the new.

A restore unpacks into `.restore/new` in the home. When that is complete, it writes
`.restore/ready`, and from then on the new content counts: if the moves are interrupted, the next
command finishes them. The home itself is never renamed, so that it may be a mount point.
"""

import json
import os
import shutil
import stat
from collections.abc import Collection
from pathlib import Path

from agent_core.errors import StoreError
from agent_core.state.backups.left_out_names import STAGING
from agent_core.state.engine.backup import sync_folder
from agent_core.state.engine.lock import HomeLock
from agent_core.state.engine.recovery import translate_os_error

_NEW, _READY = "new", "ready"


def prepare_staging(home: Path) -> Path:
    """Return an empty folder to unpack into; delete the files of an interrupted restore.

    Raises `OSError`.
    """
    remove_tree(home / STAGING)
    folder = home / STAGING / _NEW
    folder.mkdir(mode=0o700, parents=True)
    return folder


def drop_staging(home: Path) -> None:
    """Delete the unpacked files, unless the restore already counts. Raises `OSError`."""
    if not (home / STAGING / _READY).exists():
        remove_tree(home / STAGING)


def switch(home: Path, aside: Path, kept: Collection[str]) -> None:
    """Move the content of a home to `aside`, and the unpacked content into the home.

    The names in `kept` stay in the home. The caller holds the home's lock. Raises `StoreError` if
    something in the home can't be moved, and `OSError`; `finish_switch` then does the remaining
    moves.
    """
    for path in home.iterdir():
        if path.name not in kept and not _is_movable(path):
            raise StoreError(
                f"{path} belongs to another user, so it can't be moved; give it to the user of"
                " Talaria with `chown`, or move it away"
            )
    draft = home / STAGING / f"{_READY}.new"
    plan = {
        "aside": str(aside.relative_to(home)),
        "kept": sorted({*kept, STAGING}),
        "names": sorted(path.name for path in (home / STAGING / _NEW).iterdir()),
    }
    sync_folder(home / STAGING / _NEW)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(plan, file)
        file.flush()
        os.fsync(descriptor)
    draft.rename(home / STAGING / _READY)
    sync_folder(home / STAGING)
    _move(home)


def finish_switch(home: Path, database: str) -> bool:
    """Finish an interrupted restore; return whether there was one to finish.

    Raises `StoreBusy` while the restore itself is running, and `StoreError`.
    """
    if not (home / STAGING / _READY).exists():
        return False
    path = home / database
    lock = HomeLock.acquire(path.with_suffix(".lock"), guarded=path)
    try:
        _move(home)
    except OSError as error:
        lock.release(is_clean=False)
        raise translate_os_error(error, home) from error
    lock.release(is_clean=True)
    return True


def _move(home: Path) -> None:
    """Make the remaining moves. Each is one rename, so that a crash leaves none half done."""
    ready, new = home / STAGING / _READY, home / STAGING / _NEW
    plan = json.loads(ready.read_bytes())
    aside = home / plan["aside"]
    aside.mkdir(mode=0o700, parents=True, exist_ok=True)
    names = set(plan["names"])
    for path in sorted(home.iterdir()):
        is_new = path.name in names and not os.path.lexists(new / path.name)
        if path.name not in plan["kept"] and not is_new:
            _rename(path, aside / path.name)
    for path in sorted(new.iterdir()):
        _rename(path, home / path.name)
    sync_folder(aside)
    sync_folder(home)
    ready.unlink()
    remove_tree(home / STAGING)


def _is_movable(path: Path) -> bool:
    """Return whether a path can be renamed, if need be as `_rename` does."""
    found = path.lstat()
    is_ours = found.st_uid == os.geteuid() or os.access(path, os.W_OK)
    return is_ours or not stat.S_ISDIR(found.st_mode)


def _rename(path: Path, target: Path) -> None:
    """Rename a path. Linux moves a folder only for users who may write it."""
    mode = path.lstat().st_mode
    if not stat.S_ISDIR(mode) or os.access(path, os.W_OK):
        path.rename(target)
        return
    path.chmod(0o700)
    path.rename(target)
    target.chmod(stat.S_IMODE(mode))


def remove_tree(folder: Path) -> None:
    """Delete a folder, if it exists, even if folders in it are read-only.

    Raises `OSError`.
    """
    for place, folders, _ in os.walk(folder):
        for name in folders:
            path = Path(place, name)
            if not path.is_symlink():
                path.chmod(0o700)
    if folder.exists():
        shutil.rmtree(folder)
