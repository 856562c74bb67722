"""Matching of the words to remove against texts. Pure."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from agent_core.state.tokenizer import list_pieces, list_runs, normalize
from agent_core.transcript import DocumentPart, ImagePart, Part, RawPart, TextPart, ToolCallPart

LEAST = 3
"""The smallest number of letters in all words; fewer would match far too much."""

_HEAVY = 2
"""The number of letters that a character counts for, in scripts that write words in one or two."""
_LETTERS = re.compile(r"[a-z]+")
_WORD = re.compile(r"(\*?)([^\W_]+)")
_QUOTED = re.compile(r'(\*?)(?:"([^"]+)"|“([^”]+)”|„([^“”]+)[“”])')
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]"
)
"""Characters without a shape (Unicode, Default_Ignorable_Code_Point), as pasted text has them."""
_FRAME = re.compile(
    r"</?facts>|Now: [A-Z][a-z]+day \d{4}-\d\d-\d\d \d\d:\d\d, [\w/+-]+ \([+-]\d{4}\)"
)
"""A line of facts that quotes nobody."""
_NOTES = re.compile(r"(?:New in|Gone from) [\w:-]+: |Now, instead of [\w:-]+ in your prompt: ")
"""The beginning of a line of facts that quotes notes."""
_LABEL = re.compile(r'[^"]*(?=")|[^":;]*[:;] ')
"""The beginning of a line of facts, which says what it quotes."""
_ESCAPED = re.compile(r"\\(.)")
"""An escaped character of a JSON string."""


@dataclass(frozen=True, slots=True)
class WordMatcher:
    """A set of patterns on folded text, all of which must match.

    A text of ASCII characters only matches if it has each of `letters`, in any case.
    """

    patterns: tuple[re.Pattern[str], ...]
    letters: tuple[str, ...] = ()

    def is_in(self, text: str) -> bool:
        """Return True if a text contains all words, in any order and case.

        An invisible character may be part of a word or separate two words.
        """
        folded = normalize(text)
        joined = folded if text.isascii() else normalize(_INVISIBLE.sub("", text))
        return all(
            pattern.search(folded) or (joined != folded and pattern.search(joined))
            for pattern in self.patterns
        )

    def is_in_json(self, text: str) -> bool:
        """Return True if the strings of a JSON text match, however they are escaped.

        Any other text is matched as plain text.
        """
        return self.is_in(plain(text))

    def is_in_part(self, part: Part) -> bool:
        """True if a message part matches, including names in it; never for facts."""
        if isinstance(part, ToolCallPart):
            return self.is_in_json(part.arguments)
        if isinstance(part, RawPart):
            return self.is_in_json(part.payload)
        if isinstance(part, DocumentPart):
            return self.is_in(f"{part.name}\n{part.text}")
        return not isinstance(part, ImagePart) and not _is_fact(part) and self.is_in(part.text)

    def clean_facts(self, parts: tuple[Part, ...], mark: str) -> tuple[Part, ...]:
        """Replace what facts quote by a mark if it matches; what they call it stays.

        Equal parts come back if no fact matches, also those that are clean already.
        """
        return tuple(
            replace(part, text=self._clean_fact(part.text, mark))
            if isinstance(part, TextPart) and part.is_fact
            else part
            for part in parts
        )

    def clean_notes(self, parts: tuple[Part, ...], mark: str) -> tuple[Part, ...]:
        """Replace the notes that a line of facts quotes by a mark if they match."""
        return tuple(
            replace(part, text="\n".join(self._clean_note(line, mark) for line in lines))
            if isinstance(part, TextPart) and part.is_fact and (lines := part.text.split("\n"))
            else part
            for part in parts
        )

    def _clean_note(self, line: str, mark: str) -> str:
        is_wanted = _NOTES.match(line) and self.is_in(_read_fact(line, mark))
        return self._clean_line(line, mark) if is_wanted else line

    def _clean_fact(self, text: str, mark: str) -> str:
        """Clean the lines with all words; if the others still match, those with one, then all."""
        lines = text.split("\n")
        wanted: tuple[Callable[[str], bool], ...] = (self.is_in, self._is_any_in)
        for is_wanted in wanted:
            lines = [
                self._clean_line(line, mark) if is_wanted(_read_fact(line, mark)) else line
                for line in lines
            ]
            if not self.is_in("\n".join(_read_fact(line, mark) for line in lines)):
                return "\n".join(lines)
        return "\n".join(line if _FRAME.fullmatch(line) else mark for line in lines)

    def _clean_line(self, line: str, mark: str) -> str:
        # Behind a "|" stand words of people, so what looks like a label there is theirs.
        label = None if line.startswith("|") else _LABEL.match(line)
        return f"{label[0]}{mark}" if label and not self._is_any_in(label[0]) else mark

    def _is_any_in(self, text: str) -> bool:
        return any(WordMatcher((pattern,)).is_in(text) for pattern in self.patterns)

    def is_in_bytes(self, data: bytes) -> bool:
        """True if a file's bytes match as text."""
        return self.is_in(data.decode("utf-8", "replace"))


def parse_words(words: str) -> WordMatcher | None:
    """Parse the words to remove; None if they are too short.

    Each word matches the beginning of a word; a quoted phrase matches literally. After a star, and
    in scripts without spaces between words, words and phrases match anywhere.
    """
    words = _INVISIBLE.sub("", words)
    runs = [
        (" ".join(normalize("".join(phrases)).split()), bool(star))
        for star, *phrases in _QUOTED.findall(words)
    ]
    for star, word in _WORD.findall(normalize(_QUOTED.sub(" ", words))):
        runs += [(run, bool(star)) for run in list_runs(word)]
    runs = [(run, is_inside) for run, is_inside in runs if run]
    weight = sum(len(run) * (_HEAVY if _is_unspaced(run) else 1) for run, _ in runs)
    if weight < LEAST:
        return None
    letters = tuple(dict.fromkeys(_LETTERS.findall(" ".join(run for run, _ in runs))))
    return WordMatcher(tuple(_compile(*run) for run in runs), letters)


def _is_fact(part: Part) -> bool:
    return isinstance(part, TextPart) and part.is_fact


def _read_fact(line: str, mark: str) -> str:
    """Return what a line of facts quotes, also as it was before it became a JSON string."""
    if _FRAME.fullmatch(line):
        return ""
    line = line.replace(mark, "")
    plain_line = _ESCAPED.sub(lambda found: " " if found[1] in "bfnrt" else found[1], line)
    return line if plain_line == line else f"{line}\n{plain_line}"


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


def _compile(run: str, is_inside: bool) -> re.Pattern[str]:
    """Compile a word that matches at the beginning of a word, or anywhere."""
    words = r"\s+".join(re.escape(word) for word in run.split(" "))
    return re.compile(words if is_inside or _is_unspaced(run) else rf"(?<![^\W_]){words}")


def _is_unspaced(run: str) -> bool:
    """Return True for scripts without spaces between words, and for symbols."""
    return not run[0].isalnum() or list_pieces(run[0])[1]
