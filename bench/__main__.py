"""`python -m bench`: measure everything, print one table, keep it as JSON."""

import argparse
import asyncio
import sys
import time
import traceback
from collections.abc import Awaitable, Callable, Mapping
from functools import partial

from bench import (
    agent_file,
    api_overhead,
    batch,
    file_versions,
    first_lines,
    long_dialogue,
    memory,
    overhead,
    parallel_tools,
    restoring,
    sandbox,
    schedule,
    schedule_population,
    startup,
    steady,
    steps,
    throughput,
    tokens,
)
from bench.bots import PLATFORMS
from bench.figures import Figure, render, save
from bench.skills import catalogue

Part = Callable[[], Awaitable[list[Figure]]]

_NOTE = (
    "Both bots talk to the same emulators, each to a platform of its own. Our own pacer is off\n"
    "(TALARIA_TELEGRAM__MESSAGES_PER_SECOND=0 and the like), because bare bots have none."
)


def _list_parts(*, is_quick: bool) -> dict[str, Part]:
    crowds = [(200, 0.0)] if is_quick else [(200, 0.0), (1000, 0.0), (200, 2.0), (1000, 2.0)]
    parts: dict[str, Part] = {
        "startup": partial(startup.measure, rounds=1 if is_quick else 3),
        "words": startup.measure_words,
        "first-lines": first_lines.measure,
        "tokens": tokens.measure,
        **{
            f"overhead-{platform}": partial(
                overhead.measure, platform=platform, block=50, rounds=2 if is_quick else 8
            )
            for platform in PLATFORMS
        },
        "api": partial(
            api_overhead.measure, block=25 if is_quick else 50, rounds=3 if is_quick else 8
        ),
        **{
            f"inspected-{platform}": partial(
                overhead.measure_inspected, platform=platform, block=50, rounds=2 if is_quick else 8
            )
            for platform in PLATFORMS
        },
        **{
            f"pauses-{platform}": partial(
                overhead.measure_pauses, platform=platform, turns=20 if is_quick else 60
            )
            for platform in PLATFORMS
        },
        **{
            f"crowd-{platform}": partial(
                overhead.measure_crowd, platform=platform, people=10, rounds=5 if is_quick else 40
            )
            for platform in PLATFORMS
        },
        "long-dialogue": partial(long_dialogue.measure, turns=100 if is_quick else 300),
        "schedule-slots": partial(schedule.measure, one_in=16 if is_quick else 1),
        "schedule-population": partial(
            schedule_population.measure, count=1000 if is_quick else 10_000
        ),
        "parallel-tools": parallel_tools.measure,
        "agent-file": partial(
            agent_file.measure, messages=1000 if is_quick else agent_file.MESSAGES
        ),
        "batch": partial(batch.measure, tasks=200 if is_quick else 1000),
        "steps": partial(steps.measure, rounds=3 if is_quick else 10),
        "steady": partial(steady.measure, turns=100 if is_quick else 500),
        "restoring": restoring.measure,
        "sandbox": partial(sandbox.measure, commands=30 if is_quick else 200),
        "file-versions": partial(file_versions.measure, rounds=5 if is_quick else 40),
        "skills-choice": catalogue.measure_choice,
        "skills-loading": catalogue.measure_loading,
        "everywhere": memory.measure_everywhere,
        "memory": partial(memory.measure, conversations=200 if is_quick else 1000),
    }
    for people, latency in crowds:
        parts[f"throughput-{people}-{latency:g}"] = partial(
            throughput.measure, people=people, latency=latency, rounds=2
        )
    return parts


async def measure(parts: Mapping[str, Part]) -> tuple[list[Figure], list[str]]:
    """Return the figures, and the names of the parts that crashed, whose errors are printed."""
    figures: list[Figure] = []
    crashed: list[str] = []
    for name, part in parts.items():
        started = time.monotonic()
        try:
            figures += await part()
        except Exception:
            traceback.print_exc()
            crashed.append(name)
        print(f"{name}: {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    return figures, crashed


def main() -> int:
    """Exit code 0 if no part crashes and every goal is reached, else 1."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="less of all: half a minute")
    parser.add_argument("--only", metavar="PART", help="parts whose name begins with this")
    given = parser.parse_args()
    parts = {
        name: part
        for name, part in _list_parts(is_quick=given.quick).items()
        if not given.only or name.startswith(given.only)
    }
    if not parts:
        parser.error(f"no part is called {given.only}")
    figures, crashed = asyncio.run(measure(parts))
    print(render(figures))
    if crashed:
        print(f"\nCrashed, and not measured: {', '.join(crashed)}")
    print(f"\n{_NOTE}\nKept in {save(figures, is_quick=given.quick)}")
    missed = any(figure.is_reached is False for figure in figures)
    return 1 if crashed or missed else 0


if __name__ == "__main__":
    sys.exit(main())
