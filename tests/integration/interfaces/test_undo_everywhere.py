"""`/undo` takes back what its person did in this chat, and names what they did elsewhere."""

import itertools
import re
from html import unescape

import aiohttp

from adapters.ids import Address
from agent_core.agent.named.agent_files import AgentChange
from agent_core.agent.named.editor import Author, Wanted
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import jobs
from agent_core.state.memory import ledger
from agent_core.state.memory.ledger import Origin
from agent_core.state.people import delivery_targets
from agent_core.state.people.deeds import Doer, list_standing
from agent_core.state.webhooks import webhooks
from gateway.chats import make_chat
from gateway.commands.memory_scope import find_origin_platform
from gateway.interfaces.contexts import open_context
from gateway.operations.job_types import AddJob
from gateway.operations.jobs import add
from gateway.texts import forms, pages
from tests.integration.interfaces.api_setup import ZEBRANA, Setup, find_named, make_token
from tests.integration.interfaces.console_setup import browse_as

_NUMBERS = itertools.count(1)


async def hear(setup: Setup, text: str) -> str:
    """What Zebrana sees after a message in her direct chat."""
    seen = len(setup.chat.shown)
    name = f"undo-{next(_NUMBERS)}"
    await setup.chat.says(text, user=ZEBRANA, chat=ZEBRANA, name="Zebrana", id=name)
    await setup.chat.until(lambda: len(setup.chat.shown) > seen)
    return "\n".join(one.text for one in setup.chat.shown[seen:])


async def press(setup: Setup, label: str) -> str:
    """What Zebrana sees after a press of the newest button with this label."""
    before = setup.chat.texts
    await setup.chat.press(label, user=ZEBRANA, chat=ZEBRANA, name="Zebrana")
    await setup.chat.until(lambda: setup.chat.texts != before)
    return "\n".join(one for one in setup.chat.texts if one not in before)


async def undo_all(setup: Setup) -> str:
    """Take back what was done in the chat; the question about the newest change elsewhere."""
    for _ in range(12):
        if "Nothing is left to take back in this chat" in (told := await hear(setup, "/undo")):
            return told
    raise AssertionError(told)


async def send(session: aiohttp.ClientSession, path: str, **form: str) -> str:
    async with session.post(path, data=form) as answer:
        assert answer.status == 200, await answer.text()
        return await answer.text()


async def test_a_setting_of_the_page_is_named_taken_back_and_brought_back_in_a_chat(
    setup: Setup,
) -> None:
    before = await find_named(setup, "zebrana")
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        await hear(setup, "/tools off recall")
        await send(session, "/settings", name="verbosity", **{"set-verbosity": "quiet"})
        # What was done in this chat comes first, although the page is newer.
        assert "Turned back on here" in await hear(setup, "/undo")
        assert "Console): What you see of my work: Answers only" in await undo_all(setup)
        assert (await find_named(setup, "zebrana")).verbosity == "quiet"
        assert (
            await press(setup, "Undo")
            == "↩ Taken back. What you see of my work as before: Progress if it takes long"
        )
        assert await find_named(setup, "zebrana") == before
        assert "Answers only" in await press(setup, "Bring it back")
        assert (await find_named(setup, "zebrana")).verbosity == "quiet"
        assert "of my work as before: Progress if it takes long" in await hear(setup, "/undo")


async def test_a_title_a_tool_and_a_reminder_of_the_page_are_taken_back(setup: Setup) -> None:
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        async with session.get("/") as answer:
            place = re.findall(r'href="(/chats/\d+)"', await answer.text())[0]
        await send(session, f"{place}/title", title="Trip to Graz")
        await send(session, f"{place}/title", title="Trip to Linz")
        await send(session, "/tools/switch", tool="recall", on="no")
        await undo_all(setup)
        for part in ("Turned off here", "Trip to Linz", "Trip to Graz"):
            assert part in await hear(setup, "/undo")
            await press(setup, "Undo")
        async with session.get(place) as answer:
            assert "Trip to" not in await answer.text()


async def test_a_note_of_the_page_waits_behind_those_of_the_chat(setup: Setup) -> None:
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        await send(session, "/memory/entries", action="add", target="user", text="Likes tea")
        await hear(setup, "/settings verbosity verbose")
        assert "What you see of my work as before" in await hear(setup, "/undo")
        assert "Console): Memory: Likes tea" in await undo_all(setup)
        assert "Likes tea" in await hear(setup, "/memory")
        await press(setup, "Undo")
        assert "Likes tea" not in await hear(setup, "/memory")


async def test_a_share_of_the_page_is_named_and_taken_back(setup: Setup) -> None:
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        await hear(setup, "/verbose")
        text = await send(session, "/memory/entries", action="add", target="user", text="Likes tea")
        number = max(map(int, re.findall(r"entries/(\d+)/share", text)))
        await send(session, f"/memory/entries/{number}/share", sees="everyone")
        assert "Console): Everyone" in await undo_all(setup)
        assert "Only you can see" in await press(setup, "Undo")
        async with session.get("/memory") as answer:
            assert 'value="nobody"' not in await answer.text()
        assert "Everyone" in await press(setup, "Bring it back")


async def test_a_home_in_a_group_comes_back(setup: Setup) -> None:
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        await hear(setup, "/verbose")
        person_id = (await find_named(setup, "zebrana")).id
        den = make_chat(setup.chat.name, Address(chat_id="den", is_direct=False))
        database = setup.served.gateway.database
        await database.write("test", delivery_targets.set_home, person_id=person_id, chat=den)
        text = await send(session, "/settings", name="home", **{"set-home": ""})
        assert forms.A_GROUP() in text
        assert f"<button>{pages.UNDO()}</button>" in text
        undo = dict(re.findall(r'name="(name|set-home)" value="([^"]*)"', text))
        assert undo == {"name": "home", "set-home": "group"}
        text = await send(session, "/settings", **undo)
        assert (await database.read(delivery_targets.find, person_id=person_id)).chat == den
        assert f"<button>{pages.UNDO()}</button>" in text
        await send(session, "/settings", name="home", **{"set-home": ""})
        told = await undo_all(setup)
        assert "latest" in told, told
        assert "Taken back" in await press(setup, "Undo")
        found = await database.read(delivery_targets.find, person_id=person_id)
        assert found.chat == den


def find_last_outbox(connection: Connection) -> str:
    row = connection.execute("SELECT body FROM outbox ORDER BY id DESC LIMIT 1").fetchone()
    return str(row[0]) if row else ""


async def test_webhooks_of_the_page_and_of_a_program_are_taken_back_and_brought_back(
    setup: Setup,
) -> None:
    person_id = (await find_named(setup, "zebrana")).id
    database = setup.served.gateway.database

    async def look() -> list[tuple[str, str]]:
        found = await database.read(webhooks.list_of, person_id=person_id)
        return [(one.name, one.state) for one in found]

    form = {"url": "https://example.com/hook", "kinds": "question.asked"}
    headers = {"Authorization": f"Bearer {await make_token(setup.home, 'zebrana', 'manage')}"}
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        await hear(setup, "/verbose")
        await send(session, "/webhooks/add", name="build", **form)
        (made,) = await database.read(webhooks.list_of, person_id=person_id)
        await send(session, f"/webhooks/{made.id}/change", name="deploy", **form)
        await send(session, f"/webhooks/{made.id}/change", name="deploy", **form)  # changes nothing
        async with session.post(
            f"{setup.served.address.origin()}/api/webhooks/{made.id}/pause", headers=headers
        ) as answer:
            assert answer.status < 300, await answer.text()
        assert "API): Webhook “deploy” paused" in await undo_all(setup)
        assert "Webhook “deploy” active again" in await press(setup, "Undo")
        assert await look() == [("deploy", "active")]
        assert "Webhook “deploy” paused" in await press(setup, "Bring it back")
        assert await look() == [("deploy", "paused")]
        for state in ([("deploy", "active")], [("build", "active")], []):
            await hear(setup, "/undo")
            if await look() != state:
                await press(setup, "Undo")
            assert await look() == state
        assert "Webhook “build” brought back" in await press(setup, "Bring it back")
        assert await look() == [("build", "active")]


async def test_today_lists_what_forms_did_and_takes_it_back(setup: Setup) -> None:
    form = {"url": "https://example.com/hook", "kinds": "question.asked"}
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:

        async def read() -> tuple[str, list[str]]:
            async with session.get("/today") as answer:
                done = (await answer.text()).partition('id="done"')[2].partition("</section>")[0]
            return unescape(done), re.findall(r'action="(/deeds/\d+/undo)"', done)

        await send(session, "/settings", name="verbosity", **{"set-verbosity": "quiet"})
        await send(session, "/webhooks/add", name="build", **form)
        text, (newest, _) = await read()
        assert text.index("Webhook “build” added") < text.index("of my work: Answers only")
        seen = await setup.served.gateway.database.read(find_last_outbox)
        assert "Taken back: Webhook “build” added" in await send(session, newest)
        text, left = await read()
        assert "<s>Webhook “build” added</s>" in text
        assert "<s>What you see of my work: Answers only</s>" not in text
        assert len(left) == 1
        assert await setup.served.gateway.database.read(find_last_outbox) == seen


async def test_a_token_of_the_page_ends_by_undo_and_never_comes_back(setup: Setup) -> None:
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        await hear(setup, "/verbose")
        await send(session, "/tokens/new", name="kitchen", scope="api")
        assert "Console): Token “kitchen” made" in await undo_all(setup)
        assert "The program “kitchen” no longer has access" in await press(setup, "Undo")
        assert "Bring it back" not in setup.chat.shown[-1].labels
        text = await send(session, "/tokens/new", name="cellar", scope="api")
        number = re.findall(r"/tokens/(\d+)/revoke", text)[0]
        text = await send(session, f"/tokens/{number}/revoke")
        assert "I can't bring its token back" in unescape(text)


async def test_an_undo_of_a_token_that_is_gone_says_which_change_stays(setup: Setup) -> None:
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        await hear(setup, "/verbose")
        text = await send(session, "/tokens/new", name="kitchen", scope="api")
        assert "Console): Token “kitchen” made" in await undo_all(setup)
        number = max(map(int, re.findall(r"/tokens/(\d+)/revoke", text)))
        await send(session, "/settings", name="verbosity", **{"set-verbosity": "quiet"})
        await send(session, f"/tokens/{number}/revoke")  # not the newest deed, so no undo of it
        told = await press(setup, "Undo")
        assert told.startswith(f"There is no token {number};")
        assert told.endswith("\nSo there's nothing I can take back here: Token “kitchen” made.")


async def test_a_new_secret_says_why_nothing_takes_it_back(setup: Setup) -> None:
    form = {"url": "https://example.com/hook", "kinds": "question.asked"}
    person_id = (await find_named(setup, "zebrana")).id
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        text = await send(session, "/webhooks/add", name="build", **form)
        number = re.findall(r"/webhooks/(\d+)/rotate", text)[0]
        text = await send(session, f"/webhooks/{number}/rotate")
        assert "This can't be undone." in unescape(text)
    doer = Doer(person_id=person_id, owner_id=person_id, platform="console")
    newest, added = (await setup.served.gateway.database.read(list_standing, doer))[:2]
    assert newest.did.endswith("the old one must not become valid again")
    assert (newest.undo, added.undo) == ("", f"webhooks remove {number}")


async def test_each_row_of_a_command_tells_where_it_was_given(setup: Setup) -> None:
    await hear(setup, "/verbose")
    database = setup.served.gateway.database
    for row in (0, 1):
        origin = Origin(actor="person", now=1, call_key=ledger.name_call("inbox:1", 0, row))
        assert await database.read(find_origin_platform, origin) == setup.chat.name


async def test_undo_below_what_came_back_takes_back_that_and_nothing_newer(setup: Setup) -> None:
    await hear(setup, "/verbose on")
    await hear(setup, "/undo")
    await press(setup, "Bring it back")
    assert (await find_named(setup, "zebrana")).verbosity == "verbose"
    await hear(setup, "/tools off recall")
    assert (
        await press(setup, "Undo")
        == "↩ Taken back. What you see of my work as before: Progress if it takes long"
    )
    assert (await find_named(setup, "zebrana")).verbosity == "normal"
    assert "Turned back on here" in await hear(setup, "/undo")


async def test_an_older_change_of_a_reminder_takes_back_itself_when_a_newer_one_stands(
    setup: Setup,
) -> None:
    """The undo of the first change took the second one back, too."""
    database = setup.served.gateway.database
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        asked = AddJob(person="zebrana", kind="message", text="Water it", cron="0 9 * * *")
        number = (await add(open_context(setup.served.gateway), asked)).id

        async def title_and_text() -> tuple[str, str]:
            found = await database.read(jobs.find, job_id=number)
            assert found
            return found.title, found.body

        before, text = await title_and_text()
        await send(session, f"/jobs/{number}/change", title="Feed")
        assert "Feed" in await undo_all(setup)
        await send(session, f"/jobs/{number}/change", text="Prune")
        assert await title_and_text() == ("Feed", "Prune")
        await press(setup, "Undo")
        assert await title_and_text() == (before, "Prune")
        await press(setup, "Bring it back")
        assert await title_and_text() == ("Feed", "Prune")
        assert text != "Prune"


async def test_an_agent_that_was_put_away_and_who_answers_are_taken_back(setup: Setup) -> None:
    gateway = setup.served.gateway
    person = await find_named(setup, "zebrana")
    await gateway.database.write(
        "test", lambda c: c.execute("UPDATE people SET role = 'owner' WHERE id = ?", (person.id,))
    )
    gateway.forget_known()
    editor = gateway.agent_editor
    await editor.do("create", "coder", Wanted(agent=AgentChange(soul="You code.")), Author())
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        await send(session, "/agents/coder/archive")
        assert "Archived: coder" in await undo_all(setup)
        assert "“coder” is back" in await press(setup, "Undo")
        assert editor.files.agents.find("coder").name == "coder"
        assert "coder is archived" in await press(setup, "Bring it back")
        assert "“coder” is back" in await hear(setup, "/undo")
        await hear(setup, "/agents use coder")
        assert (await find_named(setup, "zebrana")).agent == "coder"
        assert "Taken back" in await hear(setup, "/undo")
        assert (await find_named(setup, "zebrana")).agent == ""
