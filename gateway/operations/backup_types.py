"""Request and answer of the operation that copies the database. Quick to import."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyDatabase:
    """Asks for a copy of the database in a new file, at an absolute path."""

    target: str = field(metadata={"refusal": "The target is missing."})


@dataclass(frozen=True, slots=True, kw_only=True)
class CopiedDatabase:
    """The file that was written."""

    target: str
