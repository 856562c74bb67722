"""Attachments as parts of the model's message, and as notices to their sender; pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent_core.tools import escape, quote
from agent_core.transcript import DocumentPart, ImagePart, Part, TextPart
from gateway.texts.attachments import describe_cut


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A picture for the model. The file store holds its bytes."""

    name: str
    file_key: str
    media_type: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The text of a file or a recording; `name` is its name for people.

    `extent` says how much of it was read, unless all of it, for instance
    `the first 60,000 of 81,200 characters`.
    """

    name: str
    text: str
    is_voice: bool = False
    """True for a voice note spoken by the sender; false for any other recording."""
    extent: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """An attachment that can't be read. `note` is for the model, and `sentence` for the person."""

    note: str
    sentence: str


Reading = Picture | Words | Unreadable


_NAME_LIMIT = 120


def parts_of(readings: Sequence[Reading], *, is_own: bool = True) -> tuple[Part, ...]:
    """Return the parts after a message's text: voice notes, then files, then pictures.

    A voice note counts as its sender's words. A forwarded one (not `is_own`) and any other
    recording may hold another person's words: they are quoted like a file.
    """
    words = [reading for reading in readings if isinstance(reading, Words)]
    spoken = [one for one in words if one.is_voice and is_own]
    quoted = [one for one in words if not (one.is_voice and is_own)]
    return (
        *(TextPart(text=escape(one.text)) for one in spoken),
        *(DocumentPart(name=one.name, text=_quote(one)) for one in quoted),
        *(
            ImagePart(file_key=one.file_key, media_type=one.media_type, size=one.size)
            for one in readings
            if isinstance(one, Picture)
        ),
    )


def is_spoken(readings: Sequence[Reading], *, is_own: bool = True) -> bool:
    """Return whether words of the person come from a voice note."""
    return is_own and any(isinstance(one, Words) and one.is_voice for one in readings)


def notes_of(readings: Sequence[Reading]) -> tuple[str, ...]:
    """Return the notes to the model about attachments that it can't see."""
    return tuple(one.note for one in readings if isinstance(one, Unreadable))


def sentences_of(readings: Sequence[Reading]) -> tuple[str, ...]:
    """Return the sentences to the sender: what can't be read and why, and what was cut."""
    reported = [
        one.sentence if isinstance(one, Unreadable) else describe_cut(one.name, one.extent)
        for one in readings
        if isinstance(one, Unreadable) or (isinstance(one, Words) and one.extent)
    ]
    return tuple(dict.fromkeys(reported))


def has_content(readings: Sequence[Reading]) -> bool:
    """Return whether attachments alone are worth a turn."""
    return any(not isinstance(one, Unreadable) for one in readings)


def _quote(words: Words) -> str:
    """Quote a file; our own tags in it are escaped, so that it can't end its block."""
    extent = f" part={quote(words.extent, _NAME_LIMIT)}" if words.extent else ""
    head = f"<attached-file name={quote(words.name, _NAME_LIMIT)}{extent}>"
    return f"{head}\n{escape(words.text)}\n</attached-file>"
