"""Tidying up on the page Memory, and over the API."""

import html

import aiohttp

from gateway.texts import curator as texts
from tests.integration.interfaces.api_setup import OLGA, ZEBRANA, Setup, find_named, make_token
from tests.integration.interfaces.console_setup import browse_as
from tests.integration.interfaces.suggestions import GOES, STAYS, suggest


async def prepare(setup: Setup, slug: str) -> str:
    """Give a person two notes that say the same, and the suggestion to remove one."""
    person = await find_named(setup, slug)
    token = await make_token(setup.home, slug, "manage", "notes")
    head = {"Authorization": f"Bearer {token}"}
    async with aiohttp.ClientSession(setup.served.address.origin(), headers=head) as api:
        for note in (STAYS, GOES):
            async with api.post("/api/memory/entries", json={"text": note}) as answer:
                assert answer.status == 201, await answer.text()
    return await setup.served.gateway.database.write("test", lambda c: suggest(c, person))


async def test_a_suggestion_is_shown_accepted_and_undone_on_the_page(setup: Setup) -> None:
    look = await prepare(setup, "zebrana")
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        async with session.get("/memory") as answer:
            text = html.unescape(await answer.text())
        shown = text.partition('<h2 id="tidying">')[2].partition("</section>")[0]
        for words in (texts.WAYS["duplicate"](), "Both name the cat.", f">{GOES}</del>", STAYS):
            assert words in shown, words
        for path, status in (
            (f"/memory/proposals/{look}-0/explode", 404),
            ("/memory/proposals/999-0/accept", 409),
            (f"/memory/proposals/{look}-1/decline", 200),
            (f"/memory/proposals/{look}-0/accept", 200),
        ):
            async with session.post(path) as answer:
                assert answer.status == status, path
                text = html.unescape(await answer.text())
        assert "Done." in text
        (row,) = await setup.served.gateway.database.read(
            lambda c: c.execute("SELECT id FROM ledger WHERE call_key LIKE 'curation:%'").fetchone()
        )
        assert f'action="/memory/{row}/undo"' in text
        assert texts.WAYS["duplicate"]() not in text
        async with session.post(f"/memory/{row}/undo") as answer:
            assert answer.status == 200
    notes = (setup.home / "memories" / "people" / "zebrana" / "USER.md").read_text()
    assert STAYS in notes
    assert GOES in notes, "it was undone"


async def test_nobody_decides_about_the_memory_of_somebody_else(setup: Setup) -> None:
    look = await prepare(setup, "zebrana")
    async with browse_as(setup.served, setup.chat, OLGA) as session:
        async with session.get("/memory") as answer:
            assert GOES not in await answer.text()
        async with session.post(f"/memory/proposals/{look}-0/accept") as answer:
            assert answer.status == 409
    notes = (setup.home / "memories" / "people" / "zebrana" / "USER.md").read_text()
    assert GOES in notes


async def test_owners_tidy_up_all_and_members_their_own_memory(setup: Setup) -> None:
    for user, scope in ((ZEBRANA, "own_memory"), (OLGA, "everything")):
        async with browse_as(setup.served, setup.chat, user) as session:
            async with session.get("/memory") as answer:
                assert texts.TIDY_NOW() in await answer.text()
            async with session.post("/memory/tidy") as answer:
                assert answer.status == 200
                assert texts.STARTED[scope]() in html.unescape(await answer.text())


async def test_a_program_sees_suggestions_and_decides_once(setup: Setup) -> None:
    look = await prepare(setup, "zebrana")
    token = await make_token(setup.home, "zebrana", "manage")
    head = {"Authorization": f"Bearer {token}"}
    async with aiohttp.ClientSession(setup.served.address.origin(), headers=head) as api:
        async with api.get("/api/curator") as answer:
            found = await answer.json()
        assert [one["key"] for one in found["proposals"]] == [f"{look}-0", f"{look}-1"]
        assert (found["proposals"][0]["removed"], found["proposals"][0]["kept"]) == ([GOES], STAYS)
        assert found["lists"][0]["notes"] == 3
        decided = []
        for _ in range(2):
            async with api.post(f"/api/curator/proposals/{look}-0/accept") as answer:
                decided.append(await answer.json())
        assert decided[0] == decided[1]
        assert (decided[0]["state"], len(decided[0]["rows"])) == ("accepted", 1)
        async with api.post(f"/api/curator/proposals/{look}-1/accept") as answer:
            assert (await answer.json())["state"] == "outdated", "the note is gone"
