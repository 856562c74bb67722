"""Escape untrusted text, so that it can't imitate the program's own."""

import json
import re

BLOCKS = ("facts", "context-file", "attached-file", "earlier-talk")
"""The tags in which Talaria speaks to the model."""

_LINE_ENDS = re.compile(r"\r\n?|\x85|\u2028|\u2029")
_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
"""Terminal escape sequences: colours, cursor movements and window titles."""
_BIDI = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\U000e0000-\U000e007f]"
)
"""The characters of `is_hidden`; for long texts, a pattern is 50 times as fast as a loop."""
_HIDDEN_BUT_LINES = re.compile(_HIDDEN.pattern.replace("[", "(?!\n)[", 1))
_HIDDEN_BUT_TABS = re.compile(_HIDDEN.pattern.replace("[", "(?![\n\t])[", 1))
_IGNORED = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Invisible characters: Unicode's Default_Ignorable_Code_Point."""
_MARK = re.compile(
    rf"[<＜](?=[\s/{_IGNORED}]*(?:"
    + "|".join(f"[{_IGNORED}]*".join(re.escape(letter) for letter in name) for name in BLOCKS)
    + r")(?![a-z0-9]))",
    re.IGNORECASE,
)


def is_hidden(character: str) -> bool:
    """True for characters that can mislead a reader: control characters (including line breaks and
    tabs), line and paragraph separators, direction overrides, tag characters and lone surrogates.
    """
    return _HIDDEN.match(character) is not None


def strip_controls(text: str) -> str:
    """Remove the escape sequences of terminals and hidden characters; lines and tabs stay."""
    return _HIDDEN_BUT_TABS.sub("", _ESCAPES.sub("", _LINE_ENDS.sub("\n", text)))


def is_bidi(character: str) -> bool:
    """True for characters that change the direction of the text around them."""
    return character in _BIDI


def escape(text: str) -> str:
    """Escape our own tags, and nothing else; idempotent.

    `<facts>`, opening or closing, in any case, with spaces or invisible characters in it, becomes
    `&lt;facts>`.
    """
    return _MARK.sub("&lt;", text)


def flatten(text: str, limit: int) -> str:
    """A single line of at most `limit` characters, for names and titles of others.

    Collapses white space, removes hidden characters, and escapes our own tags, which may add a few
    characters.
    """
    line = " ".join(_HIDDEN.sub(" ", text).split())
    return escape(line if len(line) <= limit else line[: limit - 1] + "…")


def quote(text: str, limit: int) -> str:
    """A JSON string of at most `limit` characters of an untrusted text.

    It is always one line: line breaks are escaped, other hidden characters removed, and our own
    tags escaped.
    """
    visible = _HIDDEN_BUT_LINES.sub(" ", text).strip()
    kept = visible if len(visible) <= limit else visible[: limit - 1] + "…"
    return json.dumps(escape(kept), ensure_ascii=False)
