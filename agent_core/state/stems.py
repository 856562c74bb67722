"""One form for the forms of an English word: Porter's rules, and verbs that follow no rule."""

from functools import lru_cache

_REMEMBERED = 65_536
"""Words whose stems are kept at hand; what people use most is a few thousand."""

_IRREGULAR = {
    form: word
    for word, *forms in (
        line.split()
        for line in (
            "be was were been is are am",
            "become became",
            "begin began begun",
            "break broke broken",
            "bring brought",
            "build built",
            "buy bought",
            "catch caught",
            "choose chose chosen",
            "come came",
            "do did done does",
            "draw drew drawn",
            "drink drank drunk",
            "drive drove driven",
            "eat ate eaten",
            "fall fell fallen",
            "feel felt",
            "fight fought",
            "find found",
            "fly flew flown",
            "forget forgot forgotten",
            "get got gotten",
            "give gave given",
            "go went gone goes",
            "grow grew grown",
            "have had has",
            "hear heard",
            "hold held",
            "keep kept",
            "know knew known",
            "lead led",
            "leave left",
            "lose lost",
            "make made",
            "mean meant",
            "meet met",
            "pay paid",
            "ride rode ridden",
            "run ran",
            "say said",
            "see saw seen",
            "sell sold",
            "send sent",
            "shoot shot",
            "sing sang sung",
            "sit sat",
            "sleep slept",
            "speak spoke spoken",
            "spend spent",
            "stand stood",
            "swim swam swum",
            "take took taken",
            "teach taught",
            "tell told",
            "think thought",
            "throw threw thrown",
            "understand understood",
            "wear wore worn",
            "win won",
            "write wrote written",
            "child children",
            "man men",
            "woman women",
            "person people",
            "wife wives",
            "foot feet",
            "tooth teeth",
            "mouse mice",
        )
    )
    for form in forms
}

_STEP_2 = (
    *(("ational", "ate"), ("ization", "ize"), ("iveness", "ive"), ("fulness", "ful")),
    *(("ousness", "ous"), ("tional", "tion"), ("biliti", "ble"), ("entli", "ent")),
    *(("ousli", "ous"), ("ation", "ate"), ("alism", "al"), ("aliti", "al"), ("iviti", "ive")),
    *(("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("alli", "al"), ("ator", "ate")),
    *(("logi", "log"), ("bli", "ble"), ("eli", "e")),
)
_STEP_3 = (
    *(("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic")),
    *(("ness", ""), ("ful", "")),
)
_STEP_4 = (
    *("ement", "ance", "ence", "able", "ible", "ment", "sion", "tion", "ant", "ent", "ism"),
    *("ate", "iti", "ous", "ive", "ize", "al", "er", "ic", "ou"),
)


_LAST_LETTERS = frozenset(ending[-2:] for ending, _ in (*_STEP_2, *_STEP_3))
"""Most words end on none of these, and are spared the rules one by one."""


@lru_cache(maxsize=_REMEMBERED)
def stem(word: str) -> str:
    """The stem of a lower-case word of ASCII letters; any other word is its own.

    M. F. Porter, An algorithm for suffix stripping (1980), with his two later changes.
    """
    word = _IRREGULAR.get(word, word)
    if len(word) < 3 or not (word.isascii() and word.isalpha()):
        return word
    word = _drop_ending(_drop_plural(word))
    if word.endswith("y") and "v" in _mask(word[:-1]):
        word = word[:-1] + "i"
    word = _drop_suffix(_swap(_swap(word, _STEP_2), _STEP_3))
    if word.endswith("e"):
        measure = _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _is_short(word[:-1])):
            word = word[:-1]
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word


def _mask(word: str) -> str:
    """Each letter as `c` or `v`; a y behind a consonant is a vowel."""
    mask = ""
    for letter in word:
        is_vowel = letter in "aeiou" or (letter == "y" and mask.endswith("c"))
        mask += "v" if is_vowel else "c"
    return mask


def _measure(word: str) -> int:
    return _mask(word).count("vc")


def _is_short(word: str) -> bool:
    return _mask(word).endswith("cvc") and word[-1] not in "wxy"


def _drop_plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _drop_ending(word: str) -> str:
    """Without -ed and -ing, and what is left made a word again."""
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    ending = next((ending for ending in ("ed", "ing") if word.endswith(ending)), "")
    kept = word[: len(word) - len(ending)]
    if not ending or "v" not in _mask(kept):
        return word
    if kept.endswith(("at", "bl", "iz")):
        return kept + "e"
    if kept[-1:] == kept[-2:-1] and _mask(kept)[-1] == "c" and kept[-1] not in "lsz":
        return kept[:-1]
    return kept + "e" if _measure(kept) == 1 and _is_short(kept) else kept


def _swap(word: str, rules: tuple[tuple[str, str], ...]) -> str:
    if word[-2:] not in _LAST_LETTERS:
        return word
    for ending, other in rules:
        if word.endswith(ending):
            kept = word[: -len(ending)]
            return kept + other if _measure(kept) > 0 else word
    return word


def _drop_suffix(word: str) -> str:
    if not word.endswith(_STEP_4):
        return word
    for ending in _STEP_4:
        if word.endswith(ending):
            kept = word[: -3 if ending in ("sion", "tion") else -len(ending)]
            return kept if _measure(kept) > 1 else word
    return word
