"""Film a conversation on a phone in English, for the first screen of the README, and in German.

    python -m tools.phone_film      write docs/images/phone.gif and docs/images/phone-de.gif

The gateway runs as always, beside the emulated Telegram of the tests. The model's sentences are
planned; what stands below them (receipts, buttons, reminders, reasons) is the gateway's own. The
films carry their words as a comment, so that a test notices when they are out of date. They need
Chromium and Pillow.
"""

import asyncio
import html
import io
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from PIL import Image

from tests.emulators.telegram_cast import ANNA
from tests.integration.clock import Clock
from tests.journeys.accounts import Account
from tests.journeys.chromium import chromium
from tests.journeys.stage import Harness, Stage, call, calls
from tools.conversation_picture import Line, draw_line, tell

ROOT = Path(__file__).resolve().parents[1]
_IMAGES = ROOT / "docs" / "images"
WIDTH, HEIGHT = 360, 640
_COLOURS = 48
_EVENING = (2026, 11, 27, 17, 41, 0)
"""18:41 in Vienna."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """What is said in the film of a language: the person's words, and the model's."""

    film: Path
    wish: str
    chore: str
    when: str
    """The time of the chore, as the model passes it on."""
    promise: str
    told: str
    fact: str
    noted: str
    question: str
    recipe: str
    why: str
    done: str
    """The label of the button that ends a reminder."""
    typing: str
    bot: str
    empty: str
    """What the app shows in an empty message field."""


SCRIPTS: Mapping[str, Script] = {
    "en": Script(
        film=_IMAGES / "phone.gif",
        wish="Remind me tomorrow at 9 to feed the dog",
        chore="Feed the dog",
        when="tomorrow 9:00",
        promise="I'll remind you tomorrow at 9.",
        told="By the way, I'm allergic to nuts",
        fact="Is allergic to nuts",
        noted="Got it: no nuts for you.",
        question="What can I cook with chickpeas?",
        recipe="""\
Chickpea curry, without nuts:

• Fry an onion, garlic and curry powder.
• Add chickpeas and tomatoes.
• Simmer for 15 minutes.""",
        why="/why",
        done="Done",
        typing="typing …",
        bot="bot",
        empty="Message",
    ),
    "de": Script(
        film=_IMAGES / "phone-de.gif",
        wish="Erinnere mich morgen um 9: Hund füttern",
        chore="Hund füttern",
        when="morgen 9:00",
        promise="Gern.",
        told="Ich vertrage keine Nüsse",
        fact="Verträgt keine Nüsse",
        noted="Gut, ohne Nüsse.",
        question="Was geht mit Kichererbsen?",
        recipe="""\
Curry ohne Nüsse:

• Zwiebeln mit Curry anbraten.
• Kichererbsen, Tomaten dazu.
• 15 Minuten köcheln.""",
        why="/warum",
        done="Erledigt",
        typing="schreibt …",
        bot="Bot",
        empty="Nachricht",
    ),
}
"""The scripts by the language of the person's app."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What the phone shows for some milliseconds. `pressed` is the label under the finger."""

    lines: tuple[Line, ...]
    lasts: int
    typed: str = ""
    pressed: str = ""
    is_typing: bool = False
    clock: str = "18:41"


@dataclass(slots=True)
class Film:
    """The scenes so far, and the messages on the screen: a person's words, or the bot's ids."""

    account: Account
    order: list[str | Line] = field(default_factory=list)
    scenes: list[Scene] = field(default_factory=list)
    hidden: set[str] = field(default_factory=set)
    """Ids of messages that are not shown."""
    clock: str = "18:41"

    def lines(self) -> tuple[Line, ...]:
        """Return the messages as they are now."""
        seen = {one.id: one for one in self.account.seen()}
        known = {one for one in self.order if isinstance(one, str)} | self.hidden
        self.order += [name for name in seen if name not in known]
        return tuple(
            one
            if isinstance(one, Line)
            else Line(text=seen[one].text, is_own=False, buttons=seen[one].labels)
            for one in self.order
        )

    def show(
        self, lasts: int, *, typed: str = "", pressed: str = "", is_typing: bool = False
    ) -> None:
        """Add a scene."""
        self.scenes.append(
            Scene(
                lines=self.lines(),
                lasts=lasts,
                typed=typed,
                pressed=pressed,
                is_typing=is_typing,
                clock=self.clock,
            )
        )

    async def say(self, harness: Harness, words: str, *, read_for: int) -> None:
        """Type, send, and read the answer."""
        for part in (words[: len(words) // 2], words):
            self.show(350, typed=part)
        self.order.append(Line(text=words, is_own=True))
        self.show(400)
        self.show(500, is_typing=True)
        await harness.hears(self.account, words)
        self.show(read_for)

    async def press(self, harness: Harness, label: str, *, read_for: int) -> None:
        """Press the newest button with a label, and read what follows."""
        self.show(500, pressed=label)
        await harness.press(self.account, label)
        self.show(read_for)


async def play(home: Path, language: str) -> list[Scene]:
    """Play the conversation in a language of `SCRIPTS`, and return its scenes."""
    script = SCRIPTS[language]
    async with Stage(home) as stage:
        stage.now = clock = Clock(*_EVENING)
        stage.telegram.user(ANNA, "Anna", language=language)
        film = Film(stage.account("telegram", ANNA))
        async with stage.open(allow="", TALARIA_PEOPLE__TIME_ZONE="Europe/Vienna") as harness:
            film.order.append(Line(text="/start", is_own=True))
            await harness.hears(film.account, f"/start claim-{harness.gateway.claim_code}")
            film.show(2400)
            dog = call("remind", text=script.chore, when=script.when)
            stage.plan(calls(dog), script.promise)
            await film.say(harness, script.wish, read_for=2200)
            nuts = call("memory", action="add", target="user", text=script.fact)
            stage.plan(calls(nuts), script.noted)
            await film.say(harness, script.told, read_for=2000)
            stage.plan(script.recipe)
            await film.say(harness, script.question, read_for=2400)
            number = await _find_number(harness, film, script.fact)
            await film.say(harness, f"{script.why} {number}", read_for=3000)
            before = len(film.account.seen())
            clock.move(harness, hours=14, minutes=19)
            await harness.until(lambda: len(film.account.seen()) > before)
            await harness.at_rest()
            film.clock = "9:00"
            film.show(1800)
            await film.press(harness, script.done, read_for=3600)
    return film.scenes


async def _find_number(harness: Harness, film: Film, fact: str) -> str:
    """Return the number of a fact, from an answer that the film does not show."""
    shown = {one.id for one in film.account.seen()}
    listed = await harness.hears(film.account, "/memory")
    for one in film.account.seen():
        if one.id not in shown:
            film.hidden.add(one.id)
    found = re.search(rf"(\d+): {fact}", listed)
    assert found, listed
    return found[1]


_PAGE = """<!doctype html><html lang="{language}"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><style>
* {{ box-sizing: border-box; }}
html, body {{ margin: 0; width: {width}px; height: {height}px; overflow: hidden; }}
body {{ display: flex; flex-direction: column; background: #dfe8d3;
  font: 14.5px/1.36 "Noto Sans", "DejaVu Sans", "Noto Color Emoji", sans-serif; color: #111; }}
.bar {{ display: flex; justify-content: space-between; padding: 5px 18px 3px; font-size: 12px;
  font-weight: 600; background: #fff; }}
.head {{ display: flex; align-items: center; gap: 10px; padding: 6px 14px 9px; background: #fff;
  border-bottom: 1px solid #cfd6c5; }}
.face {{ width: 34px; height: 34px; border-radius: 50%; background: #3d6b8f; color: #fff;
  display: grid; place-items: center; font-weight: 700; }}
.head b {{ display: block; font-size: 15px; line-height: 1.2; }}
.head small {{ color: #3d6b8f; font-size: 12px; }}
.chat {{ flex: 1; overflow: hidden; display: flex; flex-direction: column; padding: 10px;
  justify-content: flex-end; }}
.line {{ flex: none; margin: 0 0 8px; max-width: 88%; width: fit-content; }}
.own {{ margin-left: auto; }}
.text {{ padding: 6px 10px; border-radius: 12px; background: #fff; white-space: pre-wrap;
  overflow-wrap: anywhere; }}
.own .text {{ background: #e3fbd0; }}
.name {{ display: none; }}
.buttons {{ display: flex; flex-wrap: wrap; gap: 4px; margin-top: 4px; min-width: 150px; }}
.buttons span {{ flex: 1 1 28%; text-align: center; padding: 5px 8px; border-radius: 8px;
  background: #7b9a6d; color: #fff; font-size: 13px; white-space: nowrap; }}
.buttons .pressed {{ background: #3f5a34; outline: 3px solid #b9d7a9; }}
.typing {{ color: #66705c; }}
.write {{ display: flex; align-items: center; gap: 8px; padding: 8px 12px; background: #fff;
  border-top: 1px solid #cfd6c5; min-height: 46px; }}
.write i {{ flex: 1; font-style: normal; color: #9aa094; }}
.write .typed {{ color: #111; }}
.write b {{ color: #3d6b8f; font-size: 19px; }}
</style><body><div class="bar"><span>{clock}</span><span>Talaria</span></div>
<div class="head"><span class="face">T</span><span><b>Talaria</b><small>{state}</small></span></div>
<div class="chat">{lines}</div>
<div class="write"><i class="{kind}">{typed}</i><b>&#10148;</b></div></body></html>"""


def draw(scene: Scene, language: str) -> str:
    """Return the page of a scene."""
    script = SCRIPTS[language]
    lines = "".join(draw_line("telegram", line) for line in scene.lines)
    if scene.pressed:
        before, _, after = lines.rpartition(f"<span>{html.escape(scene.pressed)}</span>")
        lines = f'{before}<span class="pressed">{html.escape(scene.pressed)}</span>{after}'
    return _PAGE.format(
        language=language,
        width=WIDTH,
        height=HEIGHT,
        clock=scene.clock,
        state=script.typing if scene.is_typing else script.bot,
        lines=lines,
        kind="typed" if scene.typed else "",
        typed=html.escape(scene.typed) or script.empty,
    )


async def film(scenes: list[Scene], language: str, folder: Path, target: Path) -> None:
    """Photograph each scene, and write the film."""
    pictures: list[Image.Image] = []
    async with chromium(folder / "profile") as browser:
        tab = await browser.open_tab()
        await tab.look(width=WIDTH, height=HEIGHT)
        for number, scene in enumerate(scenes):
            page, picture = folder / f"{number}.html", folder / f"{number}.png"
            page.write_text(
                draw(scene, language).replace("<body>", f'<body id="s{number}">'), "utf-8"
            )
            await tab.open(page.as_uri())
            await tab.wait_for(f"document.body?.id === 's{number}'")
            await tab.take_picture(picture)
            pictures.append(Image.open(io.BytesIO(picture.read_bytes())).convert("RGB"))
    _write(pictures, scenes, target)


def _write(pictures: list[Image.Image], scenes: list[Scene], target: Path) -> None:
    """Write the film with one palette, so that only what changes is stored."""
    palette = pictures[-1].quantize(_COLOURS, dither=Image.Dither.NONE)
    frames = [one.quantize(palette=palette, dither=Image.Dither.NONE) for one in pictures]
    frames[0].save(
        target,
        save_all=True,
        append_images=frames[1:],
        duration=[scene.lasts for scene in scenes],
        loop=0,
        optimize=True,
        comment=tell(scenes[-1].lines).encode(),
    )


async def _main() -> None:
    for language, script in SCRIPTS.items():
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            scenes = await play(folder / "home", language)
            await film(scenes, language, folder, script.film)
        print(f"{script.film}: {len(scenes)} scenes, {script.film.stat().st_size:,} bytes")


if __name__ == "__main__":
    asyncio.run(_main())
