"""Names that others chose, reduced to what can't be an order.

Whoever opens a group, a thread or an account names it, and the name stands in every prompt of that
place. A prompt has no mark that would make a model ignore a name. So a name that enters a prompt is
a `PlainName`: a few words that form no sentence, or one word and an initial where several people
read along. Any other name is replaced by a label.
"""

import re
import unicodedata
from typing import NewType

PlainName = NewType("PlainName", str)
"""A name that can stand in a prompt; only the functions of this module make one."""

LONGEST_NAME = 40
"""Characters."""
_MOST_WORDS = 3
_MOST_PARTICLES = 2
_MOST_SHORTENED = 6
"""Words of a name that is shortened to its first and its last."""
_LONGEST_WORD = 20
_MOST_IDEOGRAPHS = 8
"""Scripts without spaces can say a sentence in ten characters; names have up to six."""
_MOST_INITIALS = 3
"""More single letters spell a word."""
_MOST_MARKS = 2
"""Most marks on one letter."""
_SEPARATORS = "(),|&·/"
_JOINTS = "'’.-_"
"""Punctuation within names."""
_PARTS = re.compile(r"[^\W\d_]+")
_HUMP = re.compile(r"(?<=[a-zß-ÿ])(?=[A-ZÀ-Þ])")
_DOMAIN = re.compile(r"[^\W_]{2,}\.[^\W_]{2,}")
"""Two words joined by a point, such as the name of a server."""
_PARTICLE_WORDS = """
al bin da dal de del della den der di do dos du e el ibn la le los of ten ter van vom von y zu zum
zur
"""
_FRAME_WORDS = """
admin administrator agent ai anweisung anweisungen assistant assistent befehl bot developer
entwickler fact facts fakten human instruction instructions moderator operator order orders owner
prompt regel regeln rule rules system talaria tool tools user
"""
_ENGLISH = """
a about above account accounts add after again all allow always and answer any anything approve
are as ask at be because before below but by call cancel change check click command copy create
delete did disregard do does done download drop email erase every everyone everything execute
fetch follow for forget forward forwards from get give go group has have he her here hide him his
how if ignore in inform install instead into is it its job jobs key keys know let like likes list
listen load log look mail make memory message messages must my never new no not note notes now
obey of off on only open or our out overwrite password pay pin please post previous print prior
publish put read record register remember remind remove repeat replace reply report reset reveal
run save say schedule search secret secrets send set settings share she should show skip start
stop store submit switch talk tell that the their them then there these they this those to token
transfer trust turn under unlock update upload us use visit was we were what when where which who
why with without write you your
"""
_GERMAN = """
aber abrufen alle allem allen alles als anderen antworte auch auf aus bei beim bestätige bezahle
bitte das dass dein deine deinen deiner dem den der des dich die dies diese diesen dieser dieses
dir doch du ein eine einem einen einer eines er erinnere erlaube ersetze erstelle es euch euer
folge frage führe für geh gehorche gib haben halte hat hier hinzu ich ihm ihn ihnen ihr ihre im
immer installiere ist jede jeden jeder jetzt kein keine klicke kopiere lade lass leite lerne lies
loesche lösche mach mache man mehr mein meine merk merke mich mir mit muss musst nach nachricht
nenne nicht nichts nie niemals nimm noch notier notiere nun nur nutze oder ohne passwort plane
schick schicke schlüssel schreib schreibe schreiben sei sein seit sende setz setze sich sie sind
sofort soll sollst sollte sondern sowie speicher speichere stelle such suche teile trag trage tue
um und uns unser unter verbreite vergiss vergiß verrate verwende vom von vor vorher wann warum was
weil wenn wer werde werden wie wieder wir wird wirst wo zahle zeig zeige zu zum zur zuvor ändere
öffne über überweise
"""
_PARTICLES = frozenset(_PARTICLE_WORDS.split())
_FRAMES = frozenset(_FRAME_WORDS.split())
"""Words with which a name would speak for Talaria or its owner."""
_SENTENCE = frozenset(_ENGLISH.split() + _GERMAN.split())
"""Words of which sentences are made, and orders to an assistant. No name needs them."""
_TITLES = ("dr", "prof", "mr", "mrs", "ms", "mx", "herr", "frau", "sir", "st")
_ADDITIONS = _PARTICLES.union(_TITLES)
_OFFICIAL_WORDS = """
accepted approved authorized boss chef confirmed false granted ja nein ok okay root su sudo true
trusted verified yes
"""
_OFFICIAL = _SENTENCE | _FRAMES | frozenset(_OFFICIAL_WORDS.split())
"""Words that mean something even alone."""
_LONGEST_CALL = 12
"""Letters; words that are glued into an order are longer, and few names are."""
_MOST_UNSPACED = 3
"""Letters of a name in a script without spaces; of a longer one, the first two stay."""
_UNSPACED = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN")
_GLUE = re.compile(r"[-_.]+|(?<=[^\W_]{3})['’]")
"""What joins words; not the apostrophe in O'Brien."""
_CAMEL = re.compile(r"(?<=[^\W\d_]{3})(?=[A-ZÀ-ÞΑ-ΩА-Я])(?<=[^A-ZÀ-ÞΑ-ΩА-Я])")
"""A capital within a word; not the one in McDonald."""
_INNER_DIGIT = re.compile(r"\d\D")


def read_plain_name(text: str) -> PlainName:
    """Return the plain form of a name, or "" if it may be more than a name.

    A plain name has at most three words, and particles such as "van der"; of a longer one, the
    first and the last word stay. It holds letters of one script a word, digits, points, hyphens
    and apostrophes. It forms no sentence, no address and no frame such as `system:`, in English or
    German. Emoji are left out. Idempotent.
    """
    words = _clean(text).split()
    whole = " ".join(words)
    if not all(map(_is_word, words)) or _DOMAIN.search(whole):
        return PlainName("")
    parts = [part.casefold() for part in _PARTS.findall(_HUMP.sub(" ", whole))]
    if not parts or not _FRAMES.isdisjoint(parts) or _reads_as_sentence(parts):
        return PlainName("")
    name = " ".join(_shorten(words))
    return PlainName(name if len(name) <= LONGEST_NAME else "")


NO_NAME = PlainName("")


def read_call_name(text: str) -> PlainName:
    """Return what to call somebody: one word of their plain name, and the initial of the next.

    One word can't say what to do with what, in any language. Words that are joined, such as by a
    hyphen or as in `CamelCase`, are several. Returns "" without such a word. Idempotent.
    """
    words = [part for word in read_plain_name(text).split() for part in _split(word)]
    at = next((n for n, word in enumerate(words) if _is_main(word)), None)
    if at is None:
        return PlainName("")
    main, rest = words[at], words[at + 1 :]
    if _is_unspaced(main) and len(main) > _MOST_UNSPACED:
        main = main[:2]
    if len(main) > _LONGEST_CALL or _INNER_DIGIT.search(main) or main.casefold() in _OFFICIAL:
        return PlainName("")
    end = next((n for n, word in enumerate(rest) if not _is_particle(word)), None)
    initial = "" if end is None else rest[end]
    said = [word for word in words[:at] if word.casefold() in _ADDITIONS]
    said += [main, *([] if end is None else rest[:end])]
    if initial.isdecimal():
        said.append(initial)
    elif initial:
        first = initial[0].upper()[0]  # "ß" has two capitals
        said.append(first if first.isdecimal() else f"{first}.")
    return PlainName(" ".join(said))


def name_caller(person_id: int, name: str) -> PlainName:
    """Return the plain name of the one person who reads a prompt, or a label with their number."""
    return read_plain_name(name) or PlainName(f"member {person_id}")


def name_member(person_id: int, *names: str | None) -> PlainName:
    """Return the first of a person's names to call them, or a label with their number."""
    found = (read_call_name(name) for name in names if name)
    return next(filter(None, found), PlainName(f"member {person_id}"))


def name_stranger(name: str) -> PlainName:
    """Return what to call an author whom Talaria doesn't know, or a label."""
    return read_call_name(name) or PlainName("somebody")


def name_program(name: str) -> PlainName:
    """Return the plain form of the name of a person's program, or a label."""
    return read_plain_name(name) or PlainName("a program")


def name_given(name: str) -> PlainName:
    """Return a name that one of our own people gave to a place, as they wrote it on one line."""
    line = " ".join("".join(c if c.isprintable() else " " for c in name).split())
    return PlainName(line[:LONGEST_NAME].strip())


def _split(word: str) -> list[str]:
    """Part a word into the words that are joined in it."""
    return [part for piece in _GLUE.split(word) for part in _CAMEL.split(piece) if part]


def _is_main(word: str) -> bool:
    return len(word) > 1 and not word.isdecimal() and word.casefold() not in _ADDITIONS


def _is_particle(word: str) -> bool:
    is_initial = len(word) == 1 and word.isupper()
    return word.casefold() in _PARTICLES and not is_initial


def _is_unspaced(word: str) -> bool:
    return unicodedata.name(word[0], "").startswith(_UNSPACED)


def _clean(text: str) -> str:
    """Unify the forms of letters, drop emoji and what is invisible, and part words."""
    kept: list[str] = []
    for letter in unicodedata.normalize("NFKC", text[: 8 * LONGEST_NAME]):
        category = unicodedata.category(letter)
        if letter in _SEPARATORS or category[0] == "Z" or letter in "\n\r\t":
            kept.append(" ")
        elif category not in ("So", "Sk", "Cf", "Cn", "Co") or letter in _JOINTS:
            kept.append(letter)
    return "".join(kept)


def _is_word(word: str) -> bool:
    """Return whether a word holds letters of one script, digits and a little punctuation."""
    scripts, ideographs, marks = set(), 0, 0
    for letter in word:
        kind = unicodedata.category(letter)[0]
        marks = marks + 1 if kind == "M" else 0
        if marks > _MOST_MARKS or not (kind in "LM" or letter.isdecimal() or letter in _JOINTS):
            return False
        if kind == "L":
            scripts.add(unicodedata.name(letter, "?").partition(" ")[0])
            ideographs += unicodedata.east_asian_width(letter) in "WF"
    is_mixed = len(scripts - {"CJK", "HIRAGANA", "KATAKANA", "HANGUL", "MODIFIER"}) > 1
    return len(word) <= _LONGEST_WORD and ideographs <= _MOST_IDEOGRAPHS and not is_mixed


def _shorten(words: list[str]) -> list[str]:
    particles = sum(word.casefold() in _PARTICLES for word in words)
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in "".join(words))
    if len(words) > _MOST_SHORTENED or particles > _MOST_PARTICLES or wide > _MOST_IDEOGRAPHS:
        return []
    return words if len(words) - particles <= _MOST_WORDS else [words[0], words[-1]]


def _reads_as_sentence(parts: list[str]) -> bool:
    """Return whether several words make a sentence; particles in front of a name don't count."""
    named = [part for part in parts[:-1] if part not in _PARTICLES]
    words = {part for part in (*named, parts[-1]) if len(part) > 1}  # a letter is an initial
    is_spelled = sum(len(part) == 1 for part in parts) > _MOST_INITIALS
    return is_spelled or (len(parts) > 1 and not _SENTENCE.isdisjoint(words))
