"""Time zones and hours of a day as people write them: a city, a country, "UTC+2", "10pm-7am". Pure.

Names come from the IANA database in the package `tzdata`.
"""

import re
import unicodedata
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib import resources
from zoneinfo import ZoneInfo, available_timezones

_OFFSET = re.compile(r"(?:utc|gmt)?\s*([+\-−–])\s*(\d{1,2})(?::?([0-5]\d))?\s*(?:h|hours?|std)?")
_UTC = "UTC"
_FIXED = re.compile(r"Etc/GMT([+-])(\d{1,2})")
_MOST_EAST, _MOST_WEST = 14, 12
"""The largest offsets from UTC, in hours, among the IANA database's fixed zones."""
_PART_HOURS = {
    "+3:30": "Asia/Tehran",
    "+4:30": "Asia/Kabul",
    "+5:30": "Asia/Kolkata",
    "+5:45": "Asia/Kathmandu",
    "+6:30": "Asia/Yangon",
    "+9:30": "Australia/Darwin",
    "-9:30": "Pacific/Marquesas",
}
"""Zones without summer time whose offset is not a whole number of hours."""

_AMERICAN = {
    "America/New_York": "est edt eastern boston washington miami philadelphia atlanta baltimore",
    "America/Chicago": "cst cdt central houston dallas austin minneapolis",
    "America/Denver": "mst mdt mountain",
    "America/Los_Angeles": "pst pdt pacific san_francisco seattle portland san_diego las_vegas",
    "America/Toronto": "montreal ottawa",
}
_EUROPEAN = {
    "Europe/London": "bst uk britain great_britain england scotland wales manchester"
    " birmingham edinburgh glasgow oxford",
    "Europe/Berlin": "cest mez mesz munich münchen hamburg cologne köln frankfurt stuttgart leipzig"
    " dresden düsseldorf bremen hannover deutschland",
    "Europe/Vienna": "wien graz linz salzburg innsbruck österreich",
    "Europe/Zurich": "zürich bern basel geneva genf genève lausanne schweiz suisse svizzera",
    "Europe/Rome": "rom roma milan mailand milano naples neapel turin florence florenz italien",
    "Europe/Paris": "france lyon marseille toulouse nice frankreich",
    "Europe/Madrid": "spain barcelona valencia sevilla seville spanien españa",
    "Europe/Lisbon": "portugal lissabon lisboa porto",
    "Europe/Brussels": "brüssel bruxelles antwerp belgien",
    "Europe/Amsterdam": "rotterdam the_hague holland niederlande",
    "Europe/Copenhagen": "kopenhagen dänemark",
    "Europe/Stockholm": "gothenburg göteborg schweden",
    "Europe/Oslo": "bergen norwegen",
    "Europe/Helsinki": "finnland",
    "Europe/Warsaw": "warschau warszawa krakow kraków krakau polen",
    "Europe/Prague": "prag praha brno tschechien czechia",
    "Europe/Budapest": "ungarn",
    "Europe/Bucharest": "bukarest rumänien",
    "Europe/Athens": "athen griechenland",
    "Europe/Kyiv": "kiev kiew",
    "Europe/Moscow": "moskau",
    "Europe/Istanbul": "ankara türkei",
}
_OTHER = {
    "Asia/Kolkata": "mumbai bombay delhi new_delhi bangalore chennai hyderabad indien",
    "Asia/Shanghai": "china beijing peking shenzhen guangzhou",
    "Asia/Tokyo": "tokio osaka kyoto",
    "Asia/Seoul": "south_korea korea",
    "Asia/Singapore": "singapur",
    "Asia/Dubai": "abu_dhabi",
    "Africa/Cairo": "kairo",
    "Australia/Sydney": "canberra",
    "Pacific/Auckland": "new_zealand wellington neuseeland",
}
_TIME = r"(\d{1,2})(?:[:.h]([0-5]\d))?\s*(uhr|a\.?m\.?|p\.?m\.?)?"
_HOURS = re.compile(
    rf"(?:(?:quiet(?: hours)?|ruhe(?:zeit)?)[:,]?\s+)?(?:from |von )?{_TIME}"
    rf"\s*(?:-|–|—|to|until|till|bis)\s*{_TIME}"
)
_HALF_DAY = 12
_DAY = 24 * 60
_NO_ZONES = {"localtime", "Factory"}
"""Files beside the zones: the machine's own zone, which may change, and a placeholder."""


def find_zone(words: str) -> str | None:
    """Return the IANA name for a zone, a city, a country with one time, or an offset from UTC."""
    said = " ".join(words.split()).casefold().strip(".!")
    plain = _plain(said)
    # Cities come first: people who write "EST" don't mean the zone of that name, without summer
    # time.
    return _read_offset(said) or _list_places().get(plain) or _list_zones().get(plain)


def name_zone(zone: str) -> str:
    """Return a zone as people write it: `Europe/Vienna`, `UTC`, or `UTC+2` for a fixed offset."""
    found = _FIXED.fullmatch(zone)
    if found is None:
        return _UTC if zone == f"Etc/{_UTC}" else zone
    # POSIX counts zones west of Greenwich as positive; people count zones east of it as positive.
    return f"UTC{'-' if found[1] == '+' else '+'}{found[2]}"


def name_city(zone: str) -> str:
    """Return the city that a zone is named after: `New York`."""
    return name_zone(zone).rpartition("/")[2].replace("_", " ")


@cache
def list_zones() -> tuple[str, ...]:
    """List the zones that places have, for people to choose from; no old or technical names."""
    return tuple(sorted({zone for _, zone in _read_table("zone.tab")}))


def read_hours(words: str) -> tuple[int, int] | None:
    """Parse a range of hours such as `22:00-07:30`, `22-7` or `10pm to 7am` to minutes of a day."""
    found = _HOURS.fullmatch(" ".join(words.split()).casefold())
    if found is None:
        return None
    start, end = _read_time(*found.group(1, 2, 3)), _read_time(*found.group(4, 5, 6))
    return None if start is None or end is None else (start, end)


def _read_time(hour: str, minute: str | None, half: str | None) -> int | None:
    hours, is_half = int(hour), bool(half) and half != "uhr"
    if is_half and not 1 <= hours <= _HALF_DAY:
        return None
    if is_half:
        hours = hours % _HALF_DAY + (_HALF_DAY if (half or "").startswith("p") else 0)
    minutes = hours * 60 + int(minute or 0)
    return minutes if minutes < _DAY else None


def _read_offset(said: str) -> str | None:
    found = _OFFSET.fullmatch(said)
    if found is None:
        return None
    sign, hours, minutes = "+" if found[1] == "+" else "-", int(found[2]), found[3] or "00"
    if minutes != "00":
        return _PART_HOURS.get(f"{sign}{hours}:{minutes}")
    if hours == 0:
        return "Etc/UTC"
    if hours > (_MOST_EAST if sign == "+" else _MOST_WEST):
        return None
    return f"Etc/GMT{'-' if sign == '+' else '+'}{hours}"


def _plain(words: str) -> str:
    """Return words without accents, joined by underscores as in names of zones."""
    bare = unicodedata.normalize("NFKD", words.casefold())
    letters = "".join(letter for letter in bare if not unicodedata.combining(letter))
    return "_".join(letters.split())


@cache
def _list_zones() -> Mapping[str, str]:
    """Map the IANA names' lower-case forms to the names; cached, because this reads a folder."""
    return {zone.casefold(): zone for zone in available_timezones() - _NO_ZONES}


@cache
def _list_places() -> Mapping[str, str]:
    """Map plain names of cities and countries to zones."""
    cities = {_plain(zone.rpartition("/")[2]): zone for _, zone in _read_table("zone.tab")}
    known = {
        _plain(name): zone
        for names in (_AMERICAN, _EUROPEAN, _OTHER)
        for zone, words in names.items()
        for name in words.split()
    }
    countries = _list_countries()
    named = {
        _plain(name): countries[code]
        for code, name in _read_table("iso3166.tab")
        if code in countries
    }
    return {**named, **cities, **known}


@cache
def _list_countries() -> Mapping[str, str]:
    """Map each country whose zones show the same time all year to its first zone."""
    zones: dict[str, list[str]] = {}
    for code, zone in _read_table("zone.tab"):
        zones.setdefault(code, []).append(zone)
    return {
        code: found[0] for code, found in zones.items() if len({*map(_read_clocks, found)}) == 1
    }


def _read_clocks(zone: str) -> tuple[timedelta | None, ...]:
    """Return a zone's UTC offsets in winter and in summer."""
    moments = (datetime(2026, month, 15, tzinfo=UTC) for month in (1, 7))
    return tuple(moment.astimezone(ZoneInfo(zone)).utcoffset() for moment in moments)


def _read_table(name: str) -> list[tuple[str, str]]:
    """Read country codes, each with a zone or with the country's name, from an IANA table."""
    text = resources.files("tzdata").joinpath("zoneinfo", name).read_text("utf-8")
    column = 2 if name == "zone.tab" else 1
    rows = [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]
    return [(row[0], row[column]) for row in rows]
