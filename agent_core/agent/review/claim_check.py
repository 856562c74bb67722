"""Check what code can know of a claim: the person's words behind it, and what forbids it. Pure.

A model may claim anything, so no code here trusts its answer: a claim needs whole sentences of one
of the person's own messages, and a useless or dangerous one is refused. Whether the sentences mean
the claim is decided in `decision`.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from agent_core.ids import MessageId
from agent_core.memory.files import find_flaw
from agent_core.plain_statements import GREETINGS, INVISIBLE, list_words, split_sentences
from agent_core.state.tokenizer import cut
from agent_core.tools.secret_scan import find_secret

ReviewTarget = Literal["user", "memory", "archive"]
Section = Literal["person", "answers", "work", "people"]
"""The parts of a profile: who the person is, how they like answers, what they work on, and the
people and projects that they name.
"""
SECTIONS: Mapping[Section, ReviewTarget] = {
    "person": "user",
    "answers": "user",
    "work": "memory",
    "people": "memory",
}
"""The list that holds the lines of each section."""
Doubt = Literal["asked", "unsure", "unjudged", "replace"]
"""Reasons to ask the person: they want to be asked; the judge is not sure; no judge answered; or no
judge confirmed that the claim replaces an entry.
"""
ReviewFault = Literal[
    "unproved", "denied", "known", "trivial", "passing", "defeat", "order", "secret", "hidden"
]
"""Reasons to refuse: no message of the person has its words; the judge denies it; an entry says so
already; the claim has no content; it is true for a day only; it turns a failure into a rule; it
orders the assistant to drop its rules; it has a secret; or it has invisible or disguised letters.
"""

LONGEST = 240
"""The most characters of a claim; a list of memory holds about ten such entries."""
_SHORTEST = 4
"""The fewest characters of a claim; a shorter one says nothing."""
_FEW_WORDS = 5
_POINTERS = frozenset(("that", "this", "it", "das", "dies", "es"))
"""Words that refer to another sentence if the entry has few other words."""
_LEAST_WORDS = 5
"""The fewest letters of the sentences behind a claim; "Yes" alone says nothing."""
_MOST_SENTENCES = 4
"""The most sentences of a quote."""
_LEAST_SHARED = 0.6
"""The share of a wrong quote's words that a sentence has, from which on it is the one meant."""
_LIKENESS = 0.75
"""The share of common words, of all words of two entries, from which on they say the same."""

_FENCE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_QUOTED_LINE = re.compile(r"^[^\S\n]*(?:>|&gt;|\|).*$", re.MULTILINE)
_INLINE_CODE = re.compile(r"`[^`\n]*`")
_QUOTATION = re.compile(
    r"„[^„“”]*[“”]|“[^“”]*”|»[^«»]*«|«[^«»]*»"
    r"|[\"“„«»”][^\"“”„«»]*[\"”“»«](?!\w)"
    r"|[‚‘「『](?:[^‚‘’「」『』]|(?<=\w)’(?=\w))*[‘’」』]"
    r"|(?<!\w)'(?:[^'\n]|(?<=\w)'(?=\w))*'(?!\w)"
    r"|(?<![\w\"“”„«»])[\"“„«](?=\w).*\Z",
    re.DOTALL,
)
"""A quotation; one without an end goes on to the end of the text."""
_SHORT_QUOTATION = 2
"""The most words of a quotation that may be a name or a title instead of words of others."""
_SPACE = re.compile(r"\s+")
_LETTER = re.compile(r"\w")
_ORDER = re.compile(
    r"\b(?:ignore|disregard|forget|ignorier\w*|vergiss|ignora|oublie)\b.{0,30}"
    r"\b(?:instructions?|rules?|prompt|anweisung\w*|regeln?|instrucciones|consignes)\b"
    r"|\bsystem prompt\b",
    re.IGNORECASE,
)
_DISGUISED = re.compile(
    r"\b\w*(?:[A-Za-z][\u0370-\u03ff\u0400-\u052f]|[\u0370-\u03ff\u0400-\u052f][A-Za-z])\w*\b"
)
"""A word that mixes Latin letters with Greek or Cyrillic ones."""
_VOICE = re.compile(
    r"^\W*(?:I|I'm|I've|I'd|I'll|My|We|Our|Ich|Mein(?:e[mnrs]?)?|Wir|Unser(?:e[mnrs]?)?)\b"
)
_CONDITION = re.compile(
    r"\b(?:if|when|unless|until|suppose|imagine|maybe|perhaps|might|would|could|wish|wenn|falls"
    r"|angenommen|vielleicht|eventuell|würde|könnte|wäre)\b",
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
_NEGATION = re.compile(
    r"\b(?:no|not|never|none|nothing|nobody|without|hardly|barely|rarely|seldom|nor|neither|cannot"
    r"|\w+n['’]t|kein\w*|nicht\w*|nie|niemals|ohne|weder|kaum|selten|ne|pas|jamais|sans|nunca|sin"
    r"|tampoco|non|senza)\b",
    re.IGNORECASE,
)
_LETTER_HEAD = re.compile(
    r"^[^\w\n]*(?:from|to|subject|date|von|an|betreff|datum)\s*:", re.IGNORECASE | re.MULTILINE
)
_INTRODUCTION = re.compile(
    r"^(?:(?P<topic>.*):|.*\b(?:says|said|writes|wrote|sagt|sagte|schreibt|schrieb)"
    r"|.*\b(?:this|these|folgende\w*)(?: in \w+)?[^\w\n]*+"
    r"|[^\w\n]*(?:this|das|dies) (?:is|was|ist|war) (?:what|from|by|was|von|aus)\b.*"
    r"|[^\w\n]*(?:forwarded|fwd?|weitergeleitet)\b.*|<[^<>\n]+>"
    r"|[^\w\n]*(?:dear|liebe[rs]?|sehr geehrte[rs]?)\s.*,|[^\w\n]*\d{1,2}:\d{2}\b.*"
    r"|.*\b\d{1,2}:\d{2}(?:\s?[ap]m)?[^\w\n]*)[^\S\n]*\n",
    re.IGNORECASE | re.MULTILINE,
)
"""A line that introduces another text: "Ben writes:", "My friend wrote this", a salutation, a name
with a time.
"""
_QUOTED_SPEAKER = re.compile(
    r"^[^\S\n]*(?:>|&gt;|\|).*\b(?:says|said|writes|wrote|sagt|sagte|schreibt|schrieb)\W*$",
    re.IGNORECASE | re.MULTILINE,
)
"""A quoted line that names who wrote what follows, even if that is not marked as quoted."""
_TOPICS = frozenset(
    (
        *("about", "me", "my", "myself", "these", "this", "things", "facts", "some", "few", "a"),
        *("preferences", "following", "über", "mich", "mir", "ein", "paar", "folgendes", "dinge"),
    )
)
"""Words of a line that introduces a list of the person's own: "Remember about me:"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A fact to remember, its list, and the person's words that prove it.

    `replaces` is a part of the entry that the claim corrects, "" for a new entry. `section` is its
    place in the profile, if the claim belongs there.
    """

    target: ReviewTarget
    text: str
    quote: str
    message_id: MessageId | None
    replaces: str = ""
    section: Section | None = None


def find_fault(claim: Claim, entries: Iterable[str]) -> ReviewFault | None:
    """Return why a claim is refused whatever its evidence; `entries` are the remembered ones."""
    text = claim.text
    if find_flaw(text) or find_flaw(claim.quote):
        return "hidden"
    if fault := find_flaw_of_patch(text):
        return fault
    if len(text) < _SHORTEST or len(text) > LONGEST or _points_elsewhere(text):
        return "trivial"
    if _PASSING.search(text):
        return "passing"
    others = [] if claim.replaces else entries
    return "known" if any(_is_alike(text, one) for one in others) else None


def find_basis(claim: Claim, said: Mapping[MessageId, str]) -> Claim | None:
    """Return a claim with the whole sentences that it quotes, and the message that has them.

    `said` are the person's own messages. A quote is looked for in the message that the claim
    names, then in the others; one that is not exact becomes the sentence of the named message that
    it resembles. None if the person wrote nothing of the kind: such a claim is refused.
    """
    named = [one for one in said if one == claim.message_id]
    for message_id in [*named, *(one for one in said if one not in named)]:
        if found := _find_sentences(_keep_statements(said[message_id]), claim.quote):
            return replace(claim, quote=found, message_id=message_id)
    for message_id in named:
        sentences = split_sentences(_keep_statements(said[message_id]))
        if found := _find_meant(sentences, claim.quote):
            return replace(claim, quote=found)
    return None


def speaks_as_person(text: str) -> bool:
    """Return whether a text is in the first person: no entry speaks as the person."""
    return _VOICE.search(text) is not None


def find_flaw_of_guess(text: str, entries: Iterable[str]) -> ReviewFault | Literal["voice"] | None:
    """Return why a conclusion can't be stored: it is useless, dangerous, or speaks as the person.

    Nobody can check whether a conclusion is true, so it is never more than a guess.
    """
    guess = Claim(target="archive", text=text, quote="", message_id=None)
    return find_fault(guess, entries) or ("voice" if speaks_as_person(text) else None)


def find_flaw_of_patch(text: str) -> ReviewFault | None:
    """Return why a passage of a skill can't be proposed: hidden text, a secret or a defeat."""
    if find_flaw(text.replace("\n", " ")) or INVISIBLE.search(text) or _DISGUISED.search(text):
        return "hidden"
    if find_secret(text):
        return "secret"
    if _ORDER.search(text):
        return "order"
    return "defeat" if _DEFEAT.search(text) else None


def find_flaw_of_skill(text: str) -> ReviewFault | Literal["voice"] | None:
    """Return why a text can't be a skill: a flaw of a patch, or it speaks as the person.

    Each line is judged alone: an instruction for the case that something fails is no defeat.
    """
    if (flaw := find_flaw_of_patch(text)) and flaw != "defeat":
        return flaw
    lines = [line.removeprefix("description:").strip(' "') for line in text.splitlines()]
    if any(_DEFEAT.search(line) and not _CONDITION.search(line) for line in lines):
        return "defeat"
    return "voice" if any(_VOICE.search(line) for line in lines) else None


def keep_own_words(text: str) -> str:
    """Return a message without quoted lines, quotations, code and copied mails."""
    if head := _LETTER_HEAD.search(text):
        text = text[: head.start()]
    text = _INLINE_CODE.sub(" ", _QUOTED_LINE.sub(" ", _FENCE.sub(" ", text)))
    return _QUOTATION.sub(
        lambda found: found[0] if len(cut(found[0])) <= _SHORT_QUOTATION else " ", text
    )


def _points_elsewhere(text: str) -> bool:
    """Return whether an entry is about something that it doesn't name: "Keep that in mind"."""
    words = text.casefold().split()
    return len(words) <= _FEW_WORDS and not _POINTERS.isdisjoint(words)


def _keep_statements(message: str) -> str:
    """Return the words of a message that may be the person's own statements."""
    if speaker := _QUOTED_SPEAKER.search(message):
        message = message[: speaker.start()]
    return _drop_introduced(keep_own_words(message))


def _find_sentences(text: str, quoted: str) -> str:
    """Return the fewest sentences of a text in a row that contain a quote; "" if none do."""
    wanted, sentences = _normalise(quoted), split_sentences(text)
    if not wanted or wanted not in _normalise(text):
        return ""
    for length in range(1, _MOST_SENTENCES + 1):
        for start in range(len(sentences) - length + 1):
            found = " ".join(sentences[start : start + length])
            if wanted in _normalise(found):
                return found if len(_LETTER.findall(found)) >= _LEAST_WORDS else ""
    return ""


def _find_meant(sentences: Iterable[str], quoted: str) -> str:
    wanted = frozenset(cut(quoted))
    shared = {one: len(wanted.intersection(cut(one))) for one in sentences}
    best = max(shared, key=shared.__getitem__, default="")
    return best if best and shared[best] >= _LEAST_SHARED * max(len(wanted), 2) else ""


def _drop_introduced(text: str) -> str:
    """Return a text up to the line that introduces words of somebody else."""
    for line in _INTRODUCTION.finditer(text):
        topic = list_words(line["topic"] or "?")
        if not _TOPICS.union(GREETINGS, ",").issuperset(topic):
            return text[: line.start()]
    return text


def is_negative(text: str) -> bool:
    """Return whether a text denies anything."""
    return _NEGATION.search(text) is not None


def _has_same_sense(claim: str, sentence: str) -> bool:
    """Return whether both are equally negative: no "not" is lost or added."""
    return len(_NEGATION.findall(claim)) == len(_NEGATION.findall(sentence))


def _is_alike(text: str, other: str) -> bool:
    words, others = frozenset(cut(text)), frozenset(cut(other))
    is_like = words <= others or len(words & others) / len(words | others) >= _LIKENESS
    return is_like and _has_same_sense(text, other)


def _normalise(text: str) -> str:
    """Return a text in a form in which a copied quote equals its source."""
    text = unicodedata.normalize("NFKC", INVISIBLE.sub("", text)).replace("’", "'").casefold()
    return _SPACE.sub(" ", text).strip(" .,;:!?\"'“”„«»")
