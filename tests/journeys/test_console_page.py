"""The console page in a real browser: one conversation on every tab, files, copies, commands."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from adapters.ids import PlatformUserId
from adapters.messages import Sender
from agent_core.localization import use_language
from agent_core.state.engine.database import Connection
from gateway.interfaces.http.loading import take_port
from gateway.interfaces.http.server import serving_page
from gateway.texts import forms, general
from tests.agent_core.skills.skill_folders import write_skill
from tests.emulators.openai import OpenAIEmulator
from tests.emulators.pictures import make_png
from tests.emulators.telegram_cast import ANNA
from tests.integration.processes import free_port
from tests.journeys.chromium import CHROMIUM, Browser, Tab, connect, start_chromium
from tests.journeys.stage import Harness, Stage, calls, facts, heard, pictures
from tests.patience import PATIENCE

pytestmark = [
    pytest.mark.process,
    pytest.mark.thorough,
    pytest.mark.skipif(not CHROMIUM, reason="a browser shows the page"),
]

NAMES = ("Good answer", "Bad answer")
TEXTS = (
    "[...document.querySelectorAll('article .body:not([hidden])')]"
    ".map((one) => one.innerText.trim())"
)


@dataclass(frozen=True, slots=True)
class Page:
    """The page of an open gateway."""

    harness: Harness
    browser: Browser
    address: str

    async def open_tab(self, language: str = "en") -> Tab:
        tab = await self.browser.open_tab(language)
        await tab.open(self.address)
        await tab.wait_for("document.querySelector('#line')?.dataset.isUp === 'yes'")
        return tab


@pytest.fixture(scope="module")
def running_chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with start_chromium(tmp_path_factory.mktemp("profile")) as address:
        yield address


@pytest.fixture
async def page(stage: Stage, running_chromium: str) -> AsyncIterator[Page]:
    async with (
        stage.open(allow="", TALARIA_HTTP__PORT=str(free_port())) as harness,
        serving_page(harness.gateway, take_port(harness.gateway.settings.http)) as address,
        connect(running_chromium) as browser,
    ):
        yield Page(harness, browser, address)


async def write(tab: Tab, text: str) -> None:
    await tab.run("document.querySelector('#words').focus()")
    await tab.write(text)
    await tab.press("Enter")


async def shows(tab: Tab, *texts: str) -> None:
    """Wait until the tab shows exactly these messages, in this order."""
    await tab.wait_for(f"JSON.stringify({TEXTS}) === JSON.stringify({list(texts)!r})")


async def test_every_tab_shows_and_continues_the_whole_conversation(
    stage: Stage, page: Page
) -> None:
    first, second = await page.open_tab(), await page.open_tab()
    stage.plan("Good morning!", "Nine.")
    await write(first, "hello")
    await shows(first, "hello", "Good morning!")
    await shows(second, "hello", "Good morning!")
    await write(second, "what time is it?")
    whole = ("hello", "Good morning!", "what time is it?", "Nine.")
    await shows(first, *whole)
    await shows(await page.open_tab(), *whole)
    await first.open(page.address)
    await shows(first, *whole)


async def test_a_button_links_the_owners_telegram_until_it_is_linked(
    stage: Stage, page: Page
) -> None:
    tab = await page.open_tab()
    assert await tab.run("document.querySelector('#links').innerText") == "Link Telegram"
    await tab.run("document.querySelector('#links button').click()")
    await tab.wait_for("document.body.innerText.includes('?start=link-')")
    await tab.wait_for(f"{TEXTS}.length === 2")
    words = (await tab.run(f"{TEXTS}[1]")).partition("?start=")[2].split()[0]
    await page.harness.ask(ANNA, f"/start {words}")
    await tab.wait_for("document.body.innerText.includes('Is that account yours?')")
    await tab.run(
        "[...document.querySelectorAll('button')].find((one) => one.innerText.startsWith('Yes'))"
        ".click()"
    )
    await page.harness.sees(ANNA, "you are now one person")
    await tab.open(page.address)
    await tab.wait_for("document.querySelector('#line')?.dataset.isUp === 'yes'")
    assert await tab.run("document.querySelector('#links').hidden")


async def test_messages_from_telegram_appear_on_the_open_page(stage: Stage, page: Page) -> None:
    tab = await page.open_tab()
    stage.plan("Hello!", "A boat.")
    await write(tab, "hi")
    await shows(tab, "hi", "Hello!")
    code = page.harness.gateway.claim_code
    await page.harness.ask(ANNA, f"/claim {code}")
    assert await page.harness.ask(ANNA, "what floats?") == "A boat."
    await shows(tab, "hi", "Hello!", "what floats?", "A boat.")


async def test_the_page_says_where_an_answer_grows(stage: Stage, page: Page) -> None:
    await page.harness.ask(ANNA, f"/claim {page.harness.gateway.claim_code}")
    may_answer = asyncio.Event()

    async def wait(_: object) -> None:
        await may_answer.wait()

    stage.model.before = wait
    stage.plan("A boat.")
    tab = await page.open_tab()
    where = "document.querySelector('#elsewhere')"
    assert await tab.run(f"{where}.hidden")
    asking = asyncio.create_task(page.harness.ask(ANNA, "what floats?"))
    await tab.wait_for(f'{where}.innerText === "I\'m answering in Telegram…"')
    await shows(tab, "what floats?")
    assert not await tab.run("document.querySelector('#stop').hidden")
    late = await page.open_tab()
    await late.wait_for(f"!{where}.hidden")
    may_answer.set()
    assert await asking == "A boat."
    await shows(tab, "what floats?", "A boat.")
    await tab.wait_for(f"{where}.hidden && document.querySelector('#stop').hidden")


async def test_a_person_of_telegram_finds_their_conversation_and_goes_on_in_it(
    stage: Stage, page: Page
) -> None:
    code = page.harness.gateway.claim_code
    await page.harness.ask(ANNA, f"/claim {code}")
    stage.plan("A boat.", "A stone.")
    assert await page.harness.ask(ANNA, "what floats?") == "A boat."
    tab = await page.open_tab()
    await shows(tab, "what floats?", "A boat.")
    places = "[...document.querySelectorAll('article .place')].map((one) => one.textContent)"
    assert await tab.run(places) == [" · Telegram", " · Telegram"]
    assert await tab.run("document.querySelector('#links').hidden")
    await write(tab, "and what sinks?")
    await shows(tab, "what floats?", "A boat.", "and what sinks?", "A stone.")
    assert any("what floats?" in text for text in heard(stage.turns[-1]))


async def test_a_new_chat_is_empty_and_an_old_one_goes_on(stage: Stage, page: Page) -> None:
    tab, other = await page.open_tab(), await page.open_tab()
    stage.plan("A boat.", "An owl.", "A ship, too.")
    await write(tab, "what floats?")
    await shows(tab, "what floats?", "A boat.")
    await tab.run("document.querySelector('form[action=\"/new\"] button').click()")
    await tab.wait_for("document.querySelector('#greeting')?.hidden === false")
    await shows(other)
    await write(tab, "what flies?")
    await shows(tab, "what flies?", "An owl.")
    await shows(other, "what flies?", "An owl.")
    assert not any("what floats?" in text for text in heard(stage.turns[-1]))
    links = "[...document.querySelectorAll('#talks a')]"
    old = f"{links}.find((one) => one.textContent.endsWith('what floats?'))"
    await tab.wait_for(old)
    await tab.run(f"{old}.click()")
    await tab.wait_for("document.querySelector('.bubble .body')?.innerText.trim() === 'A boat.'")
    await tab.run("document.querySelector('.go-on button').click()")
    await shows(tab, "what floats?", "A boat.")
    await shows(other, "what floats?", "A boat.")
    await write(tab, "what else?")
    await shows(tab, "what floats?", "A boat.", "what else?", "A ship, too.")
    assert any("what floats?" in text for text in heard(stage.turns[-1]))


async def test_a_message_is_tried_again_edited_and_explained(stage: Stage, page: Page) -> None:
    tab = await page.open_tab()
    stage.plan("A boat.", "A raft.")
    await write(tab, "what floats?")
    await shows(tab, "what floats?", "A boat.")
    await tab.run("document.querySelector('article.theirs [data-deed=again]').click()")
    await shows(tab, "what floats?", "A boat.", "↻ Try again", "A raft.")
    again = "[...document.querySelectorAll('[data-deed=again]')].filter((one) => one.offsetParent)"
    assert await tab.run(f"{again}.length") == 1, "only the newest answer is tried again"
    await tab.run("document.querySelector('article.mine [data-deed=edit]').click()")
    assert await tab.run("document.querySelector('#words').value") == "what floats?"
    why = "document.querySelector('article.theirs [data-deed=why]')"
    await tab.wait_for(f"{why} && !{why}.hidden")
    await tab.run(f"{why}.click()")
    await tab.wait_for("location.pathname.startsWith('/turns/')")
    await tab.wait_for("document.body?.innerText.includes('A boat.')")


async def test_an_answer_by_a_skill_is_judged_wherever_it_was_given(
    stage: Stage, page: Page
) -> None:
    write_skill(stage.home / "skills", "tidy")
    await page.harness.ask(ANNA, f"/claim {page.harness.gateway.claim_code}")
    reads = calls({"type": "tool_use", "name": "skill_view", "input": {"name": "tidy"}})
    stage.plan(reads, "Swept.", "A heron.", reads, "Mopped.")
    assert await page.harness.ask(ANNA, "sweep") == "Swept."
    assert await page.harness.ask(ANNA, "which bird?") == "A heron."
    tab = await page.open_tab()
    await write(tab, "mop")
    whole = ("sweep", "Swept.", "which bird?", "A heron.", "mop", "Mopped.")
    await shows(tab, *whole)
    thumbs = """JSON.stringify([...document.querySelectorAll('article.theirs')].map((one) =>
        [...one.querySelectorAll('[aria-pressed]')].filter((deed) => deed.offsetParent)
            .map((deed) => `${deed.title} ${deed.ariaPressed}`)))"""

    async def are(first: tuple[bool, bool], last: tuple[bool, bool]) -> None:
        """Wait until the thumbs up and down of the first and the last answer are pressed or not."""
        wanted = [
            [f"{name} {str(is_on).lower()}" for name, is_on in zip(NAMES, both, strict=True)]
            for both in (first, last)
        ]
        wanted.insert(1, [])
        await tab.wait_for(f"{thumbs} === {json.dumps(json.dumps(wanted, separators=(',', ':')))}")

    async def press(number: int, deed: str) -> None:
        """Press a thumb of an answer by the keyboard."""
        place = f"document.querySelectorAll('article.theirs')[{number}]"
        await tab.run(f"{place}.querySelector('[data-deed={deed}]').focus()")
        await tab.press("Enter")

    async def count(outcome: str) -> int:
        return await page.harness.count("skill_uses", f"outcome = '{outcome}'")

    await are((False, False), (False, False))
    await press(2, "good")
    await are((False, False), (True, False))
    await press(0, "good")
    await are((True, False), (True, False))
    await press(0, "bad")
    await are((False, True), (True, False))
    assert (await count("liked"), await count("disliked")) == (1, 1)
    await tab.open(page.address)
    await shows(tab, *whole)
    await are((False, True), (True, False))
    await press(0, "bad")
    await are((False, False), (True, False))
    await press(2, "good")
    await are((False, False), (False, False))
    assert await count("done") == 2


async def test_each_message_has_its_actions_wherever_it_was_said_and_after_a_reload(
    stage: Stage, page: Page
) -> None:
    await page.harness.ask(ANNA, f"/claim {page.harness.gateway.claim_code}")
    stage.plan("A boat.", "A stone.", "An owl.", "A heron.")
    assert await page.harness.ask(ANNA, "what floats?") == "A boat."
    assert await page.harness.ask(ANNA, "what sinks?") == "A stone."
    tab = await page.open_tab()
    await shows(tab, "what floats?", "A boat.", "what sinks?", "A stone.")
    await write(tab, "what flies?")
    whole = ("what floats?", "A boat.", "what sinks?", "A stone.", "what flies?", "An owl.")
    await shows(tab, *whole)
    await tab.open(page.address)
    await shows(tab, *whole)
    deeds = """[...document.querySelectorAll('article')].map((one) =>
        [...one.querySelectorAll('[data-deed]')].filter((deed) => !deed.hidden)
            .map((deed) => deed.dataset.deed).join(' '))"""
    mine, theirs = "copy edit", "copy again readAloud why"
    await tab.wait_for(f"JSON.stringify({deeds}) === JSON.stringify({[mine, theirs] * 3!r})")
    # The first answer, which came on Telegram, says what it is based on.
    await tab.run("document.querySelector('article.theirs [data-deed=why]').click()")
    await tab.wait_for("document.body?.innerText.includes('A boat.')")
    await tab.wait_for("location.pathname.startsWith('/turns/')")
    # A message of Telegram is changed and sent again on the page.
    await tab.open(page.address)
    await shows(tab, *whole)
    await tab.run("document.querySelectorAll('article.mine [data-deed=edit]')[1].click()")
    assert await tab.run("document.querySelector('#words').value") == "what sinks?"
    await tab.write(" and wades?")
    await tab.press("Enter")
    await tab.wait_for("document.body.innerText.includes('A heron.')")


async def test_files_go_up_and_come_down(stage: Stage, page: Page, tmp_path: Path) -> None:
    tab, other = await page.open_tab(), await page.open_tab()
    picture, notes, large = (tmp_path / name for name in ("a.png", "notes.txt", "large.bin"))
    picture.write_bytes(make_png())
    notes.write_text("Buy milk")
    large.write_bytes(bytes(10_000_001))
    await tab.choose_files("#picker", large)
    await tab.wait_for("document.querySelector('#line').innerText.includes('large.bin is larger')")
    await tab.choose_files("#picker", picture, notes)
    ready = "document.querySelectorAll('#chosen li').length === 2"
    await tab.wait_for(f"{ready} && !document.querySelector('#send').disabled")
    made = {"name": "plan.md", "text": "# Plan\n"}
    stage.plan(calls({"type": "tool_use", "name": "send_file", "input": made}), "Here it is.")
    await write(tab, "sum up")
    await shows(tab, "sum up", "Here it is.")
    request = stage.turns[-1]
    assert pictures(request) == [picture.read_bytes()]
    assert any("Buy milk" in text for text in heard(request))
    loaded = "[...document.images].some((one) => one.alt === 'a.png' && one.naturalWidth > 0)"
    link = "document.querySelector('a[download=\"{}\"]')"
    for shown in (tab, other, await page.open_tab()):
        await shown.wait_for(loaded)
        await shown.wait_for(link.format("notes.txt"))
        await shown.wait_for(link.format("plan.md"))
    saved = await shown.run(f"fetch({link.format('plan.md')}.href).then((one) => one.text())")
    assert saved == "# Plan\n"


async def test_a_voice_message_is_recorded_heard_and_answered(
    stage: Stage, running_chromium: str
) -> None:
    pressed = "document.querySelector('#record').getAttribute('aria-pressed') === '{}'"
    press = "document.querySelector('#record').click()"
    async with (
        OpenAIEmulator() as ears,
        stage.open(
            allow="",
            TALARIA_HTTP__PORT=str(free_port()),
            TALARIA_MEDIA__TRANSCRIPTION="openai",
            OPENAI_API_KEY="key",
            OPENAI_BASE_URL=ears.base_url,
        ) as harness,
        serving_page(harness.gateway, take_port(harness.gateway.settings.http)) as address,
        connect(running_chromium) as browser,
    ):
        ears.transcripts.append("Remind me of the milk")
        stage.plan("When?")
        tab = await Page(harness, browser, address).open_tab()
        await tab.run(press)
        await tab.wait_for(pressed.format("true"))
        await tab.press("Escape")
        await tab.wait_for(pressed.format("false"))
        await tab.run(press)
        await tab.wait_for("document.querySelector('#line').innerText.includes('Recording 0:01')")
        await tab.run(press)
        await tab.wait_for(f"{TEXTS}.at(-1) === 'When?'")
        assert len(ears.recordings) == 1, "what was thrown away is not heard"
        assert ears.recordings[0].data.startswith(b"\x1aE\xdf\xa3"), "WebM"
    assert heard(stage.turns[-1])[-1] == "Remind me of the milk"
    assert "Spoken" in facts(stage.turns[-1])


async def test_without_transcription_there_is_no_microphone(page: Page) -> None:
    tab = await page.open_tab()
    assert await tab.run("document.querySelector('#record').hidden")


async def test_a_message_and_its_code_can_be_copied(stage: Stage, page: Page) -> None:
    tab = await page.open_tab()
    await page.browser.grant("clipboardReadWrite")
    stage.plan("Run **this**:\n\n```sh\nmake run\n```")
    await write(tab, "how?")
    await tab.wait_for("document.querySelector('.block .copy')")
    for selector, copied in (
        (".block .copy", "make run"),
        ("article.theirs [data-deed=copy]", "Run **this**:\n\n```sh\nmake run\n```"),
    ):
        await tab.run(f"document.querySelector('{selector}').click()")
        said = f"document.querySelector('{selector}')"
        await tab.wait_for(f"[{said}.innerText, {said}.dataset.said].includes('Copied')")
        assert await tab.run("navigator.clipboard.readText()") == copied


RECORD = """
window.noted = [];
window.Notification = class extends Notification {
  constructor(...words) { super(...words); window.noted.push(this); }
}
"""
NOTED = "noted.map((one) => `${one.title}: ${one.body}`)"


async def test_a_page_in_the_background_notifies_without_words_of_the_conversation(
    stage: Stage, page: Page
) -> None:
    tab = await page.open_tab()
    await page.harness.ask(ANNA, f"/claim {page.harness.gateway.claim_code}")
    await page.browser.grant("notifications")
    await tab.open(page.address.replace("/?", "/settings?"))
    await tab.wait_for("document.querySelector('#notify') && !device.hidden && !notify.checked")
    await tab.run("notify.click()")
    await tab.wait_for("localStorage.getItem('notify') === 'on' && notify.checked")
    await tab.open(page.address)
    await tab.wait_for("document.querySelector('#line')?.dataset.isUp === 'yes'")
    await tab.run(RECORD)
    stage.plan("A boat.", "An owl.", "A stone.")
    await page.harness.ask(ANNA, "what floats?")
    await shows(tab, "what floats?", "A boat.")
    assert await tab.run(NOTED) == [], "the page is in front"
    await tab.hide()
    await page.harness.ask(ANNA, "what flies?")
    await tab.wait_for("noted.length === 1")
    assert await tab.run(NOTED) == [f"Talaria: {forms.NEW_ANSWER()}"]
    await tab.run("localStorage.setItem('notify', 'off')")
    await page.harness.ask(ANNA, "what sinks?")
    await tab.wait_for("document.querySelectorAll('article').length === 6")
    await tab.hide(is_hidden=False)
    await shows(tab, "what floats?", "A boat.", "what flies?", "An owl.", "what sinks?", "A stone.")
    assert await tab.run("noted.length") == 1, "they are switched off"


async def test_a_browser_that_refuses_notifications_says_so_beside_the_switch(page: Page) -> None:
    tab = await page.open_tab()
    await page.browser.grant("notifications", setting="denied")
    await tab.open(page.address.replace("/?", "/settings?"))
    await tab.wait_for("document.querySelector('#notify') && !device.hidden")
    await tab.run("notify.click()")
    await tab.wait_for("!document.querySelector('#notify-refused').hidden && !notify.checked")
    assert await tab.run("localStorage.getItem('notify')") == "off"


async def test_a_slash_opens_the_menu_of_commands(page: Page) -> None:
    tab = await page.open_tab()
    await tab.write("/me")
    await tab.wait_for("document.querySelector('#menu li b')?.innerText === '/memory'")
    await tab.press("Enter")
    assert await tab.run("document.querySelector('#words').value") == "/memory "
    assert await tab.run(TEXTS) == []
    await tab.press("Enter")
    await tab.wait_for(f"{TEXTS}.length === 2 && {TEXTS}[0] === '/memory'")


async def test_the_page_and_its_answers_use_the_browsers_language(
    page: Page,
) -> None:
    tab = await page.open_tab("de-AT")
    assert await tab.run("document.querySelector('#words').placeholder") == "Schreib eine Nachricht"
    assert await tab.run("document.documentElement.lang") == "de"
    with use_language("de"):
        answer = general.STOP_NOTHING()
    await write(tab, "/stop")
    await shows(tab, "/stop", answer)


async def test_new_messages_do_not_scroll_a_reader_of_older_ones(stage: Stage, page: Page) -> None:
    tab = await page.open_tab()
    submit = "document.querySelector('#words').value = '/stop'; form.requestSubmit()"
    await tab.run(f"for (let sent = 0; sent < 35; sent += 1) {{ {submit} }}")
    await tab.wait_for(f"{TEXTS}.length === 70")
    fresh = await page.open_tab()
    await fresh.wait_for(f"{TEXTS}.length === 60")
    top = "document.querySelector('#conversation').scrollTop"
    await fresh.wait_for(f"{top} > 0")
    await fresh.run(f"{top} = 0")
    await fresh.run("document.querySelector('#earlier').click()")
    await fresh.wait_for(f"{TEXTS}.length === 70 && {top} > 0")
    assert await fresh.run("document.querySelector('#earlier').hidden")
    before = await fresh.run(top)
    stage.plan("one more")
    await write(tab, "more?")
    await fresh.wait_for(f"{TEXTS}.at(-1) === 'one more'")
    assert await fresh.run(top) == before
    newest = "document.querySelector('#newest')"
    assert not await fresh.run(f"{newest}.hidden")
    await fresh.run(f"{newest}.click()")
    await fresh.wait_for(f"{newest}.hidden && {top} > {before}")


async def test_a_forgotten_upload_is_deleted_with_its_bytes(
    stage: Stage, page: Page, tmp_path: Path
) -> None:
    tab = await page.open_tab()
    notes = tmp_path / "notes.txt"
    notes.write_text("the secret is Rumpelstiltskin")
    await tab.choose_files("#picker", notes)
    await tab.wait_for("document.querySelector('#chosen li') && !send.disabled")
    stage.plan("Which part?")
    await write(tab, "keep this")
    await shows(tab, "keep this", "Which part?")
    await write(tab, "/forget Rumpelstiltskin")
    await tab.wait_for("document.querySelector('.choice.danger')")
    await tab.run("document.querySelector('.choice.danger').click()")

    def find_bytes(connection: Connection) -> list[bytes]:
        return [row[0] for row in connection.execute("SELECT data FROM files")]

    async with asyncio.timeout(PATIENCE):
        while await page.harness.gateway.database.read(find_bytes) != [b""]:
            await asyncio.sleep(0.02)


async def test_the_page_of_the_api_sends_requests(page: Page) -> None:
    owner = Sender(user_id=PlatformUserId("local"), display_name="Olga")
    await page.harness.gateway.identity.identify("console", owner)
    tab = await page.open_tab()
    address, _, token = page.address.partition("?token=")
    await tab.open(f"{address}api/docs")
    await tab.wait_for("document.querySelectorAll('section').length >= 4")
    await tab.run(f"document.querySelector('#token').value = '{token}'")
    await tab.run("document.querySelector('section button').click()")
    await tab.wait_for("document.querySelector('section pre').textContent.startsWith('200')")
