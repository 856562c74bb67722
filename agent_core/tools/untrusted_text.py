"""Words from outside, put so that they can't pass for the program's own."""

import json
import re
import unicodedata

BLOCKS = ("facts", "context-file", "attached-file", "earlier-talk")
"""Names of the tags in which Talaria itself speaks to the model."""

_BIDI = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_TAGS = range(0xE0000, 0xE0080)
_IGNORED = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""What is shown as nothing at all: Unicode's Default_Ignorable_Code_Point."""
_MARK = re.compile(
    rf"[<＜](?=[\s/{_IGNORED}]*(?:"
    + "|".join(f"[{_IGNORED}]*".join(re.escape(letter) for letter in name) for name in BLOCKS)
    + r")(?![a-z0-9]))",
    re.IGNORECASE,
)


def is_hidden(character: str) -> bool:
    """True for what can mislead a reader: control characters (line breaks and tabs too),
    line and paragraph separators, direction overrides, tag characters, lone surrogates.
    """
    return (
        unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")
        or character in _BIDI
        or ord(character) in _TAGS
    )


def is_bidi(character: str) -> bool:
    """True for characters that turn the direction of the text around them."""
    return character in _BIDI


def escape(text: str) -> str:
    """The text with our own tags made harmless; nothing else is touched.

    `<facts>`, opening or closing, in any case, spaced or with invisible characters in it,
    becomes `&lt;facts>`. Escaping twice is escaping once.
    """
    return _MARK.sub("&lt;", text)


def flatten(text: str, limit: int) -> str:
    """One line of at most `limit` characters, for names and titles given by others.

    White space runs together, hidden characters go, our own tags are escaped; escaping may
    make it a little longer.
    """
    visible = text
    if not _is_plain(text):
        visible = "".join(" " if is_hidden(character) else character for character in text)
    line = " ".join(visible.split())
    return escape(line if len(line) <= limit else line[: limit - 1] + "…")


def quote(text: str, limit: int) -> str:
    """A JSON string of at most `limit` characters of the text, for what others wrote.

    It is one line whatever the text holds: line breaks are escaped, other hidden
    characters go, our own tags are made harmless.
    """
    visible = text
    if not _is_plain(text):
        visible = "".join(
            " " if character != "\n" and is_hidden(character) else character for character in text
        )
    visible = visible.strip()
    kept = visible if len(visible) <= limit else visible[: limit - 1] + "…"
    return json.dumps(escape(kept), ensure_ascii=False)


def _is_plain(text: str) -> bool:
    """True for most texts: nothing in them is hidden, which need not be asked of each letter."""
    return text.isascii() and text.isprintable()
