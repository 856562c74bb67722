"""Changes of the home's skills: checked, and recorded in the ledger with the intent to make them.

`intents.write_planned` makes them in a later transaction.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from agent_core.errors import SkillBroken, SkillConflict
from agent_core.skills.catalog import ARCHIVE, MOST_BYTES, SKILL_FILE, SkillCatalog
from agent_core.skills.intents import (
    SkillChange,
    intend_change,
    intend_moves,
    list_unwritten,
    write_planned,
)
from agent_core.skills.ledger_sync import record_archived, record_restored, record_text
from agent_core.skills.parser import is_name, read_skill
from agent_core.skills.snapshots import is_whole, read_snapshot
from agent_core.skills.states import is_version, judge_text
from agent_core.state.engine.database import Connection
from agent_core.state.memory import blocks, ledger, skill_changes, skills
from agent_core.state.memory.ledger import Change, LedgerEntry, Origin
from agent_core.tools.secret_scan import find_secret
from agent_core.transcript import is_hidden

_FILE = re.compile(
    r"(?:scripts|references|templates|assets|evals)(?:/[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}){1,4}"
)
_LONGEST_FILE = 200_000
"""Characters of a file beside the SKILL.md."""
_MOST_SKILLS = 1_000


def check_create(catalog: SkillCatalog, name: str, text: str) -> SkillChange:
    """Check a new skill. Blocks. Raises `SkillConflict` and `SkillBroken`."""
    if not is_name(name):
        raise SkillConflict(
            "A skill's name consists of at most 64 of a-z, 0-9 and single hyphens, such as"
            " tidy-lists."
        )
    catalog.check_name(name)
    entries = catalog.list_all()
    taken = next((one for one in entries if one.name == name), None)
    if taken or os.path.lexists(catalog.folder / name):
        raise SkillConflict(f"There is a skill {name} already; patch it or choose another name.")
    if len(entries) >= _MOST_SKILLS:
        raise SkillConflict("There are too many skills; archive some first.")
    _check_text(catalog, name, text)
    return SkillChange(name=name, path=SKILL_FILE, before=None, after=text)


def check_patch(catalog: SkillCatalog, name: str, old: str, new: str) -> SkillChange:
    """Check a patch of the home's skill: `old` must occur once. Blocks. Raises as above."""
    before = _read_own(catalog, name)
    count = before.count(old) if old else 0
    if count != 1:
        found = f"occurs {count} times" if count else "does not occur"
        raise SkillConflict(f"`old` {found} in the skill {name}; give a passage that occurs once.")
    after = before.replace(old, new)
    if after == before:
        raise SkillConflict(f"The skill {name} says that already.")
    _check_text(catalog, name, after)
    return SkillChange(name=name, path=SKILL_FILE, before=before, after=after)


def check_rewrite(catalog: SkillCatalog, name: str, text: str) -> SkillChange:
    """Check a text that replaces the whole text of the home's skill. Blocks. Raises as above."""
    before = _read_own(catalog, name)
    if text == before:
        raise SkillConflict(f"The skill {name} says that already.")
    _check_text(catalog, name, text)
    return SkillChange(name=name, path=SKILL_FILE, before=before, after=text)


def check_file(catalog: SkillCatalog, name: str, path: str, text: str) -> SkillChange:
    """Check a new file of the home's skill. Blocks. Raises as above."""
    _read_own(catalog, name)
    if not _FILE.fullmatch(path):
        raise SkillConflict(
            "A skill's file is in scripts, references, templates, assets or evals, such as"
            " scripts/count.py."
        )
    if os.path.lexists(catalog.folder / name / path):
        raise SkillConflict(f"The skill {name} has a file {path} already.")
    if len(text) > _LONGEST_FILE:
        raise SkillConflict(f"A skill's file has at most {_LONGEST_FILE:,} characters.")
    _check_words(text)
    return SkillChange(name=name, path=path, before=None, after=text)


def plan(connection: Connection, folder: Path, change: SkillChange, origin: Origin) -> int | None:
    """Record a change and the intent to write it; return the skill's new version.

    None if the file has changed since it was checked, or if an earlier change can't be written yet.
    """
    write_planned(connection, folder)
    if change.name in list_unwritten(connection):
        return None
    team = blocks.make_team(connection, now=origin.now)
    place = folder / change.name
    present = read_snapshot(place) if os.path.lexists(place) else None
    if change.path == SKILL_FILE:
        if present != change.before:
            return None
    elif present is None or os.path.lexists(place / change.path):
        return None
    hand = Origin(actor="hand", now=origin.now, evidence="found when it was changed")
    if present is not None:
        record_text(connection, name=change.name, text=present, origin=hand)
    skills.note_seen(connection, name=change.name, now=origin.now)
    row = skills.find(connection, name=change.name)
    assert row is not None  # noqa: S101 - it was noted just now
    is_text = change.path == SKILL_FILE
    entry = ledger.record(
        connection,
        person_id=team,
        target="skill",
        change=Change(
            operation="add" if is_text and change.before is None else "replace",
            position=row.id,
            before=change.before if is_text else present,
            after=change.after if is_text else present,
        ),
        origin=origin,
    )
    if is_text:
        judge_text(connection, name=change.name, entry=entry)
    intend_change(connection, entry.id, change)
    return _count(connection, entry)


def plan_moves(
    connection: Connection, name: str, moves: Sequence[tuple[str, str]], tree: str = ""
) -> None:
    """Record the intent to move folders of a skill, for its newest row; see `intend_moves`."""
    intend_moves(connection, _find_newest(connection, name).id, name, moves, tree)


def archive_planned(connection: Connection, folder: Path, name: str, origin: Origin) -> str:
    """Record that a skill is archived, and the intent to move it; return its name there.

    Raises as `record_archived`.
    """
    kept = record_archived(connection, folder, name, origin)
    plan_moves(connection, name, [(name, f"{ARCHIVE}/{kept}")])
    return kept


def restore_planned(connection: Connection, folder: Path, kept: str, origin: Origin) -> str:
    """Record that a skill is back, and the intent to move it; return its new name.

    Raises as `record_restored`.
    """
    name = record_restored(connection, folder, kept, origin)
    plan_moves(connection, name, [(f"{ARCHIVE}/{kept}", name)])
    return name


def find_version(connection: Connection, call_key: str) -> int | None:
    """Return the version that a call has made; None if the call has made none yet."""
    team = blocks.find_team(connection)
    made = ledger.find_call(connection, person_id=team, call_key=call_key) if team else []
    return _count(connection, made[0]) if made else None


def _read_own(catalog: SkillCatalog, name: str) -> str:
    """Read the SKILL.md of the home's skill. Raises `SkillConflict`."""
    place = catalog.folder / name
    if not is_name(name) or not place.is_dir():
        away = catalog.folder / ARCHIVE / name
        hint = "; it is archived" if is_name(name) and away.is_dir() else ""
        raise SkillConflict(f"The home has no skill {name[:64]}{hint}; no other can be changed.")
    text = read_snapshot(place)
    if not text or not is_whole(text):
        raise SkillConflict(f"The skill {name} can't be read; `talaria skills check` says why.")
    return text


def _check_text(catalog: SkillCatalog, name: str, text: str) -> None:
    """Check a whole SKILL.md strictly. Raises `SkillBroken` and `SkillConflict`."""
    if len(text.encode("utf-8", "replace")) > MOST_BYTES:
        raise SkillConflict(f"A SKILL.md has at most {MOST_BYTES // 1024} KiB.")
    skill = read_skill(name, text)
    if skill.unknown:
        raise SkillBroken(f"Agent Skills has no field {skill.unknown[0]}; put it below `metadata`")
    if fault := catalog.find_backend_fault(skill):
        raise SkillBroken(fault)
    _check_words(text)


def _check_words(text: str) -> None:
    hidden = next((sign for sign in text if sign not in "\n\t" and is_hidden(sign)), "")
    if hidden:
        raise SkillConflict(f"It contains a hidden character (U+{ord(hidden):04X}); remove that.")
    if secret := find_secret(text):
        raise SkillConflict(f"It contains what looks like {secret}; name a variable instead.")


def _find_newest(connection: Connection, name: str) -> LedgerEntry:
    """Return the newest ledger row of a skill; the caller has just recorded one."""
    team, row = blocks.find_team(connection), skills.find(connection, name=name)
    assert team is not None  # noqa: S101 - its rows are the team's
    assert row is not None  # noqa: S101
    entry = skill_changes.find_newest(connection, person_id=team, skill_id=row.id)
    assert entry is not None  # noqa: S101
    return entry


def _count(connection: Connection, entry: LedgerEntry) -> int:
    """Return the number of the version that a row made, or to which it added a file."""
    team = blocks.find_team(connection)
    assert team is not None  # noqa: S101 - the row is the team's
    rows = skill_changes.list_of_skill(
        connection, person_id=team, skill_id=entry.change.position, limit=1_000_000
    )
    return len([row for row in rows if row.id <= entry.id and is_version(row)])
