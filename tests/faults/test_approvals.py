"""An approval is used once, for its own request and in time, whenever the gateway is killed."""

import asyncio
import json
import os
import random
import signal
import sys
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest

from agent_core.tools.policy.approval_requests import USE_WITHIN
from tests.agent_core.state.conversations.approval_requests import make_people
from tests.databases import open_database
from tests.faults.approval_player import Order
from tests.faults.report import take_seed
from tests.patience import PATIENCE

Step = tuple[str, int, int]
_STEPS = 24
_SLOWEST = 0.05
"""Seconds in which a life is killed from outside; it plays about ten steps in them."""


@dataclass
class Player:
    """The process that forks lives."""

    process: asyncio.subprocess.Process

    async def play(self, order: Order, *, within: float | None) -> bool:
        """Play until the end, or a kill from outside after a time; True if it was killed."""
        assert self.process.stdin
        self.process.stdin.write(f"{json.dumps(asdict(order))}\n".encode())
        pid = int((await self._read()).removeprefix("born "))
        reading = asyncio.create_task(self._read())
        if within is not None:
            await asyncio.wait((reading,), timeout=within)
            if not reading.done():
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        ended = await reading
        assert ended in ("over 0", f"over {-signal.SIGKILL}"), ended
        return ended != "over 0"

    async def end(self) -> None:
        """End the process."""
        assert self.process.stdin
        self.process.stdin.close()
        await self.process.wait()

    async def _read(self) -> str:
        assert self.process.stdout
        async with asyncio.timeout(PATIENCE):
            return (await self.process.stdout.readline()).decode().strip()


async def start() -> Player:
    """Start the process."""
    words = (sys.executable, "-m", "tests.faults.approval_player")
    pipe = asyncio.subprocess.PIPE
    return Player(await asyncio.create_subprocess_exec(*words, stdin=pipe, stdout=pipe))


def draw_steps(chance: random.Random) -> list[Step]:
    """Draw answers and uses of all requests, with times that pass the expiry now and then."""
    steps, now = list[Step](), 1000
    for _ in range(_STEPS):
        now += chance.choice((0, 1, 1, USE_WITHIN // 4, USE_WITHIN - 1))
        verb = chance.choice(("allow", "use", "use"))
        steps.append((verb, chance.randrange(4), now))  # few, so that they meet often
    return steps


def judge(steps: Sequence[Step], effects: str) -> int:
    """Fail for an effect without its own approval; return the number of effects."""
    allowed = defaultdict[int, list[int]](list)
    for verb, number, now in steps:
        if verb == "allow":
            allowed[number].append(now)
    free_from = defaultdict[int, int](int)
    lines = effects.splitlines()
    for number, now in (map(int, line.split()) for line in lines):
        # An answer while an approval still counts, used or not, allows nothing more.
        granted = [at for at in allowed[number] if free_from[number] <= at <= now < at + USE_WITHIN]
        assert granted, f"request {number} ran at {now} without an approval of its own"
        free_from[number] = min(granted) + USE_WITHIN
    return len(lines)


async def _kill(player: Player, place: Path, chance: random.Random, *, outside: bool) -> int:
    """Play drawn steps with kills until all are done; return the number of kills."""
    database = await open_database(place / "state.db")  # which makes the folder
    await database.write("people", make_people)
    await database.close()
    steps, done, kills = draw_steps(chance), place / "done", 0
    done.touch()
    while (count := done.stat().st_size) < len(steps):
        # The step that a kill interrupted is played again, as a turn is that continues.
        point = -1 if outside else chance.randrange(20)
        order = Order(folder=str(place), steps=steps[count:], killed_at=point)
        within = chance.uniform(0, _SLOWEST) if outside else None
        kills += await player.play(order, within=within)
    effects = place / "effects"
    judge(steps, effects.read_text() if effects.exists() else "")
    return kills


@pytest.mark.process
@pytest.mark.slow
async def test_an_approval_counts_once_where_a_gateway_kills_itself(tmp_path: Path) -> None:
    player, kills = await start(), 0
    for seed in range(4):
        kills += await _kill(player, tmp_path / str(seed), random.Random(seed), outside=False)
    await player.end()
    assert kills > 20


@pytest.mark.process
@pytest.mark.long
async def test_an_approval_counts_once_whenever_a_gateway_is_killed(tmp_path: Path) -> None:
    seed = take_seed()
    print(f"\nseed {seed}")
    chance, player, kills, number = random.Random(seed), await start(), 0, 0
    while kills < 300:
        number += 1
        kills += await _kill(player, tmp_path / str(number), chance, outside=number % 2 == 0)
    print(f"{kills} kills in {number} sets of steps")
    await player.end()


def test_an_effect_too_many_is_noticed() -> None:
    allow, use = ("allow", 0, 10), ("use", 0, 20)
    assert judge([allow, use], "0 20\n") == 1
    late = 10 + USE_WITHIN
    for steps, effects in (
        ([allow, use], "0 20\n0 20\n"),
        ([allow, ("allow", 0, 15), use], "0 20\n0 20\n"),
        ([allow, use], "1 20\n"),
        ([allow, use], f"0 {late}\n"),
        ([use], "0 20\n"),
    ):
        with pytest.raises(AssertionError, match="without an approval of its own"):
            judge(steps, effects)
    assert judge([allow, use, ("allow", 0, late)], f"0 20\n0 {late}\n") == 2
