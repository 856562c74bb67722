"""Find the complete backups in a folder."""

from pathlib import Path

ENDING, LOCKED_ENDING = ".tar.gz", ".tar.gz.age"
_SUFFIXES = (".db", ENDING, LOCKED_ENDING)
"""The suffixes of complete backups; a `.db` is a copy of only the database, made by an upgrade."""


def list_complete(folder: Path) -> list[Path]:
    """List the complete backups in a folder, the oldest first. Blocks."""
    found = (path for path in folder.glob("[!.]*") if path.name.endswith(_SUFFIXES))
    return sorted(found, key=lambda path: path.stat().st_mtime)
