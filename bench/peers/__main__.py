"""Compare the bots: `python -m bench.peers [--share 0.2] [NAME ...]`."""

import argparse
import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime

from bench.peers import trials
from bench.peers.bots import list_bots
from bench.peers.contract import Bot
from bench.peers.trials import Result, Stage
from bench.processes import ROOT

_RESULTS = ROOT / "bench" / "results"


async def compare(bots: Sequence[Bot], *, share: float) -> dict[str, list[Result]]:
    """Run every trial with every bot, one after another; `share` shortens them."""

    def most(number: int) -> int:
        return max(2, round(number * share))

    plan: list[Callable[[Stage], Awaitable[list[Result]]]] = [
        lambda stage: trials.measure_overhead(stage, most(40)),
        lambda stage: trials.measure_doubles(stage, most(20)),
        lambda stage: trials.measure_burst(stage, most(20)),
        lambda stage: trials.measure_crowd(stage, most(50)),
        lambda stage: trials.measure_cost(stage, most(100)),
        lambda stage: trials.measure_recall(stage, most(20)),
        lambda stage: trials.measure_downtime(stage, most(20)),
        lambda stage: trials.measure_kills(stage, most(40)),
    ]
    found: dict[str, list[Result]] = {}
    for bot in bots:
        found[bot.name] = []
        async with trials.open_stage(bot) as stage:
            for trial in plan:
                results = await trial(stage)
                found[bot.name] += results
                for one in results:
                    print(f"{bot.name}: {one.name}: {one.value} {one.unit}", flush=True)
    return found


def render(found: dict[str, list[Result]]) -> str:
    """Write one table, in Markdown."""
    names = list(found)
    lines = [f"| | {' | '.join(names)} |", f"|---|{'---|' * len(names)}"]
    for row in zip(*found.values(), strict=True):
        unit = f", {row[0].unit}" if row[0].unit else ""
        cells = ("?" if one.value is None else _write(one.value) for one in row)
        lines.append(f"| {row[0].name}{unit} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _write(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def main() -> None:
    """Compare the named bots, by default all that can run here."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--share", type=float, default=1.0, help="run a part of everything")
    given = parser.parse_args()
    bots = [one for one in list_bots() if not given.names or one.name in given.names]
    able = []
    for one in bots:
        if fault := one.find_fault():
            print(f"{one.name} is left out. {fault}")
        else:
            able.append(one)
    found = asyncio.run(compare(able, share=given.share))
    print(render(found))
    _RESULTS.mkdir(exist_ok=True)
    rows = {name: [[one.name, one.unit, one.value] for one in each] for name, each in found.items()}
    name = f"peers-{datetime.now(UTC):%Y%m%d-%H%M%S}.json"
    (_RESULTS / name).write_text(json.dumps(rows, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
