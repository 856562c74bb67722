"""Count what twenty everyday journeys cost a person on each platform.

    python -m bench.everyday_journeys

Each journey runs through the real adapters against the emulators. An emulated model answers at
once, so that the seconds are the gateway's. The clock stands still until a journey waits.
"""

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.emulators.telegram_cast import ANNA
from tests.integration.clock import Clock
from tests.journeys.accounts import Account
from tests.journeys.stage import Harness, Stage, call, calls

PLATFORMS = ("telegram", "discord", "slack")
_FRIDAY = (2026, 11, 20, 12, 0)
MOST_MESSAGES = 1
"""New messages that one action may cause; a press may also edit the message that it stands in."""


@dataclass(slots=True, kw_only=True)
class Cost:
    """What a journey cost: actions are what the person wrote or pressed, or a time that came."""

    messages: int = 0
    rings: int = 0
    taps: int = 0
    seconds: float = 0.0
    most: int = 0
    """The most new messages after one action."""


@dataclass(slots=True)
class Walk:
    """A person at one platform, and what they have cost so far."""

    harness: Harness
    account: Account
    clock: Clock
    cost: Cost = field(default_factory=Cost)

    def plan(self, *replies: Any) -> None:
        """Say what the model answers to what comes next."""
        self.harness.stage.plan(*replies)

    async def say(self, words: str) -> None:
        """Write a message or a command."""
        await self._count(self.harness.takes(self.account.says(words)))

    async def press(self, label: str) -> None:
        """Press the newest button with a label."""
        self.cost.taps += 1
        await self._count(self.harness.press(self.account, label))

    async def wait(self, **span: float) -> None:
        """Let time pass until something comes."""

        async def pass_by() -> None:
            count = len(self.account.seen())
            self.clock.move(self.harness, **span)
            await self.harness.until(lambda: len(self.account.seen()) > count)
            await self.harness.at_rest()

        await self._count(pass_by())

    async def _count(self, deed: Awaitable[object]) -> None:
        before = {one.id for one in self.account.seen()}
        began = time.perf_counter()
        await deed
        self.cost.seconds += time.perf_counter() - began
        new = [one for one in self.account.seen() if one.id not in before]
        self.cost.messages += len(new)
        self.cost.rings += sum(one.rings for one in new)
        self.cost.most = max(self.cost.most, len(new))


Journey = Callable[[Walk], Awaitable[None]]


async def _remind(walk: Walk) -> None:
    walk.plan(calls(call("remind", text="Call Ben.", when="today at 15:00")), "Done.")
    await walk.say("remind me at 3 pm to call Ben")


async def _come(walk: Walk) -> None:
    await _remind(walk)
    await walk.wait(hours=3)


async def _weekly(walk: Walk) -> None:
    plants = call("remind", text="Water the plants.", when="every monday at 8:00")
    walk.plan(calls(plants), "Every Monday.")
    await walk.say("remind me every monday at 8 to water the plants")


async def _weekly_comes(walk: Walk) -> None:
    await _weekly(walk)
    await walk.wait(days=2, hours=20)


async def _remember(walk: Walk) -> None:
    walk.plan(calls(call("memory", action="add", target="user", text="Likes green tea")), "Noted.")
    await walk.say("remember that I like green tea")


def _after(start: Journey, *labels: str) -> Journey:
    """Return a journey that goes on with presses."""

    async def go(walk: Walk) -> None:
        await start(walk)
        for label in labels:
            await walk.press(label)

    return go


def _with(start: Journey | None, *words: str) -> Journey:
    """Return a journey that goes on with what the person writes."""

    async def go(walk: Walk) -> None:
        if start:
            await start(walk)
        for one in words:
            if not one.startswith("/"):
                walk.plan("Sunny, 12 degrees.")
            await walk.say(one)

    return go


async def _change(walk: Walk) -> None:
    await _weekly_comes(walk)
    await walk.press("Change")
    await walk.say("at 10:30")


async def _list_and_pause(walk: Walk) -> None:
    await _weekly(walk)
    await walk.say("/reminders")
    for label in ("Water the plants.", "Pause", "Resume", "All reminders"):
        await walk.press(label)


async def _delete_and_bring_back(walk: Walk) -> None:
    await _weekly(walk)
    await walk.say("/reminders")
    for label in ("Water the plants.", "Delete", "Yes, delete it", "Bring it back"):
        await walk.press(label)


async def _run_in_quiet_hours(walk: Walk) -> None:
    await _weekly(walk)
    await walk.say("/settings quiet_hours 00:00-23:59")
    await walk.say("/reminders")
    await walk.press("Water the plants.")
    await walk.press("Run now")


async def _put_off_until_it_comes(walk: Walk) -> None:
    await _come(walk)
    await walk.press("+10 min")
    await walk.wait(minutes=10)
    await walk.press("Done")


JOURNEYS: Mapping[str, Journey] = {
    "Ask something": _with(None, "how is the weather?"),
    "Set a reminder": _remind,
    "Take a reminder back": _after(_remind, "Undo"),
    "A reminder comes; done": _after(_come, "Done"),
    "Put it off for ten minutes; done": _put_off_until_it_comes,
    "Put it off until tomorrow": _after(_come, "Tomorrow"),
    "Set a weekly reminder": _weekly,
    "Leave out the next one": _after(_weekly_comes, "Skip next"),
    "Move it to another time": _change,
    "List reminders, pause one": _list_and_pause,
    "Delete one, bring it back": _delete_and_bring_back,
    "Run one now, in quiet hours": _run_in_quiet_hours,
    "Remember something": _remember,
    "Forget it again": _after(_remember, "Undo"),
    "Look at the memory": _with(_remember, "/memory"),
    "Set the language": _with(None, "/settings language de"),
    "Set quiet hours": _with(None, "/settings quiet_hours 22:00-07:00"),
    "Start anew, go back": _with(None, "how is the weather?", "/new", "and now?", "/resume 1"),
    "Rename a conversation": _with(None, "how is the weather?", "/title Weather"),
    "Look at the costs": _with(None, "how is the weather?", "/usage"),
}


async def walk_journey(platform: str, journey: Journey, home: Path) -> Cost:
    """Walk one journey on a platform, as a person whom Talaria knows."""
    async with Stage(home, (platform,)) as stage:
        clock = Clock(*_FRIDAY)
        stage.now = clock
        account = stage.account(platform, ANNA)
        async with stage.open() as harness:
            await harness.hears(account, "/settings time_zone UTC")
            walk = Walk(harness, account, clock)
            await journey(walk)
            return walk.cost


async def measure() -> dict[str, dict[str, Cost]]:
    """Walk all journeys on all platforms; return their costs by name and platform."""
    found: dict[str, dict[str, Cost]] = {}
    for name, journey in JOURNEYS.items():
        for platform in PLATFORMS:
            with tempfile.TemporaryDirectory() as home:
                cost = await walk_journey(platform, journey, Path(home))
            found.setdefault(name, {})[platform] = cost
    return found


def render(found: Mapping[str, Mapping[str, Cost]]) -> str:
    """Render costs as a Markdown table."""
    head = ["Journey", *(name.capitalize() for name in PLATFORMS)]
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for name, costs in found.items():
        cells = [_show(costs[platform]) for platform in PLATFORMS]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    most = max(cost.most for costs in found.values() for cost in costs.values())
    note = "A cell: messages, notifications, taps, seconds."
    return "\n".join([*lines, "", f"{note} The most messages after one action: {most}."])


def _show(cost: Cost) -> str:
    return f"{cost.messages}, {cost.rings}, {cost.taps}, {cost.seconds:.2f}"


if __name__ == "__main__":
    print(render(asyncio.run(measure())))
