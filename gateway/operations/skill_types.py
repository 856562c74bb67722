"""Requests and answers of the operations that write skills. Quick to import."""

from dataclasses import dataclass


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
