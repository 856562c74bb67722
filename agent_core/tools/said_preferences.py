"""Read a text that says nothing but a person's city, language and quiet hours. Pure."""

import re
from collections.abc import Mapping

from agent_core.tools.said_settings import find_language_tag
from agent_core.tools.time_zones import find_zone, read_hours

_LONGEST = 160
"""Characters; a longer text says something else, too."""
_NIGHT = "22-7"
_CLOCK = r"\d{1,2}(?:[:.h][0-5]\d)?\s*(?:uhr|h\b|o['’]?clock|a\.?m\b\.?|p\.?m\b\.?)?"
_SPAN = re.compile(
    rf"(?<![\w:.+])(?:between|zwischen)\s+(?P<a>{_CLOCK})\s*(?:and|und)\s*(?P<b>{_CLOCK})(?!\w)"
    rf"|(?<![\w:.+])(?P<c>{_CLOCK})\s*(?:-|–|—|to|until|till|bis)\s*(?P<d>{_CLOCK})(?!\w)",
    re.IGNORECASE,
)
_QUIET = re.compile(
    r"\b(?:(?:i (?:want|need|would like|['’]?d like) )?(?:no|keine) (?:messages?|notifications?"
    r"|nachrichten?|meldungen)|(?:do not|don['’]?t|bitte nicht|nicht) (?:disturb|message|write to"
    r"|write|ping|stören|schreiben)(?: me)?|stör mich nicht|schreib mir nicht"
    r"|quiet(?: hours?| times?)?|silen(?:t|ce)|ruhe(?:zeit(?:en)?)?|still|leise)\b",
    re.IGNORECASE,
)
_AT_NIGHT = re.compile(
    r"\b(?:(?:at|during the|every) night|overnight|nachts|(?:in|während) der nacht|jede nacht)\b",
    re.IGNORECASE,
)
_PRESENT = re.compile(
    r"\b(?:write|talk|answer|reply|schreibe?|antworten?|antworte|rede|here|hier|home)\b", re.I
)
"""Words beside a span of hours that make it a time to be there or to talk."""
_WRONG = re.compile(r"\b(?:das )?stimmt (?:so )?nicht\b", re.IGNORECASE)
_BETWEEN = re.compile(r"[,;:\n!()]+|\.(?=\s|$)|(?:^|\s)(?:and|und|&|\+|/|but|aber)(?=\s)|\s[-–—]\s")
_WORD = re.compile(r"[\w.'’+/:&-]+")
_FILLER_LINES = """
i i'm i’m im am we we're are my our me it it's it’s its is the a in at from to of on for live living
based located home city town place here now time timezone zone language speak write answer reply
talk use prefer want please thanks hi hello hey yes no oh actually wrong that's would like set you
can could be always every day hours hour with should ok
ich bin wir sind mein meine meinen mir mich es ist der die das den dem im aus auf von ab bis zu für
wohne wohnen lebe leben komme stadt ort zeit zeitzone sprache sprich sprechen spreche schreib
schreibe antworte antworten rede nutze bitte danke hallo servus moin ja nein falsch eigentlich
jetzt hier immer jeden tag uhr mit lieber möchte will hätte gern gerne du kannst dann stell stelle
soll sein so
"""
_FILLERS = frozenset(_FILLER_LINES.split())
"""Words around a city or a language that mean nothing without it."""
_NO_PLACES = frozenset({"nice", "wet", "met", "eat"})
"""Names of zones and cities that are words of talk, too."""


def read_preferences(words: str) -> Mapping[str, str]:
    """Read a text that says only a place, a language, quiet hours, or several; otherwise return {}.

    The keys are setting names; the values are what `apply_setting` reads.
    """
    said = _WRONG.sub(",", words.strip())
    if len(said) > _LONGEST or "?" in said:
        return {}
    found: dict[str, str] = {}
    is_quiet = _QUIET.search(said) is not None
    span = _SPAN.search(said)
    if span and not is_quiet and _PRESENT.search(_cut_out(said, span)):
        return {}
    if span:
        hours = f"{span['a'] or span['c']}-{span['b'] or span['d']}"
        hours = re.sub(r"(?<=\d)\s*(?:h\b|o['’]?clock)", "", hours)
        if read_hours(hours):
            found["quiet_hours"] = hours
            said = f"{said[: span.start()]}, {said[span.end() :]}"
    elif is_quiet and _AT_NIGHT.search(said):
        found["quiet_hours"] = _NIGHT
    if is_quiet and "quiet_hours" not in found:
        return {}
    if "quiet_hours" in found:
        said = _QUIET.sub(",", _AT_NIGHT.sub(",", said))
    for part in _BETWEEN.split(said):
        if not _read_part(_WORD.findall(part or ""), found):
            return {}
    return found


def _cut_out(said: str, span: re.Match[str]) -> str:
    """Return what stands around a span, up to the next comma or end of a sentence."""
    before, after = (
        re.split(r"[,;!\n]", said[: span.start()]),
        re.split(r"[,;!\n]", said[span.end() :]),
    )
    return f"{before[-1]} {after[0]}"


def _read_part(words: list[str], found: dict[str, str]) -> bool:
    """Read one part of a text into `found`; return whether it says nothing else."""
    tags = [(place, tag) for place, one in enumerate(words) if (tag := find_language_tag(one))]
    if len(tags) > 1 or (tags and "language" in found):
        return False
    for place, tag in tags:
        found["language"] = tag
        return _read_part(words[:place], found) and _read_part(words[place + 1 :], found)
    # The longest name counts, so that "New York" and "in York, England" differ.
    for start in range(len(words)):
        for end in range(len(words), start, -1):
            name = " ".join(words[start:end]).strip(".")
            if name.casefold() in _NO_PLACES or not find_zone(name):
                continue
            if not _are_fillers([*words[:start], *words[end:]]) or "time_zone" in found:
                return False
            found["time_zone"] = name
            return True
    return _are_fillers(words)


def _are_fillers(words: list[str]) -> bool:
    return all(one.casefold().strip(".") in _FILLERS for one in words)
