"""Notes that wait for approval on the pages Memory and Today."""

import asyncio
import html
import re
from pathlib import Path

import aiohttp
import pytest

from agent_core.state.conversations import questions
from agent_core.state.people import people
from agent_core.state.people.people import Person
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel
from tests.integration.interfaces.api_setup import OLGA, ZEBRANA, Setup, find_named
from tests.integration.interfaces.console_setup import browse_as
from tests.integration.interfaces.held_notes import LESSON, LIE, hold
from tests.integration.served import Served, served
from tests.patience import PATIENCE


def read_notes(home: Path) -> str:
    """What is remembered about Zebrana."""
    return "".join(file.read_text() for file in home.glob("memories/people/zebrana/USER.md"))


@pytest.mark.parametrize("choice", ["accept", "dismiss"])
async def test_a_note_that_waits_is_shown_with_its_evidence_and_decided(
    setup: Setup, choice: str
) -> None:
    zebrana, database = await find_named(setup, "zebrana"), setup.served.gateway.database
    review, turn = await database.write("test", lambda c: hold(c, zebrana))
    said = len(setup.chat.shown)
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        said = len(setup.chat.shown)
        async with session.get("/today") as answer:
            assert "2 notes need your approval" in await answer.text()
        async with session.get("/memory") as answer:
            text = html.unescape(await answer.text())
        held = text.partition('<h2 id="held">')[2].partition("</section>")[0]
        for words in (
            *("2 notes need your approval", LIE, "The wording is mine, so please check it."),
            *("I prefer metric units", f'href="/turns/{turn}"', LESSON, "It booked again."),
        ):
            assert words in held, words
        for path, status in (
            (f"/memory/held/{review}/1/explode", 404),
            (f"/memory/held/{review}/3/{choice}", 404),
            (f"/memory/held/{2**70}/1/{choice}", 404),
            (f"/memory/held/{review}/1/{choice}", 200),
            (f"/memory/held/{review}/1/{choice}", 404),
        ):
            async with session.post(path) as answer:
                assert answer.status == status, path
        async with session.get("/today") as answer:
            assert "1 note needs your approval" in await answer.text()
        if choice == "accept":
            text = ""
            async with asyncio.timeout(PATIENCE):
                while LIE not in text:
                    async with session.get("/memory") as answer:
                        text = await answer.text()
            assert f'<ins class="text">{LIE}</ins>' in text
        assert (
            await database.read(
                lambda c: [
                    one.text
                    for one in questions.find_open(c, person_id=zebrana.id)
                    if LIE in one.text
                ]
            )
            == []
        )
        assert (LIE in read_notes(setup.home)) == (choice == "accept")
        assert setup.chat.shown[said:] == []


async def test_a_dismissed_note_comes_back_after_a_restart(home: Path) -> None:
    chat = FakeChat(limit=100_000)
    async with served(home, adapters={"fake": chat}, model=FakeModel()) as running:
        zebrana = await find_slug(running, "zebrana")
        review, turn = await running.gateway.database.write("test", lambda c: hold(c, zebrana))
        async with browse_as(running, chat, ZEBRANA) as session:
            async with session.post(f"/memory/held/{review}/1/dismiss") as answer:
                text = await answer.text()
            assert LIE in text.partition('id="dismissed"')[2]
            assert LIE not in text.partition('id="dismissed"')[0]
    async with served(home, adapters={"fake": chat}, model=FakeModel()) as running:
        async with browse_as(running, chat, OLGA) as session:
            path = await find_path(session, "/memory")
            assert path is None
            async with session.post("/memory/dismissed/1/restore") as answer:
                assert answer.status == 404
        async with browse_as(running, chat, ZEBRANA) as session:
            async with session.get("/today") as answer:
                assert "1 dismissed note can come back" in await answer.text()
            path = await find_path(session, "/memory")
            assert path is not None
            async with session.post(path) as answer:
                text = html.unescape(await answer.text())
            held = text.partition('<h2 id="held">')[2].partition("</section>")[0]
            assert LIE in held
            assert f'href="/turns/{turn}"' in held
            assert "2 notes need your approval" in held
            assert 'id="dismissed"' not in text
            async with session.post(path) as answer:
                assert answer.status == 404
            found = re.search(r"/memory/questions/\d+/answer", held)
            assert found is not None
            async with session.post(found[0], data={"choice": "accept"}) as answer:
                assert answer.status == 200
                assert answer.url.path == "/memory"
            text = ""
            async with asyncio.timeout(PATIENCE):
                while LIE not in text:
                    async with session.get("/memory") as answer:
                        text = await answer.text()
            assert f'<ins class="text">{LIE}</ins>' in text
    assert LIE in read_notes(home)


async def find_path(session: aiohttp.ClientSession, page: str) -> str | None:
    """The address of the first button that brings a note back."""
    async with session.get(page) as answer:
        found = re.search(r"/memory/dismissed/\d+/restore", await answer.text())
    return found[0] if found else None


async def find_slug(running: Served, slug: str) -> Person:
    everybody = await running.gateway.database.read(people.list_all)
    return next(one for one in everybody if one.slug == slug)


async def test_a_note_of_somebody_else_is_neither_shown_nor_decided(setup: Setup) -> None:
    zebrana, database = await find_named(setup, "zebrana"), setup.served.gateway.database
    review, _ = await database.write("test", lambda c: hold(c, zebrana))
    async with browse_as(setup.served, setup.chat, OLGA) as session:
        for path in ("/memory", "/today"):
            async with session.get(path) as answer:
                text = await answer.text()
            assert LIE not in text
            assert "your approval" not in text
        async with session.post(f"/memory/held/{review}/1/accept") as answer:
            assert answer.status == 404
    async with (
        browse_as(setup.served, setup.chat, ZEBRANA) as session,
        session.get("/memory") as answer,
    ):
        assert LIE in await answer.text()
