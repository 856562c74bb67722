"""Claim the folder where backups are made, and delete what killed backups left in it."""

import errno
import fcntl
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from agent_core.state.engine.recovery import translate_os_error

LOCKLESS = frozenset({errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EINVAL})
"""The errors of network file systems that have no locks."""
_LOCK = ".lock"
_WORKING = (".copy-*", ".nightly.db*", ".outgoing*", ".fetched-*")
_UNFINISHED = ("nightly-*.part", "manual-*.part")


@contextmanager
def claim_folder(folder: Path, *others: Path) -> Iterator[None]:
    """Create the folder in which backups are made, and claim it beside other processes.

    If no other process has claimed it, working files in it are left over, and deleted; unfinished
    backups also in `others`. Without locks, nobody knows that, and they stay. Blocks. Raises
    `StoreError`.
    """
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        lock = (folder / _LOCK).open("ab")
    except OSError as error:
        raise translate_os_error(error, folder) from error
    with lock:
        try:
            with suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _delete(folder, _WORKING)
                for place in {folder, *others}:
                    _delete(place, _UNFINISHED)
            fcntl.flock(lock, fcntl.LOCK_SH)
        except OSError as error:
            if error.errno not in LOCKLESS:
                raise translate_os_error(error, folder) from error
        yield


def _delete(folder: Path, patterns: tuple[str, ...]) -> None:
    for path in [path for pattern in patterns for path in folder.glob(pattern)]:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
