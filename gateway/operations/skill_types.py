"""Requests and answers of the operations on skills. Quick to import."""

from dataclasses import dataclass, field

_ROW = "Give a row number; `talaria skills log` lists the rows."
_VERSION = "Give the number of a version; `talaria skills versions` lists them."


@dataclass(frozen=True, slots=True, kw_only=True)
class ListSkills:
    """Asks for all skills."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillLine:
    """A skill with its uses; with a `fault`, it can't be used. Times are in milliseconds UTC."""

    name: str
    origin: str
    description: str
    unknown: tuple[str, ...]
    fault: str
    state: str
    uses: int
    successes: int
    failures: int
    last_used_at: int | None
    idle_days: int
    is_pinned: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillList:
    """Lists all skills, the names of those that jobs need, and the names in the archive."""

    skills: tuple[SkillLine, ...]
    wanted: tuple[str, ...]
    away: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PickSkill:
    """Names a skill, or one in the archive."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillFact:
    """An entry of a skill's metadata."""

    name: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillDetail(SkillLine):
    """A skill in full."""

    body: str
    license: str
    compatibility: str
    metadata: tuple[SkillFact, ...]
    allowed_tools: tuple[str, ...]
    is_wanted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteSkill:
    """A new skill by its parts, or the whole `text` that an existing one gets."""

    name: str
    description: str = ""
    instructions: str = ""
    text: str = ""
    is_new: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenSkill:
    """A skill that was written, with the number of its version."""

    name: str
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedSkill:
    """A skill whose state was changed; `kept` is its name in the archive, if it went there."""

    name: str
    kept: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowSkillLog:
    """Asks for the newest changes of all skills, or of one."""

    limit: int
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillChangeRow:
    """A row of the ledger about a skill; `at` is in milliseconds UTC."""

    row: int
    name: str
    at: int
    actor: str
    before: str | None
    after: str | None
    undoes: int | None
    evidence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillLog:
    """Changes of skills, newest first."""

    changes: tuple[SkillChangeRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoSkillChange:
    """Names a row of the ledger whose change is undone."""

    row: int = field(metadata={"refusal": _ROW})


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoneSkill:
    """A change that was undone, the row that records it, and the later changes of it.

    `is_text_only` is true if the other files of the skill were not in the archive.
    """

    name: str
    undone: SkillChangeRow
    row: SkillChangeRow
    derived: tuple[SkillChangeRow, ...]
    is_text_only: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallSkill:
    """Names a staged copy of a skill that the user has seen; `agrees` is their yes to dangers."""

    name: str
    token: str
    address: str
    tree: str
    commit: str = ""
    agrees: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillVersion:
    """A text that a skill had; `kept` names its files in the archive, "" without them."""

    number: int
    at: int
    actor: str
    evidence: str
    text: str
    is_current: bool
    kept: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillVersions:
    """The versions of a skill, oldest first."""

    versions: tuple[SkillVersion, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RollBack:
    """Names a skill and the version to which it returns; None for the one before."""

    name: str
    to: int | None = field(default=None, metadata={"refusal": _VERSION})


@dataclass(frozen=True, slots=True, kw_only=True)
class RolledBack:
    """The version that a skill has again; `kept` names its files in the archive, or is ""."""

    name: str
    number: int
    kept: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateSkill:
    """Asks for a test of a skill, or with the `cause` of one for its progress."""

    name: str
    cause: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatedCase:
    """A run of a case, without or with the skill; `passed` is None if it can't be replayed."""

    case: str
    arm: str
    passed: bool | None
    steps: int
    tokens: int
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillTest:
    """A test of a skill. `result` is "" until it is over; `why` says why it died.

    `is_asked` is true if a person asked for it.
    """

    name: str
    is_asked: bool
    cause: str
    state: str
    why: str
    runs: tuple[EvaluatedCase, ...]
    result: str
    reason: str
