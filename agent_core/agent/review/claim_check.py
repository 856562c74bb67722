"""Judge what a review wants to remember: it counts only if the person's own words say it. Pure.

A model may claim anything, so no code here trusts its answer. A message of the person must contain
the quote, and the claim must consist of that message's words. A claim that may be true but is not
proved waits for the person. A useless or dangerous claim is refused.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import Literal

from agent_core.ids import MessageId
from agent_core.memory.files import find_flaw
from agent_core.state.tokenizer import cut
from agent_core.tools.secret_scan import find_secret
from agent_core.transcript import IGNORED

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
Doubt = Literal["source", "quote", "words", "sense", "question", "voice", "replace"]
"""Reasons to ask the person: no message of theirs is named; the message lacks the quote, or asks to
work on a text; the quote itself does not state the claim; only one of the two is negative; the
quote is a question or a condition; the claim speaks as the person; or the claim would replace an
entry.
"""
ReviewFault = Literal["known", "trivial", "passing", "defeat", "secret", "hidden"]
"""Reasons to refuse: an entry says so already; the claim has no content; it is true for a day only;
it turns a failure into a rule; it has a secret; or it has invisible characters.
"""

LONGEST = 240
"""The most characters of a claim; a list of memory holds about ten such entries."""
_SHORTEST = 6
"""The fewest characters of a claim; a shorter one says nothing."""
_FEW_WORDS = 5
_POINTERS = frozenset(("that", "this", "it", "das", "dies", "es"))
"""Words that refer to another sentence if the entry has few other words."""
_LEAST_QUOTE = 8
"""The fewest characters of a quote; nearly every message contains a shorter one."""
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
_VARIANTS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_INVISIBLE = re.compile(
    rf"(?![{_VARIANTS}])[{IGNORED}]|[{_VARIANTS}]{{2,}}|(?<=[A-Za-z\u00c0-\u024f\s])[{_VARIANTS}]"
)
"""Invisible characters. One variation selector belongs to an emoji or a Japanese name; several, or
those of Latin letters, hide text.
"""
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+|\n+")
_SPACE = re.compile(r"\s+")
_VOICE = re.compile(r"^\W*(?:I|I'm|I've|I'd|I'll|My|We|Our|Ich|Mein\w*|Wir|Unser\w*)\b")
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
    r"|\w+n['’]t|kein\w*|nicht\w*|nie|niemals|ohne|weder|kaum|selten)\b",
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
_ATTRIBUTION = re.compile(
    r"^[^\S\n]*[^\s–—―~*-].*\n[^\S\n]*(?:[–—―~]|--)[^\S\n]*\w+(?:[^\S\n]+\w+){0,2}\W*\Z",
    re.MULTILINE,
)
"""A last line that names the author of what is above it, unless that is a list."""
_QUOTED_SPEAKER = re.compile(
    r"^[^\S\n]*(?:>|&gt;|\|).*\b(?:says|said|writes|wrote|sagt|sagte|schreibt|schrieb)\W*$",
    re.IGNORECASE | re.MULTILINE,
)
"""A quoted line that names who wrote what follows, even if that is not marked as quoted."""
_PRETENCE = re.compile(
    r"\b(?:let['’]?s play|pretend\w*|role-?play\w*|act as|for example|as an example|once upon"
    r"|in (?:the|my|a) (?:story|novel|game|play|film|movie)|lasst? uns\b.{0,40}\bspielen"
    r"|wir spielen|tu(?:n wir)? so|zum beispiel|rollenspiel)\b"
    r"|^\W*(?:imagine|stell dir vor)\b"
    r"|^\W*(?:some |a few |the )?(?:facts?|notes?|words|quotes?)\b.*\b(?:about|by|from|of)\b"
    r"(?!\W+me\b)",
    re.IGNORECASE,
)
"""A sentence after which nothing is said as the person's own: a game, an example, a headline."""
_SPEECH = re.compile(
    r"\b(?:says|said|told|writes|wrote|thinks|claims|according to|laut|sagt|sagte|meint|meinte"
    r"|schreibt|schrieb|behauptet)\b",
    re.IGNORECASE,
)
_RETRACTION = re.compile(
    r"^\W*(?:no\s*[,.!]|no wait|nope|not (?:really|true|any ?more)"
    r"|(?:just |only )?(?:kidding|joking)|jk\b|wait\b|sorry\b|nein\b|quatsch\b"
    r"|(?:nur |kleiner )?scherz\b|stimmt nicht"
    r"|(?:that|this|das|dies)(?:['’]s| is| was| ist| war)"
    r" (?:a lie|false|wrong|not true|what|from|by|gelogen|falsch|nicht wahr|was|von|aus)\b"
    r"|\w+ (?:wrote|said|says|schrieb|sagte?) (?:that|this|das)\b)",
    re.IGNORECASE,
)
"""The start of a sentence that takes back the one before it, or says whose words it was."""
_WORK_ON = re.compile(
    r"\b(?:translate|proofread|rewrite|rephrase|summari[sz]e|correct|edit|übersetz\w*|korrigier\w*"
    r"|formulier\w*|fass\w*)\b",
    re.IGNORECASE,
)
"""A request to work on a text; the text is then part of the same message."""
_WORD = re.compile(r"[^\s,;:.!?()\[\]]+(?:[.,:][^\s,;:.!?()\[\]]+)*|[,;:.!?()\[\]]")
_MARKS = frozenset(",;:.!?()[]")
_SUBJECTS = frozenset(("i", "ich", "we", "wir"))
_BEFORE_SUBJECT = frozenset(
    (
        *("and", "but", "so", "oh", "ah", "well", "hi", "hello", "hey", "thanks", "ok", "okay"),
        *("yes", "no", "actually", "btw", "by", "the", "way", "please", "remember", "note", "that"),
        *("und", "aber", "also", "ja", "nein", "danke", "hallo", "übrigens", "bitte", "merke"),
        *("dir", "dass"),
    )
)
"""Words before the subject that do not change what the sentence says."""
_TOPICS = frozenset(
    (
        *("about", "me", "my", "myself", "these", "this", "things", "facts", "some", "few", "a"),
        *("preferences", "following", "über", "mich", "mir", "ein", "paar", "folgendes", "dinge"),
    )
)
"""Words of a line that introduces a list of the person's own: "Remember about me:"."""
_AFTER = frozenset(["and", "but", "or", "because", "since", "und", "aber", "oder", "weil", "denn"])
"""Words that may follow the claim: the fact before them is complete."""
_FORMS: Mapping[str, tuple[str, ...]] = {
    "is": ("am", "'m"),
    "has": ("have", "'ve"),
    "does": ("do",),
    "doesn't": ("don't",),
    "ist": ("bin",),
    "hat": ("habe", "hab"),
}
"""Forms of the third person, each with its equivalent forms of the first person."""
_QUESTION = re.compile(
    r"[?？؟]|^\W*(?:am|is|are|was|were|do|does|did|can|could|will|would|should|shall|may|have|has"
    r"|what|when|where|who|whom|whose|which|why|how|bin|ist|sind|habe|hat|kann|soll|darf|wird|was"
    r"|wann|wo|wer|warum|wie)\b",
    re.IGNORECASE,
)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewVerdict:
    """The judgement of a claim: kept, unless there is a doubt or a fault."""

    doubt: Doubt | None = None
    fault: ReviewFault | None = None


def judge(claim: Claim, said: Mapping[MessageId, str], entries: Iterable[str]) -> ReviewVerdict:
    """Judge a claim. `said` are the person's own messages, `entries` the remembered ones."""
    if fault := _find_fault(claim, entries):
        return ReviewVerdict(fault=fault)
    return ReviewVerdict(doubt=_find_doubt(claim, said))


def find_flaw_of_guess(text: str, entries: Iterable[str]) -> ReviewFault | Doubt | None:
    """Return why a conclusion can't be stored: it is useless, dangerous, or speaks as the person.

    Nobody can check whether a conclusion is true, so it is never more than a guess.
    """
    guess = Claim(target="archive", text=text, quote="", message_id=None)
    return _find_fault(guess, entries) or ("voice" if _VOICE.search(text) else None)


def find_flaw_of_patch(text: str) -> ReviewFault | None:
    """Return why a passage of a skill can't be proposed: hidden text, a secret or a defeat."""
    if find_flaw(text.replace("\n", " ")) or _INVISIBLE.search(text):
        return "hidden"
    if find_secret(text):
        return "secret"
    return "defeat" if _DEFEAT.search(text) else None


def find_flaw_of_skill(text: str) -> ReviewFault | Doubt | None:
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


def _find_fault(claim: Claim, entries: Iterable[str]) -> ReviewFault | None:
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


def _points_elsewhere(text: str) -> bool:
    """Return whether an entry is about something that it doesn't name: "Keep that in mind"."""
    words = text.casefold().split()
    return len(words) <= _FEW_WORDS and not _POINTERS.isdisjoint(words)


def _find_doubt(claim: Claim, said: Mapping[MessageId, str]) -> Doubt | None:
    whole = said.get(claim.message_id) if claim.message_id is not None else None
    if whole is None:
        return "source"
    if speaker := _QUOTED_SPEAKER.search(whole):
        whole = whole[: speaker.start()]
    own = _drop_introduced(keep_own_words(whole))
    quote = _normalise(claim.quote)
    if len(quote) < _LEAST_QUOTE or quote not in _normalise(own) or _WORK_ON.search(own):
        return "quote"
    if _ATTRIBUTION.search(own):
        return "words"
    if _VOICE.search(claim.text):
        return "voice"
    sentences = [*takewhile(lambda one: not _PRETENCE.search(one), _SENTENCE_END.split(own))]
    found = [one for one in sentences if _states(one, claim.text)]
    if not found or any(_SPEECH.search(one) for one in found if not _SPEECH.search(claim.text)):
        return "words"
    if any(_RETRACTION.search(after) for one, after in pairwise(sentences) if one in found):
        return "words"
    if any(_QUESTION.search(one) or _CONDITION.search(one) for one in found):
        return "question"
    if not any(_has_same_sense(claim.text, one) for one in found):
        return "sense"
    return "replace" if claim.replaces else None


def _drop_introduced(text: str) -> str:
    """Return a text up to the line that introduces words of somebody else."""
    for line in _INTRODUCTION.finditer(text):
        topic = list_words(line["topic"] or "?")
        if not _TOPICS.union(_BEFORE_SUBJECT, ",").issuperset(topic):
            return text[: line.start()]
    return text


def list_words(text: str) -> list[str]:
    """Return the words and punctuation marks of a text, in lower case, otherwise as they are."""
    folded = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).replace("’", "'").casefold()
    return _WORD.findall(folded.replace("i'm ", "i 'm ").replace("i've ", "i 've "))


def _states(sentence: str, claim: str) -> bool:
    """Return whether a sentence states a claim: all its words in a row, as a clause of their own.

    The clause begins the sentence, or follows its subject in the first person: "My mother is
    allergic" says nothing about the person, and "I don't like tea" nothing about liking.
    """
    words = list_words(sentence)
    wanted = list_words(claim)
    while wanted and wanted[-1] in _MARKS:
        wanted.pop()
    if not wanted or wanted[0] in _BEFORE_SUBJECT or not _SUBJECTS.isdisjoint(wanted):
        return False
    for start in range(len(words) - len(wanted) + 1):
        run = words[start : start + len(wanted)]
        if not _is_same(run[0], wanted[0]) or run[1:] != wanted[1:]:
            continue
        after = words[start + len(wanted) :]
        if after and after[0] not in _MARKS and after[0] not in _AFTER:
            continue
        if after[:1] == ["("]:
            continue  # the brackets may say whose words these are
        before = words[:start]
        if run[0] != wanted[0] and _SUBJECTS.isdisjoint(before):
            continue  # only a verb after "I" may gain an "s", not "By the way"
        if before[-1:] == ["that"] and before[-2:-1] not in (["remember"], ["note"]):
            continue  # "that" is the subject then: "Thanks, that helps"
        if not before or set(before) <= _BEFORE_SUBJECT | {","}:
            return True
        if before[-1] in ("'m", "am", "bin"):
            before.pop()
        if before and before[-1] in _SUBJECTS and set(before[:-1]) <= _BEFORE_SUBJECT | {",", ":"}:
            return True
    return False


def _is_same(said: str, claimed: str) -> bool:
    """Return whether two verbs differ only by grammatical person: "I prefer", "prefers".

    Other words get no such forms: "Mys mother" would count as "My mother".
    """
    if said in _SUBJECTS or _VOICE.match(said.capitalize()):
        return said == claimed
    forms = (said, f"{said}s", f"{said}es", f"{said[:-1]}ies", f"{said[:-1]}t", f"{said[:-1]}et")
    return claimed in forms or said in _FORMS.get(claimed, ())


def _has_same_sense(claim: str, sentence: str) -> bool:
    """Return whether both are equally negative: no "not" is lost or added."""
    return len(_NEGATION.findall(claim)) == len(_NEGATION.findall(sentence))


def _is_alike(text: str, other: str) -> bool:
    words, others = frozenset(cut(text)), frozenset(cut(other))
    is_like = words <= others or len(words & others) / len(words | others) >= _LIKENESS
    return is_like and _has_same_sense(text, other)


def _normalise(text: str) -> str:
    """Return a text in a form in which a copied quote equals its source."""
    text = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).replace("’", "'").casefold()
    return _SPACE.sub(" ", text).strip(" .,;:!?\"'“”„«»")
