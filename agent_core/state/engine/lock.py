"""Lock a home for the life of a process, and record whether the last one shut down cleanly."""

import fcntl
import os
from pathlib import Path

from agent_core.errors import StoreBusy
from agent_core.state.engine.recovery import translate_os_error

_LONGEST_NOTE = 64


class HomeLock:
    """The lock on a file beside the database; the file holds "<process id> running" or "clean".

    The lock is never on the database file itself: closing any descriptor of that file would drop
    the locks that SQLite holds in the same process.
    """

    def __init__(self, path: Path, descriptor: int, *, was_clean: bool) -> None:
        self._path = path
        self._descriptor = descriptor
        self.was_clean = was_clean
        """Whether the previous holder shut down cleanly."""

    @classmethod
    def acquire(cls, path: Path, *, guarded: Path) -> "HomeLock":
        """Take the lock at once or fail, and record that this process is running.

        Raises `StoreBusy`, which names the process that holds the lock and the file `guarded`, and
        `StoreError` if files can't be locked or written.
        """
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise translate_os_error(error, path) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            was_clean = _read(descriptor)[1:] == ["clean"]
            lock = cls(path, descriptor, was_clean=was_clean)
            lock._note("running")
        except BlockingIOError as error:
            holder = (_read(descriptor) or ["unknown"])[0]
            os.close(descriptor)
            raise StoreBusy(
                f"{guarded} is already open by process {holder}; stop that one first,"
                " or choose another home with TALARIA_HOME"
            ) from error
        except OSError as error:
            os.close(descriptor)
            raise translate_os_error(error, path) from error
        return lock

    def release(self, *, is_clean: bool) -> None:
        """Record whether the shutdown was clean, and unlock. Raises `StoreError` if it can't."""
        try:
            if is_clean:
                self._note("clean")
        except OSError as error:
            raise translate_os_error(error, self._path) from error
        finally:
            os.close(self._descriptor)

    def _note(self, mark: str) -> None:
        """Write the record and sync it at once, so that a power failure can't hide a crash."""
        note = f"{os.getpid()} {mark}\n".encode()
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, note, 0)
        os.fsync(self._descriptor)


def read_note(path: Path) -> tuple[int, bool] | None:
    """Return the last holder's process id and whether it shut down cleanly; None without a record.

    It neither waits for the lock nor takes it, so a running holder also counts as not shut down.
    Raises `StoreError` if the file can't be read.
    """
    try:
        words = path.read_bytes()[:_LONGEST_NOTE].decode("ascii", "replace").split()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise translate_os_error(error, path) from error
    return (int(words[0]), words[1:] == ["clean"]) if words and words[0].isdecimal() else None


def _read(descriptor: int) -> list[str]:
    return os.pread(descriptor, _LONGEST_NOTE, 0).decode("ascii", "replace").split()
