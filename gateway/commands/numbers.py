"""Reads the numbers in the words behind a command."""

_LONGEST = 15
"""Digits. No row has a longer number, and Python parses none of thousands of digits."""


def read_number(word: str) -> int | None:
    """Return the number that a word is; None for another word, and for a number that is too long.

    People write it as `12` or `#12`.
    """
    word = word.removeprefix("#")
    return int(word) if word.isdecimal() and len(word) <= _LONGEST else None
