"""Find out whether a person's words name the moment of a reminder. Pure.

Code reads the words with the same reader as the tool's `when`, so that both mean the same slot.
What the words leave open, a model may fill in: an hour of "Friday", or of "tomorrow morning", and
the half of the day of "at 5".
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import permutations

from agent_core.schedule.said_times import reads_as_time
from agent_core.spoken_times import SpokenTime, read_when
from agent_core.tools.clock import local_time

_MOST_WORDS, _MOST_OF_REPEAT = 9, 14
"""Words of the longest phrase for a moment, and for times that repeat."""
_MOST_SEARCHED = 40
"""Words of a sentence that are searched for times that repeat; a wish has fewer."""
_SLACK = timedelta(seconds=90)
"""A model may reckon a span in minutes from when it reads."""
_HALF_DAY = timedelta(hours=12)
_TOKEN = re.compile(r"\d{1,2}[:.]\d\d|\d{1,2}\.\d{1,2}\.(?:\d{4})?|\d+\.(?=\s)|[\w'’-]+")
_PAIR, _APART = 2, re.compile(r"[,;:–—]\s")
"""The most phrases that can be one time, and the signs between two thoughts."""
_BARE_HOUR = re.compile(r"\d{1,2}(?:[:.]\d\d)?")
_CLOSED = re.compile(
    r"\d ?[ap]\.?m|\b0\d:|noon|midnight|mittag|mitternacht|uhr|o'clock", re.IGNORECASE
)
"""A clock that says which half of the day it means."""
_DAY = re.compile(
    r"day|tag\b|mittwoch|morrow|morgen|heut|\d{4}-"
    r"|\b\d{1,2}\.? ?(?:jan|feb|mär|mar|apr|ma[iy]|ju[nl]|aug|sep|o[ck]t|nov|de[cz])",
    re.IGNORECASE,
)
_EARLY = re.compile(r"(?<![\d:.])[1-7](?:[:.]\d\d)?$")
"""A bare hour, which the reader takes for one of the afternoon if it is said by day."""
_NOON = 12
_FOR = frozenset(("for", "für", "auf"))
"""Words before a span or a time of day of a timer: "a timer for 10 minutes"."""
_BEFORE_SPAN = frozenset(
    ("me", "mich", "remind", "reminder", "timer", "alarm", "wecker", "erinnerung")
)
"""Words before a span without "in": "remind me 2 hours", "timer 10 minutes"."""
_NEXT_WEEK = re.compile(r"\b(?:next week|nächste[rn]? woche)\b", re.IGNORECASE)
_WEEKEND = re.compile(r"\b(?:weekend|wochenende)\b", re.IGNORECASE)
_DAY_OF_MONTH = re.compile(r"\b(?:on the|am) (\d{1,2})(?:st|nd|rd|th|\.)(?! ?\w*\d)", re.IGNORECASE)
_WEEK, _MONTH = timedelta(days=7), timedelta(days=31)
_SATURDAY = 6
_HAS_CLOCK = re.compile(
    r"\d{1,2}[:.]\d\d|\b(?:at|um|@|past|gegen|by) ?(?:half |quarter |halb |viertel )?\w*\d"
    r"|\d ?[ap]\.?m|\d ?(?:uhr|o'clock|h)\b|noon|midnight|mittag|mitternacht"
    r"|halb |viertel |quarter |half past",
    re.IGNORECASE,
)
_PARTS = (
    (re.compile(r"\b(?:morning|früh|vormittag)\b|\bmorgens\b", re.IGNORECASE), range(5, 13)),
    (re.compile(r"\b(?:afternoon|nachmittag)\b", re.IGNORECASE), range(12, 19)),
    (re.compile(r"\b(?:evening|abend|tonight|night|nacht)\b", re.IGNORECASE), range(17, 24)),
)
_DAY_MINUTES = 1440


@dataclass(frozen=True, slots=True, kw_only=True)
class _Phrase:
    """Words for a moment at their place in a sentence, and the moments that they can mean."""

    start: int
    end: int
    words: str
    spoken: SpokenTime


def names_slot(sentence: str, slot: int, zone: str, said_at: int) -> bool:
    """Return whether a sentence names a moment, in milliseconds since the epoch.

    `zone` is the person's, and `said_at` the time of their message.
    """
    now = local_time(said_at, zone)
    meant = local_time(slot, zone)
    phrases = _list_phrases(sentence, now)
    return any(_means(one, meant, now) for one in phrases) or _means_days(sentence, meant, now)


def _means_days(sentence: str, meant: datetime, now: datetime) -> bool:
    """Return whether a sentence names several days, or a day of the month, and this is one."""
    days = (meant.date() - now.date()).days
    if _NEXT_WEEK.search(sentence):
        monday = now.date() - timedelta(days=now.weekday()) + _WEEK
        return monday <= meant.date() < monday + _WEEK
    if _WEEKEND.search(sentence):
        return meant.isoweekday() >= _SATURDAY and 0 <= days <= _WEEK.days
    found = _DAY_OF_MONTH.search(sentence)
    return found is not None and int(found[1]) == meant.day and 0 <= days <= _MONTH.days


def list_times(sentence: str, zone: str, said_at: int) -> list[str]:
    """List the phrases of a sentence that name a moment, such as "10:30"; see `names_slot`."""
    return [one.words for one in _list_phrases(sentence, local_time(said_at, zone))]


def list_repeats(sentence: str) -> list[str]:
    """List the phrases of a sentence that a reminder's `when` can be; none in doubt.

    It is the only phrase, or two that are one time, as in "every Monday … at 9", with nothing
    between them that begins another thought: "tomorrow at 9, I work every Monday" names no time
    that surely is the reminder's.
    """
    tokens = _split(sentence)[:_MOST_SEARCHED]
    found: list[tuple[int, int]] = []
    for start in range(len(tokens)):
        for end in range(min(len(tokens), start + _MOST_OF_REPEAT), start, -1):
            if found and end <= found[-1][1]:
                break  # a longer phrase holds it
            if reads_as_time(" ".join(tokens[start:end])):
                found.append((start, end))
                break
    phrases = [" ".join(tokens[start:end]) for start, end in found]
    if len(phrases) != _PAIR:
        return phrases if len(phrases) == 1 else []
    pairs = (" ".join(pair) for pair in permutations(phrases))
    return [] if _APART.search(sentence) else [words for words in pairs if reads_as_time(words)]


def _split(sentence: str) -> list[str]:
    return [one[0].replace("’", "'") for one in _TOKEN.finditer(sentence)]


def _list_phrases(sentence: str, now: datetime) -> list[_Phrase]:
    """List the longest phrases for a moment, and those that two of them form together."""
    found = list(_find_phrases(_split(sentence), now))
    whole = [
        one
        for one in found
        if not any(
            other.start <= one.start and one.end <= other.end and other != one for other in found
        )
    ]
    joined, used = list[_Phrase](), set[int]()
    for at, one in enumerate(whole):
        for other in whole[at + 1 :]:
            for words in (f"{one.words} {other.words}", f"{other.words} {one.words}"):
                if spoken := read_when(words, now):
                    joined.append(
                        _Phrase(start=one.start, end=other.end, words=words, spoken=spoken)
                    )
                    used |= {one.start, other.start}
                    break
    return [*joined, *(one for one in whole if one.start not in used)]


def _find_phrases(tokens: list[str], now: datetime) -> Iterator[_Phrase]:
    for start in range(len(tokens)):
        for end in range(start + 1, min(len(tokens), start + _MOST_WORDS) + 1):
            is_span = start > 0 and tokens[start - 1].lower() in _BEFORE_SPAN
            for words in _spell(tokens[start:end], is_span=is_span):
                spoken = read_when(words, now)
                if spoken and (spoken.at or spoken.in_minutes):
                    yield _Phrase(start=start, end=end, words=words, spoken=spoken)
                    break


def _spell(tokens: list[str], *, is_span: bool) -> Iterator[str]:
    """Yield words as they stand, and with "at" before a bare hour: "tomorrow 9".

    With `is_span`, also with "in" before them: "timer 10 minutes".
    """
    yield " ".join(tokens)
    if len(tokens) > 1 and _BARE_HOUR.fullmatch(tokens[-1]):
        yield " ".join([*tokens[:-1], "at", tokens[-1]])
    if len(tokens) > 1 and tokens[0].lower() in _FOR:
        yield " ".join(["in", *tokens[1:]])
        yield " ".join(["at", *tokens[1:]])
    if is_span:
        yield " ".join(["in", *tokens])
    if len(tokens) > 1 and _BARE_HOUR.fullmatch(tokens[0]):
        yield " ".join([*tokens[1:], "at", tokens[0]])


def _means(phrase: _Phrase, meant: datetime, now: datetime) -> bool:
    spoken, words = phrase.spoken, phrase.words
    if spoken.in_minutes:
        at = now + timedelta(minutes=spoken.in_minutes)
        is_days = spoken.in_minutes % _DAY_MINUTES == 0
        return abs(at - meant) <= _SLACK or (is_days and at.date() == meant.date())
    at = datetime.fromisoformat(spoken.at).replace(tzinfo=now.tzinfo)
    if at.replace(second=0) == meant.replace(second=0, microsecond=0):
        return True
    part = next((hours for pattern, hours in _PARTS if pattern.search(words)), None)
    if not _HAS_CLOCK.search(words):
        return at.date() == meant.date() and (part is None or meant.hour in part)
    is_open = 0 < at.hour <= _NOON or _EARLY.search(words) is not None
    if part is None and is_open and not _CLOSED.search(words):
        has_day = _DAY.search(words) is not None
        others = [at + _HALF_DAY] if has_day else [at + _HALF_DAY, at - _HALF_DAY]
        return any(one == meant.replace(second=0, microsecond=0) > now for one in others)
    return False
