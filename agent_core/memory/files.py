"""Files of memory on the disk: read whole, and replaced whole or not at all."""

import codecs
import errno
import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path

MAX_BYTES = 262_144
"""A hand-made file beyond this is not read: it is no memory but a mistake."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileText:
    """What a file holds. `hash` is SHA-256, in hex, of its bytes; "" if there is no file.

    `is_torn` says that it holds what nobody writes: zeros, which a disk leaves after a failure.
    """

    text: str
    hash: str
    is_torn: bool = False


ABSENT = FileText(text="", hash="")


def digest(text: str) -> str:
    """The hash of a file that holds this text."""
    return hashlib.sha256(text.encode()).hexdigest()


def read(path: Path) -> FileText:
    """The file as it is now, or `ABSENT`. UTF-16 is known by its mark; else text that is not
    UTF-8 is taken for Latin-1.

    Blocks. Raises `OSError` if it is there and can't be read, or is larger than `MAX_BYTES`.
    """
    try:
        with open(path, "rb", opener=_open) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise OSError(errno.EINVAL, "no ordinary file", str(path))
            content = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return ABSENT
    if len(content) > MAX_BYTES:
        raise OSError(errno.EFBIG, f"larger than {MAX_BYTES // 1024} KiB", str(path))
    text = _decode(content)
    is_torn = "\0" in text
    return FileText(
        text="" if is_torn else text,
        hash=hashlib.sha256(content).hexdigest(),
        is_torn=is_torn,
    )


def _open(path: str, flags: int) -> int:
    """Open without waiting: a pipe that nobody writes into would be waited for for ever."""
    return os.open(path, flags | os.O_NONBLOCK)


def _decode(content: bytes) -> str:
    is_wide = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    for encoding in ("utf-16", "latin-1") if is_wide else ("utf-8", "latin-1"):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise AssertionError("Latin-1 knows every byte")


def write(path: Path, text: str, seen: str) -> bool:
    """Replace the file durably, if it is still the one whose hash was `seen`.

    Blocks. False if someone has changed it since; then it is left as it is. A crash leaves
    either file whole. Raises `OSError`.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.new")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(text.encode())
        file.flush()
        os.fsync(file.fileno())
    if read(path).hash != seen:
        draft.unlink()
        return False
    draft.replace(path)
    sync_folder(path.parent)
    return True


def sync_folder(folder: Path) -> None:
    """A rename is on the disk only once its folder is. Blocks. Raises `OSError`."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
