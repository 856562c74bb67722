"""Judge what a review wants to remember: it counts only if the person's own words say it. Pure.

A model may claim anything, so nothing here trusts its answer: the quote has to stand in a message
of the person, and the claim has to consist of that message's words. What could be true but is not
proved waits for the person; what is of no use, or dangerous, is refused.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from agent_core.ids import MessageId
from agent_core.memory import find_flaw
from agent_core.state.tokenizer import cut
from agent_core.tools import find_secret

Target = Literal["user", "memory", "archive"]
Doubt = Literal["source", "quote", "words", "sense", "question", "voice", "hand"]
"""Reasons to ask the person: no message of theirs is named; the quote is not in it; the claim has
words that the message lacks; one of the two is negative; the quote is a question or a condition;
the claim speaks as the person; or it would replace an entry that a person wrote.
"""
Fault = Literal["known", "trivial", "passing", "defeat", "secret", "hidden"]
"""Reasons to refuse: an entry says so already; there is no content; it is true for a day only; it
turns a failure into a rule; it has a secret; or it has characters that nobody sees.
"""

LONGEST = 240
"""Characters of a claim; a list of memory holds about ten such entries."""
_LEAST_QUOTE = 8
"""Characters of a quote; a shorter one stands in nearly every message."""
_LIKENESS = 0.75
"""Shared words of two entries, of all their words, from which on they say the same."""

_FENCE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_QUOTED_LINE = re.compile(r"^\s*(?:>|&gt;|\|).*$", re.MULTILINE)
_QUOTATION = re.compile(r"[\"“„«»”][^\"“”„«»]*[\"”“»«]")
_SHORT_QUOTATION = 2
"""Words of a quotation that may be a name or a title of the person's own."""
_INVISIBLE = re.compile(r"[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+|\n+")
_SPACE = re.compile(r"\s+")
_ENDING = re.compile(r"(?:st|et|en|t|e|n)$")
_LEAST_WORD = 5
"""Letters of a word that keeps its meaning without its ending."""
_EXACT = re.compile(r"\S*\d\S*|\S+@\S+|https?://\S+")
"""Numbers, addresses and links: the message must have them letter by letter."""
_VOICE = re.compile(r"^\W*(?:I|I'm|I've|I'd|I'll|My|We|Our|Ich|Mein\w*|Wir|Unser\w*)\b")
_CONDITION = re.compile(
    r"^\W*(?:if|when|suppose|imagine|what if|wenn|falls|angenommen)\b|\b(?:maybe|perhaps|might"
    r"|vielleicht|eventuell)\b",
    re.IGNORECASE,
)
_PASSING = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday|right now|this (?:morning|afternoon|evening|week)"
    r"|at the moment|heute|morgen früh|gestern|gerade|im moment)\b",
    re.IGNORECASE,
)
_DEFEAT = re.compile(
    r"\b(?:tool|command|search|website|page|api|server|assistant|talaria|browser|sandbox|script"
    r"|terminal|skill|befehl|werkzeug|suche|assistent|webseite)\w*\b.*\b(?:can ?not|can[’']t|unable"
    r"|(?:does|do|did)(?: not|n[’']t) work|not (?:work\w*|possible|supported|available|allowed)|is"
    r" broken|fail\w*|kann nicht|funktioniert nicht|geht nicht)\b",
    re.IGNORECASE | re.DOTALL,
)
_NEGATIVE = frozenset(
    cut(
        "no not never none nothing without don dont doesn isn aren can cannot won hate dislike"
        " avoid refuse stop quit allergic against kein keine keinen keiner nicht nie niemals ohne"
        " hasse hasst mag meide allergisch gegen"
    )
) - frozenset(cut("can mag"))
_WISH = frozenset(
    cut(
        "prefer like love enjoy want wish need please always rather favourite favorite mag liebe"
        " bevorzuge möchte will brauche bitte immer lieber am liebsten"
    )
) - frozenset(cut("am"))
"""Words of wishes: a claim about one needs one in the message, and any of them will do."""
_FRAME = (
    frozenset(
        cut(
            "a an the this that these those i you he she it we they me my your his her their our"
            " and or of in on at to for from with by as is are was were be been am has have had"
            " do does user person usually often so ein eine einen einem einer der die das den dem"
            " des und oder in im an auf zu zum zur für von vom mit bei als ist sind war hat haben"
            " habe nutzer nutzt person bevorzugt möchte will wünscht oft meist sein seine seinen"
            " ihr ihre ihren er sie es ich mich mir mein meine meinen"
        )
    )
    | _WISH
)
"""Words of a claim that the message need not have: they only make a sentence of the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What a review wants to remember, where, and on which words of the person it rests.

    `replaces` is a part of the entry that it corrects, "" for a new one.
    """

    target: Target
    text: str
    quote: str
    message_id: MessageId | None
    replaces: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The judgement of a claim: kept, unless there is a doubt or a fault."""

    doubt: Doubt | None = None
    fault: Fault | None = None


def judge(
    claim: Claim, said: Mapping[MessageId, str], entries: Iterable[str], fixed: Sequence[str] = ()
) -> Verdict:
    """Judge a claim. `said` are the person's own messages, `entries` what is remembered already.

    `fixed` are the entries that a person wrote, which a review may not replace.
    """
    if fault := _find_fault(claim, entries):
        return Verdict(fault=fault)
    return Verdict(doubt=_find_doubt(claim, said, fixed))


def keep_own_words(text: str) -> str:
    """Return a message without what it quotes: quoted lines, quotations and blocks of code."""
    text = _QUOTED_LINE.sub(" ", _FENCE.sub(" ", text))
    return _QUOTATION.sub(
        lambda found: found[0] if len(cut(found[0])) <= _SHORT_QUOTATION else " ", text
    )


def _find_fault(claim: Claim, entries: Iterable[str]) -> Fault | None:
    text = claim.text
    if find_flaw(text) or find_flaw(claim.quote) or _INVISIBLE.search(text):
        return "hidden"
    if find_secret(text):
        return "secret"
    if _DEFEAT.search(text):
        return "defeat"
    words = _list_content(text)
    if not words or len(text) > LONGEST:
        return "trivial"
    if _PASSING.search(text):
        return "passing"
    others = [one for one in entries if not claim.replaces or claim.replaces not in one]
    return "known" if any(_is_alike(words, _list_content(one)) for one in others) else None


def _find_doubt(claim: Claim, said: Mapping[MessageId, str], fixed: Sequence[str]) -> Doubt | None:
    whole = said.get(claim.message_id) if claim.message_id is not None else None
    if whole is None:
        return "source"
    own = keep_own_words(whole)
    quote = _normalise(claim.quote)
    if len(quote) < _LEAST_QUOTE or quote not in _normalise(own):
        return "quote"
    sentences = [one for one in _SENTENCE_END.split(own) if _overlaps(_normalise(one), quote)]
    if any(one.rstrip().endswith(("?", "？")) or _CONDITION.search(one) for one in sentences):
        return "question"
    if _VOICE.search(claim.text):
        return "voice"
    around = " ".join(sentences) or claim.quote
    if not _is_supported(claim.text, own, around):
        return "words"
    if _NEGATIVE.isdisjoint(cut(claim.text)) != _NEGATIVE.isdisjoint(cut(around)):
        return "sense"
    is_fixed = claim.replaces and any(claim.replaces in one for one in fixed)
    return "hand" if is_fixed else None


def _is_supported(text: str, own: str, around: str) -> bool:
    """Return whether a claim has no words but those of a message, in the same order.

    The order tells "Ana helps Bo" from "Bo helps Ana".
    """
    folded = _normalise(own)
    exact = [found.strip(".,;:!?()") for found in _EXACT.findall(text)]
    if any(_normalise(one) not in folded for one in exact):
        return False
    claimed = cut(text)
    if not _WISH.isdisjoint(claimed) and _WISH.isdisjoint(cut(around)):
        return False
    words = map(_drop_ending, cut(own))
    return all(_drop_ending(word) in words for word in claimed if word not in _FRAME)


def _drop_ending(word: str) -> str:
    """Return a longer word without a German ending; `cut` has removed the English ones."""
    return _ENDING.sub("", word) if len(word) >= _LEAST_WORD else word


def _list_content(text: str) -> frozenset[str]:
    return frozenset(cut(text)) - _FRAME


def _is_alike(words: frozenset[str], others: frozenset[str]) -> bool:
    every = words | others
    return bool(every) and (words <= others or len(words & others) / len(every) >= _LIKENESS)


def _overlaps(sentence: str, quote: str) -> bool:
    return bool(sentence) and (quote in sentence or sentence in quote)


def _normalise(text: str) -> str:
    """Return a text in a form in which a copied quote equals its source."""
    text = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).replace("’", "'").casefold()
    return _SPACE.sub(" ", text).strip(" .,;:!?\"'“”„«»")
