"""Requests and answers of the operations that import another assistant. Quick to import."""

from dataclasses import dataclass
from typing import Any, Literal

Target = Literal["memory", "user", "soul", "archive"]
"""Where an imported entry goes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FindHeir:
    """Asks who gets the import: a person by name, or the owner."""

    person: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Heir:
    """Names the person who gets the import, by the folder."""

    person: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportLine:
    """An entry for a person; `origin` is the file that it was read from."""

    person: str
    target: Target
    text: str
    origin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportJob:
    """A job for a person, with the options of `talaria jobs add`, and where it was read."""

    person: str
    options: dict[str, Any]
    origin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """Says what became of an entry or a job: new, known from before, or left out for a reason.

    `place` is where an entry went.
    """

    state: Literal["new", "known", "left"]
    reason: str = ""
    place: Target | None = None
