"""Matching of the words to remove against texts. Pure."""

import json
import re
from dataclasses import dataclass

from agent_core.state.tokenizer import list_pieces, list_runs, normalize
from agent_core.transcript import DocumentPart, ImagePart, Part, RawPart, ToolCallPart

LEAST = 3
"""The smallest number of letters in all words; fewer would match far too much."""

_HEAVY = 2
"""The weight of a character in scripts that write whole words in one or two characters."""
_WORD = re.compile(r"[^\W_]+")
_QUOTED = re.compile(r'"([^"]+)"|“([^”]+)”|„([^“”]+)[“”]')


@dataclass(frozen=True, slots=True)
class WordMatcher:
    """A set of patterns on folded text, all of which must match."""

    patterns: tuple[re.Pattern[str], ...]

    def is_in(self, text: str) -> bool:
        """True if a text contains all words, in any order and case."""
        folded = normalize(text)
        return all(pattern.search(folded) for pattern in self.patterns)

    def is_in_json(self, text: str) -> bool:
        """True if the strings of a JSON text match, however they are escaped; else match plain
        text.
        """
        return self.is_in(plain(text))

    def is_in_part(self, part: Part) -> bool:
        """True if a message part matches, including names in it."""
        if isinstance(part, ToolCallPart):
            return self.is_in_json(part.arguments)
        if isinstance(part, RawPart):
            return self.is_in_json(part.payload)
        if isinstance(part, DocumentPart):
            return self.is_in(f"{part.name}\n{part.text}")
        return not isinstance(part, ImagePart) and self.is_in(part.text)

    def is_in_bytes(self, data: bytes) -> bool:
        """True if a file's bytes match as text."""
        return self.is_in(data.decode("utf-8", "replace"))


def parse_words(words: str) -> WordMatcher | None:
    """Parse the words to remove; None if they are too short.

    Each word matches the beginning of a word; a quoted phrase matches literally. In scripts
    without spaces between words, a word may occur anywhere.
    """
    phrases = ["".join(found) for found in _QUOTED.findall(words)]
    runs = [" ".join(normalize(phrase).split()) for phrase in phrases]
    for word in _WORD.findall(normalize(_QUOTED.sub(" ", words))):
        runs += list_runs(word)
    runs = [run for run in runs if run]
    weight = sum(len(run) * (_HEAVY if _is_unspaced(run) else 1) for run in runs)
    return WordMatcher(tuple(map(_compile, runs))) if weight >= LEAST else None


def plain(text: str) -> str:
    """Extract all strings and numbers of a JSON text, one per line; return other text unchanged."""
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
    """Compile a word that matches at the beginning of a word, or anywhere in unspaced scripts."""
    words = r"\s+".join(re.escape(word) for word in run.split(" "))
    return re.compile(words if _is_unspaced(run) else rf"(?<![^\W_]){words}")


def _is_unspaced(run: str) -> bool:
    """True for scripts without spaces between words, and for signs."""
    return not run[0].isalnum() or list_pieces(run[0])[1]
