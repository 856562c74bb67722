"""What a command said, as its person is told it: cleaned, and by its ends where it is long."""

import re

from agent_core.loop.answers import shows_words
from agent_core.tools.quoting import is_hidden
from gateway.wording_jobs import describe_left_out

FILE = "output.txt"
"""Holds the whole of what is told by its ends."""
_BEGIN, _END = 2000, 1000
"""Characters that are shown of a long output: with their title they fill a message or two."""
_LINE_ENDS = re.compile(r"\r\n?|\x85|\u2028|\u2029")
_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
"""Colours, moves of the cursor and titles of windows: what terminals do, and nobody reads."""


def clean(text: str) -> str:
    """The text with nothing in it that is not to be read; "" if there is nothing to read."""
    plain = _ESCAPES.sub("", _LINE_ENDS.sub("\n", text))
    kept = "".join(letter for letter in plain if letter in "\n\t" or not is_hidden(letter))
    return kept if shows_words(kept) else ""


def shorten(text: str) -> str:
    """The text, or its begin and its end around a line that says how much is left out."""
    text = text.strip()
    if len(text) <= _BEGIN + _END:
        return text
    begin, end = _cut_behind(text[:_BEGIN]).rstrip(), _cut_before(text[-_END:]).lstrip()
    left_out = describe_left_out(len(text) - len(begin) - len(end), FILE)
    return f"{begin}\n\n{left_out}\n\n{end}"


def _cut_behind(text: str) -> str:
    """Up to the last end of a line in the second half; all of it if there is none."""
    place = text.rfind("\n", len(text) // 2)
    return text if place < 0 else text[:place]


def _cut_before(text: str) -> str:
    """From the first end of a line in the first half on; all of it if there is none."""
    place = text.find("\n", 0, len(text) // 2)
    return text if place < 0 else text[place:]
