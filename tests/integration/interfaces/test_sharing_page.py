"""Who sees an entry of memory or a block, on the pages and over the control socket."""

import asyncio
import html
import re

import pytest

from agent_core.state.engine.database import Connection
from agent_core.state.memory import blocks, shares
from agent_core.state.memory.blocks import Block
from agent_core.state.people import audit
from gateway.errors import Mistaken
from gateway.interfaces.client import perform_typed
from gateway.operations.memory_types import ChangedAudience, ShareEntry
from gateway.texts import blocks as block_texts
from gateway.texts import forms
from tests.integration.interfaces.api_setup import OLGA, ZEBRANA, Setup, find_named
from tests.integration.interfaces.console_setup import browse_as

NOTE = "Prefers short answers"


async def read_audiences(setup: Setup) -> list[str]:
    person = await find_named(setup, "zebrana")

    def look(connection: Connection) -> list[str]:
        return [one.audience for one in shares.list_of(connection, person_id=person.id)]

    return await setup.served.gateway.database.read(look)


async def test_an_entry_is_shared_and_made_private_on_the_page(setup: Setup) -> None:
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        async with session.post("/memory/entries", data={"text": NOTE}) as answer:
            text = html.unescape(await answer.text())
        forms_of_notes = re.findall(r'entries/(\d+)/share">(.*?)</form>', text, re.DOTALL)
        (number,) = [number for number, form in forms_of_notes if f": {NOTE}" in form]
        assert forms.ONLY_YOU_SEE() in text
        async with session.post(f"/memory/entries/{number}/share", data={"sees": "everyone"}) as it:
            text = html.unescape(await it.text())
        assert it.status == 200
        assert f"can now see note {number}: {NOTE}" in text
        assert forms.WHO_SEES(names="everyone") in text
        assert await read_audiences(setup) == ["everyone"]
        async with browse_as(setup.served, setup.chat, OLGA) as other:
            path = f"/memory/entries/{number}/share"
            async with other.post(path, data={"sees": "nobody"}) as answer:
                assert answer.status in (409, 422), await answer.text()
        assert await read_audiences(setup) == ["everyone"], "nobody changes another's entry"
        async with session.post(f"/memory/entries/{number}/share", data={"sees": "nobody"}) as it:
            text = html.unescape(await it.text())
        assert f"Only you can see note {number} now" in text
        assert await read_audiences(setup) == []
    person = await find_named(setup, "zebrana")
    deeds = await setup.served.gateway.database.read(audit.list_of, person_id=person.id, limit=9)
    told = [(one.action, one.actor) for one in deeds if one.action.startswith("memory.")]
    assert sorted(told) == [
        ("memory.hide", f"person:{person.id}"),
        ("memory.share", f"person:{person.id}"),
    ]


async def test_the_operation_knows_only_entries_that_exist(setup: Setup) -> None:
    asked = ShareEntry(person="zebrana", row=987, sees="everyone")
    with pytest.raises(Mistaken, match="no note 987"):
        await asyncio.to_thread(perform_typed, setup.home, "memory.share", asked, ChangedAudience)


async def test_blocks_are_made_shared_changed_and_deleted_on_the_page(setup: Setup) -> None:
    async def find_block() -> Block | None:
        return await setup.served.gateway.database.read(blocks.find, label="trips")

    async with browse_as(setup.served, setup.chat, OLGA) as session:

        async def post(path: str, **fields: str) -> tuple[int, str]:
            async with session.post(path, data=fields) as answer:
                return answer.status, html.unescape(await answer.text())

        status, text = await post("/blocks/new", name="share", limit="300", description="trips")
        assert status == 422
        assert block_texts.BAD_LABEL() in text
        assert 'value="share"' in text, "what was typed stays"
        wish = {"limit": "300", "description": "where we go"}
        assert (await post("/blocks/new", name="Trips", **wish))[0] == 200
        shared = await post("/blocks/trips/share", reader="Zebrana")
        assert shared[0] == 200
        assert block_texts.SEEN_BY(name="Zebrana") in shared[1]
        wish = {"limit": "400", "description": "where we went", "is_read_only": "on"}
        assert (await post("/blocks/trips/change", **wish))[0] == 200
        found = await find_block()
        assert found is not None
        assert (found.limit, found.description, found.is_read_only) == (400, "where we went", True)
        async with browse_as(setup.served, setup.chat, ZEBRANA) as other:
            async with other.get("/blocks") as answer:
                text = await answer.text()
            assert "where we went" in text
            assert "/blocks/trips/change" not in text
            for verb in ("change", "share", "drop"):
                fields = {**wish, "reader": "everyone"}
                async with other.post(f"/blocks/trips/{verb}", data=fields) as answer:
                    assert answer.status == 409, verb
            async with other.post("/blocks/trips/unshare", data={"reader": "me"}) as answer:
                assert "where we went" not in await answer.text()
            async with other.post("/blocks/trips/drop") as answer:
                assert answer.status == 404, "whoever doesn't see a block doesn't learn of it"
        assert await find_block() == found
        assert (await post("/blocks/trips/drop"))[0] == 200
        assert await find_block() is None
