"""What became of each attachment: a picture, words, or a reason why it can't be read."""

from dataclasses import dataclass


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
