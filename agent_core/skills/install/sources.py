"""Sources of skills by their address: folders, Git repositories, and hubs with a name."""

import json
import os
import re
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agent_core.errors import SkillConflict
from agent_core.skills.catalog import MOST_FILES, SKILL_FILE, show_name
from agent_core.skills.install.contract import SkillContent, SkillFile, SkillSource
from agent_core.skills.install.git import GitSource, is_git_address
from agent_core.skills.install.stage import LEFT_OUT, walk
from agent_core.skills.parser import is_name

INDEX = "index.json"
"""The file at the top of a repository that lists skills of other repositories."""
_LARGEST_INDEX = 4 * 1024 * 1024
_MOST_SKILLS = 5_000
_DEEPEST = 4
"""The most levels below the top of a source at which a skill is found."""
_MOST_FOLDERS = 20_000
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_REMOTE = ("https://", "ssh://")


def open_source(
    text: str, ref: str, scratch: Path, environ: Mapping[str, str], hubs: Mapping[str, str]
) -> tuple[SkillSource, str]:
    """Open the source `PATH`, `GIT`, `HUB` or `HUB/NAME`; return it and the skill's name, or "".

    `scratch` takes temporary files, and `hubs` are addresses by name. Blocks. Raises
    `SkillConflict`.
    """
    hub, _, name = text.partition("/")
    if hub in hubs and is_name(hub):
        return _open(hubs[hub], ref, scratch, environ), name
    if is_git_address(text):
        return _open(text, ref, scratch, environ), ""
    if is_name(text) and not Path(text).exists():
        known = ", ".join(sorted(hubs)) or "none; `skills.hubs` adds one"
        raise SkillConflict(f"There is no folder and no hub {text}. Hubs: {known}.")
    return FolderSource(Path(text).absolute()), ""


def _open(address: str, ref: str, scratch: Path, environ: Mapping[str, str]) -> SkillSource:
    if not is_git_address(address):
        return FolderSource(Path(address).absolute())
    source = GitSource(address, ref, scratch / "git", environ)
    index = source.find_file(INDEX)
    if index is None:
        return source
    if index.size > _LARGEST_INDEX:
        raise SkillConflict(f"The index of {address} is too large.")
    return IndexSource(address, _read_index(address, source.read(index)), scratch, environ)


class FolderSource:
    """A skill's folder, or a folder of several skills."""

    def __init__(self, place: Path) -> None:
        """Raises `SkillConflict` if `path` is not a folder."""
        if not place.is_dir():
            what = "a file; unpack it first" if place.exists() else "not a folder"
            raise SkillConflict(f"{show_name(str(place))} is {what}.")
        self.address = show_name(str(place))
        self._place = place

    def list_skills(self) -> Sequence[str]:
        """List the names of the skills; see `SkillSource`."""
        return sorted(self._find_places())

    def open_skill(self, name: str) -> SkillContent:
        """Open a skill; see `SkillSource`."""
        places = self._find_places()
        if name not in places:
            raise SkillConflict(f"There is no skill {show_name(name)[:64]} in {self.address}.")
        return FolderSkill(places[name])

    def _find_places(self) -> Mapping[str, Path]:
        """Find the skills at or below the folder. Raises `SkillConflict`."""
        if (self._place / SKILL_FILE).exists():
            return {show_name(self._place.resolve().name): self._place.resolve()}
        found: dict[str, Path] = {}
        for count, (here, folders, names) in enumerate(os.walk(self._place)):
            if count > _MOST_FOLDERS:
                raise SkillConflict(f"{self.address} has too many folders.")
            place = Path(here)
            depth = len(place.relative_to(self._place).parts)
            folders[:] = sorted(one for one in folders if one not in LEFT_OUT)
            if depth >= _DEEPEST or SKILL_FILE in names:
                folders.clear()
            if SKILL_FILE in names:
                name = show_name(place.name)
                if name in found:
                    raise SkillConflict(f"There are two skills {name} in {self.address}.")
                found[name] = place
        return found


class FolderSkill:
    """The files of a skill's folder."""

    def __init__(self, place: Path) -> None:
        self.address, self.commit = show_name(str(place)), ""
        self._place = place

    def list_files(self) -> Sequence[SkillFile]:
        """List the files and links; see `SkillContent`."""
        found: list[SkillFile] = []
        for path, file in walk(self._place):
            if len(found) > MOST_FILES:
                break
            state = file.lstat()
            kind = "" if stat.S_ISREG(state.st_mode) else "special file"
            found.append(
                SkillFile(
                    path=path,
                    size=state.st_size,
                    is_executable=bool(state.st_mode & stat.S_IXUSR),
                    kind="link" if stat.S_ISLNK(state.st_mode) else kind,
                )
            )
        return found

    def read(self, file: SkillFile) -> bytes:
        """Read a plain file, even if somebody replaces it by a link or a pipe meanwhile."""
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with os.fdopen(os.open(self._place / file.path, flags), "rb") as opened:
            return opened.read(file.size + 1)


@dataclass(frozen=True, slots=True)
class _IndexEntry:
    git: str
    folder: str
    commit: str


class IndexSource:
    """An index of skills, each in a repository at a fixed commit."""

    def __init__(
        self,
        address: str,
        entries: Mapping[str, _IndexEntry],
        scratch: Path,
        environ: Mapping[str, str],
    ) -> None:
        self.address = address
        self._entries = entries
        self._scratch = scratch
        self._environ = environ

    def list_skills(self) -> Sequence[str]:
        """List the names of the skills; see `SkillSource`."""
        return sorted(self._entries)

    def open_skill(self, name: str) -> SkillContent:
        """Fetch a skill's repository at its commit; see `SkillSource`."""
        if name not in self._entries:
            raise SkillConflict(f"There is no skill {show_name(name)[:64]} in {self.address}.")
        one = self._entries[name]
        source = GitSource(one.git, one.commit, self._scratch / f"of-{name}", self._environ)
        if source.commit != one.commit:
            raise SkillConflict(f"{one.git} does not have the commit that the index names.")
        return source.open_folder(one.folder)


def _read_index(address: str, content: bytes) -> Mapping[str, _IndexEntry]:
    """Parse an index. Raises `SkillConflict`."""
    fault = SkillConflict(
        f"The index of {address} is not valid: each of its `skills` needs `name`, `git` and"
        " `commit`, and none may be there twice."
    )
    found: dict[str, _IndexEntry] = {}
    # An index from elsewhere must not name repositories of this computer.
    allowed = _REMOTE if address.startswith(_REMOTE) else (*_REMOTE, "file://")
    try:
        for one in json.loads(content)["skills"][:_MOST_SKILLS]:
            name, git, commit = str(one["name"]), str(one["git"]), str(one["commit"])
            is_good = is_name(name) and _COMMIT.fullmatch(commit) and git.startswith(allowed)
            if not is_good or name in found:
                raise fault
            found[name] = _IndexEntry(git, str(one.get("path", "")).strip("/"), commit)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise fault from error
    return found
