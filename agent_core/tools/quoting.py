"""Marks of the program's own blocks, kept out of whatever comes from outside."""

import re
import unicodedata

BLOCKS = ("facts", "context-file")
"""Names of the tags in which Talaria itself speaks to the model."""

_UNSEEN = "[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]*"
_MARK = re.compile(
    r"[<＜](?=[\s/\u00ad\u200b-\u200f\u2060-\u2064\ufeff]*(?:"
    + "|".join(_UNSEEN.join(re.escape(letter) for letter in name) for name in BLOCKS)
    + r")(?![a-z0-9]))",
    re.IGNORECASE,
)


def escape(text: str) -> str:
    """The text with our own tags made harmless; nothing else is touched.

    `<facts>`, opening or closing, in any case, spaced or with invisible characters in it,
    becomes `&lt;facts>`. Escaping twice is escaping once.
    """
    return _MARK.sub("&lt;", text)


def flatten(text: str, limit: int) -> str:
    """One line of at most `limit` characters, for names and titles given by others.

    White space runs together, control and direction characters go, our tags are escaped.
    """
    visible = "".join(
        character if unicodedata.category(character) not in ("Cc", "Cf", "Cs") else " "
        for character in text
    )
    line = " ".join(visible.split())
    return escape(line if len(line) <= limit else line[: limit - 1] + "…")
