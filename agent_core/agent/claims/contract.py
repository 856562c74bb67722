"""The contract of a language's claims: patterns of what claims an effect, and of what does not."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Where = Literal["any", "before", "near", "introduces"]
"""The place of honest words: anywhere in the sentence; before the end of the claim; in the claim or
right before it; or before a claim about something, which has no `I`.
"""
_ME = re.compile(r"\b(?:i|we|ich|wir)\b|^\W*(?:done|noted|saved)", re.IGNORECASE)

_NEAR = 24
"""Characters before a claim that belong to it."""


class Pattern:
    """A pattern of words, without regard to case."""

    __slots__ = ("regex", "where")

    def __init__(self, regex: str, where: Where = "any") -> None:
        self.regex = re.compile(regex, re.IGNORECASE)
        self.where = where

    def clears(self, words: str, claim: re.Match[str]) -> bool:
        """Return whether these honest words take back a claim."""
        match self.where:
            case "any":
                return self.regex.search(words) is not None
            case "before":
                return self.regex.search(words, 0, claim.end()) is not None
            case "introduces":
                is_about = _ME.search(claim[0]) is None
                return is_about and self.regex.search(words, 0, claim.end()) is not None
            case "near":
                first = max(0, claim.start() - _NEAR)
                return self.regex.search(words, first, claim.end()) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """The claims of one language."""

    name: str
    claims: Sequence[Pattern]
    honest: Sequence[Pattern]

    def finds_claim(self, words: str) -> bool:
        """Return whether a sentence claims an effect."""
        for pattern in self.claims:
            claim = pattern.regex.search(words)
            if claim and not any(one.clears(words, claim) for one in self.honest):
                return True
        return False
