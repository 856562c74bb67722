"""Ten years of slots in every time zone, compared with Debian's cron.

It takes minutes. Each zone is recorded once done, and an interrupted run continues from there
unless the compared code has changed.
"""

import asyncio
import hashlib
import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from zoneinfo import ZoneInfo, available_timezones

from agent_core.schedule import occurrences, triggers
from bench.figures import RESULTS, Figure
from tests.agent_core.schedule import decades, oracle
from tests.agent_core.schedule.decades import Tally

_YEARS = range(2026, 2036)
_SPARSE = 15_000
"""Slots in these years, up to which an expression is walked whole in every zone."""
_HARDEST = "Australia/Lord_Howe"
"""Where denser ones are walked whole, too: a clock that is put by half an hour."""


async def measure(*, one_in: int) -> list[Figure]:
    """Return all zones that differ; `one_in` checks only a sample."""
    names = sorted(available_timezones())
    groups = decades.group_zones(names, _YEARS)
    chosen = [_HARDEST] if one_in == 1 else ["UTC"]
    others = (group for group in groups[::one_in] if chosen[0] not in group)
    zones = [*chosen, *(group[0] for group in others)]
    tallies = await asyncio.to_thread(_work, zones)
    whole = sum(tallies.values(), Tally())
    odd = {zone: tallies[zone].other for zone in sorted(tallies) if tallies[zone].other}
    listed = ", ".join(f"{zone} {count}" for zone, count in odd.items()) or "nowhere"
    print(f"cronsim, told the zone, differs around changes of the clock: {listed}")
    about = f"slots {_YEARS.start}-{_YEARS.stop - 1}"
    return [
        Figure(name=f"{about}: zones", unit="", value=len(names)),
        Figure(name=f"{about}: whose clocks differ", unit="", value=len(groups)),
        Figure(name=f"{about}: of these walked", unit="", value=len(zones)),
        Figure(name=f"{about}: expressions", unit="", value=len(oracle.EXPRESSIONS)),
        Figure(name=f"{about}: held against cron", unit="slots", value=whole.slots),
        Figure(name=f"{about}: doubled or out of place", unit="", value=whole.doubled, at_most=0),
        Figure(name=f"{about}: missing", unit="", value=whole.missing, at_most=0),
        Figure(name=f"{about}: changes, times expressions, asked of cronsim", unit="",
               value=whole.changes),
        Figure(name=f"{about}: of them cronsim says otherwise", unit="", value=whole.other),
    ]  # fmt: skip


def _work(zones: Sequence[str]) -> dict[str, Tally]:
    """Return the counts of each zone."""
    RESULTS.mkdir(exist_ok=True)
    notes = RESULTS / f"slots-{_fingerprint(zones)}.jsonl"
    done = {zone: tally for zone, tally in _read(notes) if zone in zones}
    left = [zone for zone in zones if zone not in done]
    with ProcessPoolExecutor(os.cpu_count()) as pool, notes.open("a") as file:
        coming = {pool.submit(_compare, zone): zone for zone in left}
        for ended in as_completed(coming):
            zone, tally = coming[ended], ended.result()
            done[zone] = tally
            print(json.dumps([zone, asdict(tally)]), file=file, flush=True)
            print(f"{len(done)} of {len(zones)} zones: {zone}, {tally}", file=sys.stderr)
    return done


def _compare(zone: str) -> Tally:
    """Compare all expressions in one zone."""
    place, total = ZoneInfo(zone), Tally()
    for text in oracle.EXPRESSIONS:
        is_whole = zone == _HARDEST or decades.count_named(text, _YEARS) <= _SPARSE
        spans = decades.whole(_YEARS) if is_whole else decades.sample(place, _YEARS)
        total += decades.hold(text, place, _YEARS, spans)
        total += decades.ask_cronsim(text, place, _YEARS)
    return total


def _fingerprint(zones: Iterable[str]) -> str:
    """Return a hash of everything that affects the result: code, cronsim, zone data."""
    mark = hashlib.sha256(metadata.version("cronsim").encode())
    for file in (
        occurrences.__file__,
        triggers.__file__,
        oracle.__file__,
        decades.__file__,
        __file__,
    ):
        mark.update(Path(file).read_bytes())
    for zone in zones:
        place = ZoneInfo(zone)
        times = (decades.whole(_YEARS)[0][0], *oracle.transitions(place, _YEARS))
        shown = [f"{at.astimezone(place)}" for at in times]
        mark.update(f"{zone} {shown}".encode())
    return mark.hexdigest()[:16]


def _read(notes: Path) -> Iterator[tuple[str, Tally]]:
    """Return the zones that an earlier run finished; ignore a truncated line."""
    if not notes.exists():
        return
    for line in notes.read_text().splitlines():
        with suppress(ValueError):
            zone, tally = json.loads(line)
            yield zone, Tally(**tally)
