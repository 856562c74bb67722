"""Undo on Today and beside what a form did: it stays there, and no chat hears of it."""

import itertools
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from html import unescape
from pathlib import Path

import aiohttp

from agent_core.state.engine.database import Connection
from agent_core.state.jobs import jobs
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel, ask, call, say
from tests.integration.clock import Clock
from tests.integration.harness import is_settled
from tests.integration.interfaces.api_setup import OLGA, ZEBRANA, Setup, find_named
from tests.integration.interfaces.console_setup import browse_as
from tests.integration.interfaces.page_texts import read
from tests.integration.served import served
from tests.patience import until

_NUMBERS = itertools.count()
_SAID = (
    "SELECT (SELECT count(*) FROM inbox), (SELECT count(*) FROM messages),"
    " (SELECT count(*) FROM outbox), (SELECT count(*) FROM turns)"
)


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row of what was done today; the button's label and address are "" if it has none."""

    text: str
    is_struck: bool
    name: str
    label: str
    address: str


async def list_done(session: aiohttp.ClientSession) -> list[Row]:
    """What Today lists as done, newest first."""
    return list_rows(await read(session, "/today"))


def list_rows(page: str) -> list[Row]:
    done = page.partition('id="done"')[2].partition("</section>")[0]
    found = []
    for name, row in re.findall(r"<li([^>]*)>(.*?)</li>", done, re.DOTALL):
        words = re.search(r'class="cut-line">(.*?)</span>', row, re.DOTALL)
        button = re.search(r'action="([^"]*)".*?<button[^>]*>([^<]*)<', row, re.DOTALL)
        assert words is not None
        found.append(
            Row(
                text=unescape(re.sub("<[^>]*>", "", words[1])),
                is_struck=words[1].startswith("<s>"),
                name="".join(re.findall(r'id="([^"]*)"', name)),
                address=button[1] if button else "",
                label=button[2] if button else "",
            )
        )
    return found


async def press(session: aiohttp.ClientSession, row: Row) -> str:
    """Press the button of a row; the page that follows, which has to be Today."""
    assert row.address, row
    async with session.post(row.address, data={"place": "/today"}) as answer:
        assert (answer.status, answer.url.path) == (200, "/today"), await answer.text()
        return await answer.text()


def count_said(connection: Connection) -> tuple[int, ...]:
    """How many events, messages and turns there are."""
    return tuple(connection.execute(_SAID).fetchone())


async def hear(setup: Setup, words: str, user: str = ZEBRANA) -> str:
    """What a person sees after a message in their direct chat."""
    seen = len(setup.chat.shown)
    name = "Zebrana" if user == ZEBRANA else "Olga"
    await setup.chat.says(words, user=user, chat=user, name=name, id=f"today-{next(_NUMBERS)}")
    await setup.chat.until(lambda: len(setup.chat.shown) > seen)
    await until(lambda: is_settled(setup.served.gateway))
    return "\n".join(one.text for one in setup.chat.shown[seen:])


async def test_undo_stays_on_today_and_says_nothing_in_a_chat(setup: Setup) -> None:
    database = setup.served.gateway.database
    zebrana = await find_named(setup, "zebrana")
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        form = {"text": "Light the candles", "when": "every day at 9"}
        async with session.post("/jobs/new", data=form) as answer:
            assert answer.status == 200
        await until(lambda: is_settled(setup.served.gateway))
        before = await database.read(count_said)
        (made, *_) = await list_done(session)
        assert (made.is_struck, made.label) == (False, "Undo")
        page = await press(session, made)
        assert "Taken back: ⏰ Every day, 9:00: Light the candles." in page
        (gone,) = [one for one in list_rows(page) if one.name == made.name]
        assert (gone.text, gone.is_struck, gone.label) == (made.text, True, "Bring it back")
        assert await database.read(count_said) == before

        def list_titles(connection: Connection) -> list[str]:
            return [one.title for one in jobs.list_of_person(connection, person_id=zebrana.id)]

        assert "Light the candles" not in await database.read(list_titles)
        page = await press(session, gone)
        assert "Brought back: ⏰ Every day, 9:00: Light the candles." in page
        assert "Light the candles" in await database.read(list_titles)
        (back,) = [one for one in list_rows(page) if one.name == made.name]
        assert not back.is_struck
        assert await database.read(count_said) == before
        page = await press(session, next(one for one in list_rows(page) if one.label == "Undo"))
        assert "Light the candles" not in await database.read(list_titles)
        async with session.post(made.address, data={"place": "/today"}) as answer:
            assert "taken back already" in await answer.text()
    assert "Light the candles" not in await hear(setup, "/undo"), "the chat knows of it"


async def test_a_line_about_a_new_reminder_has_its_undo(setup: Setup) -> None:
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        form = {"text": "Light the candles", "when": "every day at 9"}
        async with session.post("/jobs/new", data=form) as answer:
            (address,) = re.findall(
                r'class="flash acts" method="post" action="(/deeds/\d+/undo)"', await answer.text()
            )
        async with session.post(address, data={"place": "/jobs"}) as answer:
            page = await answer.text()
            assert answer.url.path == "/jobs"
        assert "Taken back: ⏰ Every day, 9:00: Light the candles." in page
        assert ">Light the candles</a>" not in page
        number = re.findall(r'action="/jobs/(\d+)/restore"', page)[0]
        for verb in ("restore", "pause"):
            async with session.post(f"/jobs/{number}/{verb}") as answer:
                page = await answer.text()
        async with session.post(
            re.findall(r'class="flash acts" method="post" action="(/deeds/\d+/undo)"', page)[0],
            data={"place": "/jobs"},
        ) as answer:
            assert f'action="/jobs/{number}/pause"' in await answer.text()
        for verb in ("pause", "resume"):
            async with session.post(f"/jobs/{number}/{verb}") as answer:
                page = await answer.text()
        assert 'class="flash acts"' not in page, "what resumed took the pause back"


@asynccontextmanager
async def reminded(home: Path) -> AsyncIterator[tuple[Setup, Clock]]:
    """A gateway on a clock, with somebody who was reminded of one of two things."""
    chat, model, clock = FakeChat(limit=100_000), FakeModel(), Clock(2026, 11, 30, 12)
    async with served(home, adapters={"fake": chat}, model=model, now=clock) as running:
        setup = Setup(running, chat, model, home, "", "")
        await hear(setup, "/settings time_zone UTC", OLGA)
        reminders = (("Turn the eggs", "in 1 minute"), ("Call Ben", "today 15:00"))
        for text, when in reminders:
            words = f'{{"text": "{text}", "when": "{when}"}}'
            model.plays = [ask(call("remind", words)), say("I will.")]
            await hear(setup, f"remind me {when}: {text}", OLGA)
        yield setup, clock


async def test_what_has_come_has_no_undo_and_is_not_struck(home: Path) -> None:
    async with (
        reminded(home) as (setup, clock),
        browse_as(setup.served, setup.chat, OLGA) as session,
    ):
        (eggs,) = [one for one in await list_done(session) if "eggs" in one.text]
        assert eggs.label == "Undo"
        seen = len(setup.chat.shown)
        clock.move(setup.served, minutes=2)
        await setup.chat.until(lambda: len(setup.chat.shown) > seen)
        await until(lambda: is_settled(setup.served.gateway))

        def list_eggs(rows: list[Row]) -> list[tuple[bool, str]]:
            return [(one.is_struck, one.label) for one in rows if "eggs" in one.text]

        assert list_eggs(await list_done(session)) == [(False, ""), (False, "")]
        page = await press(session, eggs)
        assert "“Turn the eggs” has come already" in unescape(page)
        assert list_eggs(list_rows(page)) == [(False, ""), (False, "")]
        await hear(setup, "/undo", OLGA)
        assert "has come already" in await hear(setup, "/undo", OLGA)
        (ben,) = [one for one in await list_done(session) if "Ben" in one.text]
        assert (ben.is_struck, ben.label) == (True, "Bring it back")
        assert list_eggs(await list_done(session)) == [(False, ""), (False, "")]


async def test_undo_names_a_reminder_that_was_deleted_elsewhere_and_goes_on(home: Path) -> None:
    async with (
        reminded(home) as (setup, _),
        browse_as(setup.served, setup.chat, OLGA) as session,
    ):
        (eggs,) = [one for one in await list_done(session) if "eggs" in one.text]
        page = await read(session, "/jobs")
        number = min(map(int, re.findall(r'action="/jobs/(\d+)/delete"', page)))
        async with session.post(f"/jobs/{number}/delete") as answer:
            assert answer.ok
        gone = (
            "The reminder “Turn the eggs” was deleted already.\nSo there's nothing I can take back"
        )
        _, _, deed, _ = eggs.address.split("/")
        named = await hear(setup, f"/undo deed {deed}", OLGA)
        assert named.startswith(f"{gone} here: ⏰")
        assert "Call Ben" in await hear(setup, "/undo", OLGA)
        assert "Time zone as before" in await hear(setup, "/undo", OLGA)


async def test_undo_goes_past_a_reminder_that_was_deleted_elsewhere(home: Path) -> None:
    async with (
        reminded(home) as (setup, _),
        browse_as(setup.served, setup.chat, OLGA) as session,
    ):
        page = await read(session, "/jobs")
        number = max(map(int, re.findall(r'action="/jobs/(\d+)/delete"', page)))
        await hear(setup, f"/reminders pause {number}", OLGA)
        await hear(setup, "/tools off recall", OLGA)  # so the page resumes an older deed
        async with session.post(f"/jobs/{number}/resume") as answer:
            assert answer.ok
        await hear(setup, "/undo", OLGA)
        told = await hear(setup, "/undo", OLGA)
        assert "is active again" in told
        assert "nothing I can take back of your last change (⏸ Paused: Call Ben)" in told
        async with session.post(f"/jobs/{number}/delete") as answer:
            assert answer.ok
        told = await hear(setup, "/undo", OLGA)
        assert told.startswith("The reminder “Call Ben” was deleted already.\nSo there's nothing")
        assert "of your last change (⏰" in told


async def test_what_was_done_to_a_deleted_reminder_has_no_undo_on_today(home: Path) -> None:
    async with (
        reminded(home) as (setup, _),
        browse_as(setup.served, setup.chat, OLGA) as session,
    ):
        page = await read(session, "/jobs")
        number = max(map(int, re.findall(r'action="/jobs/(\d+)/delete"', page)))
        async with session.post(f"/jobs/{number}/pause") as answer:
            assert answer.ok
        (paused,) = [one for one in await list_done(session) if "Paused" in one.text]
        assert paused.label == "Undo"
        async with session.post(f"/jobs/{number}/delete") as answer:
            assert answer.ok

        async def list_labels() -> dict[str, str]:
            rows = [one for one in await list_done(session) if "Ben" in one.text]
            return {one.text.partition(":")[0]: one.label for one in rows}

        labels = await list_labels()
        assert (labels["⏸ Paused"], labels["🗑 Deleted"]) == ("", "Undo")
        assert "“Call Ben” was deleted already" in unescape(await press(session, paused))
        await hear(setup, f"/reminders restore {number}", OLGA)
        assert (await list_labels())["🗑 Deleted"] == ""


async def test_notes_of_the_page_and_of_a_chat_are_on_today_with_their_undo(setup: Setup) -> None:
    zebrana = await find_named(setup, "zebrana")
    note = '{"action": "add", "target": "user", "text": "Drives a blue car"}'
    setup.model.plays = [ask(call("memory", note)), say("Noted.")]
    await hear(setup, "Remember that I drive a blue car")
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        async with session.post("/memory/entries", data={"text": "My boat is Lina"}) as answer:
            assert re.search(
                r'class="flash acts" method="post" action="/memory/\d+/undo"', await answer.text()
            )
        for words in ("📝 Remembered: Drives a blue car", "📝 Remembered: My boat is Lina"):
            (made,) = [one for one in await list_done(session) if one.text == words]
            assert (made.is_struck, made.label) == (False, "Undo")
            (gone,) = [one for one in list_rows(await press(session, made)) if one.text == words]
            assert (gone.name, gone.is_struck, gone.label) == (made.name, True, "Bring it back")
            entry = words.rpartition(": ")[2]
            assert entry not in await list_notes(setup, zebrana.id)
            (back,) = [one for one in list_rows(await press(session, gone)) if one.text == words]
            assert (back.is_struck, back.label) == (False, "Undo")
            assert entry in await list_notes(setup, zebrana.id)


async def list_notes(setup: Setup, person_id: int) -> str:
    memory = setup.served.gateway.memory.store
    own = await memory.snapshot(person_id, "zebrana", setup.served.gateway.now())
    return "\n".join((*own.user, *own.memory))
