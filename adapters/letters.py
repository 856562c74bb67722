"""Text that every store, screen and model can take: cleaned, named, counted; pure."""

import re
import unicodedata

_LONGEST_NAME = 80
"""Letters. Platforms allow up to 128 for a chat; a prompt needs no more."""

_UNREADABLE = re.compile("[\x00\ud800-\udfff]")
_JOINERS = "\u200c\u200d"
"""Invisible, but part of the spelling in Persian and of many emoji."""


def plain_text(text: str) -> str:
    """Text that every store and model takes: no NUL, no half of a surrogate pair."""
    return _UNREADABLE.sub("\ufffd", text)


def plain_name(text: str) -> str:
    """A name on one line that can't turn around, hide or imitate what stands beside it."""
    if text.isascii() and text.isprintable():
        return " ".join(text.split())[:_LONGEST_NAME].strip()
    kept = "".join(
        letter
        if letter in _JOINERS or unicodedata.category(letter)[0] != "C"
        else " "
        if letter in "\t\n\r"
        else ""
        for letter in text
    )
    return " ".join(kept.split())[:_LONGEST_NAME].strip(_JOINERS + " ")


def count_units(text: str) -> int:
    """The length of a text in UTF-16 units, as most platforms count."""
    if text.isascii():
        return len(text)
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
