"""Reads stored events and untrusted JSON field by field, and cleans text and names; pure."""

import hashlib
import json
import re
import unicodedata
from collections.abc import Sequence
from typing import Any

from adapters.ids import EventId
from adapters.messages import RawEvent

_LONGEST_NAME = 80
"""Characters. Platforms allow up to 128 for a chat; a prompt needs no more."""

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_JOINERS = "\u200c\u200d"
"""Invisible joiners that belong to Persian spelling and to many emoji."""


def plain_text(text: str) -> str:
    """Remove NUL and unpaired surrogates, which stores and models reject."""
    return _UNSTORABLE.sub("\ufffd", text)


def plain_name(text: str) -> str:
    """Reduce a name to one line that cannot reverse, hide or imitate its surroundings."""
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
    """Return a text's length in UTF-16 units, as most platforms count."""
    if text.isascii():
        return len(text)
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


_MARKUP = re.compile(
    r"[*_`~\[<\\|\r\x00]"  # characters that may start markup within a line
    r"|&[#a-zA-Z]"  # an entity
    r"|^[#>=+-]|^\d{1,9}[.)]"  # characters that may start a block
    r"|^[^\S\n]|[^\S\n]$"  # indentation, and spaces that the parser would cut
    r"|[^\S\n ]",  # blanks other than spaces, which the parser treats differently
    re.MULTILINE,
)


def is_plain(text: str) -> bool:
    """Return True if a text contains no possible markup, so that it need not be parsed."""
    return _MARKUP.search(text) is None


_BEFORE_WORDS = " \t,:"
_BEHIND_NAME = " .,:;!?\n"


def join_around_name(pieces: Sequence[str]) -> str:
    """Join the pieces around the bot's name without the gaps it leaves."""
    text, *rest = pieces
    for piece in rest:
        if not text.strip():
            text = piece.lstrip(_BEFORE_WORDS)
        elif text[-1] == " " and (not piece or piece[0] in _BEHIND_NAME):
            text = text[:-1] + piece
        else:
            text += piece
    return text


Json = dict[str, Any]


def part(source: Json, key: str) -> Json | None:
    """Return a nested object, or None. Raises `ValueError`."""
    value = source.get(key)
    if value is not None and not isinstance(value, dict):
        raise ValueError(f'"{key}" should be an object')
    return value


def inside(source: Json, key: str) -> Json:
    """Return a nested object, or an empty one. Raises `ValueError`."""
    return part(source, key) or {}


def parts(source: Json, key: str) -> list[Json]:
    """Return a list of objects, or an empty one. Raises `ValueError`."""
    value = source.get(key) or []
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise ValueError(f'"{key}" should be a list of objects')
    return value


_MOST = 2**53
"""Larger integers are not exact in JSON (RFC 8259, section 6), and as milliseconds they may not fit
into a column.
"""


def number_in(source: Json, key: str, *, default: int | None = None) -> int:
    """Return an integer. Raises `ValueError`, also when it is missing without a default."""
    value = source.get(key)
    if value is None:
        value = default
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f'"{key}" should be a whole number')
    if not -_MOST <= value <= _MOST:
        raise ValueError(f'"{key}" is too large')
    return value


def text_in(source: Json, *keys: str) -> str:
    """Return the text under the first present key. Raises `ValueError` if none is present."""
    value = _first(source, keys)
    if not isinstance(value, str):
        raise ValueError(f'"{keys[0]}" should be a text')
    return value


def words_in(source: Json, *keys: str) -> str:
    """Return the text under the first present key, empty if none is.

    Raises `ValueError` for another type.
    """
    value = _first(source, keys)
    if value is None:
        return ""
    return value if isinstance(value, str) else text_in(source, *keys)


def _first(source: Json, keys: tuple[str, ...]) -> Any:
    for key in keys:  # runs dozens of times an event; a generator is slower
        value = source.get(key)
        if value is not None:
            return value
    return None


_UNREADABLE = "unreadable"
_SURROGATE = "\\ud"
"""The start of an escaped surrogate, as `json.dumps` writes it."""
_LONGEST = 65_536
"""The most characters that are kept of an unreadable event; chat platforms send smaller events."""


def read_envelope(payload: str) -> Json:
    """Parse a stored event, and replace unpaired surrogates, which no store or model takes.

    Raises `ValueError` on anything but an object, and on an event of `make_unreadable`.
    """
    envelope: Any = json.loads(payload)
    if not isinstance(envelope, dict):
        raise ValueError("an event is no object")
    if _UNREADABLE in envelope:
        raise ValueError(words_in(inside(envelope, _UNREADABLE), "fault"))
    if _SURROGATE in payload:
        envelope = json.loads(plain_text(json.dumps(envelope, ensure_ascii=False)))
    return dict(envelope)


def make_unreadable(data: object, fault: str) -> RawEvent:
    """Wrap an event that cannot be read, so that the gateway stores and parks it.

    The id depends only on the content, so that an event that is sent twice is stored once.
    """
    try:
        text = json.dumps(data)
    except (ValueError, RecursionError):  # the data is nested too deeply
        text = ""
    digest = hashlib.sha256(text.encode()).hexdigest()
    about = {"data": text[:_LONGEST], "fault": plain_text(fault)}
    return RawEvent(
        event_id=EventId(f"{_UNREADABLE}/{digest}"), payload=json.dumps({_UNREADABLE: about})
    )
