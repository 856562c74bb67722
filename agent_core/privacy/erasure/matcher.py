"""Which texts hold the words that are to be forgotten; pure."""

import json
import re
from dataclasses import dataclass

from agent_core.state.tokenizer import fold, list_pieces, list_runs
from agent_core.transcript import DocumentPart, ImagePart, Part, RawPart, ToolCallPart

LEAST = 3
"""Letters that the words have to have in all: less would take half of a life along."""

_HEAVY = 2
"""What a character of a script counts for that writes whole words in one or two."""
_WORD = re.compile(r"[^\W_]+")
_QUOTED = re.compile(r'"([^"]+)"|“([^”]+)”|„([^“”]+)[“”]')


@dataclass(frozen=True, slots=True)
class WordMatcher:
    """What is looked for: patterns over folded text, all of which have to be found."""

    patterns: tuple[re.Pattern[str], ...]

    def is_in(self, text: str) -> bool:
        """True if a text holds all the words, in any order and case."""
        folded = fold(text)
        return all(pattern.search(folded) for pattern in self.patterns)

    def is_in_json(self, text: str) -> bool:
        """The same for JSON text, whatever way its letters are written; else for plain text."""
        return self.is_in(plain(text))

    def is_in_part(self, part: Part) -> bool:
        """The same for a part of a message, with the names in it."""
        if isinstance(part, ToolCallPart):
            return self.is_in_json(part.arguments)
        if isinstance(part, RawPart):
            return self.is_in_json(part.payload)
        if isinstance(part, DocumentPart):
            return self.is_in(f"{part.name}\n{part.text}")
        return not isinstance(part, ImagePart) and self.is_in(part.text)

    def is_in_bytes(self, data: bytes) -> bool:
        """The same for a file that may be text."""
        return self.is_in(data.decode("utf-8", "replace"))


def parse_words(words: str) -> WordMatcher | None:
    """What somebody wants forgotten: each word begins a word of the text, and what stands in
    double quotes is there just so. None if that is too little to go by.

    In scripts without spaces between words a word may stand anywhere.
    """
    phrases = ["".join(found) for found in _QUOTED.findall(words)]
    runs = [" ".join(fold(phrase).split()) for phrase in phrases]
    for word in _WORD.findall(fold(_QUOTED.sub(" ", words))):
        runs += list_runs(word)
    runs = [run for run in runs if run]
    weight = sum(len(run) * (_HEAVY if _is_unspaced(run) else 1) for run in runs)
    return WordMatcher(tuple(map(_compile, runs))) if weight >= LEAST else None


def plain(text: str) -> str:
    """All strings and numbers in JSON text, one a line; any other text as it is."""
    try:
        return "\n".join(_walk(json.loads(text)))
    except (ValueError, RecursionError):
        return text


def _walk(value: object) -> list[str]:
    if isinstance(value, dict):
        return [line for pair in value.items() for one in pair for line in _walk(one)]
    if isinstance(value, list):
        return [line for one in value for line in _walk(one)]
    if isinstance(value, str):
        return [value]
    return [str(value)] if isinstance(value, int | float) else []


def _compile(run: str) -> re.Pattern[str]:
    """A word is found where it begins one; what has no beginning is found anywhere."""
    words = r"\s+".join(re.escape(word) for word in run.split(" "))
    return re.compile(words if _is_unspaced(run) else rf"(?<![^\W_]){words}")


def _is_unspaced(run: str) -> bool:
    """True for scripts that put no spaces between words, and for signs."""
    return not run[0].isalnum() or list_pieces(run[0])[1]
