"""Tell in which language a person wrote, of those with a catalogue of sentences."""

from collections.abc import Mapping

_MARKS: Mapping[str, str] = {
    "en": "the is are my me i you remind remember forget every tomorrow and to of that how what"
    " when who do show please minutes at it's this a move cancel delete thanks hello hi can",
    "de": "der das ist sind mein meine mich mir ich du erinnere merk merke vergiss jeden jede"
    " morgen und zu dass wie wann wer zeig bitte minuten um ein eine nicht für mit lösch lösche"
    " verschieb verschiebe auf den dem setz danke hallo welche was kannst alles",
}
"""Frequent words that one language has and the other has not."""


def find_written(words: str, *, least: int = 0) -> str | None:
    """Return the language in which words are written; None if they don't show it.

    With `least`, they must hold that many of its frequent words: many people say "hi".
    """
    said = {word.strip(".,:;!?„“\"'") for word in words.casefold().split()}
    found = {tag: len(said.intersection(marks.split())) for tag, marks in _MARKS.items()}
    best = max(found, key=lambda tag: found[tag])
    is_clear = list(found.values()).count(found[best]) == 1 and found[best] >= least
    return best if is_clear else None
