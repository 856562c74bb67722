"""Requests and answers of the operations on a person's data. Quick to import."""

from dataclasses import dataclass

from gateway.operations.people_types import PickPerson


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportPerson(PickPerson):
    """Asks for a person's data as a new archive at an absolute path.

    Without a path, it is written to a folder of its own in the home, which its reader deletes.
    With `moves`, the person's jobs are paused here, so that they go on where it is imported.
    """

    target: str = ""
    moves: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenExport:
    """The path of the archive, the key that signed it in its short form, and the paused jobs."""

    target: str
    key: str = ""
    paused: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportPerson(PickPerson):
    """Asks to bring the assistant of an export at an absolute path to a person of this home.

    `signed_by` is the key that must have signed it, in its short form; "" is any.
    """

    path: str
    signed_by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedPerson:
    """Lists what came in with an import, without what was here before.

    `entries` are those of memory and archive. `paused` are the jobs that wait for a yes.
    `left_out` says in clauses what did not come in.
    """

    name: str
    signed_by: str
    messages: int
    entries: int
    jobs: int
    paused: int
    skills: int
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FindWords(PickPerson):
    """Asks what of a person's data contains words, as `/forget` reads them."""

    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundInGroup:
    """The notes of a group that rest on the person's own words; `name` is "" without one.

    `past` is the number of those that are deleted, but that an undo could bring back.
    """

    name: str
    lines: tuple[str, ...]
    past: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundWords:
    """Counts the notes, messages, reminders and names of blocks match, and a few lines of them.

    `quotes` are messages that stay, because only quotes in front of them match. `groups` have
    further notes. `has_past` is true if an undo could bring the words back.
    """

    entries: int
    messages: int
    quotes: int
    jobs: int
    blocks: int
    lines: tuple[str, ...]
    groups: tuple[FoundInGroup, ...]
    has_past: bool


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
