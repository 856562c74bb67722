"""Readings as a message to the model holds them, and as its sender is told of them; pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent_core.tools.untrusted_text import escape, quote
from agent_core.transcript import DocumentPart, ImagePart, Part, TextPart
from gateway.texts.attachments import describe_cut


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A picture that a model can be shown. Its bytes are in the store of files."""

    name: str
    file_key: str
    media_type: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The text of a file, or of what was spoken in one. `name` tells people which.

    `extent` says how much of it was read where that is not all, for instance
    `the first 60,000 of 81,200 characters`.
    """

    name: str
    text: str
    is_voice: bool = False
    """A voice note, which its sender spoke; not any recording."""
    extent: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """An attachment of which no more is known than `note`; `sentence` is for the person."""

    note: str
    sentence: str


Reading = Picture | Words | Unreadable


_NAME_LIMIT = 120


def parts_of(readings: Sequence[Reading], *, is_own: bool = True) -> tuple[Part, ...]:
    """What stands behind the words of a message: what was spoken, then files, then pictures.

    A voice note is what its sender said, so it is words of theirs. Where they only passed it
    on (not `is_own`), and with recordings of any other kind, somebody else may speak: that is
    quoted like a file.
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
    """True if words of the person's come from a voice note; the facts say so."""
    return is_own and any(isinstance(one, Words) and one.is_voice for one in readings)


def notes_of(readings: Sequence[Reading]) -> tuple[str, ...]:
    """What the facts tell the model of attachments that it gets nothing else of."""
    return tuple(one.note for one in readings if isinstance(one, Unreadable))


def sentences_of(readings: Sequence[Reading]) -> tuple[str, ...]:
    """What the sender has to know: what can't be read and why, and what was read in part."""
    told = [
        one.sentence if isinstance(one, Unreadable) else describe_cut(one.name, one.extent)
        for one in readings
        if isinstance(one, Unreadable) or (isinstance(one, Words) and one.extent)
    ]
    return tuple(dict.fromkeys(told))


def has_content(readings: Sequence[Reading]) -> bool:
    """True if a model has anything to go on: a message of attachments alone is worth a turn."""
    return any(not isinstance(one, Unreadable) for one in readings)


def _quote(words: Words) -> str:
    """A block that nothing in the file can end: our own tags in it are made harmless."""
    extent = f" part={quote(words.extent, _NAME_LIMIT)}" if words.extent else ""
    head = f"<attached-file name={quote(words.name, _NAME_LIMIT)}{extent}>"
    return f"{head}\n{escape(words.text)}\n</attached-file>"
