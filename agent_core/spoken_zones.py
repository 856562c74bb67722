"""Find the place whose clock words for a time name, such as "9:00 Tokyo time". Pure.

Words without a place mean the person's own clock.
"""

import re
from collections.abc import Iterator

from agent_core.time_zones import find_zone

_SAID = re.compile(
    r",? ?\b(?:(?:in|nach|of) )?(?P<place>[^\d,:]+?) (?:time|(?P<german>zeit))\b", re.I
)
_LONGEST = 3
"""Words of the name of a place."""
_SHORT = re.compile(
    r"(?<=[\d.mr]) ?\b(?P<zone>(?:UTC|GMT)(?:[+-]\d{1,2}(?::\d\d)?)?|CES?T|MES?Z|[ECMP][SD]T|BST)\b"
)
"""A short name of a zone behind a time of day; in small letters, it may be a word."""


def take_zone(words: str) -> tuple[str, str]:
    """Return words for a time without the place that they name, and its IANA zone.

    The zone is "" if they name none.
    """
    if found := _SHORT.search(words):
        zone = find_zone(found["zone"])
        return (_leave_out(words, *found.span()), zone) if zone else (words, "")
    for found in _SAID.finditer(words):
        named = found["place"].split()
        for size in range(min(len(named), _LONGEST), 0, -1):
            place = " ".join(named[-size:])
            zone = next(filter(None, map(find_zone, _spell(place, is_german=found["german"]))), "")
            if zone:
                start = found.end("place") - len(place)
                before = re.sub(r"(?:,| in| nach| of)? *$", "", words[:start])
                return _leave_out(before + words[found.end() :], len(before), len(before)), zone
    return words, ""


def _spell(place: str, *, is_german: str | None) -> Iterator[str]:
    """Yield the names that a place may have: German says "Londoner" for "of London"."""
    yield place
    if is_german and (bare := re.fullmatch(r"(.+?)(?:t?er|er)", place)):
        yield bare[1]
        yield place[:-2]


def _leave_out(words: str, start: int, end: int) -> str:
    return " ".join(f"{words[:start]} {words[end:]}".split())
