"""Looks for damage in the database file, and tells how to get out of it."""

import sqlite3
from pathlib import Path

from agent_core.errors import StoreDamaged
from agent_core.state.mishaps import translate_error

LARGEST_FULL_CHECK = 1 << 30
"""Bytes. Above it the check leaves out whether every index agrees with its table, which is
what takes minutes on a large file."""


def choose_check(path: Path) -> str:
    """The name of the check that fits the size of the file."""
    return "integrity_check" if path.stat().st_size <= LARGEST_FULL_CHECK else "quick_check"


def check(connection: sqlite3.Connection, name: str) -> str:
    """The first fault that the named check finds, "" if there is none."""
    try:
        finding: str = connection.execute(f"PRAGMA {name}(1)").fetchone()[0]
    except sqlite3.DatabaseError as error:
        if not isinstance(translate_error(error, Path()), StoreDamaged):
            raise
        finding = str(error)
    return "" if finding == "ok" else " ".join(finding.split())


def describe_damage(path: Path, fault: str, backups: Path) -> str:
    """What is broken, and what the owner can put in its place."""
    copies = sorted(backups.glob("*.db"), key=lambda copy: copy.stat().st_mtime)
    newest = f"the newest is {copies[-1]}" if copies else f"none lies in {backups}"
    return (
        f"{path} is damaged ({fault}). Move {path.name}, {path.name}-wal and"
        f" {path.name}-shm away and put a backup in the place of {path.name}; {newest}"
    )
