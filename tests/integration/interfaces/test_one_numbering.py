"""A change of memory has one number: in chats, on the page, over the API and in the terminal."""

import asyncio
import json
import re
from itertools import count

import aiohttp

from agent_core.memory.archive import writes
from agent_core.memory.archive.entries import ArchiveContent
from agent_core.memory.edits_within_limits import Edit
from agent_core.state.memory.ledger import Origin
from gateway.interfaces import client
from tests.integration.interfaces.api_setup import (
    OLGA,
    ZEBRANA,
    Setup,
    find_named,
    make_token,
    read,
)
from tests.integration.interfaces.console_setup import browse_as

_NOTES = ("Has a canary", "Rows on Tuesdays", "Keeps bees")
_IDS = count()


async def says(setup: Setup, text: str, user: str = OLGA) -> str:
    """The answer to a command in somebody's direct chat."""
    seen = len(setup.chat.shown)
    await setup.chat.says(text, user=user, chat=user, name="X", id=f"numbering-{next(_IDS)}")
    await setup.chat.until(lambda: len(setup.chat.shown) > seen)
    return setup.chat.shown[-1].text


async def learn(setup: Setup) -> None:
    """Give both people some memory, in turns, and Olga a note in her archive."""
    gateway = setup.served.gateway
    for note in _NOTES:
        for slug in ("zebrana", "olga"):
            person = await find_named(setup, slug)
            edit = Edit(action="add", target="memory", text=f"{note} ({slug})")
            origin = Origin(actor="person", now=gateway.now())
            await gateway.memory.store.change(person.id, person.slug, edit, origin)
    olga = await find_named(setup, "olga")
    content = ArchiveContent(text="The boiler is from Huber", tags=())
    origin = Origin(actor="person", now=gateway.now())
    await gateway.database.write(
        "test", writes.insert_entry, person_id=olga.id, content=content, origin=origin
    )


async def test_every_surface_gives_a_change_the_same_number(setup: Setup) -> None:
    await learn(setup)
    listed = await says(setup, "/memory")
    in_chat = {text: int(number) for number, text in re.findall(r"- (\d+): (.+? \(olga\))", listed)}
    assert len(in_chat) == len(_NOTES)
    token = await make_token(setup.home, "olga", "manage")
    changes = json.loads((await read(setup, token, "/api/memory/ledger"))[1])["changes"]
    over_api = {one["after"]: one["id"] for one in changes}
    asked = {"person": "olga", "limit": 50}
    log = await asyncio.to_thread(client.ask, setup.home, "memory.log", asked)
    in_terminal = {one["after"]: one["row"] for one in log["changes"]}
    async with browse_as(setup.served, setup.chat, OLGA) as session:
        async with session.get("/memory") as answer:
            page = await answer.text()
        shown = re.findall(
            r'<h3 id="change-(\d+)">(\d+) ·.*?<ins class="text">(.*?)</ins>', page, re.DOTALL
        )
        assert all(anchor == number for anchor, number, _ in shown)
        on_page = {text: int(number) for _, number, text in shown}
        for text, number in in_chat.items():
            assert over_api[text] == in_terminal[text] == on_page[text] == number
        bees, canary, rows = (in_chat[f"{_NOTES[place]} (olga)"] for place in (2, 0, 1))
        assert "Keeps bees" in await says(setup, f"/undo {on_page['Keeps bees (olga)']}")
        async with session.post(f"/memory/{canary}/undo") as answer:
            assert answer.status == 200
    head = {"Authorization": f"Bearer {token}"}
    url = f"{setup.served.address.origin()}/api/memory/ledger/{rows}/undo"
    async with aiohttp.ClientSession() as api, api.post(url, headers=head) as answer:
        assert answer.status == 200
    left = await says(setup, "/memory")
    assert [note for note in _NOTES if note in left] == []
    assert f"- {bees}: " in await says(setup, f"/why {bees}")


async def test_a_note_of_the_archive_is_undone_by_the_number_of_its_change(setup: Setup) -> None:
    await learn(setup)
    async with (
        browse_as(setup.served, setup.chat, OLGA) as session,
        session.get("/memory") as answer,
    ):
        page = await answer.text()
    found = re.search(r'<h3 id="change-(\d+)">(?:(?!</article>).)*Huber', page, re.DOTALL)
    assert found is not None
    assert "Huber" in await says(setup, f"/why {found[1]}")
    assert "Huber" not in await says(setup, f"/undo {found[1]}", ZEBRANA)
    assert "Removed: The boiler is from Huber" in await says(setup, f"/undo {found[1]}")
