"""Queries: a text parsed into terms of the search index."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise

from agent_core.errors import ToolArgumentError
from agent_core.memory.recall.kinds import list_members
from agent_core.state.search.message_index import Term
from agent_core.state.search.search_scope import Speaker
from agent_core.state.tokenizer import (
    ENGLISH,
    UNINDEXED,
    cut,
    cut_humps,
    list_pieces,
    list_runs,
    normalize,
)
from agent_core.state.word_vectors import list_words
from agent_core.tools.clock import local_time
from agent_core.transcript import is_hidden

_TIME = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2})(?:[T ](\d{1,2}):(\d{2})(?::\d{2})?)?)?)?")


def read_moment(text: str, zone: str, *, name: str, is_end: bool = False) -> int:
    """Parse a time such as `2026`, `2026-05`, `2026-05-31` or `2026-05-31 14:00` into milliseconds.

    Returns the beginning of that period, or with `is_end` its last millisecond, since the epoch.
    Raises `ToolArgumentError` for anything else; `name` is the name of the argument.
    """
    match = _TIME.fullmatch(text.strip())
    try:
        if not match:
            raise ValueError(text)
        year, month, day, hour, minute = (int(part) if part else None for part in match.groups())
        begin = datetime(year or 0, month or 1, day or 1, hour or 0, minute or 0)
        if is_end:
            begin = _next(begin, month, day, hour) - timedelta(milliseconds=1)
        return int(begin.replace(tzinfo=local_time(0, zone).tzinfo).timestamp() * 1000)
    except (ValueError, OverflowError) as error:
        raise ToolArgumentError(
            f"`{name}` is not a time: write it as 2026-05-31 or 2026-05-31 14:00"
        ) from error


def _next(begin: datetime, month: int | None, day: int | None, hour: int | None) -> datetime:
    """Return the end of the year, month, day or minute that starts at `begin`."""
    if month is None:
        return begin.replace(year=begin.year + 1)
    if day is None:
        return (begin + timedelta(days=31)).replace(day=1)
    return begin + (timedelta(days=1) if hour is None else timedelta(minutes=1))


MAX_TERMS = 32
"""The most words or symbols of a search; more would not make it more precise."""

_STOP_WORDS = ENGLISH | frozenset(
    normalize(word)
    for line in (
        # German
        "aber als auch auf aus bei bin bist das dass dein deine dem den der des dich dir du",
        "ein eine einem einen einer er es für habe haben hast hat ich ihr im ist mein meine",
        "mich mir mit nicht noch oder sein sich sie sind und uns vom von wann warum wer wie",
        "wir wo zu zum zur über",
        # French
        "au aux avec ce ces cette dans de elle en est et il ils je la le les leur ma mais mes",
        "moi mon ne nous où par pas pour qu quand que quel quelle qui sa se ses sont ta te tes",
        "toi ton tu un une vous",
        # Spanish, Portuguese, Italian
        "al ao che chi con cuál cuando cuándo da del della di dos el ella em está este esto eu",
        "ha las lo los meu mi minha mio mis na não nos o onde para perché pero por porque qual",
        "quando qué quem quién según si su sua sus um uma una uno y yo",
        # Russian
        "а был была в во вы где для его ее её и из или как когда кто мне мой моя мы на не но о",
        "он она они по с со так то ты у что это я",
    )
    for word in line.split()
)

_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july", "august", "september"),
    *("october", "november", "december"),
)
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_ISO_DATE = re.compile(r"\b(?:19|20)\d\d-(0[1-9]|1[0-2])(?:-(\d\d))?\b")
_DAY = re.compile(
    rf"\b(?:(\d\d?)(?:st|nd|rd|th)?(?: of)? (?=({'|'.join(_MONTHS)})\b)"
    rf"|({'|'.join(_MONTHS)}) (\d\d?)(?:st|nd|rd|th)?\b)"
)
_OWN = re.compile(
    r"\b(?:i|me|my|mine|we|us|our|ours|ich|mich|mir|mein\w*|wir|uns|unser\w*"
    r"|je|moi|mon|mes|nous|notre|nos|yo|mis|nosotr[oa]s|nuestr[oa]s?)\b|[私僕俺]"
)
_YOURS = re.compile(r"\b(?:you|your|du|dein\w*|tu|vous|votre|usted)\b|あなた")
_REQUEST = re.compile(
    r"\b(?:can|could|would|will|do|should) you\b|\b(?:kannst|konntest|wurdest|magst) du\b"
    r"|(?<!did )\byou (?:suggest|recommend|think|help|show|tell|explain)\b"
    r"|\b(?:peux|pourrais|pouvez|pourriez)-(?:tu|vous)\b"
)
"""Requests for a new answer, as opposed to questions about an earlier one."""
_REQUEST_NOW = re.compile(
    r"(?:how (?:do|should|can|could|would) i|what (?:are|is|should|would)|which|can|could|would|do"
    r"|i'm|please|wie (?:kann|soll|sollte) ich|was (?:ist|sind|soll)|kannst|konntest)\b"
)
_BEFORE = re.compile(r"\b(?:did|was|were|our|ha(?:s|ve|d) (?:i|we|you)|mentioned|said|told)\b")
"""Signs that a question is about something that was said earlier."""
FRAME = re.compile(
    r"\b(?:walk me through|(?:list )?the order in which|in(?: chronological)? order"
    r"|mention only(?: and only)? \w+ items"
    r"|(?:(?:a|the) )?(?:(?:clear|quick|short|brief|full|complete|detailed|comprehensive) )?"
    r"(?:summary|overview) of|summari[sz]e"
    r"|(?:throughout|across|over|from|based on|in)(?: all)?(?: of)? (?:our|all|these)"
    r"(?: \w+)? (?:conversations|chats|sessions|discussions|messages)"
    r"|(?:i|we|you)(?:'ve| have)? (?:brought up|bring up|mention(?:ed)?|discuss(?:ed)?"
    r"|talk(?:ed)? about)|(?:different )?aspects of"
    r"|in welcher reihenfolge|(?:zusammenfassung|uberblick) (?:von|uber|der|des)"
    r"|in (?:all )?unseren (?:gesprachen|unterhaltungen|chats))\b"
)
"""Phrases about the conversation itself. They say nothing about its content."""
_TALKED = re.compile(
    r"\b(?:(?:in|during|throughout|across) (?:our|their|the|this|these)"
    r" (?:conversation|chat|discussion)s?(?! ?[\w'])"
    r"|(?:brought|bring) up|(?:mention|discuss)(?:e?s|ed|ing)?|talk(?:ed|ing) about)\b"
)
"""Phrases which say that something was mentioned. The message that mentions it seldom has them."""
_ASKS_WHEN = re.compile(r"\b(?:when|how long|(?:what|which) (?:day|date|week|month|year|time))\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A parsed query. `asked` are its words, to show them."""

    asked: tuple[str, ...]
    terms: tuple[Term, ...] = ()
    pairs: frozenset[tuple[str, str]] = frozenset()
    """Pairs of adjacent words, without stop words."""
    fragments: tuple[str, ...] = ()
    """Text to scan for, because it is not in the index; only set if there are no terms."""
    months: frozenset[int] = frozenset()
    years: frozenset[int] = frozenset()
    days: frozenset[tuple[int, int]] = frozenset()
    """Days as (month, day)."""
    asks_when: bool = False
    about: Speaker | None = None
    """The author of the messages that the query asks about, if it says so."""
    is_request: bool = False
    """Whether the query asks for a new answer, so that the person's wishes for answers matter."""
    written: Mapping[str, str] = field(default_factory=dict)
    """The words behind the terms as they are written, in lower case."""


def read_query(text: str) -> Query:
    """Parse any text; only an empty text gives a query without terms and fragments.

    Stop words and phrases about the conversation are dropped unless there are no other words. The
    index has no English stop words and no ASCII symbols, so a text that consists of these becomes
    fragments.
    """
    text = "".join(" " if is_hidden(character) else character for character in text)
    folded = normalize(text)
    runs = list_runs(folded)
    content = (
        _drop_stop_words(list_runs(_TALKED.sub(" ", FRAME.sub(" ", folded))))
        or _drop_stop_words(runs)
        or _unique(runs)
    )
    terms = tuple(
        Term(word=word, is_start=is_start)
        for run in content
        for words, is_start in (list_pieces(run),)
        for word in words
        if word not in UNINDEXED
    )
    terms += tuple(Term(word=word) for word in cut_humps(text) if word not in UNINDEXED)
    if not terms:
        asked = _unique(runs) or _unique(folded.split())
        return Query(asked=asked, fragments=asked)
    terms = tuple(dict.fromkeys(terms))[:MAX_TERMS]
    order = [word for run in runs if run in content for word in list_pieces(run)[0]]
    return Query(
        asked=content,
        terms=(*terms, *_list_members(content)),
        pairs=frozenset(pairwise(order)),
        months=_list_months(folded, content),
        days=_list_days(folded),
        years=frozenset(int(year) for year in _YEAR.findall(folded)),
        asks_when=bool(_ASKS_WHEN.search(folded)),
        about=_find_side(folded),
        is_request=bool(_REQUEST_NOW.match(folded)) and not _BEFORE.search(folded),
        written=_list_written(text, {term.word for term in terms}),
    )


def _drop_stop_words(runs: Iterable[str]) -> tuple[str, ...]:
    return _unique(run for run in runs if run not in _STOP_WORDS)


def _list_members(words: Iterable[str]) -> tuple[Term, ...]:
    """Return one more term for the first kind that is named: "cat or dog" for "animal".

    A second kind would cost too much, because each is a search for some fifty words.
    """
    kinds = map(list_members, words)
    return tuple(Term(any_of=members) for members in kinds if members)[:1]


def _list_written(text: str, wanted: Collection[str]) -> dict[str, str]:
    words = list_words(text)
    return {term: word for word in words for term in cut(word) if term in wanted}


def _find_side(folded: str) -> Speaker | None:
    """Return the author whose messages a query asks about: "you told me" means the assistant."""
    if _YOURS.search(folded) and not _REQUEST.search(folded):
        return "assistant"
    return "user" if _OWN.search(folded) else None


def _list_months(folded: str, content: Iterable[str]) -> frozenset[int]:
    named = {number for number, month in enumerate(_MONTHS, start=1) if month in content}
    return frozenset(named | {int(month) for month, _ in _ISO_DATE.findall(folded)})


def _list_days(folded: str) -> frozenset[tuple[int, int]]:
    named = {(int(month), int(day)) for month, day in _ISO_DATE.findall(folded) if day}
    for before, month, same, after in _DAY.findall(folded):
        named.add((_MONTHS.index(month or same) + 1, int(before or after)))
    return frozenset(named)


def _unique(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))[:MAX_TERMS]
