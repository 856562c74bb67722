"""Find a database that is damaged or lost, and say which backup replaces it."""

import shlex
from pathlib import Path

from agent_core.errors import StoreDamaged
from agent_core.state.engine.complete_backups import list_complete


def describe_damage(path: Path, fault: str) -> str:
    """Describe a damaged database, and name the backup that can replace it."""
    return f"{path} is damaged ({fault}). {describe_remedy(name_backups(path))}"


def describe_remedy(backups: Path, copy: Path | None = None) -> str:
    """Say how to put back a copy, by default the newest complete one in the folder of backups."""
    copy = copy or next(reversed(list_complete(backups)), None)
    if copy is None:
        return f"Run `talaria restore FILE` with a backup; none lies in {backups}"
    return f"Stop Talaria and run `talaria restore {shlex.quote(str(copy))}`"


def refuse_lost(path: Path) -> None:
    """Raise `StoreDamaged` if a home that was used has an empty database, or none.

    A new database in it would begin without anything that people said, and nobody would notice.
    """
    backups, memories = name_backups(path), path.parent / "memories"
    is_used = bool(list_complete(backups)) or any(one.is_file() for one in memories.rglob("*"))
    if not is_used or (path.exists() and path.stat().st_size):
        return
    state = "empty" if path.exists() else "missing"
    raise StoreDamaged(
        f"{path} is {state}, but this home was used. {describe_remedy(backups)}."
        f" To start over instead, move {memories} and {backups} elsewhere"
    )


def name_backups(path: Path) -> Path:
    """Return the folder for the copies of a database."""
    return path.parent / "backups"
