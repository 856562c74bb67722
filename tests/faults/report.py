"""Print the counts of a long test as a table by platform, and keep it in `results/`."""

import os
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.faults.deployment import Deployment
from tests.faults.findings import Findings

RESULTS = Path(__file__).parent / "results"

_SEEN: Mapping[str, Callable[[Findings], int]] = {
    "lost": lambda f: len(f.lost),
    "answered twice": lambda f: len(f.twice),
    "in a foreign chat": lambda f: len(f.foreign),
    "chats out of order": lambda f: len(f.disordered),
    "notices of failure": lambda f: len(f.strange),
    "stray openings": lambda f: f.strays,
}
_OF_THE_PROCESS: Mapping[str, Callable[[Findings], int]] = {
    "unsafe effects repeated": lambda f: len(f.rung_twice),
    "recorded answers asked again": lambda f: len(f.asked_again),
    "rows left open": lambda f: len(f.open_rows),
    "model calls made again": lambda f: f.repeats,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """The figures above the table: what was done to a deployment."""

    name: str
    seed: int
    began: float
    """Monotonic seconds."""
    done: Mapping[str, int]


def take_seed() -> int:
    """Return `FAULTS_SEED`, or a random seed."""
    return int(os.environ.get("FAULTS_SEED") or random.SystemRandom().randrange(1_000_000))


def publish(deployment: Deployment, trial: Trial, findings: Findings) -> None:
    """Print the table and keep it."""
    took = round(time.monotonic() - trial.began)
    about = {"seed": trial.seed, **trial.done, "seconds": took}
    parts = [deployment.look_at(driver) for driver in deployment.drivers]
    said = [
        [one for one in deployment.said if deployment.driver_of(one.chat) is q]
        for q in deployment.drivers
    ]
    rows: list[Sequence[object]] = [
        ("", *(driver.platform for driver in deployment.drivers), "all"),
        ("messages", *map(len, said), len(deployment.said)),
    ]
    rows += [(name, *map(count, parts), count(findings)) for name, count in _SEEN.items()]
    blank = [""] * len(parts)
    rows += [(name, *blank, count(findings)) for name, count in _OF_THE_PROCESS.items()]
    lines = [", ".join(f"{name} {number}" for name, number in about.items())]
    lines += [f"{name:30}" + "".join(f"{cell:>10}" for cell in cells) for name, *cells in rows]
    text = "\n".join(lines)
    print(f"\n{trial.name}: {text}")
    RESULTS.mkdir(exist_ok=True)
    name = f"{time.strftime('%Y%m%d-%H%M%S')}-{trial.name}.txt"
    (RESULTS / name).write_text(f"{trial.name}: {text}\n")
