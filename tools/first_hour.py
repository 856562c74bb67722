"""Measure and picture the first hour with the bot on each platform.

    python -m tools.first_hour                  write docs/first-hour.md and its pictures
    python -m tools.first_hour --no-pictures    write the page only

The gateway runs as always, between the emulators of the tests. An emulated model answers at once,
so that the seconds are those of the gateway. The pictures need Chromium.
"""

import asyncio
import sys
import tempfile
import time
from collections.abc import Awaitable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.emulators.telegram_cast import ANNA
from tests.journeys.accounts import Account, Seen
from tests.journeys.chromium import chromium
from tests.journeys.stage import Harness, Stage, call, calls
from tools.conversation_picture import Line, draw

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "first-hour.md"
PICTURES = ROOT / "docs" / "images"
PLATFORMS = {"telegram": "Telegram", "discord": "Discord", "slack": "Slack"}
WIDTHS = {"telegram": 420, "discord": 640, "slack": 640}
_START = int(datetime(2026, 11, 22, 18, 0, tzinfo=UTC).timestamp() * 1000)
_POLL = 0.004
_COLUMN = 60
"""Characters of a message in the table."""
_RECIPE = """\
**Chickpea curry**, without nuts:

- Fry an onion, two cloves of garlic and a spoon of curry powder.
- Add a tin of chickpeas and a tin of tomatoes.
- Simmer it for 15 minutes.

It takes 25 minutes. Shall I remind you to buy chickpeas?"""


@dataclass(slots=True, kw_only=True)
class Shown:
    """A message of the bot: when it first appeared and last changed, in seconds after `cause`."""

    seen: Seen
    offered: tuple[str, ...]
    """The buttons that it had at first."""
    cause: str
    first: float
    last: float


@dataclass(slots=True)
class Hour:
    """What one person and the bot said, in order."""

    platform: str
    shown: dict[str, Shown] = field(default_factory=dict)
    order: list[str | Shown] = field(default_factory=list)
    """The person's words and the bot's messages."""
    presses: int = 0

    def watch(self, account: Account, cause: str, began: float) -> None:
        """Note what changed on the screen."""
        passed = time.monotonic() - began
        for seen in account.seen():
            known = self.shown.get(seen.id)
            if known is None:
                known = Shown(
                    seen=seen, offered=seen.labels, cause=cause, first=passed, last=passed
                )
                self.shown[seen.id] = known
                self.order.append(known)
            elif known.seen.text != seen.text and known.cause == cause:
                known.last = passed
            known.seen = seen

    async def follow(
        self, harness: Harness, account: Account, cause: str, deed: Awaitable[Any]
    ) -> None:
        """Do something as the person, and watch until the bot is at rest."""
        began = time.monotonic()
        doing = asyncio.ensure_future(harness.takes(deed))
        while not doing.done():
            self.watch(account, cause, began)
            await asyncio.sleep(_POLL)
        await doing
        self.watch(account, cause, began)


async def play(platform: str, home: Path) -> Hour:
    """Play the hour on one platform."""
    hour, began = Hour(platform), time.monotonic()
    async with Stage(home, (platform,)) as stage:
        stage.now = lambda: _START + int((time.monotonic() - began) * 1000)
        stage.discord.world.users[stage.discord.user(ANNA)]["global_name"] = "Anna"
        stage.slack.user(ANNA, "anna", real_name="Anna", tz="Europe/Vienna")
        anna = stage.account(platform, ANNA)
        async with stage.open(allow="", TALARIA_PEOPLE__TIME_ZONE="Europe/Vienna") as harness:

            async def say(words: str, shown: str = "") -> None:
                hour.order.append(shown or words)
                await hour.follow(harness, anna, shown or words, anna.says(words))

            code = harness.gateway.claim_code
            opening = f"/start claim-{code}" if platform == "telegram" else f"/claim {code}"
            await say(opening, "/start" if platform == "telegram" else "/claim ABCD-EFGH")
            if "Vienna" in anna.seen()[-1].labels:
                hour.presses += 1
                await hour.follow(harness, anna, "Vienna", anna.holds("Vienna")())
            dog = call(
                "schedule",
                action="create",
                kind="message",
                text="Feed the dog",
                at="2026-11-23T09:00",
            )
            stage.plan(calls(dog), "I'll remind you tomorrow, Monday, at 9:00 to feed the dog.")
            await say("Remind me tomorrow at 9 to feed the dog")
            nuts = call("memory", action="add", target="user", text="Is allergic to nuts")
            stage.plan(calls(nuts), "I'll keep that in mind: no nuts for you.")
            await say("Remember that I'm allergic to nuts")
            stage.plan(_RECIPE)
            await say("What can I cook tonight with chickpeas?")
            await say("/jobs")
    return hour


def describe(hours: list[Hour]) -> str:
    """Return the page."""
    rows = [_summarize(hour) for hour in hours]
    parts = [
        _HEAD,
        "| Platform | Messages of the bot | of them notify | Buttons pressed | Messages to the"
        " first useful answer |\n|---|---|---|---|---|\n" + "\n".join(rows),
    ]
    for hour in hours:
        name = PLATFORMS[hour.platform]
        lines = [_describe_message(number, one) for number, one in enumerate(_list(hour), start=1)]
        parts.append(
            f"## {name}\n\n| | After | The bot says | Notifies | Buttons | Seconds |\n"
            "|---|---|---|---|---|---|\n" + "\n".join(lines)
        )
        parts.append(f"![The first hour on {name}](images/first-hour-{hour.platform}.png)")
    return "\n\n".join(parts) + "\n"


_HEAD = """\
# The first hour

This page shows the first hour of an owner on each platform. `make first-hour` measures it.
The gateway runs between emulators of the platforms, on one machine.
The emulated model answers at once, so the seconds are those of the gateway.

The first useful answer is the confirmed reminder. The greeting counts as a message.
A pressed button changes the greeting in place and does not notify."""


def _list(hour: Hour) -> list[Shown]:
    return [one for one in hour.order if isinstance(one, Shown)]


def count_to_useful(hour: Hour) -> int:
    """Count the messages of the bot up to the first useful answer, which is included."""
    useful = (
        number
        for number, one in enumerate(_list(hour), start=1)
        if "feed the dog." in one.seen.text
    )
    return next(useful)


def _summarize(hour: Hour) -> str:
    shown = _list(hour)
    notifying = sum(one.seen.rings for one in shown)
    name, useful = PLATFORMS[hour.platform], count_to_useful(hour)
    return f"| {name} | {len(shown)} | {notifying} | {hour.presses} | {useful} |"


def _describe_message(number: int, one: Shown) -> str:
    text = " ".join(one.seen.text.split()).replace("|", "\\|")
    text = text if len(text) <= _COLUMN else f"{text[: _COLUMN - 1].rstrip()}…"
    rings = "yes" if one.seen.rings else "no"
    buttons = ", ".join(one.offered) or "none"
    return f"| {number} | {one.cause} | {text} | {rings} | {buttons} | {one.last:.2f} |"


async def take_pictures(hours: list[Hour], folder: Path) -> None:
    """Write a picture of each conversation."""
    async with chromium(folder / "profile") as browser:
        tab = await browser.open_tab()
        for hour in hours:
            name = PLATFORMS[hour.platform]
            lines = [_draw_one(one) for one in hour.order]
            page = folder / f"{hour.platform}.html"
            page.write_text(draw(hour.platform, f"Talaria on {name}", lines), "utf-8")
            width = WIDTHS[hour.platform]
            await tab.look(width=width, height=200)
            await tab.open(page.as_uri())
            await tab.wait_for(f"document.body?.className === {hour.platform!r}")
            height = await tab.run("document.documentElement.scrollHeight")
            await tab.look(width=width, height=int(height))
            await tab.take_picture(PICTURES / f"first-hour-{hour.platform}.png")


def _draw_one(one: str | Shown) -> Line:
    if isinstance(one, str):
        return Line(text=one, is_own=True, name="Anna")
    return Line(text=one.seen.text, is_own=False, name="Talaria", buttons=one.seen.labels)


async def _measure(*, with_pictures: bool) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        hours = [await play(platform, folder / platform) for platform in PLATFORMS]
        PAGE.write_text(describe(hours), "utf-8")
        if with_pictures:
            await take_pictures(hours, folder)
    print(PAGE.read_text("utf-8"))


if __name__ == "__main__":
    asyncio.run(_measure(with_pictures="--no-pictures" not in sys.argv[1:]))
