"""Readings of attachments, and the notices to their sender; pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from gateway.texts.attachments import CUT


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A picture for the model. The file store holds its bytes."""

    name: str
    file_key: str
    media_type: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PdfFile:
    """A PDF file for a model that sees its pages. The file store holds its bytes."""

    file_key: str
    size: int
    pages: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The text of a file or a recording; `name` is its name for people.

    `extent` says how much of it was read, for instance `the first 60,000 of 81,200 characters`; it
    is empty if all of it was read. With a `pdf`, an empty text means a scanned file.
    """

    name: str
    text: str
    is_voice: bool = False
    """True for a voice note spoken by the sender; false for any other recording."""
    extent: str = ""
    pdf: PdfFile | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """An attachment that can't be read. `note` is for the model, and `sentence` for the person."""

    note: str
    sentence: str


Reading = Picture | Words | Unreadable


def sentences_of(readings: Sequence[Reading]) -> tuple[str, ...]:
    """Return the sentences to the sender: what can't be read and why, and what was cut."""
    reported = [
        one.sentence if isinstance(one, Unreadable) else CUT(what=one.name, extent=one.extent)
        for one in readings
        if isinstance(one, Unreadable) or (isinstance(one, Words) and one.extent)
    ]
    return tuple(dict.fromkeys(reported))


def has_content(readings: Sequence[Reading]) -> bool:
    """Return whether attachments alone are worth a turn."""
    return any(not isinstance(one, Unreadable) for one in readings)
