"""The token of the HTTP server: made once, kept in the home, readable by its owner alone."""

import os
import re
import secrets
from pathlib import Path

_BYTES = 32
_SHAPE = re.compile(r"[A-Za-z0-9_-]{43}")
"""32 bytes as `token_urlsafe` writes them."""


def load_token(path: Path) -> str:
    """The token in this file; one that is missing or damaged is made anew. Raises `OSError`."""
    try:
        path.chmod(0o600)
        token = path.read_text("ascii", "replace").strip()
    except FileNotFoundError:
        token = ""
    return token if _SHAPE.fullmatch(token) else _make_token(path)


def _make_token(path: Path) -> str:
    """Whole or not at all, and never readable by others, not even for a moment."""
    token = secrets.token_urlsafe(_BYTES)
    part = path.with_name(f"{path.name}.part")
    part.unlink(missing_ok=True)
    descriptor = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        os.write(descriptor, f"{token}\n".encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    part.replace(path)
    return token
