"""The catalog of available skills: bundled ones and those in the home folder."""

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Literal

from agent_core.errors import SkillBroken, SkillMissing
from agent_core.skills.parser import LONGEST_NAME, Skill, is_name, read_skill

BUNDLED = "skills_bundled"
SKILL_FILE = "SKILL.md"
ARCHIVE = ".archive"
"""The subfolder for archived skills."""
MOST_BYTES = 65_536
"""The largest SKILL.md; all of it goes into the prompt."""
MOST_FILES = 1000
"""The largest number of files in one skill."""

_MOST_NAMED = 50

Origin = Literal["bundled", "home"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogEntry:
    """A skill in the catalog; a broken one has a `fault` and no `skill`."""

    name: str
    origin: Origin
    skill: Skill | None = None
    fault: str = ""


class SkillCatalog:
    """The available skills, read afresh on each call because people edit the files. Blocks."""

    def __init__(self, folder: Path, further: Sequence[Path] = ()) -> None:
        """`folder` contains the home's own skills; it need not exist.

        `further` folders contain skills beside the bundled ones, which nobody edits here.
        """
        self.folder = folder
        self._bundles: tuple[Traversable, ...] = (files(BUNDLED), *further)

    def load(self, name: str) -> Skill:
        """Load a skill by name; a skill in the home folder overrides a bundled one.

        Raises `SkillMissing` and `SkillBroken`.
        """
        if not is_name(name):
            raise self._miss(name)
        place = self.folder / name
        if place in list_skill_folders(self.folder):
            return read_skill_folder(place)
        for bundle in self._bundles:
            file = bundle / name / SKILL_FILE
            if file.is_file():
                return read_skill(name, file.read_text(encoding="utf-8"))
        if os.path.lexists(self.folder / ARCHIVE / name):
            raise SkillMissing(
                f"the skill {name} is archived; `talaria skills restore {name}` restores it"
            )
        raise self._miss(name)

    def is_bundled(self, name: str) -> bool:
        """True if `load` takes a skill from Talaria itself, not one that somebody put here."""
        if self.folder / name in list_skill_folders(self.folder):
            return False
        return (self._bundles[0] / name / SKILL_FILE).is_file()

    def list_all(self) -> list[CatalogEntry]:
        """List all skills by name, including broken ones. Raises `SkillBroken` if the home's
        folder is
        unreadable.
        """
        own = {one.name: one for one in self.list_own()}
        bundled = (
            CatalogEntry(name=path.name, origin="bundled", skill=self.load(path.name))
            for path in self._list_bundled()
            if path.name not in own
        )
        found = {one.name: one for one in bundled} | own
        return [found[name] for name in sorted(found)]

    def list_own(self) -> list[CatalogEntry]:
        """List the home's skills. Raises `SkillBroken` if their folder is unreadable."""
        return [_look_at(place) for place in list_skill_folders(self.folder)]

    def list_away(self) -> list[str]:
        """List the folder names of archived skills. Raises `SkillBroken` as above."""
        return [show_name(place.name) for place in list_skill_folders(self.folder / ARCHIVE)]

    def _miss(self, name: str) -> SkillMissing:
        bundled = [path.name for path in self._list_bundled()]
        own = [show_name(place.name) for place in list_skill_folders(self.folder)]
        names = sorted({*bundled, *own})[:_MOST_NAMED]
        return SkillMissing(f"there is no skill {name[:LONGEST_NAME]}; there is {', '.join(names)}")

    def _list_bundled(self) -> list[Traversable]:
        """List the folders of the skills that are not the home's."""
        found = (path for bundle in self._bundles if bundle.is_dir() for path in bundle.iterdir())
        return [path for path in found if (path / SKILL_FILE).is_file()]

    def is_there(self) -> bool:
        """True if the home has a skills folder."""
        return self.folder.is_dir()


def list_skill_folders(folder: Path) -> list[Path]:
    """List the folders that should be skills. Raises `SkillBroken` if `folder` is unreadable."""
    try:
        entries = [entry for entry in folder.iterdir() if not entry.name.startswith(".")]
        # A dangling link is listed as a broken skill; plain files beside skills are ignored.
        return sorted(one for one in entries if one.is_dir() or not one.exists())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise SkillBroken(
            f"the skills folder {folder} is unreadable: {error.strerror or error}"
        ) from error


def show_name(name: str) -> str:
    """Make a file name printable; a file system accepts any bytes."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in name)


def read_skill_folder(place: Path) -> Skill:
    """Load the skill in a folder. Raises `SkillBroken` with the reason."""
    name = show_name(place.name)
    try:
        real = os.path.realpath(place, strict=True)
        if Path(real) != Path(os.path.realpath(place.parent, strict=True)) / place.name:
            raise SkillBroken(f"skill {name} is a link; put the folder itself there")
        for entry in _walk(place):
            if not Path(os.path.realpath(entry)).is_relative_to(real):
                link = show_name(str(entry.relative_to(place)))
                raise SkillBroken(
                    f"{link} of skill {name} is a link that leads out of its folder; put the file"
                    " itself there"
                )
        return read_skill(name, _read_text(place / SKILL_FILE, name))
    except OSError as error:
        raise SkillBroken(f"skill {name} is unreadable: {error.strerror or error}") from error


def _look_at(place: Path) -> CatalogEntry:
    name = show_name(place.name)
    try:
        return CatalogEntry(name=name, origin="home", skill=read_skill_folder(place))
    except SkillBroken as error:
        return CatalogEntry(name=name, origin="home", fault=str(error))


def _walk(place: Path) -> Iterator[Path]:
    """Find the links below a folder. Raises `SkillBroken` if it has too many files."""
    count = 0
    for folder, folders, names in os.walk(place):
        count += len(folders) + len(names)
        if count > MOST_FILES:
            raise SkillBroken(f"skill {show_name(place.name)} has more than {MOST_FILES:,} files")
        here = Path(folder)
        yield from (here / name for name in (*folders, *names) if (here / name).is_symlink())


def _read_text(file: Path, name: str) -> str:
    try:
        found = file.stat()
    except FileNotFoundError:
        raise SkillBroken(f"skill {name} has no {SKILL_FILE}") from None
    if not stat.S_ISREG(found.st_mode):
        raise SkillBroken(f"the {SKILL_FILE} of skill {name} is not a regular file")
    with file.open("rb") as opened:
        content = opened.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise SkillBroken(
            f"the {SKILL_FILE} of skill {name} is larger than {MOST_BYTES // 1024} KiB; move"
            " what is not always needed into other files"
        )
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise SkillBroken(f"the {SKILL_FILE} of skill {name} is not written in UTF-8") from None
