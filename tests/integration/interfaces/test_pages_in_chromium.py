"""The console's pages in a real browser: journeys, accessibility, dark, and narrow."""

import json
import os
import re
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import aiohttp
import pytest

from agent_core.state.conversations import turns
from agent_core.state.conversations.questions import QuestionKind
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import jobs
from agent_core.state.people import people, reading_consents, rooms
from agent_core.state.people.people import NewAccount
from gateway.app.config_file import change_config
from gateway.home import CONFIG_NAME
from tests.agent_core.agent.named.agent_folders import write
from tests.agent_core.skills.skill_folders import write_skill
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel, ask, call, say
from tests.integration.canaries import Planter
from tests.integration.interfaces.api_setup import (
    ZEBRANA,
    Setup,
    ask_about_tea,
    chat_of,
    find_named,
    make_token,
)
from tests.integration.interfaces.console_setup import ask_link
from tests.integration.interfaces.held_notes import dismiss
from tests.integration.interfaces.same_deeds.surfaces import Doer
from tests.integration.served import Served, served

CHROMIUM = shutil.which("chromium")
SHOTS = os.environ.get("CONSOLE_SCREENSHOTS", "")
"""A folder that keeps what the browser showed."""

PATIENCE = 90_000.0
"""Milliseconds."""
PARTS = 8
"""Tests that share the pages, so that none takes minutes."""
LOOKS = (("light", 390), ("dark", 390), ("dark", 1280))
"""The colours and the widths, in pixels, in which each page is looked at."""

playwright = pytest.importorskip("playwright.async_api")
axe = pytest.importorskip("axe_playwright_python.async_playwright")

pytestmark = [
    pytest.mark.process,
    pytest.mark.thorough,
    pytest.mark.slow,
    pytest.mark.skipif(not CHROMIUM, reason="chromium shows the pages"),
]

PAGES = (
    "",
    "search",
    "today",
    "conversations",
    "turns",
    "memory",
    "blocks",
    "skills",
    "skills/tidy",
    "skills/new",
    "skills/tidy/edit",
    "jobs",
    "jobs/new",
    "jobs/calendar",
    "jobs/calendar?week=",
    "agents",
    "agents/new",
    "agents/coder",
    "agents/coder/edit",
    "teams/new",
    "teams/press",
    "teams/press/edit",
    "usage",
    "settings",
    "webhooks",
    "data",
    "workspace",
    "accounts",
    "approvals",
    "tools",
    "tokens",
    "connections",
    "people",
    "people/usage",
    "people/usage?by=person",
    "condition",
    "model",
    "model?look=yes",
    "configuration",
    "configuration/turns.max_steps",
    "configuration/model.fallbacks",
)


_CODER = """
description = "Writes code"
tags = ["work", "code"]
[[rules]]
tool = "recall"
most_per_turn = 3
"""
_PRESS = 'manager = "round_robin"\nmembers = ["coder", "checker"]\n'


def adopt(connection: Connection) -> None:
    """Let Zebrana, who has a memory, sit at the console."""
    zebrana = next(one for one in people.list_all(connection) if one.slug == "zebrana")
    local = NewAccount(platform="console", user_id="local", display_name="Z", admitted_by="local")
    people.attach_account(connection, local, person_id=zebrana.id, now=1)


@asynccontextmanager
async def opened(home: Path) -> AsyncIterator[tuple[Served, FakeModel, str]]:
    """A gateway whose console belongs to a person with a memory, a job and a turn with a tool."""
    model = Planter()
    change_config(home / CONFIG_NAME, {"model": {"find_local": False}})
    async with served(home, adapters={"fake": FakeChat()}, model=model) as running:
        await running.gateway.database.write("test", adopt)
        token = await make_token(home, "zebrana", "manage")
        setup = Setup(running, FakeChat(), model, home, token, token)
        write_skill(home / "skills", "tidy", "Sort the letters.")
        write(home, "coder", _CODER)
        write(home, "checker", 'description = "Reads what coder wrote"')
        (home / "teams").mkdir()
        (home / "teams" / "press.toml").write_text(_PRESS)
        zebrana, now = await find_named(setup, "zebrana"), running.gateway.now()
        kinds: tuple[QuestionKind, ...] = ("choice", "reason")
        for kind in kinds:
            await running.gateway.database.write(
                "test", partial(ask_about_tea, person=zebrana, now=now, kind=kind)
            )
        await share_blocks(setup)
        model.plays = [ask(call("recall", '{"query": "heron"}')), say("A grey heron.")]
        await setup.post("chat/completions", token, chat_of("Which bird is grey?"))
        body = {"kind": "message", "text": "Water the plants", "cron": "0 9 * * *"}
        head = {"Authorization": f"Bearer {token}"}
        url = f"{running.address.origin()}/api/jobs"
        hook = {"name": "ends", "url": "https://localhost/", "kinds": ["turn.ended"]}
        async with aiohttp.ClientSession(headers=head) as api:
            async with api.post(url, json=body) as made:
                assert made.status == 201
                address = f"{url}/{(await made.json())['id']}"
            async with api.patch(
                address, json={"text": "Water the plants", "zone": "Europe/Berlin"}
            ) as done:
                assert done.status == 200
            async with api.post(f"{running.address.origin()}/api/webhooks", json=hook) as made:
                assert made.status == 201
        await running.gateway.database.write("test", lambda c: dismiss(c, zebrana, now))
        yield running, model, token


async def share_blocks(setup: Setup) -> None:
    """Let Zebrana and Olga make a block each, which the other sees."""
    url = f"{setup.served.address.origin()}/api/blocks"
    for owner, reader, name in (("zebrana", "olga", "holidays"), ("olga", "zebrana", "garden")):
        token = await make_token(setup.home, owner, "manage", name="blocks")
        head = {"Authorization": f"Bearer {token}"}
        body = {"name": name, "description": f"What we plan for the {name}", "limit": 300}
        async with aiohttp.ClientSession(headers=head) as api:
            async with api.post(url, json=body) as made:
                assert made.status == 201
            async with api.put(f"{url}/{name}/readers/{reader}") as shared:
                assert shared.status == 200


@asynccontextmanager
async def looking(
    running: Served, *, start: str = "", missing: bool = False, **options: Any
) -> AsyncIterator[Any]:
    """A page of a browser that is logged in, or begins at `start`.

    It fails for any error in the browser's console; with `missing`, pages may not exist.
    """
    errors: list[str] = []
    async with playwright.async_playwright() as tool:
        browser = await tool.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        context = await browser.new_context(**options)
        context.set_default_timeout(PATIENCE)
        page = await context.new_page()
        page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        await page.goto(start or str(running.page))
        yield page
        await browser.close()
    expected = "Failed to load resource" if missing else None
    assert [one for one in errors if expected is None or expected not in one] == []


async def keep(page: Any, name: str) -> None:
    """Keep a picture of the page, if somebody wants it."""
    if SHOTS:
        await page.screenshot(path=f"{SHOTS}/{name}.png", full_page=True)


_OVERFLOWS = "document.documentElement.scrollHeight > innerHeight + 8"
"""True if a page scrolls as a whole: its menu would slide away."""


_WIDE_TABLES = """
[...document.querySelectorAll(".wide")].filter((one) => one.scrollWidth > one.clientWidth + 1)
  .map((one) => one.innerText.slice(0, 80))
"""
"""The tables that a reader would have to move sideways."""


async def check(page: Any, name: str) -> None:
    """Let axe look at a page, and keep its pictures if somebody wants them."""
    found = await axe.Axe().run(page)
    assert found.violations_count == 0, (name, found.generate_report())
    assert not await page.evaluate(_OVERFLOWS), name
    if SHOTS:
        for scheme, width in (("light", 1280), ("dark", 1280), ("light", 390), ("dark", 390)):
            await page.emulate_media(color_scheme=scheme)
            await page.set_viewport_size({"width": width, "height": 844})
            await keep(page, f"{name}-{scheme}-{width}")
        await page.emulate_media(color_scheme="light")
        await page.set_viewport_size({"width": 1280, "height": 720})


async def test_the_owner_walks_through_the_pages_and_undoes_a_change(home: Path) -> None:
    async with opened(home) as (running, _, __), looking(running) as page:
        await page.get_by_role("link", name="Today", exact=True).click()
        await page.get_by_role("heading", name="Today", exact=True, level=1).wait_for()
        await page.get_by_role("button", name="Yes", exact=True).click()
        await page.get_by_label("Your answer").fill("It is too late.")
        await page.get_by_role("button", name="Send", exact=True).click()
        await page.get_by_text("Nothing waits for you.").wait_for()
        await page.get_by_role("link", name="Activity", exact=True).click()
        await page.locator("main ul.rows a").first.click()
        await page.get_by_role("heading", name="Timeline").wait_for()
        assert await page.locator("tbody rect:not(.wait)").count() == 3
        await page.get_by_role("link", name="Memory", exact=True).click()
        undo = page.get_by_role("button", name="Undo change").first
        name = await undo.get_attribute("aria-label")
        await undo.focus()
        await page.keyboard.press("Enter")
        number = str(name).rsplit(" ", 1)[-1]
        await page.get_by_text(f"undid change {number}").wait_for()
        dismissed = page.get_by_role("region", name="Dismissed notes")
        back = await dismissed.get_by_role("button", name="Bring back").count()
        await dismissed.get_by_role("button", name="Bring back").first.click()
        await page.get_by_role("button", name="Accept").first.wait_for()
        assert await dismissed.get_by_role("button", name="Bring back").count() == back - 1
        await check(page, "memory-brought-back")
        await page.get_by_role("link", name="Reminders", exact=True).click()
        await page.get_by_label("Actions: Water the plants").click()
        await page.get_by_role("button", name="Pause: Water the plants").click()
        await page.get_by_label("Actions: Water the plants").click()
        await page.get_by_role("button", name="Resume: Water the plants").wait_for()
        await page.get_by_role("link", name="Change: Water the plants").click()
        await page.get_by_label("Title", exact=True).fill("Garden")
        await page.keyboard.press("Enter")
        await page.get_by_role("heading", name="Garden").wait_for()
        await page.get_by_role("button", name="Undo", exact=True).click()
        await page.get_by_role("heading", name="Water the plants", exact=True).first.wait_for()
        garden = page.locator("#versions ~ form").filter(has_text="Garden")
        await garden.get_by_role("button", name="Put back").click()
        await page.get_by_role("heading", name="Garden", exact=True).wait_for()
        await check(page, "job-put-back")
        await page.get_by_role("button", name="Undo", exact=True).click()
        await page.get_by_role("heading", name="Water the plants", exact=True).first.wait_for()
        await page.get_by_role("link", name="Reminders", exact=True).first.click()
        await page.get_by_label("Actions: Water the plants").click()
        await page.get_by_role("button", name="Delete: Water the plants").click()
        await page.get_by_role("button", name="Bring it back: Water the plants").click()
        await page.get_by_label("Actions: Water the plants").click()
        await page.get_by_role("button", name="Resume: Water the plants").click()
        await page.get_by_role("link", name="Calendar").click()
        await page.get_by_role("link", name="Later").click()
        await page.get_by_role("link", name="Water the plants").first.click()
        await page.get_by_role("heading", name="When it comes").wait_for()
        await page.get_by_role("link", name="Settings", exact=True).click()
        await page.get_by_role("switch", name="Quiet hours").check()
        await page.get_by_role("button", name="Save", exact=True).click()
        await page.get_by_text("Quiet hours, before: not set.").wait_for()
        await check(page, "settings-saved")
        await page.get_by_role("button", name="Undo", exact=True).click()
        await page.get_by_text("Quiet hours, before: 22:00-07:00.").wait_for()
        await page.get_by_role("link", name="Webhooks").click()
        await page.get_by_text("Change: ends").click()
        await page.get_by_role("button", name="Replace the secret: ends").click()
        await page.get_by_text("The signing secret for “ends”.").wait_for()
        await check(page, "webhook-rotated")
        await page.get_by_role("button", name="Remove: ends").click()
        await page.get_by_role("button", name="Bring it back: ends").click()
        await page.get_by_role("button", name="Remove: ends").wait_for()


async def test_a_new_home_has_no_dead_end_and_one_clock(tmp_path: Path) -> None:
    model = FakeModel()
    model.plays = [say("I'll think of it.")]
    async with (
        served(tmp_path / "home", model=model) as running,
        looking(running, timezone_id="Pacific/Kiritimati") as page,
    ):
        for name in ("Today", "Reminders", "Memory", "Skills", "Settings"):
            await page.get_by_role("link", name=name, exact=True).click()
            await page.get_by_role("heading", level=1, name=name).wait_for()
        await page.get_by_role("link", name="Chat", exact=True).click()
        await check(page, "chat-first")
        example = "Remind me tomorrow at 9 to feed the dog"
        await page.get_by_role("button", name=example).click()
        assert await page.locator("#words").input_value() == example
        await page.locator("#words").fill("Good morning!")
        await page.keyboard.press("Enter")
        await page.get_by_text("I'll think of it.").wait_for()
        shown = page.locator("article.theirs time").first
        moment = datetime.fromisoformat(await shown.get_attribute("datetime"))
        zone = ZoneInfo(running.gateway.zone_of(None))
        assert await shown.inner_text() == f"{moment.astimezone(zone):%H:%M}"


async def test_forms_create_things_and_say_what_is_wrong(home: Path) -> None:
    async with opened(home) as (running, _, __), looking(running, missing=True) as page:
        await page.goto(str(running.address.with_path("/jobs/new")))
        await page.get_by_role("button", name="every Monday at 19:00").click()
        await page.get_by_text("I understand: Every Monday, 19:00.").wait_for()
        assert await page.locator("#times li").count() == 4
        await check(page, "new-reminder-previewed")
        await page.get_by_role("button", name="Create", exact=True).click()
        await page.get_by_text("Please fill this in.").wait_for()
        assert await page.get_by_label("When?").input_value() == "every Monday at 19:00"
        await check(page, "new-reminder-wrong")
        await page.reload()
        await page.goto(str(running.address.with_path("/today")))
        await page.go_back()
        await page.get_by_text("Please fill this in.").wait_for()
        assert await page.get_by_label("When?").input_value() == "every Monday at 19:00"
        await page.get_by_label("What is it about?").fill("Empty the bins")
        await page.get_by_role("button", name="Create", exact=True).click()
        await page.get_by_text("I'll remind you: Empty the bins.").wait_for()
        await page.go_back()
        await page.get_by_label("What is it about?").wait_for()
        await page.go_forward()
        await page.reload()
        await page.get_by_role("link", name="Empty the bins", exact=True).wait_for()
        assert await page.get_by_role("link", name="Empty the bins", exact=True).count() == 1
        await page.goto(str(running.address.with_path("/people")))
        await page.get_by_label("Who is it for? (optional)").fill("Ben")
        await page.keyboard.press("Enter")
        await page.get_by_text("The invitation for Ben is ready.").wait_for()
        await check(page, "people-invited")
        await page.get_by_role("button", name="Copy", exact=True).first.click()
        await page.get_by_role("button", name="Copied", exact=True).first.wait_for()
        await page.goto(str(running.address.with_path("/skills")))
        await page.get_by_role("link", name="Use tidy").click()
        await page.wait_for_url(str(running.address.with_path("/").with_query(None)))
        assert await page.locator("#words").input_value() == "/tidy "
        await page.goto(str(running.address.with_path("/memory")))
        await page.get_by_label("Remember something").fill("I keep bees")
        await page.get_by_role("button", name="Remember it").click()
        await page.get_by_text("I'll remember that.").wait_for()
        await check(page, "memory-added")
        manifest = await page.evaluate(
            "fetch(document.querySelector('link[rel=manifest]').href).then((one) => one.json())"
        )
        for icon in manifest["icons"]:
            found = await page.evaluate(f"fetch('{icon['src']}').then((one) => one.status)")
            assert found == 200, icon


async def test_an_owner_makes_a_team_of_agents_and_gives_it_a_task(tmp_path: Path) -> None:
    model = FakeModel()
    async with served(tmp_path / "home", model=model) as running, looking(running) as page:
        await page.get_by_role("link", name="Agents", exact=True).click()
        await check(page, "agents-none")
        for name in ("writer", "checker"):
            await page.get_by_role("link", name="Agents", exact=True).first.click()
            await page.get_by_role("link", name="New agent", exact=True).first.click()
            await page.get_by_label("Name", exact=True).fill(name)
            await page.get_by_label("What is it for?").fill(f"The {name} of the press")
            await page.get_by_label("Who is it, and how does it go about its work?").fill(
                f"You are a {name}."
            )
            await page.get_by_role("button", name="Create", exact=True).click()
            await page.get_by_text(f"The agent “{name}” is ready.").wait_for()
        await check(page, "agent-made")
        await page.get_by_role("link", name="Agents", exact=True).first.click()
        await page.get_by_role("link", name="New team", exact=True).click()
        await page.get_by_label("Name", exact=True).fill("press")
        await page.get_by_role("button", name="Create", exact=True).click()
        await page.get_by_text("Please fill this in.").wait_for()
        await check(page, "team-wrong")
        await page.get_by_label("Leader").select_option("checker")
        await page.get_by_label("Member 1").select_option("writer")
        await page.get_by_role("button", name="Create", exact=True).click()
        await page.get_by_text("The team “press” is ready.").wait_for()
        asked = {"mode": "team", "to": "press", "text": "Two lines about owls"}
        model.plays = [ask(call("message_agent", json.dumps(asked)))]
        model.plays += [say(f"Owls hear well, {number}.") for number in range(12)]
        await page.get_by_label("What shall press do?").fill("Two lines about owls")
        await page.get_by_role("button", name="Send the task").click()
        await page.get_by_text("The team “press” has your task.").wait_for()
        await page.get_by_role("link", name="Two lines about owls").wait_for()
        await check(page, "team-with-task")
        await page.get_by_role("link", name="Two lines about owls").click()
        await page.get_by_role("heading", name="Timeline").wait_for()


async def test_a_message_from_the_page_is_answered_on_it(home: Path) -> None:
    async with opened(home) as (running, model, _), looking(running) as page:
        model.plays = [say("A heron is a bird.")]
        await page.get_by_label("Write a message").fill("What is a heron?")
        await page.keyboard.press("Enter")
        await page.locator(".theirs").get_by_text("A heron is a bird.").wait_for()
        await page.keyboard.press("Control+k")
        await page.locator("#sought").fill("heron")
        await page.locator("#palette mark", has_text="heron").first.wait_for()
        field, box = (
            await page.locator("#sought").bounding_box(),
            await page.locator("#palette").bounding_box(),
        )
        assert field["width"] > 0.9 * box["width"], "the field is as wide as its box"
        await check(page, "palette")
        await page.keyboard.press("Enter")
        await page.locator(".sought").wait_for()
        await page.get_by_role("button", name="Continue in a copy from here").first.click()
        await page.get_by_text("Earlier messages, in the original conversation").wait_for()
        model.plays = [say("An owl is one, too.")]
        await page.get_by_label("Write a message").fill("What is an owl?")
        await page.get_by_role("button", name="Send", exact=True).click()
        await page.locator(".bubble").get_by_text("An owl is one, too.").wait_for()
        await page.wait_for_function("document.getElementById('grown').textContent === ''")
        await check(page, "fork")
        await page.get_by_role("button", name="Remove this conversation").click()
        await page.get_by_text("This conversation is removed").wait_for()
        assert await page.get_by_label("Write a message").count() == 0
        await check(page, "fork-removed")
        await page.get_by_role("link", name="All conversations", exact=True).click()
        removed = page.get_by_role("region", name="Removed conversations")
        await removed.get_by_role("button", name="Bring it back").wait_for()
        await check(page, "conversations-removed")
        await removed.get_by_role("button", name="Bring it back").click()
        await page.get_by_label("Write a message").wait_for()


async def test_a_draft_stays_on_the_walk_on_which_the_conversation_gets_a_name(home: Path) -> None:
    async with opened(home) as (running, _, __), looking(running) as page:
        topic = page.locator("#topic")
        await topic.get_by_text("About bluefishtitle").wait_for()
        await page.get_by_label("Write a message").fill("half a thou")
        await topic.click()
        await page.get_by_text("Rename", exact=True).click()
        await page.get_by_label("Title", exact=True).fill("Things that float")
        await page.keyboard.press("Enter")
        await page.get_by_role("heading", name="Things that float").wait_for()
        await page.get_by_role("link", name="Go on with this conversation").click()
        await topic.get_by_text("Things that float").wait_for()
        assert await page.get_by_label("Write a message").input_value() == "half a thou"


@pytest.mark.parametrize("status", [0, 504])
async def test_a_message_that_may_have_arrived_is_not_sent_twice(home: Path, status: int) -> None:
    """Neither after a lost connection (0) nor after a proxy's error page."""
    async with opened(home) as (running, model, _), looking(running, missing=True) as page:
        await page.goto(str(running.address.with_path("/conversations")))
        await page.locator("main ul.rows a").first.click()
        await page.get_by_role("button", name="Continue in a copy from here").first.click()
        await page.get_by_text("Earlier messages, in the original conversation").wait_for()
        sent: list[str] = []

        async def lose(route: Any) -> None:
            sent.append(route.request.post_data)
            await (route.fulfill(status=status) if status else route.abort())

        await page.route("**/conversations/messages", lose)
        await page.get_by_label("Write a message").fill("What is a heron?")
        await page.get_by_role("button", name="Send", exact=True).click()
        await page.locator("#grown").get_by_text("The connection was lost.").wait_for()
        assert await page.get_by_label("Write a message").input_value() == "What is a heron?"
        await page.unroute("**/conversations/messages")
        model.plays = [say("A heron is a bird.")]
        async with page.expect_request("**/conversations/messages") as again:
            await page.get_by_role("button", name="Send", exact=True).click()
        assert (await again.value).post_data == sent[0]
        await page.locator(".bubble").get_by_text("A heron is a bird.").wait_for()


async def test_an_open_page_shows_a_new_turn_by_itself(home: Path) -> None:
    async with opened(home) as (running, model, token), looking(running) as page:
        async with page.expect_response(lambda one: "/pages/events" in one.url):
            await page.goto(str(running.address.with_path("/turns")))
        before = await page.locator("main .rows li").count()
        model.plays = [say("Yes.")]
        setup = Setup(running, FakeChat(), model, home, token, token)
        await setup.post("chat/completions", token, chat_of("Do owls sing?"))
        await page.locator("main .rows").get_by_text("Do owls sing?").wait_for()
        assert await page.locator("main .rows li").count() == before + 1
        assert await page.locator("header").count() == 1


async def test_an_update_keeps_the_focus_and_what_somebody_types(home: Path) -> None:
    async with opened(home) as (running, model, token), looking(running) as page:
        setup = Setup(running, FakeChat(), model, home, token, token)
        async with page.expect_response(lambda one: "/pages/events" in one.url):
            await page.goto(str(running.address.with_path("/turns")))
        await page.locator("main .rows a").last.focus()
        asked = await page.locator(":focus").inner_text()
        model.plays = [say("Yes.")]
        await setup.post("chat/completions", token, chat_of("Do owls sing?"))
        await page.locator("main .rows").get_by_text("Do owls sing?").wait_for()
        assert await page.locator(":focus").inner_text() == asked
        await page.goto(str(running.address.with_path("/conversations")))
        async with page.expect_response(lambda one: "/pages/events" in one.url):
            await page.locator("main .rows a[href^='/chats/']").first.click()
        await page.get_by_text("Rename", exact=True).click()
        await page.get_by_label("Title", exact=True).fill("Half a na")
        model.plays = [say("Yes.")]
        async with page.expect_response(lambda one: "/chats/" in one.url):
            await setup.post("chat/completions", token, chat_of("Do herons sing?"))
        await page.locator("#talks").get_by_text("Do herons sing?").wait_for()
        assert await page.get_by_label("Title", exact=True).input_value() == "Half a na"


async def test_a_form_leads_back_to_where_it_was_pressed_or_to_its_mistake(home: Path) -> None:
    async with opened(home) as (running, _, __), looking(running, missing=True) as page:
        await page.goto(str(running.address.with_path("/tools")))
        last = page.get_by_role("switch").last
        name = await last.get_attribute("aria-label")
        await last.focus()
        await page.keyboard.press("Space")
        await page.locator(".flash").wait_for()
        assert await page.locator(":focus").get_attribute("aria-label") == name
        assert await page.locator("#content").evaluate("(one) => one.scrollTop") > 0
        top = "(one) => one.getBoundingClientRect().top"
        assert await page.locator(".flash").evaluate(top) >= 0
        await check(page, "tools-switched")
        await page.goto(str(running.address.with_path("/jobs/new")))
        await page.get_by_label("What is it about?").fill("Feed the cat")
        await page.get_by_label("When?").fill("someday")
        await page.keyboard.press("Enter")
        await page.locator(".fault").wait_for()
        assert await page.locator(":focus").get_attribute("id") == "when"
        assert await page.get_by_label("What is it about?").input_value() == "Feed the cat"


async def test_undo_on_today_strikes_the_row_where_the_person_is(home: Path) -> None:
    async with opened(home) as (running, _, __), looking(running) as page:
        for words in ("Light the candles", "Feed the cat"):
            await page.goto(str(running.address.with_path("/jobs/new")))
            await page.get_by_label("What is it about?").fill(words)
            await page.get_by_label("When?").fill("every day at 9")
            await page.get_by_role("button", name="Create", exact=True).click()
            await page.locator(".flash").get_by_role("button", name="Undo").wait_for()
        await check(page, "reminder-created")
        await page.set_viewport_size({"width": 1280, "height": 400})
        await page.goto(str(running.address.with_path("/today")))
        rows = page.locator("#done ~ ul li").filter(has_text="Light the candles")
        candles = page.locator(f"#{await rows.get_attribute('id')}")
        await candles.get_by_role("button", name="Undo:").focus()
        await page.keyboard.press("Enter")
        await candles.locator("s").wait_for()
        assert page.url == str(running.address.with_path("/today"))
        focused = str(await page.locator(":focus").get_attribute("aria-label"))
        assert focused.startswith("Bring it back:")
        assert "Light the candles" in focused
        assert await page.locator("#content").evaluate("(one) => one.scrollTop") > 0
        assert await page.locator("#done ~ ul s").count() == 1
        await check(page, "today-undone")
        await page.keyboard.press("Enter")
        await page.locator("#done ~ ul s").wait_for(state="detached")
        assert await candles.evaluate("(one) => one.contains(document.activeElement)")
        await page.goto(str(running.address.with_path("/")))
        await page.locator(".theirs").first.wait_for()
        assert "/undo" not in await page.locator("#conversation").inner_text()


_SPEECH = """
window.spoken = [];
Object.defineProperty(window, "speechSynthesis", { value: {
  speaking: false,
  cancel() { this.speaking = false; },
  speak(one) { this.speaking = true; window.spoken.push(one.text); one.onstart(); },
} });
"""
"""A voice that keeps what it was given, and speaks until it is stopped."""


async def test_an_answer_is_read_aloud_and_stops(home: Path) -> None:
    async with opened(home) as (running, model, _), looking(running) as page:
        await page.add_init_script(_SPEECH)
        await page.goto(str(running.address.with_path("/")))
        model.plays = [say("A **grey** heron.")]
        await page.get_by_label("Write a message").fill("Which bird wades?")
        await page.keyboard.press("Enter")
        answer = page.locator("article.theirs").filter(has_text="A grey heron.")
        await answer.hover()
        await answer.get_by_role("button", name="Read aloud").click()
        await answer.get_by_role("button", name="Stop reading").wait_for()
        assert await page.evaluate("spoken") == ["A grey heron."]
        await answer.get_by_role("button", name="Stop reading").click()
        assert await page.evaluate("[spoken.length, speechSynthesis.speaking]") == [1, False]


async def test_the_drawer_of_a_phone_opens_leads_on_and_closes(home: Path) -> None:
    narrow = {"viewport": {"width": 390, "height": 844}}
    async with opened(home) as (running, _, __), looking(running, **narrow) as page:
        await page.goto(str(running.address.with_path("/today")))
        drawer, menu = page.locator("#side"), page.get_by_role("link", name="Menu")
        assert not await drawer.is_visible()
        await menu.focus()
        await page.keyboard.press("Enter")
        await page.locator("#close-side:focus").wait_for()
        assert await drawer.is_visible()
        await check_narrow(page)
        for _ in range(20):  # the links can be reached by the key alone
            await page.keyboard.press("Tab")
            if await page.locator(":focus").get_attribute("href") == "/memory":
                break
        assert await page.locator(":focus").get_attribute("href") == "/memory"
        await page.keyboard.press("Escape")
        await drawer.wait_for(state="hidden")
        assert await page.locator(":focus").get_attribute("id") == "open-side"
        await page.keyboard.press("Enter")
        await page.locator("#close-side:focus").wait_for()
        await drawer.get_by_role("link", name="Memory", exact=True).click()
        await page.wait_for_url("**/memory")
        assert not await drawer.is_visible()


async def check_narrow(page: Any) -> None:
    """Let axe look at a page as it is on a phone."""
    found = await axe.Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    await keep(page, "drawer-390")


async def test_enter_in_the_palette_opens_nothing_that_was_found_before(home: Path) -> None:
    async with opened(home) as (running, _, __), looking(running, missing=True) as page:

        async def hold(route: Any) -> None:
            """Leave the palette's own request without an answer."""
            if "hx-request" not in route.request.headers:
                await route.continue_()

        await page.route("**/search?**", hold)
        await page.keyboard.press("Control+k")
        await page.locator("#sought").fill("heron")
        await page.keyboard.press("Enter")
        await page.wait_for_url("**/search?q=heron")
        await page.locator("#found mark", has_text="heron").first.wait_for()


async def test_an_open_page_learns_what_happened_while_a_proxy_had_no_gateway(home: Path) -> None:
    async with opened(home) as (running, model, token), looking(running, missing=True) as page:
        await page.route("**/pages/events", lambda route: route.fulfill(status=502))
        async with page.expect_response(lambda one: "/pages/events" in one.url):
            await page.goto(str(running.address.with_path("/turns")))
        model.plays = [say("Yes.")]
        setup = Setup(running, FakeChat(), model, home, token, token)
        await setup.post("chat/completions", token, chat_of("Do owls sing?"))
        await page.unroute("**/pages/events")
        await page.locator("main .rows").get_by_text("Do owls sing?").wait_for()


async def test_thumbs_below_an_answer_by_a_skill_are_clean(home: Path) -> None:
    write_skill(home / "skills", "tidy")
    model = Doer()
    async with served(home, adapters={"fake": FakeChat()}, model=model) as running:
        link = running.page.with_path("/").update_query(running.page.query)
        async with looking(running, start=str(link), missing=True) as page:
            model.plays = [ask(call("skill_view", '{"name": "tidy"}')), say("Swept.")]
            await page.locator("#line[data-is-up=yes]").wait_for()
            await page.get_by_label("Write a message").fill("tidy up")
            await page.keyboard.press("Enter")
            good = page.get_by_role("button", name="Good answer")
            await good.focus()
            await page.keyboard.press("Enter")
            pressed = page.get_by_role("button", name="Good answer", pressed=True)
            await pressed.wait_for()
            await check(page, "chat-thumbs")


async def test_a_member_walks_through_their_own_pages(home: Path) -> None:
    chat = FakeChat(limit=100_000)
    async with served(home, adapters={"fake": chat}, model=Planter()) as running:
        link = await ask_link(chat, ZEBRANA)
        start = f"{running.address.origin()}{link}"
        async with looking(running, start=start, missing=True) as page:
            assert (await axe.Axe().run(page)).violations_count == 0
            await page.get_by_role("button", name="Open your pages").click()
            await page.get_by_role("heading", name="Today", exact=True, level=1).wait_for()
            menu = page.get_by_role("complementary", name="Sidebar")
            await menu.get_by_role("link", name="Chat", exact=True).click()
            await page.locator(".theirs").first.wait_for()  # the script has started
            await page.get_by_label("Write a message").fill("/whoami")
            await page.keyboard.press("Enter")
            await page.locator(".theirs").get_by_text("member").wait_for()
            await check(page, "member-chat")
            for name in ("People and groups", "Health", "Configuration"):
                assert await menu.get_by_role("link", name=name, exact=True).count() == 0
            await menu.get_by_role("link", name="Memory", exact=True).click()
            await page.get_by_text("bluefishmemory").first.wait_for()
            await menu.get_by_role("link", name="Usage", exact=True).click()
            await page.get_by_role("link", name="Purpose", exact=True).click()
            chart = page.get_by_role("img", name="Tokens by day")
            assert await chart.locator("rect.s0").count() == 1
            await page.get_by_text("Table by day", exact=True).click()
            await page.get_by_role("row", name="Total").wait_for()
            await menu.get_by_role("link", name="Settings", exact=True).click()
            await page.get_by_role("link", name="Your accounts").click()
            await page.get_by_text("on the list of allowed accounts").wait_for()
            await page.get_by_role("button", name="Log out").click()
            await page.get_by_text("You are logged out.").wait_for()
            assert (await axe.Axe().run(page)).violations_count == 0
            await page.goto(f"{running.address.origin()}/today")
            await page.get_by_text("You aren't logged in, or your login has ended").wait_for()
            assert (await axe.Axe().run(page)).violations_count == 0


def let_read(connection: Connection) -> int:
    """Let Zebrana read what Olga said for a while; the number of Olga."""
    ids = {one.slug: one.id for one in people.list_all(connection)}
    reading_consents.insert(
        connection,
        person_id=ids["olga"],
        reader_id=ids["zebrana"],
        now=0,
        expires_at=2**42,
    )
    return ids["olga"]


async def list_addresses(running: Served) -> list[str]:
    """The addresses of all pages, those of single things included."""
    database = running.gateway.database
    olga = await database.write("test", let_read)
    newest = await database.read(turns.find_newest)
    own = await database.read(
        lambda c: c.execute(
            "SELECT MAX(conversations.id) FROM conversations JOIN turns"
            " ON turns.conversation_id = conversations.id WHERE turns.id = :newest",
            {"newest": newest},
        ).fetchone()[0]
    )
    talked = await database.read(
        lambda c: [
            row[0]
            for row in c.execute(
                "SELECT MIN(sessions.id) FROM sessions JOIN conversations"
                " ON conversations.id = conversation_id JOIN people ON people.id = person_id"
                " WHERE slug = 'zebrana' AND conversations.kind = 'direct'"
            )
        ]
    )
    account = await database.read(lambda c: c.execute("SELECT MAX(id) FROM accounts").fetchone()[0])
    everybody = {one.slug: one.id for one in await database.read(people.list_all)}
    zebrana = everybody["zebrana"]
    job = (await database.read(lambda c: jobs.list_of_person(c, person_id=zebrana)))[-1].id
    room = await database.write(
        "test",
        lambda c: (
            rooms.insert(c, platform="fake", chat_id="7", title="Choir", slug="choir", now=1).id
        ),
    )
    singles = (
        f"people/rooms/{room}",
        *(f"turns/{newest}", f"turns/{newest}/replay", f"conversations/{own}"),
        *(f"people/{olga}", f"people/{olga}/remove"),
        *(f"chats/{session}" for session in talked),
        *(f"jobs/{job}", f"jobs/{job}?when=times"),
    )
    return [*PAGES, *singles, f"accounts/{account}/unlink", "search?q=heron", "turns/0"]


@pytest.mark.parametrize("part", range(PARTS))
async def test_axe_finds_no_violation_and_no_page_scrolls_sideways(home: Path, part: int) -> None:
    async with opened(home) as (running, _, __):
        names = (await list_addresses(running))[part::PARTS]
        async with looking(running, missing=True) as page:
            for name in names:
                # The stream of events stays open, so the network is never idle.
                await page.goto(f"{running.address.origin()}/{name}")
                for summary in await page.locator("summary").all():
                    await summary.click()
                for scheme, width in LOOKS:
                    await page.emulate_media(color_scheme=scheme)
                    await page.set_viewport_size({"width": width, "height": 844})
                    found = await axe.Axe().run(page)
                    assert found.violations_count == 0, (name, scheme, found.generate_report())
                    scrolled = await page.evaluate("document.documentElement.scrollWidth")
                    assert scrolled <= width, (name, width)
                    if width == 390:
                        assert await page.evaluate(_WIDE_TABLES) == [], name
                    await keep(page, f"{re.sub('[^a-z0-9]+', '-', name)}-{scheme}-{width}")
