"""The owner's agreements to skills of others: a file in the home's skills folder.

An agreement holds for the content: once a file of the skill changes, it ends. An owner agrees by
installing a skill, or with `talaria skills agree`.
"""

import hashlib
import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path

from agent_core.errors import SkillBroken, SkillConflict
from agent_core.memory.files import hash_text, read_file, write_file

FILE = ".agreed.json"
_MOST_BYTES = 20_000_000
"""The most bytes of a skill's files that an owner can agree to."""


def read_agreements(folder: Path) -> Mapping[str, str]:
    """Read the agreements, as place and hash; none if the file is missing or damaged. Blocks."""
    try:
        found = json.loads((folder / FILE).read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def agree(folder: Path, place: Path, copy: Path | None = None) -> None:
    """Record that an owner agrees to a skill as it is, or to a `copy` that is moved later. Blocks.

    Raises `SkillBroken` if it can't be read, `SkillConflict` if the file changes meanwhile, and
    `OSError`.
    """
    digest = hash_folder(copy or place)
    if not digest:
        raise SkillBroken(f"skill {place.name} has files that are too large, links or unreadable")
    folder.mkdir(mode=0o700, exist_ok=True)
    seen = read_file(folder / FILE).hash
    agreed = {**read_agreements(folder), str(place.absolute()): digest}
    text = json.dumps(agreed, indent=2) + "\n"
    if seen != hash_text(text) and not write_file(folder / FILE, text, seen):
        raise SkillConflict(f"{folder / FILE} was changed meanwhile; try again.")


def hash_folder(place: Path) -> str:
    """Hash the names and contents of a skill's files. Blocks.

    Returns "" if one can't be read or is no regular file, or if they are too large.
    """
    digest, total = hashlib.sha256(), 0
    try:
        for here, folders, names in os.walk(place):
            folders.sort()
            for name in sorted(names):
                path = Path(here, name)
                found = path.lstat()
                total += found.st_size
                # A pipe would block, and a link leads to files that nobody agreed to.
                if not stat.S_ISREG(found.st_mode) or total > _MOST_BYTES:
                    return ""
                content = path.read_bytes()
                relative = os.fsencode(path.relative_to(place))
                digest.update(b"%d %d " % (len(relative), len(content)) + relative + content)
    except OSError:
        return ""
    return digest.hexdigest()
