"""Measure the claim check: false claims that it catches, honest answers that it suspects, and time.

    python -m bench.claims [half] [--more FILE.jsonl.gz]

`half` is `dev` or `held`; the author of the rule may read the first only. Answers of others, in the
form of `beam-100k.jsonl.gz`, count as honest: no tool acted in their conversations.
"""

import argparse
import gzip
import json
import statistics
import time
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from agent_core.agent.claims.check import ClaimCheck
from agent_core.agent.claims.course import Course
from agent_core.agent.claims.deeds import Deed, Kind
from agent_core.transcript import Receipt, user_message

_HERE = Path(__file__).parent
_NOTHING = Course(deeds=(), messages=())
_CHECK = ClaimCheck(reads_wishes=True)
_KINDS: Mapping[str, Kind] = {
    "job": "job",
    "memory": "memory",
    "archive": "memory",
    "message": "message",
    "settings": "setting",
}
_PIECE = 4
"""Characters of a token, about; an answer arrives in such pieces."""


def _read(name: str, fields: int, half: str) -> list[list[str]]:
    lines = (_HERE / name).read_text().splitlines()
    rows = [line.split("|", fields - 1) for line in lines if not line.startswith("#")]
    wanted = {"dev": (0,), "held": (1,)}.get(half, (0, 1))
    return [row for place, row in enumerate(rows) if place % 2 in wanted]


def _suspects(text: str, course: Course = _NOTHING) -> bool:
    return _CHECK.judge(text.replace("\\n", "\n"), course) is not None


def _asked(words: str) -> Course:
    return Course(deeds=(), messages=(user_message(words),))


def _read_more(path: Path, half: str) -> Iterator[tuple[str, str]]:
    with gzip.open(path, "rt") as file:
        for place, line in enumerate(file):
            if half != "all" and place % 2 != (half == "held"):
                continue
            said = json.loads(line)["messages"]
            for asked, answered in pairwise(said):
                if (asked["role"], answered["role"]) == ("user", "assistant"):
                    yield asked["text"], answered["text"]


def _measure_stream(texts: list[str]) -> None:
    """Print how many pieces of an answer arrive before the first text passes, and the CPU time."""
    waits, longest, spent, pieces = [], [], 0.0, 0
    for text in texts:
        gate, first, held, most = _CHECK.gate(_NOTHING), None, 0, 0
        began = time.perf_counter()
        for place in range(0, len(text), _PIECE):
            shown = gate.grow(text[place : place + _PIECE])
            held = 0 if shown else held + 1
            most = max(most, held)
            if shown and first is None:
                first = place // _PIECE
            pieces += 1
        spent += time.perf_counter() - began
        waits.append(first if first is not None else len(text) // _PIECE)
        longest.append(most)
    print(
        f"stream: pieces before the first text p50 {statistics.median(waits):.0f},"
        f" p90 {statistics.quantiles(waits, n=10)[-1]:.0f}; longest wait p50"
        f" {statistics.median(longest):.0f} pieces; {spent / pieces * 1e6:.0f} µs a piece"
    )


def _measure_fresh(*, show: bool) -> None:
    """Print the figures of answers to what a person wrote, by file."""
    for name in ("fresh-1.txt", "fresh-2.txt", "fresh-3.txt", "fresh-4.txt"):
        rows = _read(name, 4, "all")
        wrong = [row for row in rows if _suspects(row[3], _asked(row[2])) != (row[0] == "false")]
        false = [row for row in rows if row[0] == "false"]
        missed = sum(row[0] == "false" for row in wrong)
        print(f"{name}: {len(false) - missed} of {len(false)} false claims caught,", end=" ")
        print(f"false alarms: {len(wrong) - missed} of {len(rows) - len(false)}")
        if show:
            for row in wrong:
                print("  ", *row)


def _measure_everyday(*, show: bool) -> None:
    """Print the false alarms on everyday answers, which say only what their turns did.

    Two writers who had not seen the rule wrote 250 each. The first half has led to changes of the
    rule, the second half has not.
    """
    lines = (_HERE / "everyday.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    for name, half in (("first", rows[:250]), ("second", rows[250:])):
        alarms = [one for one in half if _CHECK.judge(one["answer"], _do(one)) is not None]
        print(f"false alarms on everyday answers, {name} half: {len(alarms)} of {len(half)}")
        if show:
            for one in alarms:
                print("  ", one["said"], "|", one["answer"])


def _do(row: dict[str, Any]) -> Course:
    receipts = (Receipt(text="done"),)
    deeds = tuple(Deed(kind=_KINDS[kind], receipts=receipts) for kind in row["did"])
    return Course(deeds=deeds, messages=(user_message(row["said"]),))


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("half", nargs="?", default="all", choices=("dev", "held", "all"))
    parser.add_argument("--more", type=Path)
    parser.add_argument("--show", action="store_true", help="print what is judged wrongly")
    given = parser.parse_args()
    false = _read("false.txt", 4, given.half)
    honest = _read("honest.txt", 3, given.half)
    missed = [row for row in false if not _suspects(row[-1])]
    alarms = [row for row in honest if _suspects(row[-1])]
    for language in sorted({row[0] for row in false}):
        rows = [row for row in false if row[0] == language]
        caught = sum(row not in missed for row in rows)
        print(f"{language}: {caught} of {len(rows)} false claims caught")
    public = [row for row in false if row[2] == "public"]
    caught = sum(row not in missed for row in public)
    print(f"of others: {caught} of {len(public)}")
    print(f"all: {len(false) - len(missed)} of {len(false)} false claims caught")
    print(f"false alarms on near misses: {len(alarms)} of {len(honest)}")
    _measure_fresh(show=given.show)
    _measure_everyday(show=given.show)
    pairs = list(_read_more(given.more, given.half)) if given.more else []
    if pairs:
        more = [pair for pair in pairs if _suspects(pair[1], _asked(pair[0]))]
        print(f"false alarms on answers of others: {len(more)} of {len(pairs)}")
        _measure_stream([text for _, text in pairs])
    if given.show:
        for row in (*missed, *alarms, *(more if pairs else ())):
            print("  ", *row)


if __name__ == "__main__":
    main()
