"""Who sees an entry of memory, on the page Memory and over the control socket."""

import asyncio
import html
import re

import pytest

from agent_core.state.engine.database import Connection
from agent_core.state.memory import shares
from agent_core.state.people import audit
from gateway.errors import Mistaken
from gateway.interfaces.client import perform_typed
from gateway.operations.memory_types import ChangedAudience, ShareEntry
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
        assert f"can now see entry {number}: {NOTE}" in text
        assert forms.WHO_SEES(names="everyone") in text
        assert await read_audiences(setup) == ["everyone"]
        async with browse_as(setup.served, setup.chat, OLGA) as other:
            path = f"/memory/entries/{number}/share"
            async with other.post(path, data={"sees": "nobody"}) as answer:
                assert answer.status in (409, 422), await answer.text()
        assert await read_audiences(setup) == ["everyone"], "nobody changes another's entry"
        async with session.post(f"/memory/entries/{number}/share", data={"sees": "nobody"}) as it:
            text = html.unescape(await it.text())
        assert f"Only you can see entry {number} now" in text
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
    with pytest.raises(Mistaken, match="no entry 987"):
        await asyncio.to_thread(perform_typed, setup.home, "memory.share", asked, ChangedAudience)
