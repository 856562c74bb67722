"""Show the first hour with the bot on each platform.

    python -m tools.first_hour                  write docs/first-hour.md and its pictures

The gateway runs as always, between the emulators of the tests, with planned answers of the model.
Each picture carries its words, so that a test notices when they are out of date. It needs Chromium,
a font with emoji, and Pillow.
"""

import asyncio
import tempfile
from collections.abc import Awaitable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.emulators.telegram_cast import ANNA
from tests.integration.clock import Clock
from tests.journeys.accounts import Account, Seen, SlackAccount
from tests.journeys.chromium import chromium
from tests.journeys.stage import Harness, Stage, call, calls
from tools.conversation_picture import Line, draw, save

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "first-hour.md"
PICTURES = ROOT / "docs" / "images"
PLATFORMS = {
    "telegram": "Telegram",
    "discord": "Discord",
    "slack": "Slack",
    "whatsapp": "WhatsApp",
    "signal": "Signal",
}
WIDTHS = {"telegram": 420, "discord": 640, "slack": 640, "whatsapp": 420, "signal": 420}
_EVENING = (2026, 11, 22, 18, 0)
"""19:00 in Vienna."""
_RECIPE = """\
**Chickpea curry**, without nuts:

- Fry an onion, two cloves of garlic and a spoon of curry powder.
- Add a tin of chickpeas and a tin of tomatoes.
- Simmer it for 15 minutes.

It takes 25 minutes. Shall I remind you to buy chickpeas?"""


@dataclass(slots=True)
class Hour:
    """What one person and the bot said, in order."""

    platform: str
    shown: dict[str, Seen] = field(default_factory=dict)
    """The bot's messages as they are now, by their ids."""
    order: list[str | Line] = field(default_factory=list)
    """The person's words, and the ids of the bot's messages."""

    def look(self, account: Account) -> None:
        """Note what is on the screen now."""
        for seen in account.seen():
            if seen.id not in self.shown:
                self.order.append(seen.id)
            self.shown[seen.id] = seen

    async def follow(self, harness: Harness, account: Account, deed: Awaitable[Any]) -> None:
        """Do something as the person, and look when the bot is at rest."""
        await harness.takes(deed)
        self.look(account)

    def lines(self) -> list[Line]:
        """Return the messages as they are now."""
        return [one if isinstance(one, Line) else self._read(one) for one in self.order]

    def _read(self, name: str) -> Line:
        seen = self.shown[name]
        return Line(text=seen.text, is_own=False, name="Talaria", buttons=seen.labels)


async def play(platform: str, home: Path) -> Hour:
    """Play the hour on one platform, and the next morning."""
    hour = Hour(platform)
    async with Stage(home, (platform,)) as stage:
        stage.now = clock = Clock(*_EVENING)
        stage.discord.world.users[stage.discord.user(ANNA)]["global_name"] = "Anna"
        stage.slack.user(ANNA, "anna", real_name="Anna", tz="Europe/Vienna")
        anna = stage.account(platform, ANNA)
        async with stage.open(allow="", TALARIA_PEOPLE__TIME_ZONE="Europe/Vienna") as harness:

            async def say(words: str, shown: str = "") -> None:
                hour.order.append(Line(text=shown or words, is_own=True, name="Anna"))
                if isinstance(anna, SlackAccount) and words.startswith("/"):
                    await hour.follow(harness, anna, anna.commands(words.removeprefix("/")))
                else:
                    await hour.follow(harness, anna, anna.says(words))

            code = harness.gateway.claim_code
            opening = f"/start claim-{code}" if platform == "telegram" else f"/claim {code}"
            await say(opening, _OPENINGS[platform])
            dog = call("remind", text="Feed the dog", when="2026-11-23T09:00")
            stage.plan(calls(dog), "I'll remind you tomorrow at 9.")
            await say("Remind me tomorrow at 9 to feed the dog")
            nuts = call("memory", action="add", target="user", text="Is allergic to nuts")
            stage.plan(calls(nuts), "Got it: no nuts for you.")
            await say("Remember that I'm allergic to nuts")
            stage.plan(_RECIPE)
            await say("What can I cook tonight with chickpeas?")
            await say("/reminders", _LISTINGS.get(platform, ""))
            before = len(anna.seen())
            clock.move(harness, hours=14)
            await harness.until(lambda: len(anna.seen()) > before)
            await harness.at_rest()
            hour.order.append(Line(text="Monday, 9:00", is_own=False, is_time=True))
            hour.look(anna)
    return hour


_OPENINGS = {
    "telegram": "/start",
    "discord": "/claim ABCD-EFGH",
    "slack": "/talaria claim ABCD-EFGH",
    "whatsapp": "/claim ABCD-EFGH",
    "signal": "/claim ABCD-EFGH",
}
_LISTINGS = {"slack": "/talaria reminders"}


def describe(hours: list[Hour]) -> str:
    """Return the page."""
    rows = "\n".join(_summarize(hour) for hour in hours)
    return "\n\n".join([_HEAD, _TABLE + rows, *map(_describe_one, hours)]) + "\n"


_HEAD = """\
# The first hour

Anna has set up Talaria, and opens her bot for the first time. This page shows what she writes, \
and what comes back.
The gateway is real, with each button and each line that is not a plain answer. \
The apps are emulated, and the model's answers are planned.

1. **She opens the bot.** The greeting says what it does, and which time and language it takes \
for hers. A city or a button corrects them.
2. **She asks for a reminder** in her own words. It is made at once. The line with ⏰ shows \
what was made, and **Undo** takes it back.
3. **She mentions a fact.** The line with 📝 shows what Talaria keeps, also with **Undo**.
4. **She asks for a recipe.** It leaves out the nuts.
5. **She looks at her reminders.** A button opens each, to change, pause or delete it.
6. **The next morning, the reminder comes.** **Done** ends it; the other buttons put it off."""
_TABLE = """\
| | Messages of the bot | of them with a sound | Messages to the first reminder made |
|---|---|---|---|
"""
_DIFFERENCES = {
    "telegram": "The link of `talaria setup` opens the chat. **Start** makes Anna the owner.",
    "discord": "Anna sends `/claim` and the code that Talaria printed in a direct message.",
    "slack": "Slack keeps what begins with a slash, so each command begins with `/talaria`.",
    "whatsapp": "WhatsApp changes nothing that was sent, and more than three choices are a list.",
    "signal": "Signal has no buttons: Anna changes things in her own words, or with a command.",
}


def count_to_useful(hour: Hour) -> int:
    """Count the messages of the bot up to the first useful answer, which is included."""
    said = [line.text for line in hour.lines() if line.name == "Talaria"]
    return next(number for number, text in enumerate(said, start=1) if "⏰" in text)


def _summarize(hour: Hour) -> str:
    shown = hour.shown.values()
    ringing = sum(one.rings for one in shown)
    name, useful = PLATFORMS[hour.platform], count_to_useful(hour)
    return f"| {name} | {len(shown)} | {ringing} | {useful} |"


def _describe_one(hour: Hour) -> str:
    name, platform = PLATFORMS[hour.platform], hour.platform
    width = WIDTHS[platform]
    picture = f"![The first hour on {name}](images/{picture_of(platform).name}){{ width={width} }}"
    return f"## {name}\n\n{_DIFFERENCES[platform]}\n\n{picture}"


def picture_of(platform: str) -> Path:
    """Return where the picture of a platform is."""
    return PICTURES / f"first-hour-{platform}.png"


async def take_pictures(hours: list[Hour], folder: Path) -> None:
    """Write a picture of each conversation."""
    async with chromium(folder / "profile") as browser:
        tab = await browser.open_tab()
        for hour in hours:
            name, taken = PLATFORMS[hour.platform], folder / f"{hour.platform}.png"
            page = folder / f"{hour.platform}.html"
            page.write_text(draw(hour.platform, f"Talaria on {name}", hour.lines()), "utf-8")
            width = WIDTHS[hour.platform]
            await tab.look(width=width, height=200)
            await tab.open(page.as_uri())
            await tab.wait_for(f"document.body?.className === {hour.platform!r}")
            height = await tab.run("document.documentElement.scrollHeight")
            await tab.look(width=width, height=int(height))
            await tab.take_picture(taken)
            save(taken, hour.lines(), picture_of(hour.platform))


async def _main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        hours = [await play(platform, folder / platform) for platform in PLATFORMS]
        PAGE.write_text(describe(hours), "utf-8")
        await take_pictures(hours, folder)
    print(PAGE.read_text("utf-8"))


if __name__ == "__main__":
    asyncio.run(_main())
