"""Ten years of slots in every time zone, held against Debian's cron: none doubled, none missing."""

import asyncio
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from zoneinfo import ZoneInfo, available_timezones

from bench.figures import Figure
from tests.agent_core.schedule import decades
from tests.agent_core.schedule.decades import Tally
from tests.agent_core.schedule.oracle import EXPRESSIONS

_YEARS = range(2026, 2036)
_SPARSE = 15_000
"""Slots in these years, up to which an expression is walked whole in every zone."""
_WALKED_WHOLE = frozenset({"UTC", "Europe/Berlin", "Australia/Lord_Howe"})
"""Zones in which denser ones are walked whole, too."""


@dataclass(frozen=True, slots=True)
class _Task:
    text: str
    zone: str


async def measure(*, one_in: int) -> list[Figure]:
    """All zones that differ; only one in so many of them for a quick look."""
    names = sorted(available_timezones())
    groups = decades.group_zones(names, _YEARS)
    chosen = _WALKED_WHOLE if one_in == 1 else frozenset({"UTC"})
    zones = sorted({_pick(group, chosen) for group in groups[::one_in]} | chosen)
    tasks = [_Task(text, zone) for zone in zones for text in EXPRESSIONS]
    tallies = await asyncio.to_thread(_work, tasks)
    whole, odd = sum(tallies, Tally()), Counter[str]()
    for task, tally in zip(tasks, tallies, strict=True):
        odd[task.zone] += tally.other
    about = f"{_YEARS.start}-{_YEARS.stop - 1}"
    print(f"cronsim, told the zone, differs around changes of the clock: {_name(odd)}")
    return [
        Figure(name=f"slots {about}: zones", unit="", value=len(names)),
        Figure(name=f"slots {about}: of them walked, one for all that do alike", unit="",
               value=len(zones)),
        Figure(name=f"slots {about}: expressions", unit="", value=len(EXPRESSIONS)),
        Figure(name=f"slots {about}: held against cron", unit="slots", value=whole.slots),
        Figure(name=f"slots {about}: doubled or out of place", unit="", value=whole.doubled,
               at_most=0),
        Figure(name=f"slots {about}: missing", unit="", value=whole.missing, at_most=0),
        Figure(name=f"slots {about}: changes, times expressions, asked of cronsim",
               unit="", value=whole.changes),
        Figure(name=f"slots {about}: of them cronsim says otherwise", unit="", value=whole.other),
    ]  # fmt: skip


def _work(tasks: Sequence[_Task]) -> list[Tally]:
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(_hold, tasks, chunksize=4))


def _hold(task: _Task) -> Tally:
    zone = ZoneInfo(task.zone)
    is_whole = task.zone in _WALKED_WHOLE or decades.count_named(task.text, _YEARS) <= _SPARSE
    spans = [decades.whole(_YEARS)] if is_whole else decades.sample(zone, _YEARS)
    held = decades.hold(task.text, zone, _YEARS, spans)
    return held + decades.ask_cronsim(task.text, zone, _YEARS)


def _pick(group: Sequence[str], chosen: Iterable[str]) -> str:
    return next((name for name in group if name in chosen), group[0])


def _name(odd: Counter[str]) -> str:
    return ", ".join(f"{zone} {count}" for zone, count in odd.items() if count) or "nowhere"
