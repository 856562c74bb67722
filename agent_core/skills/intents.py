"""Planned files of skills: what the ledger records, and the disk does not have yet.

A change is recorded in one transaction, together with an intent, and `write_planned` writes its
files in a later one. So a crash leaves a row without its files, never files without their row, and
the next start writes what is missing. If somebody edited a file meanwhile, the edit wins: the
intent is dropped, and the edit is recorded as made by hand.
"""

import json
import logging
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from agent_core.memory.files import read_file, write_file
from agent_core.skills.agreements import hash_folder
from agent_core.skills.catalog import SKILL_FILE
from agent_core.skills.snapshots import read_snapshot
from agent_core.state.engine import meta
from agent_core.state.engine.backup import sync_folder
from agent_core.state.engine.database import Connection

_INTENT = "skill_intent:"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillChange:
    """A change of one file: the SKILL.md, or a new file beside it. None means that the file does
    not exist.
    """

    name: str
    path: str
    before: str | None
    after: str


def intend_change(connection: Connection, row_id: int, change: SkillChange) -> None:
    """Record the intent to write a file, for a row of the ledger."""
    meta.put(connection, key=f"{_INTENT}{row_id:012}", value=json.dumps(asdict(change)))


def intend_moves(
    connection: Connection, row_id: int, name: str, moves: Sequence[tuple[str, str]], tree: str
) -> None:
    """Record the intent to move folders of a skill within the skills folder, for a row.

    With a `tree`, the folder that the last move takes must still have that hash.
    """
    intent = {"name": name, "moves": moves, "tree": tree}
    meta.put(connection, key=f"{_INTENT}{row_id:012}", value=json.dumps(intent))


def write_planned(connection: Connection, folder: Path) -> None:
    """Write the files of all intents, oldest first; one that can't be written stays.

    Call it in a transaction before anything is planned there: what is not committed must not be on
    the disk.
    """
    for key, value in meta.list_under(connection, prefix=_INTENT).items():
        intent = json.loads(value)
        try:
            if "moves" in intent:
                _move(folder, intent["moves"], intent["tree"])
            else:
                change = SkillChange(**intent)
                _write(folder / change.name, change)
        except OSError as error:
            _log.warning("a skill can't be written yet: %s", error)
            continue
        meta.drop(connection, key=key)


def has_written_all(connection: Connection) -> bool:
    """Return True if every planned file was written, or dropped in favour of an edit by hand."""
    return not meta.list_under(connection, prefix=_INTENT)


def list_unwritten(connection: Connection) -> frozenset[str]:
    """Return the names of the skills whose files are not yet what the ledger says."""
    found = meta.list_under(connection, prefix=_INTENT).values()
    return frozenset(json.loads(value).get("name", "") for value in found)


def _move(folder: Path, moves: Sequence[tuple[str, str]], tree: str) -> None:
    """Make the moves of an intent that were not made yet. Blocks. Raises `OSError`."""
    last, _ = moves[-1]
    if tree and os.path.lexists(folder / last) and hash_folder(folder / last) != tree:
        _log.warning("%s was changed before it was moved, and stays there", folder / last)
        return
    for before, after in moves:
        place, target = folder / before, folder / after
        # After a crash, or an edit by hand, a move may have been made already.
        if place.is_dir() and not place.is_symlink() and not os.path.lexists(target):
            target.parent.mkdir(mode=0o700, exist_ok=True)
            place.rename(target)
            sync_folder(target.parent)
            sync_folder(place.parent)


def _write(place: Path, change: SkillChange) -> None:
    """Write the file of an intent, unless somebody changed it. Blocks. Raises `OSError`."""
    path = place / change.path
    is_text = change.path == SKILL_FILE
    is_new_skill = is_text and change.before is None
    if place.is_symlink() or (not is_new_skill and not place.is_dir()):
        return
    if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(place)):
        return
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # The ledger may hold only a note on the text before, such as of one that is not in UTF-8.
    is_there = os.path.lexists(path)
    if is_there if change.before is None else read_snapshot(place) != change.before:
        return
    write_file(path, change.after, read_file(path).hash)
