"""Take the pictures of the console page for the docs, in a real browser.

    python -m tools.console_pictures

Writes `docs/images/conversation.png`, `console-dark.png` and `console-phone.png`. It needs
Chromium and a font with emoji.
"""

import asyncio
import tempfile
from pathlib import Path

from agent_core.state.people import people
from tests.fakes.model import FakeModel, say
from tests.integration.served import served
from tests.journeys.chromium import Tab, chromium

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
_DAY = """Good morning, Ada! Here is your Saturday:

| When | What |
|---|---|
| 9:30 | Market, with Ben |
| 14:00 | Train to Lisbon |
| 20:00 | Dinner at *Ponto Final* |

The train leaves from **Oriente**, and you noted that the tickets are in your mail."""
_SOUP = """Almost. For the soup of last week, two things are missing on your list:

- two leeks
- a cup of cream

```text
bread, potatoes, onions, leeks, cream
```"""
ANSWERS = (_DAY, _SOUP)
QUESTIONS = ("What is on today?", "Is that all I need for the soup?")
LIST = "Bread\nPotatoes\nOnions\n"


async def main() -> None:
    """Hold a short conversation, and take a picture of each form of the page."""
    model = FakeModel(*(say(answer) for answer in ANSWERS))
    with tempfile.TemporaryDirectory(prefix="talaria-") as made:
        folder = Path(made)
        async with (
            served(folder / "home", model=model) as gateway,
            chromium(folder / "profile") as browser,
        ):
            tab = await browser.open_tab()
            await tab.look(width=1180, height=760)
            await tab.open(str(gateway.page))
            await tab.wait_for("document.querySelector('#line')?.dataset.isUp === 'yes'")
            await _write(tab, QUESTIONS[0], answered=1)
            database = gateway.gateway.database
            (owner,) = await database.read(people.list_all)
            await database.write("tools.rename", people.rename, person_id=owner.id, name="Ada")
            await tab.open(str(gateway.address))
            await tab.wait_for("document.querySelectorAll('article').length === 2")
            shopping = folder / "shopping.txt"
            shopping.write_text(LIST)
            await tab.choose_files("#picker", shopping)
            await tab.wait_for("document.querySelector('#chosen li') && !send.disabled")
            await _write(tab, QUESTIONS[1], answered=2)
            await tab.run("document.activeElement.blur()")
            await tab.wait_for("document.querySelector('#talks a')")
            await _take(tab, "conversation")
            await tab.look(width=1180, height=760, is_dark=True)
            await tab.run("document.querySelector('#words').focus()")
            await tab.write("/m")
            await tab.wait_for("document.querySelector('#menu li')")
            await _take(tab, "console-dark")
            phone = await browser.open_tab()
            await phone.look(width=390, height=780)
            await phone.open(str(gateway.address))
            await phone.wait_for("document.querySelectorAll('article').length === 4")
            await phone.run("document.activeElement.blur()")
            await _take(phone, "console-phone")


async def _write(tab: Tab, text: str, *, answered: int) -> None:
    await tab.run("document.querySelector('#words').focus()")
    await tab.write(text)
    await tab.press("Enter")
    await tab.wait_for(
        f"document.querySelectorAll('article.theirs:not(.live)').length === {answered}"
        " && ['stop', 'sign'].every((id) => document.getElementById(id).hidden)"
    )


async def _take(tab: Tab, name: str) -> None:
    """Take a picture once the fonts and two frames are drawn."""
    await tab.run(
        "document.fonts.ready.then(() => new Promise((drawn) =>"
        " requestAnimationFrame(() => requestAnimationFrame(drawn)))).then(() => true)"
    )
    await tab.take_picture(IMAGES / f"{name}.png")


if __name__ == "__main__":
    asyncio.run(main())
