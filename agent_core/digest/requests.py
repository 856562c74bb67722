"""The arguments of the `gather` tool, parsed. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Literal, cast

from agent_core.errors import ToolArgumentError
from agent_core.memory.recall.query import read_moment
from agent_core.tools.clock import local_time
from agent_core.tools.schemas import make_object, make_schema
from agent_core.transcript import ToolSpec

DigestKind = Literal["calendar", "feed", "page", "github", "reminders", "recall"]
KINDS: tuple[DigestKind, ...] = ("calendar", "feed", "page", "github", "reminders", "recall")
NEED_PLACE: tuple[DigestKind, ...] = ("calendar", "feed", "page")
MOST_SOURCES = 12
MOST_DAYS = 31
_DAY_MS = 24 * 3_600_000
_LONGEST = 2000
_ADDRESS = re.compile(r"(?:https?|webcal)://[^\s<>()\[\]{}\"'`|]+")
_BEHIND = ".,;:!?"
_AROUND = f"{_BEHIND}<>()[]{{}}\"'`"

SPEC = ToolSpec(
    name="gather",
    description=(
        "Read several sources of a digest at once, instead of one after the other. `at`: the"
        " address of a calendar, feed or page, or the name of a calendar file. Calendars and"
        " reminders: `days` from today or from `first` on. Feeds, github (notifications) and recall"
        " (open ends of past chats, or `query`): what is new `since` (local time; else of the last"
        ' 24 h). Example: {"sources": [{"kind": "feed", "at": "https://…"}, {"kind": "reminders"}]}'
    ),
    schema=make_schema(
        ("sources",),
        sources={
            "type": "array",
            "minItems": 1,
            "maxItems": MOST_SOURCES,
            "items": make_object(
                ("kind",),
                kind={"type": "string", "enum": list(KINDS)},
                at={"type": "string"},
                query={"type": "string"},
            ),
        },
        since={"type": "string"},
        first={"type": "string"},
        days={"type": "integer", "minimum": 1, "maximum": MOST_DAYS},
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestSource:
    """A source with its address or its query; both may be empty."""

    kind: DigestKind
    at: str = ""
    query: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GatherRequest:
    """A parsed call. `since` is in milliseconds; days are in `zone`."""

    sources: tuple[DigestSource, ...]
    zone: str
    since: int
    first: date
    days: int
    room: int
    """Characters available per source."""


def read_request(
    arguments: Mapping[str, object], *, zone: str, now: int, room: int
) -> GatherRequest:
    """Parse the arguments of a call. Raises `ToolArgumentError` with a sentence."""
    given = cast(list[Mapping[str, str]], arguments["sources"])
    sources = tuple(_read_source(one) for one in given)
    since, first, days = arguments.get("since"), arguments.get("first"), arguments.get("days")
    begin = read_moment(first, zone, name="first") if isinstance(first, str) else now
    return GatherRequest(
        sources=tuple(dict.fromkeys(sources)),
        zone=zone,
        since=read_moment(since, zone, name="since") if isinstance(since, str) else now - _DAY_MS,
        first=local_time(begin, zone).date(),
        days=days if isinstance(days, int) else 1,
        room=room // len(sources),
    )


def list_addresses(text: str) -> frozenset[str]:
    """Find the URLs in a text, bare or in brackets. Pure."""
    bare = (word.strip(_AROUND) for word in text.split())
    return frozenset((*_ADDRESS.findall(text), *bare)) | {
        found.rstrip(_BEHIND) for found in _ADDRESS.findall(text)
    }


def _read_source(given: Mapping[str, str]) -> DigestSource:
    kind = cast(DigestKind, given["kind"])
    at, query = given.get("at", "").strip(), given.get("query", "").strip()
    if kind in NEED_PLACE and not at:
        raise ToolArgumentError(f"a {kind} needs `at`: its address")
    if len(at) > _LONGEST or len(query) > _LONGEST:
        raise ToolArgumentError(f"`at` and `query` take at most {_LONGEST} characters")
    return DigestSource(kind=kind, at=at, query=query)
