"""The catalog of available skills: the home's, bundled ones, and those of the working folder."""

import logging
import os
import stat
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Literal

from agent_core.errors import SkillBroken, SkillConflict, SkillMissing
from agent_core.skills.agreements import hash_folder, read_agreements
from agent_core.skills.foreign import read_any_skill
from agent_core.skills.parser import LONGEST_NAME, Skill, is_name

_log = logging.getLogger(__name__)

BUNDLED = "skills_bundled"
SKILL_FILE = "SKILL.md"
EVALS = "evals"
"""The subfolder of a skill with the cases that test it; no reader needs them."""
ARCHIVE = ".archive"
"""The subfolder for archived skills."""
PROJECT_FOLDERS = (".agents/skills", ".claude/skills")
"""Folders with skills in the working folder, in the order in which a name is looked up."""
MOST_BYTES = 131_072
"""The largest SKILL.md. Some published ones have more than 64 KiB."""
MOST_FILES = 1000
"""The largest number of files in one skill."""

_MOST_NAMED = 50

SkillOrigin = Literal["bundled", "home", "project"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogEntry:
    """A skill in the catalog; a broken one has a `fault` and no `skill`.

    A skill of the working folder is not trusted until an owner agrees to its present content.
    """

    name: str
    origin: SkillOrigin
    skill: Skill | None = None
    fault: str = ""
    place: Path | None = None
    """The skill's folder; None for a skill inside a package archive."""
    is_trusted: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Collision:
    """A skill that another one of the same name hides; the places are for people to read."""

    name: str
    hidden: str
    used: str


_Stamp = tuple[int, ...]


class SkillCatalog:
    """The available skills, read again on each call because people edit the files. Blocks.

    A listing reads only the files that have changed since the last one.
    """

    def __init__(
        self,
        folder: Path,
        further: Sequence[Path] = (),
        project: Path | None = None,
        *,
        taken: Collection[str] = (),
        backends: Collection[str] | None = None,
    ) -> None:
        """`folder` contains the home's own skills; it need not exist.

        `further` folders contain more skills that nobody edits here, like the bundled ones.
        `project` is the working folder, whose skills come last. `taken` are the names of commands,
        which no new skill gets. `backends` are those that a skill may name; None if nobody knows.
        """
        self.folder = folder
        self._taken = frozenset(taken)
        self._backends = backends
        self._bundles: tuple[Traversable, ...] = (files(BUNDLED), *further)
        self._projects = tuple(project / one for one in PROJECT_FOLDERS) if project else ()
        self._known: dict[Path, tuple[_Stamp, CatalogEntry]] = {}
        self._reported: set[str] = set()

    def load(self, name: str) -> Skill:
        """Load a skill by name.

        A skill in the home folder overrides a bundled one. Both override one of the working folder,
        which must be trusted. Raises `SkillMissing` and `SkillBroken`.
        """
        entry = self.find(name)
        if not entry.is_trusted:
            raise SkillMissing(
                f"an owner has not agreed to the skill {name} of the working folder;"
                f" `talaria skills agree {name}` does"
            )
        if entry.skill is None:
            raise SkillBroken(entry.fault)
        return entry.skill

    def find(self, name: str) -> CatalogEntry:
        """Read a skill by name, even a broken or untrusted one.

        Raises `SkillMissing`, and `SkillBroken` if a folder of skills is unreadable.
        """
        if not is_name(name):
            raise self._miss(name)
        for origin, place in self._list_places():
            if place.name == name:
                return self._look_at(place, origin)
        if os.path.lexists(self.folder / ARCHIVE / name):
            raise SkillMissing(
                f"the skill {name} is archived; `talaria skills restore {name}` restores it"
            )
        raise self._miss(name)

    def check_name(self, name: str) -> None:
        """Check that a new skill may have a name. Raises `SkillConflict`."""
        if name in self._taken:
            raise SkillConflict(
                f"/{name} is a command of Talaria, so no skill can have that name; choose another."
            )

    def find_backend_fault(self, skill: Skill) -> str:
        """Say in a clause that there is no backend of the name in a skill; "" if there is one."""
        if self._backends is None or not skill.backend or skill.backend in self._backends:
            return ""
        known = ", ".join(sorted(self._backends)) or "none"
        named = show_name(skill.backend)[:LONGEST_NAME]
        return f"the skill {skill.name} names the backend {named}; there is {known}"

    def is_bundled(self, name: str) -> bool:
        """Return True if `load` takes the skill from Talaria itself, not from a person's folder."""
        if self.folder / name in list_skill_folders(self.folder):
            return False
        return may_be_skill(self._bundles[0] / name)

    def list_all(self) -> list[CatalogEntry]:
        """List all skills by name, including broken ones.

        Raises `SkillBroken` if the home's folder is unreadable.
        """
        found: dict[str, CatalogEntry] = {}
        known: dict[Path, tuple[_Stamp, CatalogEntry]] = {}
        for origin, place in self._list_places():
            name = show_name(place.name)
            if name not in found:
                found[name], known[place] = self._look_again(place, origin)
        self._known = known
        return [found[name] for name in sorted(found)]

    def list_collisions(self) -> list[Collision]:
        """List the skills that another one hides. Raises `SkillBroken` as `list_all`."""
        used: dict[str, Path] = {}
        collisions = []
        for _, place in self._list_places():
            name = show_name(place.name)
            if name in used:
                collisions.append(Collision(name=name, hidden=str(place), used=str(used[name])))
            used.setdefault(name, place)
        return collisions

    def list_own(self) -> list[CatalogEntry]:
        """List the home's skills. Raises `SkillBroken` if their folder is unreadable."""
        return [self._look_at(place, "home") for place in list_skill_folders(self.folder)]

    def list_away(self) -> list[str]:
        """List the folder names of archived skills. Raises `SkillBroken` as above."""
        return [show_name(place.name) for place in list_skill_folders(self.folder / ARCHIVE)]

    def is_there(self) -> bool:
        """True if the home has a skills folder."""
        return self.folder.is_dir()

    def _list_places(self) -> Iterator[tuple[SkillOrigin, Path]]:
        """List the folders of all skills, in the order in which a name is looked up."""
        for place in list_skill_folders(self.folder):
            yield "home", place
        for bundle in self._bundles:
            for place in self._list_bundle(bundle):
                yield "bundled", place
        for folder in self._projects:
            for place in self._list_bundle(folder):
                yield "project", place

    def find_faults(self) -> list[str]:
        """Return a sentence for each folder that came with Talaria or a plug-in and is closed."""
        faults = [fault for one in self._bundles if (fault := _read_bundle(one)[1])]
        shut = [one for one in self._list_broken() if one.origin == "bundled"]
        return [*faults, *(f"{one.fault} ({one.place})" for one in shut)]

    def _list_broken(self) -> list[CatalogEntry]:
        entries = (
            self._look_at(place, "bundled")
            for bundle in self._bundles
            for place in _read_bundle(bundle)[0]
        )
        return [entry for entry in entries if entry.fault]

    def _list_bundle(self, bundle: Traversable) -> list[Path]:
        """List the skills of a folder that nobody edits here; a closed one is reported once."""
        places, fault = _read_bundle(bundle)
        if fault and fault not in self._reported:
            self._reported.add(fault)
            _log.warning("%s; make it readable for Talaria's user, then start again", fault)
        return places

    def _look_again(
        self, place: Path, origin: SkillOrigin
    ) -> tuple[CatalogEntry, tuple[_Stamp, CatalogEntry]]:
        """Read a skill, unless its text and its folder are unchanged."""
        stamp = _stamp(place) if origin != "project" else ()
        known = self._known.get(place)
        is_same = known is not None and known[0] == stamp != ()
        entry = known[1] if known and is_same else self._look_at(place, origin)
        return entry, (stamp, entry)

    def _look_at(self, place: Path, origin: SkillOrigin) -> CatalogEntry:
        name = show_name(place.name)
        try:
            skill, fault = read_skill_folder(place), ""
        except SkillBroken as error:
            skill, fault = None, str(error)
        return CatalogEntry(
            name=name,
            origin=origin,
            skill=skill,
            fault=fault,
            place=place,
            is_trusted=origin != "project" or self._is_agreed(place, fault),
        )

    def _is_agreed(self, place: Path, fault: str) -> bool:
        agreed = read_agreements(self.folder).get(str(place.absolute()))
        return agreed is not None and not fault and agreed == hash_folder(place)

    def _miss(self, name: str) -> SkillMissing:
        names = sorted({show_name(place.name) for _, place in self._list_places()})
        shown = ", ".join(names[:_MOST_NAMED])
        return SkillMissing(f"there is no skill {name[:LONGEST_NAME]}; there is {shown}")


def _stamp(place: Path) -> _Stamp:
    """Return a value that changes with a skill's text or its other files; () for a broken skill."""
    try:
        text, folder = (place / SKILL_FILE).lstat(), place.lstat()
    except OSError:
        return ()
    return (text.st_ino, text.st_size, text.st_mtime_ns, text.st_ctime_ns, folder.st_mtime_ns)


def _read_bundle(bundle: Traversable) -> tuple[list[Path], str]:
    """List the skills of a folder, and say why it can't be read; "" if it can."""
    try:
        found = sorted(bundle.iterdir(), key=lambda one: one.name) if bundle.is_dir() else []
    except OSError as error:
        return [], f"the skills folder {bundle} is unreadable: {error.strerror or error}"
    return [Path(str(one)) for one in found if may_be_skill(one)], ""


def may_be_skill(place: Traversable) -> bool:
    """Return whether a folder holds a skill; True for a closed one, which its reader reports."""
    try:
        return (place / SKILL_FILE).is_file()
    except OSError:
        return True


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
        return read_any_skill(name, _read_text(place / SKILL_FILE, name))
    except OSError as error:
        raise SkillBroken(f"skill {name} is unreadable: {error.strerror or error}") from error


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
