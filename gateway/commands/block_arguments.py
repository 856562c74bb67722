"""The arguments of the block command: labels, readers, limits and descriptions."""

import re
import unicodedata
from collections.abc import Collection

from agent_core.memory import find_flaw
from agent_core.tools import find_secret
from gateway.texts import blocks as block_texts

_LABEL = re.compile(r"(?=.*[^\W\d_])[\w-]{1,40}")
_BLANK_LETTERS = re.compile("[\u115f\u1160\u3164\uffa0]")
"""Letters by category that fonts draw as blanks."""
LONGEST_DESCRIPTION = 300
_LEAST_LIMIT, _MOST_LIMIT = 100, 20_000


def read_label(word: str) -> str:
    """Normalize a label, as the user typed it."""
    return unicodedata.normalize("NFC", word.strip()).casefold()


def is_label(label: str, reserved: Collection[str]) -> bool:
    """Return whether a word may name a block; `reserved` words may not."""
    is_word = _LABEL.fullmatch(label) and not _BLANK_LETTERS.search(label)
    return bool(is_word) and label not in reserved


def parse_target(rest: str) -> str:
    """Return the reader that an argument names, without "with" or "from"."""
    words = " ".join(rest.split()).casefold()
    return re.sub(r"^(?:with|from) ", "", words)


def read_limit(word: str) -> int | None:
    """Read a limit in characters; None if it is no number or out of bounds."""
    digits = word.replace(",", "").replace(".", "")
    if not digits.isdecimal() or len(digits) > len(str(_MOST_LIMIT)):
        return None
    limit = int(digits)
    return limit if _LEAST_LIMIT <= limit <= _MOST_LIMIT else None


def find_fault(description: str) -> str:
    """Return why a description is invalid, or an empty text; prompts show it on one line."""
    if not description or len(description) > LONGEST_DESCRIPTION:
        return block_texts.NO_DESCRIPTION()
    if find_flaw(description):
        return block_texts.HIDDEN_IN_DESCRIPTION()
    return block_texts.SECRET_FOUND() if find_secret(description) else ""
