"""The contract of installing: sources of skills, and the findings of a scan."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

Severity = Literal["danger", "caution", "note"]
"""`danger`: few honest skills do this. `caution`: read it first. `note`: good to know."""
InstallSourceKind = Literal[
    "shell", "network", "secrets", "obfuscation", "injection", "hidden unicode", "licence"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A finding in a file; `line` counts from 1, and 0 stands for the whole file."""

    kind: InstallSourceKind
    severity: Severity
    path: str
    line: int
    what: str
    count: int = 1
    """The number of places of this kind in the file; `line` is the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanReport:
    """The result of a scan; `licence` names it, "" if there is none."""

    findings: Sequence[Finding]
    files: int
    size: int
    licence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StagedSkill:
    """A skill that was copied and waits for a decision.

    `token` names its place below the skills folder, `tree` is the hash of its files, `address` and
    `commit` name its origin; `commit` is "" for a folder.
    """

    name: str
    token: str
    address: str
    commit: str
    tree: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillFile:
    """A file of a skill at its source; `size` is in bytes, and `kind` is "" for a plain file."""

    path: str
    size: int
    is_executable: bool = False
    kind: str = ""


class SkillSource(Protocol):
    """A place with skills: a folder, a Git repository, or an index of repositories."""

    @property
    def address(self) -> str:
        """Return the address of the place, as it is shown and recorded."""

    def list_skills(self) -> Sequence[str]:
        """List the names of the skills. Blocks. Raises `SkillConflict`."""

    def open_skill(self, name: str) -> "SkillContent":
        """Open a skill. Blocks. Raises `SkillConflict`."""


class SkillContent(Protocol):
    """The files of one skill at its source."""

    @property
    def address(self) -> str:
        """Return the address of the skill, as it is recorded."""

    @property
    def commit(self) -> str:
        """Return the commit of the skill; "" for a folder."""

    def list_files(self) -> Sequence[SkillFile]:
        """List the files and links. Blocks. Raises `SkillConflict` and `OSError`."""

    def read(self, file: SkillFile) -> bytes:
        """Read a plain file, at most its size. Blocks. Raises `SkillConflict` and `OSError`."""
