"""Recognises the language of an answer by its commonest words, for the choice of a voice; pure."""

import re
from collections.abc import Mapping

_COMMON: Mapping[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "de": "der die das und ist nicht ich du ein eine mit auf für den dem zu von auch wird sind"
        " es im am um dein deine hast habe kann noch oder wie bei nach dir",
        "en": "the and is not you i a an with on for of to it that are this will your have has can"
        " at in be or as by was do",
        "es": "el los las y es no un una con en por para que de del se tu su más pero al lo está",
        "fr": "le les et est pas un une avec sur pour des du que je tu vous ne ce au dans il elle",
        "it": "il gli e è non un una con su per di che del della si le sono tuo nel ho hai al",
    }.items()
}
_WORD = re.compile(r"[^\W\d_]+")
_LEAST = 2
"""The smallest number of common words that says anything."""
_MARGIN = 1.5
"""How many times as many common words another language needs to win over the expected one."""


def recognize(text: str, expected: str) -> str:
    """Return the language of a text; the expected one unless another is clearly meant."""
    words = _WORD.findall(text.lower())
    counts = {name: sum(word in common for word in words) for name, common in _COMMON.items()}
    best = max(counts, key=lambda name: counts[name])
    is_clear = counts[best] >= _LEAST and counts[best] > _MARGIN * counts.get(expected, 0)
    return best if is_clear else expected
