"""The skills that there are: those that come with the program, and those of the home."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Literal

from agent_core.errors import SkillBroken, SkillMissing
from agent_core.skills.parser import LONGEST_NAME, Skill, is_name, read_skill

BUNDLED = "skills_bundled"
FILE = "SKILL.md"
ARCHIVE = ".archive"
"""The folder, among the home's skills, of those that were put away."""
MOST_BYTES = 65_536
"""Of a SKILL.md: all of it stands in the prompt of whoever uses it."""
MOST_FILES = 1000
"""In the folder of one skill."""

_MOST_NAMED = 50

Origin = Literal["bundled", "home"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogEntry:
    """A skill as it was found: one that is broken has a `fault`, and no `skill`."""

    name: str
    origin: Origin
    skill: Skill | None = None
    fault: str = ""


class SkillCatalog:
    """Reads afresh each time: people change these files. All of it blocks."""

    def __init__(self, folder: Path) -> None:
        """`folder` holds the home's own skills; it need not be there."""
        self.folder = folder

    def load(self, name: str) -> Skill:
        """The skill of a name; the home's goes before one that comes along.

        Raises `SkillMissing`, and `SkillBroken`.
        """
        if not is_name(name):
            raise self._miss(name)
        place = self.folder / name
        if place in list_folders(self.folder):
            return read_folder(place)
        file = files(BUNDLED) / name / FILE
        if file.is_file():
            return read_skill(name, file.read_text(encoding="utf-8"))
        if os.path.lexists(self.folder / ARCHIVE / name):
            raise SkillMissing(
                f"the skill {name} was put away; `talaria skills restore {name}` takes it back"
            )
        raise self._miss(name)

    def list_all(self) -> list[CatalogEntry]:
        """Every skill by its name, also the broken ones. Raises `SkillBroken` if the folder
        of the home's can't be read.
        """
        own = {one.name: one for one in self.list_own()}
        bundled = (
            CatalogEntry(name=path.name, origin="bundled", skill=self.load(path.name))
            for path in files(BUNDLED).iterdir()
            if path.name not in own and (path / FILE).is_file()
        )
        found = {one.name: one for one in bundled} | own
        return [found[name] for name in sorted(found)]

    def list_own(self) -> list[CatalogEntry]:
        """The home's skills. Raises `SkillBroken` if their folder can't be read."""
        return [_look_at(place) for place in list_folders(self.folder)]

    def list_away(self) -> list[str]:
        """The names under which skills were put away. Raises `SkillBroken` as above."""
        return [show_name(place.name) for place in list_folders(self.folder / ARCHIVE)]

    def _miss(self, name: str) -> SkillMissing:
        bundled = [path.name for path in files(BUNDLED).iterdir() if (path / FILE).is_file()]
        own = [show_name(place.name) for place in list_folders(self.folder)]
        names = sorted({*bundled, *own})[:_MOST_NAMED]
        return SkillMissing(f"there is no skill {name[:LONGEST_NAME]}; there is {', '.join(names)}")

    def is_there(self) -> bool:
        """False where the home has no folder of skills."""
        return self.folder.is_dir()


def list_folders(folder: Path) -> list[Path]:
    """The folders that ought to be skills. Raises `SkillBroken` if it can't be read."""
    try:
        entries = [entry for entry in folder.iterdir() if not entry.name.startswith(".")]
        # A link that leads nowhere is shown as broken; files beside skills are no concern of ours.
        return sorted(one for one in entries if one.is_dir() or not one.exists())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise SkillBroken(
            f"the folder of skills {folder} can't be read: {error.strerror or error}"
        ) from error


def show_name(name: str) -> str:
    """The name of a file as it can be shown and stored: a disk takes any bytes for one."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in name)


def read_folder(place: Path) -> Skill:
    """The skill in a folder. Raises `SkillBroken` with what is wrong with it."""
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
        return read_skill(name, _read_text(place / FILE, name))
    except OSError as error:
        raise SkillBroken(f"skill {name} can't be read: {error.strerror or error}") from error


def _look_at(place: Path) -> CatalogEntry:
    name = show_name(place.name)
    try:
        return CatalogEntry(name=name, origin="home", skill=read_folder(place))
    except SkillBroken as error:
        return CatalogEntry(name=name, origin="home", fault=str(error))


def _walk(place: Path) -> Iterator[Path]:
    """The links below a folder. Raises `SkillBroken` where there is too much."""
    count = 0
    for folder, folders, names in os.walk(place):
        count += len(folders) + len(names)
        if count > MOST_FILES:
            raise SkillBroken(f"skill {show_name(place.name)} holds more than {MOST_FILES:,} files")
        here = Path(folder)
        yield from (here / name for name in (*folders, *names) if (here / name).is_symlink())


def _read_text(file: Path, name: str) -> str:
    try:
        found = file.stat()
    except FileNotFoundError:
        raise SkillBroken(f"skill {name} has no {FILE}") from None
    if not stat.S_ISREG(found.st_mode):
        raise SkillBroken(f"the {FILE} of skill {name} is no file")
    with file.open("rb") as opened:
        content = opened.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise SkillBroken(
            f"the {FILE} of skill {name} is larger than {MOST_BYTES // 1024} KiB; put what is not"
            " always needed into files beside it"
        )
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise SkillBroken(f"the {FILE} of skill {name} is not written in UTF-8") from None
