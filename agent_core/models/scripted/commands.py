"""What a person wants from the stand-in, read from plain words; pure."""

import re
from dataclasses import dataclass
from typing import Literal

MOST_NUMBERS = 1000
LONGEST_THOUGHT = 600
"""Bounds of counting and, in seconds, of thinking."""
_LONGEST_COMMAND = 4000
"""Characters; what is longer is a text, not a command."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remember:
    """Keep a fact."""

    target: Literal["memory", "user"]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Forget:
    """Drop the entry that holds these words."""

    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """Look for words in what was said."""

    query: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowMemory:
    """Tell what is remembered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowHelp:
    """Tell what can be done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """Count from one up to a number."""

    to: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Think:
    """Take time before answering, in seconds."""

    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Chat:
    """Anything else: it takes a language model to answer that."""

    words: str


Command = Remember | Forget | Search | ShowMemory | ShowHelp | Count | Think | Chat

_POLITE = r"(?:(?:please|hey|ok|now|can you|could you|would you|will you)[\s,]+)*"
_SHOW = (
    r"what (?:do|did) you (?:know|remember|have (?:noted|stored))(?: (?:about|of) (?:me|us))?",
    r"what have you (?:remembered|noted|learned)(?: (?:about|of) me)?",
    r"(?:show|list|tell)(?: me)? (?:your|my|the) (?:memory|memories|notes)",
    r"(?:show|list) (?:memory|memories|notes)",
)
_OF = r"(?: (?:about|of|regarding))? (?P<q>.+)"
_SEARCH = (
    r"(?:recall|search(?: for)?|find|look up|look for)(?: what (?:i|we) said)?" + _OF,
    r"(?:do you (?:remember|recall|know) )?(?:what|when|where) did (?:i|we) "
    r"(?:say|tell(?: you)?|write|mention|talk)" + _OF,
    r"(?:do you (?:remember|recall|know) )(?:what|when|where) (?:i|we) "
    r"(?:said|told(?: you)?|wrote|mentioned|talked)" + _OF,
)
_ABOUT_ME = (
    (r"(?:remember|note|keep)(?: this)? about me(?: that)?[:,]? (?P<t>.+)", "{}"),
    (r"(?:remember(?: that)? )?my name is (?P<t>.+)", "Name: {}"),
    (r"(?:remember to )?(?:please )?call me (?P<t>.+)", "Wants to be called {}"),
)
_REMEMBER = (
    r"(?:remember|memorize|memorise|keep in mind|note(?: down)?|don['’]?t forget|do not forget)"
    r"(?: this)?(?: that)?[:,]? (?P<t>.+)"
)
_FORGET = r"(?:forget|unlearn)(?: about| that| this)?[:,]? (?P<t>.+)"
_COUNT = r"count(?: up)?(?: slowly)?(?: from (?:1|one))? (?:up )?to (?P<n>\d{1,6})"
_THINK = r"think (?:for )?(?P<n>\d{1,4}(?:\.\d+)?) ?(?P<unit>s|secs?|seconds?|m|mins?|minutes?)?"
_HELP = r"(?:help(?: me)?|what can (?:you|i) do|how does this work|commands)"


def read_command(words: str) -> Command:
    """What one message asks for."""
    if len(words) > _LONGEST_COMMAND:
        return Chat(words=words.strip())
    line = " ".join(words.split()).rstrip("?!. ")
    if _match(_HELP, line):
        return ShowHelp()
    if any(_match(pattern, line) for pattern in _SHOW):
        return ShowMemory()
    for pattern in _SEARCH:
        if found := _match(pattern, line):
            return Search(query=_unquote(found["q"]))
    for pattern, form in _ABOUT_ME:
        if found := _match(pattern, line):
            return Remember(target="user", text=form.format(_unquote(found["t"])))
    if found := _match(_REMEMBER, line):
        return Remember(target="memory", text=_unquote(found["t"]))
    if found := _match(_FORGET, line):
        return Forget(words=_unquote(found["t"]))
    if found := _match(_COUNT, line):
        return Count(to=max(1, min(int(found["n"]), MOST_NUMBERS)))
    if found := _match(_THINK, line):
        scale = 60 if (found["unit"] or "s").startswith("m") else 1
        return Think(seconds=min(float(found["n"]) * scale, LONGEST_THOUGHT))
    return Chat(words=words.strip())


def _match(pattern: str, line: str) -> re.Match[str] | None:
    return re.fullmatch(_POLITE + pattern, line, re.IGNORECASE)


def _unquote(text: str) -> str:
    """Words without the quotation marks around them."""
    bare = text.strip()
    if len(bare) > 2 and bare[0] + bare[-1] in ('""', "''", "“”", "‘’", "„“", "«»"):
        return bare[1:-1].strip()
    return bare
