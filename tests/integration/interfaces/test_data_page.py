"""Your data on the page and over the API: a copy, words to delete, and everything."""

import asyncio
import html
import io
import zipfile

import aiohttp

from agent_core.state.engine.database import Connection
from agent_core.state.people import people
from agent_core.state.queues import unreachable_chats
from gateway.texts import privacy
from tests.integration.interfaces.api_setup import OLGA, ZEBRANA, Setup, find_named, make_token
from tests.integration.interfaces.console_setup import browse_as, open_chat
from tests.patience import PATIENCE

NOTE = "Keeps a pelican"


async def remember(setup: Setup, slug: str) -> str:
    """Give a person a note about a pelican; a token of theirs."""
    token = await make_token(setup.home, slug, "manage", "notes")
    head = {"Authorization": f"Bearer {token}"}
    url = f"{setup.served.address.origin()}/api/memory/entries"
    async with (
        aiohttp.ClientSession(headers=head) as api,
        api.post(url, json={"text": NOTE}) as answer,
    ):
        assert answer.status == 201
    return token


async def test_a_person_downloads_a_copy_of_their_own_data(setup: Setup) -> None:
    await remember(setup, "zebrana")
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        async with session.get("/data") as answer:
            assert 'href="/data/export"' in await answer.text()
        async with session.get("/data/export") as answer:
            assert answer.status == 200
            assert answer.headers["Content-Disposition"].startswith("attachment")
            archive = zipfile.ZipFile(io.BytesIO(await answer.read()))
    texts = b"".join(archive.read(name) for name in archive.namelist()).decode("utf-8", "replace")
    assert NOTE in texts
    assert "Olga" not in texts

    async def wait_for_folder() -> None:
        while [*setup.home.glob(".export-*")]:
            await asyncio.sleep(0.01)

    await asyncio.wait_for(wait_for_folder(), PATIENCE)


async def test_words_are_shown_then_deleted_and_reported_in_the_chat(setup: Setup) -> None:
    await remember(setup, "zebrana")
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        for words, said in (
            ("", privacy.FORGET_USAGE().partition(":")[0]),
            ("walrus", privacy.FORGET_NOTHING()),
            ("pelican", NOTE),
        ):
            async with session.post("/data/find", data={"words": words}) as answer:
                assert said in html.unescape(await answer.text()), words
        notes = setup.home / "memories" / "people" / "zebrana" / "USER.md"
        assert NOTE in notes.read_text(), "a look deletes nothing"
        form = {"words": "pelican", "scope": "entries"}
        async with session.post("/data/forget", data=form) as answer:
            assert privacy.FORGET_BEGUN() in html.unescape(await answer.text())
        await setup.chat.until(
            lambda: any(one.text.startswith("Deleted:") for one in setup.chat.shown)
        )
    assert NOTE not in notes.read_text()


async def test_the_report_to_a_member_without_a_chat_app_is_on_their_page_only(
    setup: Setup,
) -> None:
    await remember(setup, "zebrana")
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:

        def end_chats(connection: Connection) -> None:
            for name, chat in connection.execute("SELECT DISTINCT platform, chat FROM turns"):
                unreachable_chats.add(connection, platform=name, chat=chat, reason="left", now=0)

        await setup.served.gateway.database.write("test.end", end_chats)
        async with open_chat(session) as page:
            form = {"words": "pelican", "scope": "entries"}
            async with session.post("/data/forget", data=form) as answer:
                assert answer.status == 200
            await page.hear_text("Deleted:")


async def test_a_person_erases_themselves_after_typing_their_name(setup: Setup) -> None:
    zebrana = await find_named(setup, "zebrana")
    # A page shows one space for two, and a keyboard writes one letter for two.
    await setup.served.gateway.database.write(
        "test.rename", people.rename, person_id=zebrana.id, name="Zebrana  Jose\u0301 "
    )
    setup.served.gateway.forget_known()
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        async with session.post("/data/erase", data={"name": "zebra"}) as answer:
            assert "That isn't the name." in html.unescape(await answer.text())
        async with session.post("/data/erase", data={"name": "Zebrana Jos\u00e9"}) as answer:
            assert answer.status == 200
            assert "I'm deleting your data now." in html.unescape(await answer.text())

    def is_known(connection: Connection) -> bool:
        return any(one.id == zebrana.id for one in people.list_all(connection))

    async with asyncio.timeout(PATIENCE):
        while await setup.served.gateway.database.read(is_known):
            await asyncio.sleep(0.01)


async def test_the_only_owner_reads_why_they_stay(setup: Setup) -> None:
    async with (
        browse_as(setup.served, setup.chat, OLGA) as session,
        session.post("/data/erase", data={"name": "Olga"}) as answer,
    ):
        text = html.unescape(await answer.text())
    assert "You're the only owner, so I can't delete your data." in text
    assert await find_named(setup, "olga")


async def test_a_program_copies_and_forgets_what_is_its_persons(setup: Setup) -> None:
    token = await remember(setup, "zebrana")
    other = await make_token(setup.home, "olga", "manage")
    url = f"{setup.served.address.origin()}/api"
    async with aiohttp.ClientSession() as api:
        for key, status in ((other, 409), (token, 200)):
            head = {"Authorization": f"Bearer {key}"}
            body = {"words": "pelican", "delete": True}
            async with api.post(f"{url}/forget", json=body, headers=head) as answer:
                assert answer.status == status
                said = await answer.json()
        assert said["is_begun"]
        await setup.chat.until(
            lambda: any(one.text.startswith("Deleted:") for one in setup.chat.shown)
        )
        head = {"Authorization": f"Bearer {token}"}
        async with api.get(f"{url}/export", headers=head) as answer:
            archive = zipfile.ZipFile(io.BytesIO(await answer.read()))
    texts = b"".join(archive.read(name) for name in archive.namelist()).decode("utf-8", "replace")
    assert NOTE not in texts
