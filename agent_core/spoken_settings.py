"""Read the settings that a person names in words, English or German. Pure.

A text sets something only if each of its words is in the table below, is a value, or is left out
here on purpose. So "no messages between 22 and 7" is read in any order of words, and "Ann sent no
messages between 22 and 7" is not.

A wish asks the assistant for something: "be quiet at night", "weekends off". What somebody does or
is, and how something is, sets nothing: "it's quiet at night", "I have Friday off". Only where one
lives, and what one's own setting is, may be told: "I live in Vienna", "Friday is my day off".
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from agent_core.time_zones import find_zone, read_hours

SettingName = Literal["time_zone", "language", "quiet_hours", "days_off", "verbosity"]

_LONGEST = 160
"""Characters; a longer text says something else, too."""
_LONGEST_PLACE = 4
"""Words of the name of a city or country."""
_NIGHT = "22-7"
_WORDS = """
zone: time zone / timezone / zeitzone / city / stadt / town / location / standort / wohnort / time
lives: live / living / based / staying / moved / relocated / wohne / wohnen / lebe / leben / gezogen
lives: umgezogen
am: i'm / i am / am / we're / we are / are / bin / sind
in: in
speak: language / sprache / preferred language / speak / talk / answer / answers / reply / respond
speak: write / switch / change / use / prefer / sprich / sprechen / spreche / rede / reden
speak: antworte / antworten / schreib / schreibe / schreiben / wechsle / wechsel
put: set / put / stell / stelle / stellen / umstellen
bother: message / messaging / write / writing / ping / pinging / text me / texting / bother
bother: bothering / notify / disturb / contact / send / schreib / schreibe / schreiben / stör
bother: störe / stören / gestört / meld / melde / melden / schick / schicke / schicken
post: messages / message / pings / notifications / notification / alerts / nachrichten / nachricht
post: meldungen / benachrichtigungen / reminders / erinnerungen
certain: the reminders / my reminders / these reminders / die erinnerungen / meine erinnerungen
quiet: quiet hours / quiet hour / quiet times / quiet time / quiet / silence / silent / still / mute
quiet: do not disturb / don't disturb / dont disturb / leave me alone / ruhezeiten / ruhezeit / ruhe
quiet: nachtruhe / nicht stören / bitte nicht stören / leise / ruhig / let me sleep
sleep: schlafen
lets: lass / let / let's / lets / give / gib
free: days off / day off / freie tage / freien tage / freier tag / freien tag / frei
night: at night / nights / during the night / every night / overnight / nachts / in der nacht
night: während der nacht / jede nacht
not: stop / not / don't / dont / do not / never / no / nicht / nichts / kein / keine / keinen / nie
clear: off / turn off / switch off / disable / deactivate
clear: without / none / no more / aus / ab / weg / deaktiviere / ohne
delete: remove / delete / clear / cancel / lösche / löschen
when: when / wenn
only: only / nur / ausschließlich
here: here / home / hier
polite: please / bitte / hi / hello / hey / hallo / servus / moin / ok / oh / yes / ja / now / jetzt
polite: from now on / ab jetzt / ab sofort / thanks / danke / always / immer / to / auf / zu / me
polite: mir / with / mit / only / nur / and / und / & / + / lieber / i / i'd / want / would / like
polite: in / ich / möchte / will / hätte / gern / gerne
wish: i'd / want / would / like / prefer / need / möchte / ich will / will ich / hätte / brauche
wish: can you / could you / will you / can we / could we / kannst du / könntest du / würdest du
wish: können wir / könnten wir
able: can / could / kann / können / kannst / könntest
who: i / i'm / we / we're / ich / wir
state: i'm / i am / we're / we are / are / is / it's / bin / sind / ist
state: have / habe / hab
mine: my / our / mein / meine / meinen / meiner
named: quiet hours / quiet hour / quiet times / quiet time / do not disturb / ruhezeiten / ruhezeit
named: nachtruhe / days off / day off / freie tage / freien tage / freier tag / freien tag
beside: we / my / our / me / us / it / it's / its / is / the / a / all / any / at / from / of / on
beside: for / by / wrong / actually / that's / make / schedule / turn on / switch on
beside: enable / activate / update / adjust / you / can / could / will / be / keep / every / day
beside: daily / hours / hour / should / just / currently / at the moment / need / get / receive
beside: have / but / between / anymore / more / also / i want you to / wir / mein / meine
beside: meinen / meiner / mich / uns / dich / es / ist / der / die / das / den / dem / im / am / an
beside: von / bis / für / ein / um / nach / bei / aus / komme / ort / zeit / nein / falsch / zum
beside: eigentlich / jeden tag / täglich / uhr / du / kannst / könntest / dann / können / könnten
beside: setze / setz / ändere / änder / ändern / setzen / mach / mache / soll / würdest / brauche
beside: sein / sei / bleib / so / haben / habe / hab / bekommen / werden / mehr / derzeit / gerade
beside: nun / schalte / schalt / aktiviere / ab heute / seit gestern / seit heute / since yesterday
"""
"""What words tell, then the words. Those "beside" tell nothing, the polite ones neither.

Only polite words may stand beside a language whose use no word tells: "German, please".
"""
_POLITE = "polite"
_LANGUAGES = """
en english englisch
de german deutsch
fr french französisch
es spanish spanisch
it italian italienisch
pt portuguese portugiesisch
nl dutch niederländisch holländisch
pl polish polnisch
cs czech tschechisch
sv swedish schwedisch
da danish dänisch
nb norwegian norwegisch
fi finnish finnisch
tr turkish türkisch
ru russian russisch
uk ukrainian ukrainisch
el greek griechisch
hu hungarian ungarisch
ro romanian rumänisch
ja japanese japanisch
zh chinese chinesisch
ko korean koreanisch
ar arabic arabisch
"""
LANGUAGE_NAMES: Mapping[str, Sequence[str]] = {
    line.split()[0]: line.split()[1:] for line in _LANGUAGES.strip().splitlines()
}
"""The English and German names of languages, by their tags."""
_NAMES = """
time_zone: time zone / timezone / zeitzone / city / stadt
language: language / sprache
quiet_hours: quiet hours / quiethours / quiet / ruhezeiten / ruhezeit / ruhe
days_off: days off / daysoff / freie tage / freietage / frei
verbosity: verbosity / detail / details / ausführlichkeit
reading_limit: reading limit / readinglimit / leselimit
spoken_answers: spoken answers / spokenanswers / voice / gesprochene antworten / sprachausgabe
"""
"""The settings, then how people name them before a value."""
_NO_PLACES = frozenset({"nice", "wet", "met", "eat"})
"""Names of zones and cities that are words of talk, too."""
_DAY = re.compile(
    r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:mon|diens|donners|frei|sams|sonn)tag"
    r"|sonnabend|mittwoch|weekend)s?|wochenende",
    re.IGNORECASE,
)
_SHORT_DAY = re.compile(r"mon|tues?|wed|thu(?:rs)?|fri|sat|sun|mo|di|mi|do|fr|sa|so", re.IGNORECASE)
"""Read as a day only beside "days off": "so" is a word, too."""
_TIME = (
    r"(?:\d{1,2}(?:[:.h][0-5]\d)?(?:\s*(?:uhr|h\b|o['’]?clock|a\.?m\b\.?|p\.?m\b\.?))?"
    r"|midnight|mitternacht)"
)
_SPAN = re.compile(
    rf"(?<![\w:.+])(?:(?:between|zwischen)\s+(?P<a>{_TIME})\s*(?:and|und)\s*(?P<b>{_TIME})"
    rf"|(?:after|nach|ab)\s+(?P<c>{_TIME})\s*(?:and|or|und|oder)\s*(?:before|vor)\s+(?P<d>{_TIME})"
    rf"|(?:(?:from|von|ab|between|zwischen)\s+)?"
    rf"(?P<e>{_TIME})(?P<to>\s*(?:-|–|—|to|until|till|bis)\s*)(?P<f>{_TIME}))(?!\w)",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"[\w.'+/:&-]*\w[\w.'+/:&-]*")
_REFUSAL = re.compile(r"^(?:no|nein)\b\s*[,.!]|\b(?:das )?stimmt (?:so )?nicht\b", re.IGNORECASE)
"""Words that begin a correction, and deny nothing that follows."""
_ASKS = re.compile(
    r"(?:please |bitte |hey |hi )*(?:(?:can|could|would|will|kannst|könntest|würdest) (?:you|du)"
    r"|(?:can|could) we|(?:können|könnten) wir)\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[,;!\n]")
_PART = re.compile(r"[,;.!\n]|\b(?:and|und|but|aber)\b", re.IGNORECASE)
"""What ends a part of a text that somebody tells or wishes."""
_POLITENESS = re.compile(
    r"\b(?:please|bitte|hey|thanks|danke|from now on|ab jetzt|ab sofort)\b", re.IGNORECASE
)
_STEPS = r"(?:steps|each step|every step|tools|progress|schritte|zwischenschritte|fortschritt)"
_SHOWN: Mapping[str, re.Pattern[str]] = {
    value: re.compile(said, re.IGNORECASE)
    for value, said in {
        "quiet": (
            r"(?:(?:(?:show|give|send) me|zeige? mir|gib mir|schick mir) )?(?:only|just|nur)"
            r"(?: (?:show|give|send) me)?(?: the| your| die| deine)? (?:answers|antworten)"
            rf"|(?:don['’]?t|do not|stop) show(?:ing)?(?: me)?(?: the| your)? {_STEPS}"
            rf"|(?:hide|no) (?:the |your )?{_STEPS}|zeige? (?:mir )?keine {_STEPS}|keine {_STEPS}"
        ),
        "verbose": (
            r"(?:show|zeige?)(?: me| mir)? (?:every step|each step|all(?: the| your)? steps"
            r"|jeden schritt|alle(?: deine)? schritte)"
        ),
    }.items()
}
"""How much of the work is shown, and the words that wish for it."""
_CLAUSE_ENDS = r"(?:$|[,;.!\n]|\b(?:and|und)\b)"
_CALLED = re.compile(
    rf"(?:^|[,;.!\n&]|\b(?:and|und)\b)\s*(?:and |und |please |bitte )*"
    r"(?P<clause>(?:call me|my name is|ich heiße|mein name ist|nenne? mich(?: bitte)?)"
    r" (?P<name>[^\W\d_][\w'’-]*(?: [^\W\d_][\w'’-]*){0,2}?))"
    rf"\s*(?:please|bitte)?\s*(?={_CLAUSE_ENDS})",
    re.IGNORECASE,
)
_NO_NAMES = frozenset(
    (
        *("back", "later", "tomorrow", "tonight", "today", "soon", "now", "maybe", "again", "if"),
        *("anytime", "when", "once", "at", "in", "on", "please", "bitte", "nicht", "so", "wie"),
    )
)
"""Words behind "call me" that are no names."""


def _read_table(table: str) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for line in table.strip().splitlines():
        sort, _, words = line.partition(":")
        for one in words.split(" / "):
            found[one.strip()] = found.get(one.strip(), frozenset()) | {sort}
    return found


_SORTS = _read_table(_WORDS)
_MOST_WORDS = max(len(one.split()) for one in _SORTS)
_SPOKEN_NAMES = {said: next(iter(names)) for said, names in _read_table(_NAMES).items()}
_LONGEST_FIRST = sorted(_SPOKEN_NAMES, key=len, reverse=True)
_NAMED = re.compile(
    rf"({'|'.join(one.replace(' ', r'[ _]+') for one in _LONGEST_FIRST)})(?![\w])"
    r"\s*(?:(?:[:=]|(?:to|is|are|auf|ist|sind|in)(?=\s))\s*)*(.*)",
    re.IGNORECASE | re.DOTALL,
)
"""A setting as people write it, words between, and its value."""


@dataclass(frozen=True, slots=True)
class SaidSetting:
    """A setting that a person named, and its value as they said it; "" clears it."""

    name: SettingName
    value: str


def find_language_tag(name: str) -> str | None:
    """Return the BCP 47 tag of a language that a person names, such as "German" or "Deutsch"."""
    said = name.casefold()
    return next((tag for tag, names in LANGUAGE_NAMES.items() if said in names), None)


def split_setting(words: str) -> tuple[str, str]:
    """Return the name of a setting and the value as written; an unknown name stays as it is."""
    named = _NAMED.match(words.strip())
    if named:
        said = " ".join(named[1].casefold().replace("_", " ").split())
        return _SPOKEN_NAMES[said], named[2].strip()
    name, value, *_ = [*words.split(maxsplit=1), ""]
    return name.lower(), value.strip()


@dataclass(frozen=True, slots=True)
class SaidIntroduction:
    """A person's words about themself: a clause with their name, and settings."""

    clause: str
    settings: tuple[SaidSetting, ...]


def read_introduction(words: str) -> SaidIntroduction | None:
    """Read a text that says nothing but a name and settings: "Lisbon, and call me Nan"."""
    found = _CALLED.search(words)
    if found is None or not _is_name(found["name"]):
        return None
    rest = f"{words[: found.start()]} , {words[found.end() :]}"
    settings = read_settings(rest, is_asked=True)
    return SaidIntroduction(found["clause"], settings) if settings else None


def _is_name(name: str) -> bool:
    """Return whether each word begins with a capital; the first may be small."""
    first, *more = name.split()
    return first.casefold() not in _NO_NAMES and all(one[0].isupper() for one in more)


def read_settings(words: str, *, is_asked: bool = False) -> tuple[SaidSetting, ...]:
    """Read a text that says nothing but settings; otherwise return none.

    If the person was asked for them (`is_asked`), a bare value counts: "Vienna, 22-7". Otherwise,
    the text says what the value is for: "I live in Vienna".
    """
    said = _REFUSAL.sub(",", " ".join(words.replace("’", "'").split(" "))).strip()
    if len(said) > _LONGEST or ("?" in said and (is_asked or not _ASKS.match(said))):
        return ()
    plain = " ".join(_POLITENESS.sub(" ", said).split()).strip(" ,.!")
    if shown := next((one for one, wish in _SHOWN.items() if wish.fullmatch(plain)), ""):
        return (SaidSetting("verbosity", shown),)
    span = _SPAN.search(said)
    rest = f"{said[: span.start()]} , {said[span.end() :]}" if span else said
    found = _sort(_split(rest))
    if found is None:
        return ()
    told = [_tell(_split(part)) for part in _PART.split(rest)]
    if any(_tells_quiet(one) for one in told):
        quiet: _Part = () if is_asked else None
    else:
        quiet = _read_quiet(found, span, is_asked=is_asked and not _tells_presence(said, span))
    is_told = not is_asked and any(_tells_speech(one) for one in told)
    language = None if is_told else _read_language(found, is_asked)
    parts = (quiet, _read_zone(found, is_asked), language)
    if None in parts:
        return ()
    return tuple(one for part in parts if part for one in part)


@dataclass(frozen=True, slots=True)
class _Sorted:
    """The words of a text: what they tell, and the values among them."""

    tells: frozenset[str]
    zones: tuple[str, ...]
    languages: tuple[str, ...]
    days: tuple[str, ...]
    is_bare: bool
    """True if no word but politeness stands beside the values."""


_Part = tuple[SaidSetting, ...] | None
"""What a text says about one setting; None if it says what can't be one."""


def _split(text: str) -> list[str]:
    return [bare for one in _TOKEN.findall(text) if (bare := one.strip(".:'"))]


def _sort(words: list[str]) -> _Sorted | None:
    """Sort the words of a text; None if one of them is neither in the table nor a value."""
    is_free = "free" in _tell(words)
    tells, zones, languages, days = set[str](), list[str](), list[str](), list[str]()
    is_bare, place = True, 0
    while place < len(words):
        zone, length = _find_place(words[place:])
        sorts, count = _find_sorts(words[place:])
        one = words[place]
        if find_language_tag(one):
            languages.append(one)
        elif _DAY.fullmatch(one) and words[place + 1 : place + 2] == ["off"]:
            days.append(one)
            tells |= {"free"}
            place += 1
        elif _DAY.fullmatch(one) or (is_free and _SHORT_DAY.fullmatch(one)):
            days.append(one)
        elif zone and length >= count:
            zones.append(zone)
            place += length - 1
        elif sorts:
            tells |= sorts
            is_bare = is_bare and _POLITE in sorts
            place += count - 1
        else:
            return None
        place += 1
    return _Sorted(frozenset(tells), tuple(zones), tuple(languages), tuple(days), is_bare)


def _tells_quiet(tells: frozenset[str]) -> bool:
    """Return whether a part tells who or what is quiet or free, and wishes for nothing."""
    is_about = tells & {"quiet", "free", "bother", "post", "sleep", "clear"}
    is_setting = {"named", "mine"} <= tells and "who" not in tells
    is_wish = bool(tells & {"wish", "lets"})
    return bool(is_about and tells & {"who", "state"}) and not is_wish and not is_setting


def _tells_speech(tells: frozenset[str]) -> bool:
    """Return whether a part tells what somebody speaks, and wishes for nothing."""
    return {"who", "speak"} <= tells and "wish" not in tells


def _tell(words: list[str]) -> frozenset[str]:
    return frozenset(sort for place in range(len(words)) for sort in _find_sorts(words[place:])[0])


def _find_sorts(words: list[str]) -> tuple[frozenset[str], int]:
    """Return what the longest known words at the beginning tell, and their number."""
    for count in range(min(_MOST_WORDS, len(words)), 0, -1):
        if sorts := _SORTS.get(" ".join(words[:count]).casefold()):
            return sorts, count
    return frozenset(), 0


def _find_place(words: list[str]) -> tuple[str, int]:
    """Return the longest name of a place at the beginning, so that "New York" is not York."""
    for count in range(min(_LONGEST_PLACE, len(words)), 0, -1):
        name = " ".join(words[:count])
        if name.casefold() not in _NO_PLACES and find_zone(name):
            return name, count
    return "", 0


def _read_quiet(found: _Sorted, span: re.Match[str] | None, *, is_asked: bool) -> _Part:
    """Read quiet hours and days off: both say when no message comes."""
    tells = found.tells
    is_off = bool(tells & {"not", "clear", "delete"})
    # To delete a message is no wish to get none.
    hushes = bool(tells & {"not", "clear"}) and bool(tells & {"bother", "post"})
    is_quiet = "quiet" in tells or hushes or {"lets", "sleep"} <= tells
    if "certain" in tells:  # some reminders, and not all of them
        return None
    when = _read_span(span) if span else _NIGHT if "night" in tells else ""
    if span and not when:
        return None
    if is_quiet and is_off and not hushes:  # "turn off quiet hours", but not "never be quiet"
        return None if when or found.days else (SaidSetting("quiet_hours", ""),)
    if "free" in tells and not is_quiet and not when and (bool(found.days) != is_off):
        return (SaidSetting("days_off", ",".join(found.days)),)
    if found.days and is_quiet and not when:
        return (SaidSetting("days_off", ",".join(found.days)),)
    if found.days or "free" in tells:
        return None
    if span and "only" in tells and "bother" in tells and not is_off:
        return (SaidSetting("quiet_hours", _read_span(span, is_inverse=True)),)
    if (is_quiet and when) or (span and is_asked):
        return (SaidSetting("quiet_hours", when),)
    is_left = is_quiet or when or "not" in tells or (is_off and not is_asked)
    return None if is_left else ()


def _read_span(span: re.Match[str], *, is_inverse: bool = False) -> str:
    """Return the hours of a span in the form of a setting; "" if no clock shows them."""
    start, end = (span[one] or span[two] or span[three] for one, two, three in ("ace", "bdf"))
    between = span["to"] or "-"
    said = f"{end}-{start}" if is_inverse else f"{start}{between}{end}"
    said = re.sub(r"(?<=\d)\s*(?:h\b|o['’]?clock)", "", said, flags=re.IGNORECASE)
    said = re.sub(r"midnight|mitternacht", "0:00", said, flags=re.IGNORECASE)
    return said if read_hours(said) else ""


def _tells_presence(said: str, span: re.Match[str] | None) -> bool:
    """Return whether the words around a span make it a time to be there or to talk."""
    if span is None:
        return False
    around = (_CLAUSE.split(said[: span.start()])[-1], _CLAUSE.split(said[span.end() :])[0])
    return bool(_tell(_split(" ".join(around))) & {"speak", "bother", "here"})


def _read_zone(found: _Sorted, is_asked: bool) -> _Part:
    if not found.zones:
        return ()
    tells = found.tells
    is_wish = tells & {"wish", "able"} and not tells & {"quiet", "post", "bother"}
    lives = "lives" in tells and not is_wish
    is_told = "zone" in tells or ((lives or {"am", "in"} <= tells) and "when" not in tells)
    if len({find_zone(one) for one in found.zones}) > 1 or not (is_told or is_asked):
        return None
    return (SaidSetting("time_zone", found.zones[0]),)


def _read_language(found: _Sorted, is_asked: bool) -> _Part:
    if not found.languages:
        return ()
    is_told = bool(found.tells & {"speak", "put"}) or found.is_bare
    if len(found.languages) > 1 or not (is_told or is_asked):
        return None
    return (SaidSetting("language", found.languages[0]),)
