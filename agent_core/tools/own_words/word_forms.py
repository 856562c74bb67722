"""Tell whether words of a text are forms of words that were said, in English and German. Pure.

A model paraphrases within narrow bounds: it changes endings, leaves words out, adds the small words
of grammar, and writes numbers as digits. Nothing else is a form of a word, so a name, a number, an
address or an order that was not said is never covered.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable

_TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|\S", re.UNICODE)
_LITERAL = re.compile(
    r"\S*(?:://|@|\\|[`$|<>{}=^~_]|www\.)\S*|(?<![\w.])[\w-]{2,}(?:\.[\w-]{2,})+(?:/\S*)?"
    r"|(?<!\w)[/#][\w/.-]+|\S*[A-Za-z]\d\S*|\S*\d[A-Za-z]{3,}\S*"
)
"""Text that can be an address, a command or a code: it must have been said letter by letter."""
_CLOCK = re.compile(r"(?<!\d)0?(\d{1,2})[:.]([0-5]\d)(?!\d)")
_FUNCTION_WORDS = """
a an the this that these those and or but as of to for from by with without at in on into onto up
about over under after before off out is are was were be been being am do does did done has have had
will would shall should can could may might must i me my mine we us our ours you your yours he him
his she her hers it its they them their theirs who whose which there here so then than just also too
please s re ve ll d m ca wo nen ne himself herself themselves yourself now when where while because
since
der die das den dem des ein eine einen einem einer eines und oder aber als wie von vom zu zum zur
für mit ohne auf an am im in ins ans aus bei beim nach vor über unter ab um durch gegen ist sind war
waren sei bin bist seid wird werden wurde hat habe haben hatte hatten kann können soll sollen sollst
sollte muss müssen musst darf will wollen ich mich mir mein meine meinen meinem meiner meines wir
uns unser unsere unseren du dich dir dein deine deinen deinem deiner deines er ihn ihm sein seine
seinen seinem seiner sie ihr ihre ihren ihrem ihrer ihnen es sich man dass daß da dort hier so dann
doch mal bitte auch noch nur schon ja also wo wenn weil damit dazu davon daran dran daraus
"""
_FUNCTION = frozenset(_FUNCTION_WORDS.split())
"""The small words of grammar, which name nothing and order nothing."""
_NEGATION_WORDS = """
no not never none nothing nobody neither nor cannot without nicht nichts nie niemals kein keine
keinen keinem keiner keines niemand weder ohne
"""
_NEGATIONS = frozenset(_NEGATION_WORDS.split())
_KINDS_OF_THINGS = frozenset(
    ("reminder", "reminders", "erinnerung", "erinnerungen", "job", "alarm", "timer", "wecker")
)
"""Words that name a kind, and none of its things."""
_NOT = re.compile(r"n['’]t$")
_NOT_FORGET = re.compile(
    r"\b(?:don['’]?t|do not|never) (?:let me )?forget\b|\bnicht (?:zu )?vergessen\b"
    r"|\bvergiss\w*,? (?:es |das |bitte )?nicht\b|\blass \w+ nicht vergessen\b"
    r"|\bwithout fail\b|\bno(?:t)? (?:any ?more|longer)\b|\bany ?more\b|\bnicht mehr\b",
    re.IGNORECASE,
)
"""A negation that turns nothing."""
_NUMBERS = {
    name: str(number)
    for number, names in enumerate(
        (
            *("zero null", "one eins", "two zwei", "three drei", "four vier", "five fünf"),
            *("six sechs", "seven sieben", "eight acht", "nine neun", "ten zehn", "eleven elf"),
            "twelve zwölf",
        )
    )
    for name in names.split()
}
_SAME = """
like likes love loves prefer prefers preferred favourite favorite enjoy enjoys mag mögen liebt liebe
bevorzugt bevorzuge lieblings
want wants wish wishes möchte möchten mag wünscht wünsche
buy bought kaufen gekauft besorgen
pay paid payment bezahlen zahlen bezahlt
call ring phone anrufen telefonieren
send sent schicken senden geschickt
leave leaving depart losgehen losfahren gehen
take took taken nehmen nimm
give gave given geben gib gibt
meet met meeting treffen triff
eat ate eats essen isst iss
read lesen lies liest
see saw seen sehen sieh sieht
go went gone goes gehen geht ging
bring brought bringen
write wrote written schreiben schrieb
tell told
think thought denken denk
wake woke aufstehen wecken weck weckt wecker aufwachen
live lives lived wohnen wohnt wohne lebt lebe leben
speak spoke spoken sprechen sprich spricht
help hilf helfen hilft
drive drove fahren fahr fährt
get got bekommen bekommt kriegen
mum mom mother mama mutter mutti
dad father papa vater
grandma granny grandmother oma
child children kid kids kind kinder
"""
"""Words with irregular forms, and a few that models exchange. Each line is one meaning."""
_SUFFIXES = (
    *("s", "es", "ed", "d", "ing", "er", "ers", "ly", "n", "en", "e", "em"),
    *("es", "st", "t", "te", "ten", "tes", "et", "est", "in", "innen", "end", "nd", "ung"),
)
_SHORT_SUFFIXES = ("s", "es", "ed", "ing", "en", "t", "st", "e", "te")
_SHORT, _LONG = 3, 4
"""Letters of the shortest stems: with few endings, and with all."""
_PREFIXES = (
    *("ab", "an", "auf", "aus", "bei", "ein", "fest", "fort", "heim", "her", "hin", "hoch", "los"),
    *("mit", "nach", "raus", "rein", "runter", "rüber", "um", "vor", "vorbei", "weg", "weiter"),
    *("zu", "zurück", "zusammen", "wieder", "durch"),
)
"""Parts of German verbs that stand alone in some forms: "ruf an", "anzurufen"."""
_PARTICIPLE = re.compile(r"^ge(.{3,})(?:t|en)$")
_LEAST_COMPOUND = 4
"""Letters of the shortest part of a German compound."""


def is_covered(text: str, said: str, glue: Collection[str] = ()) -> bool:
    """Return whether each word of a text is a form of a word that was said.

    `glue` are words that may be added to it. A text that negates more or less than what was said
    is not covered, nor is one with letters that no reader can see.
    """
    if any(unicodedata.category(one) in ("Cc", "Cf", "Co", "Cs") for one in text.strip("\n")):
        text = re.sub(r"[\ufe0f\u200d\n]", " ", text)  # emoji, and lines
        if any(unicodedata.category(one) in ("Cc", "Cf", "Co", "Cs") for one in text):
            return False
    folded = said.casefold()
    if any(one.casefold().strip(".,;:!?()") not in folded for one in _LITERAL.findall(text)):
        return False
    known = _Known(said)
    return all(known.has(one) or one in glue for one in _list_tokens(text))


def names(sentence: str, target: str, others: Iterable[str] = ()) -> bool:
    """Return whether a sentence names a thing, by a word that it doesn't share with any other."""
    shared = _find_shared(sentence, target)
    return bool(shared) and not any(shared <= _find_shared(sentence, one) for one in others)


def count_negations(text: str) -> int:
    """Count the words that turn what a text says; "don't forget" turns nothing."""
    plain = _NOT_FORGET.sub(" ", text)
    return sum(
        one in _NEGATIONS or _NOT.search(one) is not None
        for one in re.findall(r"[^\W\d_]+(?:['’][^\W\d_]+)*", plain.casefold())
    )


def _find_shared(sentence: str, target: str) -> frozenset[str]:
    """Return the words of a sentence that are words of a thing's name."""
    known = _Known(target)
    words = {*_list_tokens(sentence)} - _KINDS_OF_THINGS
    return frozenset(one for one in words if len(one) > 1 and known.has(one))


def _list_tokens(text: str) -> list[str]:
    """List the words of a text that say something, folded."""
    plain = _CLOCK.sub(lambda one: f"{int(one[1])} {one[2] if one[2] != '00' else ''}", text)
    tokens = (_normalize(one) for one in _TOKEN.findall(plain))
    return [one for one in tokens if one[0].isalnum() and one not in _FUNCTION]


def _normalize(word: str) -> str:
    folded = unicodedata.normalize("NFC", word).casefold().replace("’", "'")
    folded = re.sub(r"(?:'(?:s|m|re|ve|ll|d)|n't)$", "", folded)
    number = _NUMBERS.get(folded, folded)
    return number.lstrip("0") or "0" if number.isdigit() else number


class _Known:
    """The words that were said, with the parts of those that German takes apart."""

    def __init__(self, said: str) -> None:
        self._words = {_normalize(one) for one in _TOKEN.findall(said)}
        clocks = _list_tokens(said)
        self._words |= set(clocks)
        for one in tuple(self._words):
            for prefix in _PREFIXES:
                rest = one.removeprefix(prefix)
                if rest != one and len(rest) >= _SHORT:
                    bare = rest.removeprefix("zu") if len(rest) > _LONG else rest
                    self._words |= {bare, prefix + bare}

    def has(self, word: str) -> bool:
        """Return whether a word is a form of one that was said."""
        if word in self._words:
            return True
        if word.isdigit():
            return False
        if any(is_form(word, one) for one in self._words):
            return True
        return self._has_parts(word)

    def _has_parts(self, word: str) -> bool:
        """Return whether a German verb or compound is made of words that were said."""
        for prefix in _PREFIXES:
            rest = word[len(prefix) :]
            if word.startswith(prefix) and prefix in self._words and len(rest) >= _SHORT:
                stem = rest.removeprefix("zu") if len(rest) > _LONG else rest
                if any(is_form(stem, one) for one in self._words):
                    return True
        for at in range(_LEAST_COMPOUND, len(word) - _LEAST_COMPOUND + 1):
            first, last = word[:at], word[at:]
            if self._is_word(first) and self._is_word(last):
                return True
        return len(word) >= _LEAST_COMPOUND and any(
            len(one) - len(word) >= _LEAST_COMPOUND and (one.endswith(word) or one.startswith(word))
            for one in self._words
            if one.isalpha()
        )

    def _is_word(self, part: str) -> bool:
        bare = part.removesuffix("s")
        return any(is_form(one, part) or is_form(one, bare) for one in self._words)


def is_form(one: str, other: str) -> bool:
    """Return whether two folded words are forms of one word."""
    if one == other:
        return True
    if one.isdigit() or other.isdigit():
        return False
    some, others = _stems(one), _stems(other)
    if not some.isdisjoint(others):
        return True
    classes = {_CLASSES[stem] for stem in some if stem in _CLASSES}
    return any(_CLASSES.get(stem) in classes for stem in others)


def _stems(word: str) -> set[str]:
    plain = re.sub(r"(?<=\w{2})ie[sd]$", "y", _strip_marks(word))
    found = {plain}
    for suffix in _SUFFIXES:
        stem = plain.removesuffix(suffix)
        least = _SHORT if suffix in _SHORT_SUFFIXES else _LONG
        if stem != plain and len(stem) >= least:
            found.add(stem)
            if len(stem) > _SHORT and stem[-1] == stem[-2]:
                found.add(stem[:-1])  # stopped, stopping
    if participle := _PARTICIPLE.match(plain):
        found.add(participle[1])
    return found


def _classify() -> dict[str, int]:
    """Return the class of each word of `_SAME`, also by its stems: "nehme" is "nehmen"."""
    lines = [line.split() for line in _SAME.strip().splitlines()]
    whole = {_strip_marks(word): number for number, line in enumerate(lines) for word in line}
    stems = {
        stem: whole[_strip_marks(word)] for line in lines for word in line for stem in _stems(word)
    }
    return stems | whole


def _strip_marks(word: str) -> str:
    """Return a word without its umlauts and accents: "fährt" is a form of "fahren"."""
    parts = unicodedata.normalize("NFD", word)
    return "".join(one for one in parts if not unicodedata.combining(one))


_CLASSES = _classify()
