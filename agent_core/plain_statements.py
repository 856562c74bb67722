"""A plain sentence of a person about themselves, and the entry that repeats it. Pure.

Code can prove such an entry without a judge, so it takes the least that people say: a sentence
about themselves, alone in its message but for greetings, and nothing in it that could turn it.
"""

import re
import unicodedata

from agent_core.transcript import IGNORED

_VARIANTS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
INVISIBLE = re.compile(
    rf"(?![{_VARIANTS}])[{IGNORED}]|[{_VARIANTS}]{{2,}}|(?<=[A-Za-z\u00c0-\u024f\s])[{_VARIANTS}]"
)
"""Invisible characters. One variation selector belongs to an emoji or a Japanese name; several, or
those of Latin letters, hide text.
"""
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+|\n+")
_WORD = re.compile(r"[^\s,;:.!?()\[\]]+(?:[.,:][^\s,;:.!?()\[\]]+)*|[,;:.!?()\[\]]")
GREETINGS = frozenset(
    (
        *("and", "but", "so", "oh", "ah", "well", "hi", "hello", "hey", "thanks", "ok", "okay"),
        *("yes", "no", "actually", "btw", "by", "the", "way", "please", "remember", "note", "that"),
        *("und", "aber", "also", "ja", "nein", "danke", "hallo", "übrigens", "bitte", "merke"),
        *("dir", "dass"),
    )
)
"""Words before the subject that do not change what the sentence says."""
_MOST_WORDS = 24
"""The most words of a plain sentence."""


def find_any(*lines: str) -> re.Pattern[str]:
    """Compile a search for words; `*` stands for any ending, and `_` for a space."""
    words = " ".join(lines).split()
    any_of = "|".join(re.escape(one).replace(r"\*", r"\w*").replace("_", " ") for one in words)
    return re.compile(rf"(?<!\w)(?:{any_of})(?!\w)", re.IGNORECASE)


_SIGNS = re.compile(
    r"[?？؟\"“”„«»`*_~{}<>|=/\\…]|\.\.|\w\)|:\w*[)(DP]|;-?\)|[\u2190-\u2bff\U0001f000-\U0001faff]"
)
_TURNS = find_any(
    "if when whenever unless until till once whether though although except suppose* imagin*",
    "assum* maybe perhaps probably might i_may it_may we_may could should wish hope want_to",
    "wanted_to wanna gonna",
    "going_to about_to plan* think* guess* feel feels seem* wonder* consider* doubt* almost nearly",
    "hardly barely half kind_of sort_of allegedly apparently used_to formerly previously ago was",
    "were had did year years anymore any_more no_longer yet soon or either neither nor",
    "anything_but far_from like_i as_if joke* say says said told write* wrote claim* according",
    "quote* lol lmao rofl haha* hehe* jk sure yeah obviously clearly totally absolutely completely",
    "literally definitely surely truly oh wow great another so_much can't_wait of_course trust",
    "worship adore best worst everyone everybody",
    "wenn falls ob bis sobald obwohl außer angenommen vielleicht eventuell wahrscheinlich wohl",
    "würde* könnte* sollte* wäre* hätte* glaub glaube denke hoffe wünsch* will wollte* plane",
    "überlege bald fast kaum beinahe halb angeblich scheinbar früher damals einst war hatte",
    "nicht_mehr oder entweder weder sagt* meint schreibt schrieb laut klar sicher natürlich total",
    "absolut echt toll na zitat* vor",
    "si quand peut-être voudrais pense crois avant était bientôt ou dit bien_sûr cuando quizá*",
    "tal_vez creo pienso antes era pronto dice dijo claro seguro ojalá se quando forse penso credo",
    "prima ero presto certo magari",
)
"""Signs that a sentence is no plain statement: a doubt, a condition, the past, a plan, irony."""
_HARMLESS = re.compile(
    r"\W*(?:(?:hi|hello|hey|hallo|thanks?|thx|danke|merci|gracias|ok|okay|please|bitte)[\w ]{0,12}"
    r"|what do you think|just so you know|bitte merken?|merk dir das(?: bitte)?"
    r"|(?:please )?(?:keep|bear|remember|note) (?:that|this|it)(?: in mind)?)\W*",
    re.IGNORECASE,
)
"""A sentence beside a statement that can't turn its meaning."""
_OPENERS = GREETINGS | {",", ":", "fyi", "also", "für", "info"}
_BEFORE_THAT = ("remember", "note")
"""Words after which "that" is no subject: "Thanks, that helps" says nothing."""
_CLOSERS = frozenset(
    ("btw", "please", "bitte", "thanks", "danke", "fyi", "übrigens", ",", ".", "!")
)
_FILLERS = frozenset(("leider", "unfortunately", "really", "also", "just"))
_SUBJECTS = frozenset(("i", "ich", "we", "wir"))
_OWNERS = frozenset(("my", "our", "mein", "meine", "meinen", "unser", "unsere"))
_FORMS = {
    "am": ("is", "am"),
    "'m": ("is",),
    "i'm": ("is",),
    "have": ("has", "have"),
    "don't": ("doesn't", "don't"),
    "do": ("does", "do"),
    "bin": ("ist", "bin"),
    "habe": ("hat", "habe"),
    "hab": ("hat",),
}
"""Forms of the first person, each with those that an entry uses."""
_NAMED = ("am", "'m", "i'm", "bin")
"""Verbs that an entry may leave out: "Vegan"."""
_UMLAUTS = str.maketrans("äöü", "aou")


def states_plainly(text: str, sentence: str) -> bool:
    """Return whether a text is a whole plain sentence, word for word.

    The person's "I" or "my" and greetings may be missing, and the verb may be in the third person.
    """
    is_turned = _SIGNS.search(sentence) or _TURNS.search(sentence)
    return not is_turned and _repeats(text, sentence)


def split_sentences(text: str) -> list[str]:
    """Split a text into its sentences; a line break ends one, too."""
    return [one.strip() for one in _SENTENCE_END.split(text) if one.strip()]


def list_words(text: str) -> list[str]:
    """Return the words and punctuation marks of a text, in lower case, otherwise as they are."""
    folded = unicodedata.normalize("NFKC", INVISIBLE.sub("", text)).replace("’", "'").casefold()
    return _WORD.findall(folded.replace("i'm ", "i 'm ").replace("i've ", "i 've "))


def find_statement(message: str) -> str:
    """Return the one sentence of a message that is not harmless; "" if it has several, or none."""
    found = [one for one in split_sentences(message) if not _HARMLESS.fullmatch(one)]
    return found[0] if len(found) == 1 else ""


def _repeats(claim: str, sentence: str) -> bool:
    """Return whether a claim has all words of a sentence, in their order, and no others."""
    wanted, words = _trim(list_words(claim)), _trim(list_words(sentence))
    if not wanted or not words or len(words) > _MOST_WORDS:
        return False
    if words[0] in _OWNERS:
        return wanted in (words, words[1:])
    if words[0] in ("i'm", "i'd"):
        words = ["i", words[0][1:], *words[1:]]
    if words[0] not in _SUBJECTS:
        return False  # without the person in it, a sentence may be anybody's
    words = words[1:]
    if words[:1] in (["would"], ["'d"]):  # "I would prefer tea" is a wish for tea
        words = words[1:]
    if not words:
        return False
    if words[0] in _NAMED and wanted == words[1:]:
        return True
    return wanted[1:] == words[1:] and _is_same_verb(words[0], wanted[0])


def _trim(words: list[str]) -> list[str]:
    """Drop greetings before a sentence, politeness after it, and fillers."""
    kept = [one for one in words if one not in _FILLERS]
    last = ""
    while kept and kept[0] in _OPENERS and (kept[0] != "that" or last in _BEFORE_THAT):
        last = kept.pop(0)
    while kept and kept[-1] in _CLOSERS:
        kept.pop()
    return _trim(kept[:-3]) if kept[-3:] == ["by", "the", "way"] else kept


def _is_same_verb(said: str, claimed: str) -> bool:
    """Return whether two verbs differ only by grammatical person: "I prefer", "prefers"."""
    if claimed in _FORMS.get(said, ()):
        return True
    forms = (said, f"{said}s", f"{said}es", f"{said[:-1]}ies", f"{said[:-1]}t", f"{said[:-1]}et")
    return claimed.translate(_UMLAUTS) in [one.translate(_UMLAUTS) for one in forms]
