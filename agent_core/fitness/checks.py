"""Judge an answer by code: its calls, its words, its language, and what is odd about it. Pure."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from agent_core.models.arguments import read_object
from agent_core.models.contract import ModelAnswer

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_WORDS_OF: Mapping[str, str] = {
    "en": "the is are a an and of to in it you your i with that for on this as be or at from can"
    " have was its",
    "de": "der die das ist sind ein eine einen und von zu im es du sie ich mit dass für auf den dem"
    " nicht oder wird kann hat sich bei aus als auch",
    "fr": "le la les est sont un une et de du des dans il elle vous je avec que pour sur ce cette"
    " ou au qui en pas par peut",
    "es": "el la los las es son un una y de del en con que para por se lo su al o como más te tu"
    " puede",
    "it": "il lo la gli le è sono un una e di del della in con che per si su al o come più ti tu"
    " può da nel non",
}
"""Frequent short words; most texts of some sentences have many of their own language."""
_FUNCTION_WORDS = {language: frozenset(words.split(" ")) for language, words in _WORDS_OF.items()}
_LEAST_HITS = 2
_TEMPLATE = re.compile(
    r"<\|[\w ]+\|>|\[/?INST\]|</?s>|<<SYS>>|</?think>|</?tool_call>|<(?:start|end)_of_turn>"
    r"|</?facts>",
    re.IGNORECASE,
)
"""Words of a template, or of Talaria's own form, that no person should read."""
_PRINTED_CALL = re.compile(r"\{\s*\"(?:name|function|tool|tool_name)\"\s*:\s*\"")
_PIECE = re.compile(r"[^.!?\n]+")
_MOST_REPEATS = 4
"""The most times that one sentence may stand in an answer."""
_LONG_PIECE = 12
"""Characters of a sentence that may not be repeated; shorter ones, such as "Yes", may."""


class Check(Protocol):
    """A condition of an answer."""

    def find_fault(self, answer: ModelAnswer) -> str:
        """Return why the answer fails, as a short clause; "" if it does not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Says:
    """The text has each of these patterns, and none of `never`; case does not matter."""

    each: tuple[str, ...] = ()
    never: tuple[str, ...] = ()

    def find_fault(self, answer: ModelAnswer) -> str:
        """See `Check`."""
        text = _simplify(answer.message.text)
        for pattern in self.each:
            if not re.search(pattern, text, re.IGNORECASE):
                return f"it does not say {_name(pattern)}"
        for pattern in self.never:
            if found := re.search(pattern, text, re.IGNORECASE):
                return f"it says {found[0]!r}"
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exactly:
    """The text is exactly this; only a quotation mark or a full stop around it may be added."""

    text: str

    def find_fault(self, answer: ModelAnswer) -> str:
        """See `Check`."""
        said = _simplify(answer.message.text).strip().strip("\"'`“”„«».").strip()
        return "" if said == _simplify(self.text).strip(".") else f"it says {said[:60]!r}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotes:
    """The text has this passage, letter by letter, and at most `most` characters beside it."""

    text: str
    most: int = 120

    def find_fault(self, answer: ModelAnswer) -> str:
        """See `Check`."""
        said = _simplify(answer.message.text)
        if _simplify(self.text) not in said:
            return "the quote is not exact"
        return "" if len(said) <= len(self.text) + self.most else "it says much more than the quote"


@dataclass(frozen=True, slots=True, kw_only=True)
class InLanguage:
    """The text is in this language, by its frequent words."""

    language: str

    def find_fault(self, answer: ModelAnswer) -> str:
        """See `Check`."""
        found = find_language(answer.message.text)
        return "" if found == self.language else f"it is in {found or 'no known language'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NoCalls:
    """No tool is called, and there is an answer."""

    def find_fault(self, answer: ModelAnswer) -> str:
        """See `Check`."""
        if answer.message.calls:
            return f"it calls {answer.message.calls[0].name}"
        return "" if answer.message.text.strip() else "there is no answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    """The answer calls this tool once; each argument matches its pattern as a whole.

    Arguments that are not named here must be missing or empty.
    """

    name: str
    given: Mapping[str, str] = field(default_factory=dict)
    judges_arguments: bool = True

    def find_fault(self, answer: ModelAnswer) -> str:
        """See `Check`."""
        calls = answer.message.calls
        if [one.name for one in calls] != [self.name]:
            return f"it calls {', '.join(one.name for one in calls) or 'nothing'}"
        found = read_object(calls[0].arguments)
        if found is None:
            return "the arguments are no object"
        if not self.judges_arguments:
            return ""
        return _compare(found, self.given)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decides:
    """The text is one JSON object with these fields; each matches its pattern as a whole."""

    given: Mapping[str, str]

    def find_fault(self, answer: ModelAnswer) -> str:
        """See `Check`."""
        found = read_object(answer.message.text.strip())
        return "it is no JSON object" if found is None else _compare(found, self.given)


def _compare(found: Mapping[str, object], wanted: Mapping[str, str]) -> str:
    for name, pattern in wanted.items():
        value = _simplify(str(found.get(name, "")))
        if not re.fullmatch(pattern, value, re.IGNORECASE):
            return f"{name} is {value[:60]!r}"
    more = [name for name, value in found.items() if name not in wanted and value not in _EMPTY]
    return f"{more[0]} is needless" if more else ""


_EMPTY: tuple[object, ...] = (None, "", [], {}, False)


def find_language(text: str) -> str:
    """Return the language whose frequent words a text has most of; "" if it has too few."""
    words = Counter(word.casefold() for word in _WORD.findall(text))
    hits = {
        language: sum(words[one] for one in frequent)
        for language, frequent in _FUNCTION_WORDS.items()
    }
    best = max(hits, key=lambda one: hits[one])
    is_clear = list(hits.values()).count(hits[best]) == 1
    return best if hits[best] >= _LEAST_HITS and is_clear else ""


def find_oddity(answer: ModelAnswer) -> str:
    """Return what is odd about an answer, whatever it was asked; "" if nothing is."""
    text = answer.message.text
    if not text.strip() and not answer.message.calls:
        return "it is empty"
    if answer.stop == "length":
        return "it never ends"
    if found := _TEMPLATE.search(text):
        return f"it shows {found[0]}"
    if _PRINTED_CALL.search(text):
        return "it prints a call"
    pieces = (one.strip().casefold() for one in _PIECE.findall(text))
    repeated = Counter(one for one in pieces if len(one) >= _LONG_PIECE)
    if repeated and max(repeated.values()) > _MOST_REPEATS:
        return "it repeats itself"
    return ""


def _name(pattern: str) -> str:
    """Return the words of a simple pattern; people can't read others."""
    words = pattern.replace(r"\b", "")
    return words if re.fullmatch(r"[\w ]+", words) else "what it should"


def _simplify(text: str) -> str:
    """Return a text with plain quotation marks and single spaces."""
    plain = text.replace("’", "'").replace("\u202f", " ").replace("\u00a0", " ")
    return " ".join(plain.split())
