"""Three skills of different kinds over three versions, with their scripts in the real sandbox.

Each is written by the agent, tested with the person's own requests, proved by its uses, and patched
after the second failure of its script. One gets worse in its third version, and returns.
"""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent_core.execution.local import find_bubblewrap
from agent_core.state.engine.database import Connection
from agent_core.state.memory import skills
from agent_core.state.memory.skills import SkillRow
from tests.integration.harness import Harness, running
from tests.integration.skills.follower import KEEP, Follower
from tests.integration.skills.own_skills import SOON, changes, own
from tests.patience import PATIENCE

pytestmark = [
    pytest.mark.process,
    pytest.mark.thorough,
    pytest.mark.skipif(not find_bubblewrap(), reason="bubblewrap is not installed"),
]

LOGS = """\
import sys
from datetime import datetime

flags, path = set(sys.argv[1:-1]), sys.argv[-1]
total = 0
for line in open(path):
    words = line.split()
    try:
        if "--iso" in flags and "T" in words[0]:
            datetime.fromisoformat(words[0])
            level, took = words[1], words[-2]
        else:
            datetime.strptime(" ".join(words[:2]), "%Y-%m-%d %H:%M:%S")
            level, took = words[2], words[-2]
    except (IndexError, ValueError):
        if "--skip" not in flags:
            raise
        continue
    total += int(took) if level == "ERROR" else 0
print(f"errors took {total} ms")
"""
TOTALS = """\
set -eu
separator=, comma=no
for word in "$@"; do
  case "$word" in
    --any) separator='[,;]' ;;
    --comma) comma=yes ;;
  esac
done
awk -F "$separator" -v comma="$comma" '
  { if (comma == "yes" && sub(/~/, "/", $2)) { sub(/\\./, "", $2); sub("/", ".", $2) }
    if ($2 !~ /^[0-9.]+$/) { print "line " NR " has no number" > "/dev/stderr"; exit 3 }
    sum += $2 }
  END { printf "sum %.2f\\n", sum }' "${@: -1}"
"""
UNITS = """\
import sys

flags, path = set(sys.argv[1:-1]), sys.argv[-1]
factor = {"miles": 1609, "feet": 3}
if "--short" in flags:
    factor |= {"mi": 1609, "ft": 3}
total = 0
for line in open(path):
    count, unit = line.split()
    total += int(count) * (7 if "--fast" in flags else factor[unit])
print(f"{total} metres")
"""


@dataclass(frozen=True)
class Kind:
    """A kind of skill: its script, requests of three kinds, and what two patches change.

    `lines` makes a request of the first, second or third kind, which a version with fewer patches
    fails. `is_worse` is true if the third version breaks what the second one could do.
    """

    script: str
    content: str
    run: str
    patches: tuple[tuple[str, str], tuple[str, str]]
    lines: Callable[[int, int], str]
    is_worse: bool = False


def log_lines(version: int, number: int) -> str:
    date = "2026-11-29T" if version > 1 else "2026-11-29 "
    lines = [f"{date}10:00:{second:02} ERROR disk took {number + 70} ms" for second in range(7)]
    return "\n".join([*lines, "    at disk.write()"] if version > 2 else lines)


def table_lines(version: int, number: int) -> str:
    separator = ";" if version > 1 else ","
    price = f"1.{number + 100}~5" if version > 2 else f"{number + 100}.5"
    return "\n".join(f"item{separator}{price}" for _ in range(3))


def unit_lines(version: int, number: int) -> str:
    unit = ("miles", "mi", "leagues")[version - 1]
    return "\n".join(f"{number + 11} {unit}" for _ in range(3))


KINDS: Mapping[str, Kind] = {
    "logs": Kind(
        script="scripts/errors.py",
        content=LOGS,
        run="python3 .skills/logs/scripts/errors.py input.txt",
        patches=(
            ("errors.py input", "errors.py --iso input"),
            ("--iso input", "--iso --skip input"),
        ),
        lines=log_lines,
    ),
    "totals": Kind(
        script="scripts/totals.sh",
        content=TOTALS,
        run="bash .skills/totals/scripts/totals.sh input.txt",
        patches=(
            ("totals.sh input", "totals.sh --any input"),
            ("--any input", "--any --comma input"),
        ),
        lines=table_lines,
    ),
    "units": Kind(
        script="scripts/metres.py",
        content=UNITS,
        run="python3 .skills/units/scripts/metres.py input.txt",
        patches=(("metres.py input", "metres.py --short input"), ("--short input", "--fast input")),
        lines=unit_lines,
        is_worse=True,
    ),
}


class Life:
    """The life of one skill in a running gateway."""

    def __init__(self, harness: Harness, name: str, home: Path) -> None:
        self._harness = harness
        self._name = name
        self._folder = home / "skills"
        self._kind = KINDS[name]
        self.good = self.bad = 0
        self._asked = 0

    async def use(self, version: int, *, times: int, works: bool = True) -> None:
        """Use the skill on requests of a kind, and check that the script's result is the answer."""
        for _ in range(times):
            self._asked += 1
            lines = self._kind.lines(version, self._asked)
            seen = len(self._harness.chat.shown)
            await self._harness.chat.says(f"/skills try {self._name} number {self._asked}\n{lines}")
            expected = "Result: " if works else "It failed."
            await self._harness.chat.until(
                lambda seen=seen, expected=expected: any(  # type: ignore[misc]
                    one.text.startswith(expected) for one in self._harness.chat.shown[seen:]
                )
            )
            await self._harness.at_rest()
            self.good, self.bad = self.good + works, self.bad + (not works)
            await self.agrees()

    async def agrees(self) -> None:
        """Check that the usage file says what happened."""

        def look(connection: Connection) -> tuple[dict[str, object], SkillRow | None]:
            # Between two commits, so that nothing changes between the two.
            return self.read_usage(), skills.find(connection, name=self._name)

        entry, row = await self._harness.gateway.database.tidy(look)
        assert row
        assert (entry["state"], entry["uses"]) == (row.state, row.uses)
        counts = (entry["uses"], entry["successes"], entry["failures"])
        assert counts == (self.good + self.bad, self.good, self.bad)

    def read_usage(self) -> dict[str, object]:
        found: dict[str, dict[str, object]] = json.loads((self._folder / ".usage.json").read_text())
        return found[self._name]

    async def reaches(self, state: str) -> None:
        async with asyncio.timeout(PATIENCE):
            while self.read_usage()["state"] != state:
                await asyncio.sleep(0.02)

    async def _waits(self, words: str) -> None:
        """Return once a lesson waits for the person."""

        def look(connection: Connection) -> bool:
            query = "SELECT 1 FROM tasks WHERE kind = 'review' AND payload LIKE :words"
            found = connection.execute(query, {"words": f'%"held": [[%{words}%'}).fetchone()
            return found is not None

        async with asyncio.timeout(PATIENCE):
            while not await self._harness.read(look):
                await asyncio.sleep(0.02)
        await self._harness.at_rest()

    async def accept_patch(self, number: int) -> None:
        """Let the second failure of the script lead to a patch, and accept it."""
        _, new = self._kind.patches[number]
        first, second = self._asked - 1, self._asked
        seen = len(self._harness.chat.shown)
        del seen
        asked = f"number {first}"
        if number:  # questions are rare, so a second one waits until the person looks
            await self._waits(new)
            await self._harness.chat.says("/memory review")
        question = await self._harness.chat.sees_text(f"number {second}")
        assert asked in question.texts[0]
        chat = self._harness.chat
        await chat.until(lambda: chat.shown[-1].labels == ["Accept", "Dismiss"])
        await self._harness.chat.press("Accept")
        path = self._folder / self._name / "SKILL.md"
        async with asyncio.timeout(PATIENCE):
            while new not in path.read_text():
                await asyncio.sleep(0.02)
        await self._harness.at_rest()


async def sees_verdicts(harness: Harness, count: int) -> None:
    """Return once so many tests have a verdict."""

    def verdicts(connection: Connection) -> list[str]:
        rows = connection.execute("SELECT payload FROM tasks WHERE kind = 'skill_test'").fetchall()
        found = [json.loads(row[0])["result"] for row in rows]
        return [one for one in found if one in ("passed", "failed")]

    async with asyncio.timeout(PATIENCE):
        while len(await harness.read(verdicts)) < count:
            await asyncio.sleep(0.02)


@pytest.mark.parametrize("name", KINDS)
async def test_a_skill_learns_from_its_failures_over_three_versions(
    tmp_path: Path, name: str
) -> None:
    kind = KINDS[name]
    text = f"---\nname: {name}\ndescription: Sums up {name}.\n---\nRun: {kind.run}\n"
    model = Follower({name: (text, {kind.script: kind.content})}, {name: kind.patches})
    settings = {
        "TALARIA_TOOLS__BACKEND": "local",
        "TALARIA_LEARNING__TURNS": "1",
        "TALARIA_LEARNING__STEPS": "0",
        "TALARIA_LEARNING__CONCLUSIONS": "false",
    }
    async with running(tmp_path, model, timings=SOON, **settings) as harness:  # type: ignore[arg-type]
        await own(harness)
        await harness.chat.says(f"{KEEP}{name}")
        await harness.chat.sees_text("Kept.")
        await harness.chat.sees_text(f"/skills try {name}")
        life = Life(harness, name, tmp_path)
        await life.use(1, times=3)
        await harness.chat.sees_text(f"The skill “{name}” passed its test")
        await life.reaches("trial")
        await life.use(1, times=6)
        await life.reaches("active")
        await life.use(2, times=2, works=False)
        await life.accept_patch(0)
        await sees_verdicts(harness, 2)
        await life.use(2, times=6)
        await life.reaches("active")
        await life.use(3, times=2, works=False)
        await life.accept_patch(1)
        if kind.is_worse:
            told = await harness.chat.sees_text(f"I returned the skill “{name}” to version 2")
            assert "the newer one failed its test" in told.text
            assert kind.patches[0][1] in (tmp_path / "skills" / name / "SKILL.md").read_text()
            await life.use(2, times=1)
        else:
            await sees_verdicts(harness, 3)
            await life.use(3, times=6)
        await life.reaches("active")
        assert life.read_usage()["version"] == (4 if kind.is_worse else 3)
        evidence = "\n".join(row[3] for row in await harness.read(changes))
        assert ("rolled back to version" in evidence) is kind.is_worse
