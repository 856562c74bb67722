"""Requests and answers of the operations on a person's data. Quick to import."""

from dataclasses import dataclass

from gateway.operations.people_types import PickPerson


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportPerson(PickPerson):
    """Asks for a person's data as a new archive at an absolute path.

    Without a path, it is written to a folder of its own in the home, which its reader deletes.
    """

    target: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenExport:
    """The path of the archive."""

    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FindWords(PickPerson):
    """Asks what of a person's data contains words, as `/forget` reads them."""

    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundWords:
    """How many notes, messages, reminders and names of blocks match, and a few lines of them."""

    entries: int
    messages: int
    jobs: int
    blocks: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetWords(FindWords):
    """Asks to delete the notes with words for good, and with `has_messages` all that holds them."""

    has_messages: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BegunForgetting:
    """The words are deleted once no work of the person goes on: later, if `is_late`."""

    is_late: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonToErase:
    """A person before they are erased, and the backups that still contain them."""

    name: str
    role: str
    folder: str
    backups: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasedPerson:
    """Whoever was erased, and the backups and external memories that may still hold data."""

    name: str
    backups: tuple[str, ...]
    outside: tuple[str, ...]
