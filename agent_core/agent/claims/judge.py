"""Find what an answer states, and which of it claims an effect."""

import re
from collections.abc import Iterator

from agent_core.agent.claims.english import ENGLISH
from agent_core.agent.claims.german import GERMAN
from agent_core.agent.claims.others import OTHERS
from agent_core.agent.claims.sentences import Sentence, split

LONGEST = 600
"""Characters of a sentence that are judged; a longer one is no sentence."""
_LANGUAGES = (ENGLISH, GERMAN, OTHERS)
_LIST_ITEM = re.compile(r"^\W*(?:[-•–]|\d+[.)]|#+)\s")
_ME = re.compile(r"\b(?:i|we|i['’]\w+|ich|wir)\b", re.IGNORECASE)
_WORDS_OF = re.compile(
    r"\b(?:translat\w*|means|write|reply|say|says|said|draft|heißt|schreiben|antworte\w*|übersetz\w*)\b.*:$",
    re.IGNORECASE,
)
"""Introduces words that the person may use, or that somebody said."""
_KEPT = re.compile(
    r"\b(?:won['’]t|will not|not) forget\b|\bvergesse? (?:ich )?(?:das |es )?nicht\b", re.IGNORECASE
)
"""The only denial that claims an effect."""


def list_statements(text: str) -> Iterator[Sentence]:
    """Yield the sentences of a whole text, without words that it only passes on."""
    before = ""
    for sentence in split(text):
        if not _WORDS_OF.search(before):
            yield sentence
        before = sentence.words[-LONGEST:]


def claims_effect(sentence: Sentence) -> bool:
    """Return whether a sentence claims an effect; of a question, only what is before it."""
    words = sentence.words[:LONGEST]
    if sentence.is_asked:
        words = words.rpartition(",")[0]
    if _LIST_ITEM.match(words) and not _ME.search(words):
        return False  # a step of a plan, or an entry of a list
    return bool(_KEPT.search(words)) or any(language.finds_claim(words) for language in _LANGUAGES)
