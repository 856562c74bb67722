"""Public holidays, personal calendars, times of the sun, and the region of a time zone."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from importlib import import_module
from importlib.resources import files
from typing import Protocol
from zoneinfo import ZoneInfo

from agent_core.errors import ToolArgumentError, name_installation
from agent_core.ids import PersonId, RoomId
from agent_core.schedule.rules import Calendar, Spans, SunTime

_DAY = timedelta(days=1)
_POSITION = re.compile(r"([+-])(\d{2,3})(\d{2})(?:\d{2})?([+-])(\d{2,3})(\d{2})(?:\d{2})?")
_MISSING = "{what} need the extra `almanac` ({command}); the nearest without it is {nearest}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """The country of a time zone (ISO 3166), and the position of its city in degrees."""

    country: str
    place: tuple[float, float]


CALENDAR = "calendar "
"""The prefix of a calendar in the list of skipped days."""
_NOT_NAMED = (
    "{at} can't be read, because the person's message does not contain this address; ask them to"
    " write it in their request"
)


class CalendarReader(Protocol):
    """Reads the calendars whose whole-day events a rule skips."""

    async def read(self, at: str, *, person_id: PersonId, room_id: RoomId | None) -> Spans:
        """Read a calendar from an address, or from a file of a person or a room.

        From then on, the calendar is read again once a day. Raises `ToolArgumentError` with a
        sentence, and `StoreError`.
        """


def require_named(at: str, evidence: str | None) -> None:
    """Refuse an address that the person did not write. Raises `ToolArgumentError`.

    Otherwise, untrusted words could send data elsewhere. `evidence` is None for the command line.
    """
    if "://" in at and evidence is not None and at not in evidence:
        raise ToolArgumentError(_NOT_NAMED.format(at=at))


async def read_calendars(
    skipped: Sequence[str] | None,
    reader: CalendarReader,
    whose: tuple[PersonId, RoomId | None],
    evidence: str | None,
) -> Mapping[str, Calendar]:
    """Read the calendars among the days off of a job; the keys are their addresses or file names.

    An address must be in the `evidence`; the evidence is None for the command line. Raises
    `ToolArgumentError` and `StoreError`.
    """
    found = {}
    for word in skipped or ():
        if not word.strip().startswith(CALENDAR):
            continue
        at = word.strip().removeprefix(CALENDAR).strip()
        require_named(at, evidence)
        spans = await reader.read(at, person_id=whose[0], room_id=whose[1])
        found[at] = Calendar(at=at, spans=spans)
    return found


@lru_cache(maxsize=256)
def list_holidays(region: str, year: int) -> frozenset[date]:
    """List the public holidays of a region such as `DE` or `DE-BY`. Raises `ValueError`."""
    try:
        # Both libraries are an extra, and few jobs need them, so they are loaded at first use.
        calendars = import_module("holidays")
    except ImportError as error:
        nearest = "a list of days, such as 2026-12-25"
        raise ValueError(
            _MISSING.format(
                what="public holidays", command=name_installation("almanac"), nearest=nearest
            )
        ) from error
    country, _, part = region.partition("-")
    try:
        return frozenset(calendars.country_holidays(country, subdiv=part or None, years=year))
    except NotImplementedError as error:
        nearest = f"holidays:{country}" if part else "a list of days, such as 2026-12-25"
        raise ValueError(f"there is no calendar of {region}; the nearest is {nearest}") from error


def find_sun(
    time: SunTime, day: date, place: tuple[float, float], zone: ZoneInfo
) -> datetime | None:
    """Compute a time of the sun on a local day, in UTC to the minute.

    Returns None if the day has no such time. Raises `ValueError` if the library is missing.
    """
    try:
        astral, sun = import_module("astral"), import_module("astral.sun")
    except ImportError as error:
        nearest = "a fixed time, such as 18:00"
        raise ValueError(
            _MISSING.format(
                what="times of the sun", command=name_installation("almanac"), nearest=nearest
            )
        ) from error
    find = sun.sunrise if time.event == "sunrise" else sun.sunset
    observer = astral.Observer(latitude=place[0], longitude=place[1])
    # The library counts days in UTC, which begin up to 14 hours before or behind local ones.
    for near in (day - _DAY, day, day + _DAY):
        try:
            moment: datetime = find(observer, near)
        except ValueError:
            continue  # polar day or polar night
        found = moment.astimezone(UTC).replace(second=0, microsecond=0)
        found += timedelta(minutes=time.offset)
        if found.astimezone(zone).date() == day:
            return found
    return None


def find_region(zone: ZoneInfo) -> Region | None:
    """Return the region of a time zone, or None for zones without one, such as UTC."""
    return _list_regions().get(zone.key)


@lru_cache(maxsize=1)
def _list_regions() -> dict[str, Region]:
    """Read `zone.tab`: country, position as degrees and minutes, and zone, between tabs."""
    table = (files("tzdata") / "zoneinfo" / "zone.tab").read_text(encoding="utf-8")
    regions = {}
    for line in table.splitlines():
        if line.startswith("#"):
            continue
        country, position, name = line.split("\t")[:3]
        found = _POSITION.fullmatch(position)
        if found:
            south, east = _degrees(*found.groups()[:3]), _degrees(*found.groups()[3:])
            regions[name] = Region(country=country, place=(south, east))
    return regions


def _degrees(sign: str, degrees: str, minutes: str) -> float:
    value = round(int(degrees) + int(minutes) / 60, 2)
    return -value if sign == "-" else value
