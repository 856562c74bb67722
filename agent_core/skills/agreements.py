"""The owner's agreements to skills of the working folder: a file in the home's skills folder.

An agreement is about the content: once a file of the skill changes, it no longer holds.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

from agent_core.errors import SkillBroken, SkillConflict
from agent_core.memory import hash_text, read_file, write_file

FILE = ".agreed.json"
_MOST_BYTES = 20_000_000
"""Bytes of a skill's files; agreeing to more is refused."""


def read_agreements(folder: Path) -> Mapping[str, str]:
    """Read the agreements, as place and hash; none if the file is missing or damaged. Blocks."""
    try:
        found = json.loads((folder / FILE).read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def agree(folder: Path, place: Path) -> None:
    """Record that an owner agrees to a skill as it is. Blocks.

    Raises `SkillBroken` if it can't be read, `SkillConflict` if the file changes meanwhile, and
    `OSError`.
    """
    digest = hash_folder(place)
    if not digest:
        raise SkillBroken(f"skill {place.name} has too many or unreadable files")
    folder.mkdir(mode=0o700, exist_ok=True)
    seen = read_file(folder / FILE).hash
    agreed = {**read_agreements(folder), str(place.absolute()): digest}
    text = json.dumps(agreed, indent=2) + "\n"
    if seen != hash_text(text) and not write_file(folder / FILE, text, seen):
        raise SkillConflict(f"{folder / FILE} was changed meanwhile; try again.")


def hash_folder(place: Path) -> str:
    """Hash the names and contents of a skill's files; "" if they can't be read. Blocks."""
    digest, total = hashlib.sha256(), 0
    try:
        for here, folders, names in os.walk(place):
            folders.sort()
            for name in sorted(names):
                path = Path(here, name)
                content = path.read_bytes() if path.stat().st_size < _MOST_BYTES else b""
                total += path.stat().st_size
                if total > _MOST_BYTES:
                    return ""
                relative = os.fsencode(path.relative_to(place))
                digest.update(b"%d %d " % (len(relative), len(content)) + relative + content)
    except OSError:
        return ""
    return digest.hexdigest()
