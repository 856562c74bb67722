"""Take the pictures of the console page for the docs, in a real browser.

    python -m tools.console_pictures

Writes `docs/images/conversation.png`, `console-dark.png` and `console-phone.png`. Each carries the
words that it shows, so that a test notices when they are out of date. It needs Chromium and a font
with emoji.
"""

import asyncio
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

from agent_core.state.people import people
from tests.fakes.model import FakeModel, say
from tests.integration.served import served
from tests.journeys.chromium import Tab, chromium
from tools.conversation_picture import keep

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


_COLOURS = 256
_TIME = re.compile(r"\b\d{1,2}:\d{2}\b")


async def take(folder: Path) -> Mapping[str, str]:
    """Hold a short conversation, and take a picture of each form of the page.

    Returns the words of each picture, by the name of its file in the folder; all times are 0:00.
    """
    model = FakeModel(*(say(answer) for answer in ANSWERS))
    words: dict[str, str] = {}
    async with (
        served(folder / "home", model=model) as gateway,
        chromium(folder / "profile") as browser,
    ):

        async def picture(tab: Tab, name: str) -> None:
            shown = await _take(tab, folder / name)
            words[name] = _TIME.sub("0:00", shown)

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
        await picture(tab, "conversation.png")
        await tab.look(width=1180, height=760, is_dark=True)
        await tab.run("document.querySelector('#words').focus()")
        await tab.write("/m")
        await tab.wait_for("document.querySelector('#menu li')")
        await picture(tab, "console-dark.png")
        phone = await browser.open_tab()
        await phone.look(width=390, height=780)
        await phone.open(str(gateway.address))
        await phone.wait_for("document.querySelectorAll('article').length === 4")
        await phone.run("document.activeElement.blur()")
        await picture(phone, "console-phone.png")
    return words


async def _main() -> None:
    with tempfile.TemporaryDirectory(prefix="talaria-") as made:
        folder = Path(made)
        for name, words in (await take(folder)).items():
            keep(folder / name, words, IMAGES / name, colours=_COLOURS)
            print(f"{IMAGES / name}: {(IMAGES / name).stat().st_size:,} bytes")


async def _write(tab: Tab, text: str, *, answered: int) -> None:
    await tab.run("document.querySelector('#words').focus()")
    await tab.write(text)
    await tab.press("Enter")
    await tab.wait_for(
        f"document.querySelectorAll('article.theirs:not(.live)').length === {answered}"
        " && ['stop', 'sign'].every((id) => document.getElementById(id).hidden)"
    )


async def _take(tab: Tab, path: Path) -> str:
    """Take a picture once the page is connected and drawn; return the words that it shows."""
    await tab.wait_for("document.querySelector('#line')?.dataset.isUp === 'yes'")
    await tab.run(
        "document.fonts.ready.then(() => new Promise((drawn) =>"
        " requestAnimationFrame(() => requestAnimationFrame(drawn)))).then(() => true)"
    )
    await tab.take_picture(path)
    return str(await tab.run("document.body.innerText"))


if __name__ == "__main__":
    asyncio.run(_main())
