"""The forms that create and remove: reminders, invitations, people who wait, and people."""

import asyncio
import html
import json
import re
from itertools import count
from pathlib import Path

import aiohttp
import pytest

from agent_core.state.conversations import approvals
from agent_core.state.conversations.approvals import NewApproval
from agent_core.state.jobs import jobs
from agent_core.state.jobs.jobs import Job
from agent_core.state.people import audit, people
from agent_core.state.people.people import Person
from gateway.interfaces import client
from gateway.texts import general
from tests.integration.interfaces.api_setup import OLGA, ZEBRANA, Setup, find_named
from tests.integration.interfaces.console_setup import browse_as
from tests.integration.interfaces.page_texts import read

_IDS = count()
REMINDER = {"text": "Water the plants", "when": "every monday at 19:00", "kind": "message"}


async def post(
    session: aiohttp.ClientSession, path: str, form: dict[str, str] | None = None
) -> tuple[int, str]:
    """Send a form; the status and the page that follows."""
    async with session.post(path, data=form or {}) as answer:
        return answer.status, html.unescape(await answer.text())


async def says(setup: Setup, text: str, user: str, **fields: object) -> str:
    """The answer to a message in somebody's direct chat."""
    seen = len(setup.chat.shown)
    place = {"user": user, "chat": user, "name": "Ben", "id": f"form-{next(_IDS)}"}
    await setup.chat.says(text, **place | fields)
    await setup.chat.until(lambda: len(setup.chat.shown) > seen)
    return setup.chat.shown[-1].text


async def list_jobs(setup: Setup, slug: str) -> list[Job]:
    person = await find_named(setup, slug)
    return await setup.served.gateway.database.read(jobs.list_of_person, person_id=person.id)


async def list_people(setup: Setup) -> list[Person]:
    return await setup.served.gateway.database.read(people.list_all)


async def test_a_reminder_is_previewed_and_created_once(setup: Setup) -> None:
    before = await list_jobs(setup, "zebrana")
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        text = await read(session, "/jobs/new")
        key = re.search(r'name="key" value="([^"]+)"', text)
        assert key is not None
        form = REMINDER | {"key": key[1]}
        for path, more in (("/jobs/new/times", {}), ("/jobs/new", {"preview": "yes"})):
            status, text = await post(session, path, form | more)
            assert (status, len(re.findall(r"<li>[^<]+, 19:00</li>", text))) == (200, 4)
            assert await list_jobs(setup, "zebrana") == before, "a preview creates nothing"
        for _ in range(2):
            status, text = await post(session, "/jobs/new", form)
            assert (status, "I'll remind you: Water the plants." in text) == (200, True)
            assert "Sent to: our latest direct conversation (now on " in text
        async with session.post("/jobs/new", data=form, allow_redirects=False) as answer:
            assert answer.status == 303
            assert answer.headers["Location"].startswith("/jobs?")
    (made,) = [one for one in await list_jobs(setup, "zebrana") if one not in before]
    assert (made.kind, made.body) == ("message", "Water the plants")


async def test_a_wrong_reminder_says_so_beside_the_field(setup: Setup) -> None:
    rows = [
        ({"when": "someday"}, "when", "I can't read “someday” as a time."),
        ({"when": "2001-01-01T08:00"}, "when", "That time is past. Choose a later one."),
        (
            {"when": "every 30 February"},
            "when",
            "30 February never occurs. Choose another day, such as 28 February.",
        ),
        (
            {"when": "0 9 31 4 *"},
            "when",
            "31 April never occurs. Choose another day, such as 30 April.",
        ),
        ({"when": ""}, "when", "Please fill this in."),
        ({"text": ""}, "text", "Please fill this in."),
    ]
    before = await list_jobs(setup, "zebrana")
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        for change, field, words in rows:
            status, text = await post(session, "/jobs/new", REMINDER | change)
            assert status == 422, change
            assert f'id="fault-{field}" role="alert">{words}' in text
            kept = {**REMINDER, **change}
            assert f'value="{kept["when"]}"' in text
            assert f">{kept['text']}</textarea>" in text
    assert await list_jobs(setup, "zebrana") == before


DOCS = Path("docs/reminders-and-digests.md").read_text()
SAID_IN_DOCS = (
    ("in 20 minutes", "in 20 minutes to call Ada"),
    ("Every Monday at 8", "Every Monday at 8, remind me"),
    ("On the last working day of each month at 16:00", ""),
    ("Every weekday at 7", "Every weekday at 7, send me"),
    ("Every 2 weeks on Thursday at 8:00 and 18:30, until the end of March.", ""),
    ("Every 90 minutes between 9 and 17 on weekdays, except on holidays.", ""),
    ("On the first working day of the month at 9.", ""),
    ("Half an hour before sunset on Fridays, ten times.", ""),
    ("every day at 8, not from 24 December to 6 January", "not from 24 December to 6 January"),
    ("every day at 8:00 and 18:30", "8:00 and 18:30"),
    ("two days before the month ends at 9", "two days before the month ends"),
    ("the last Friday of the month at 9", "the last Friday"),
)
"""What the field When reads, and the words of the docs that promise it, if others."""


async def test_the_field_reads_each_time_that_the_docs_promise(setup: Setup) -> None:
    await says(setup, "/settings time_zone Europe/Vienna", ZEBRANA)
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        for when, promised in SAID_IN_DOCS:
            assert (promised or when) in DOCS, when
            status, text = await post(session, "/jobs/new/times", REMINDER | {"when": when})
            assert (status, "I understand: " in text) == (200, True), text[
                text.index('id="times"') :
            ][:400]
        status, text = await post(session, "/jobs/new/times", REMINDER | {"when": "at full moon"})
        shown = text[text.index('<div id="times"') :]
        assert (status, "I can't read “at full moon” as a time." in shown) == (200, True)
    await says(setup, "/settings time_zone UTC", ZEBRANA)


async def test_the_field_shows_both_clocks_of_a_time_elsewhere(setup: Setup) -> None:
    rows = (
        ("tomorrow at 9 Tokyo time", r"I understand: Once, [^(]+, [12]:00 \([^)]*9:00 in Tokyo\)"),
        ("every Monday at 9 Tokyo time", r"I understand: Every Monday, 9:00 \(Tokyo time\)"),
        ("every day at 9", r"I understand: Every day, 9:00\."),
    )
    await says(setup, "/settings time_zone Europe/Vienna", ZEBRANA)
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        for when, promised in rows:
            _, text = await post(session, "/jobs/new/times", REMINDER | {"when": when})
            assert re.search(promised, text), text[text.index('id="times"') :][:400]
    await says(setup, "/settings time_zone UTC", ZEBRANA)


async def test_a_date_that_may_be_two_is_refused_with_both(setup: Setup) -> None:
    told = "“3/4/2099 at 9” may be two dates. Write “2099-04-03 at 9” for 3 Apr 2099, 9:00, or"
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        for when, is_read in (("3/4/2099 at 9", False), ("2099-04-03 at 9", True)):
            _, text = await post(session, "/jobs/new/times", REMINDER | {"when": when})
            shown = text[text.index('<div id="times"') :]
            assert (told in shown, "I understand: " in shown) == (not is_read, is_read), shown[:400]


async def test_an_invitation_lets_in_one_account_and_no_other(setup: Setup) -> None:
    async with browse_as(setup.served, setup.chat, OLGA) as session:
        status, text = await post(session, "/people/invite", {"guest": "Ben"})
        assert (status, "The invitation for Ben is ready." in text) == (200, True)
        code = re.search(r"/join ([A-Z2-9]{4}-[A-Z2-9]{4})", text)
        assert code is not None
        text = await read(session, "/people")
        assert code[1] not in text, "it is shown once"
        assert "for Ben" in text
        assert "Hi Ben!" in await says(setup, f"/join {code[1]}", "4711077")
        text = await read(session, "/people")
        assert "for Ben" not in text
        assert '<span class="soft">by invitation, since ' in text
    assert ", by invitation (this one)" in await says(setup, "/accounts", "4711077")
    assert "Hi" not in await says(setup, f"/join {code[1]}", "4711078")
    assert await says(setup, "/join WXYZ-WXYZ", "4711077") == general.IN_ALREADY()
    ben = next(one for one in await list_people(setup) if one.name == "Ben")
    assert ben.role == "member"
    recorded = await setup.served.gateway.database.read(
        audit.find_newest, person_id=ben.id, action="people.join"
    )
    assert recorded is not None


@pytest.mark.parametrize(("guest", "whom"), [("Ben", "for “Ben”"), ("", "for someone")])
async def test_a_cancelled_invitation_is_named_by_its_guest(
    setup: Setup, guest: str, whom: str
) -> None:
    async with browse_as(setup.served, setup.chat, OLGA) as session:
        await post(session, "/people/invite", {"guest": guest})
        found = re.search(r"/people/waiting/(\d+)/cancel", await read(session, "/people"))
        assert found is not None
        _, text = await post(session, found[0], {"back": "/people"})
        assert f"The invitation {whom} is cancelled." in text


async def test_a_link_with_the_code_of_an_invitation_joins_at_once(setup: Setup) -> None:
    made = await asyncio.to_thread(client.ask, setup.home, "people.invite", {"guest": "Ben"})
    assert "Hi Ben!" in await says(setup, f"/start join-{made['code']}", "4711077")


async def test_a_code_that_a_group_has_seen_lets_nobody_in(setup: Setup) -> None:
    made = await asyncio.to_thread(client.ask, setup.home, "people.invite", {})
    told = await says(setup, f"/join {made['code']}", "4711077", chat="den", direct=False)
    assert told == general.INVITE_IN_GROUP()
    assert "Hi" not in await says(setup, f"/join {made['code']}", "4711078")


async def test_owners_invite_in_a_chat_and_members_do_not(setup: Setup) -> None:
    told = await says(setup, "/invite Ben", OLGA)
    code = re.search(r"/join ([A-Z2-9]{4}-[A-Z2-9]{4})", told)
    assert code is not None, told
    assert "Hi Ben!" in await says(setup, f"/join {code[1]}", "4711077")
    assert await says(setup, "/invite Eve", ZEBRANA) == general.OWNER_ONLY()


@pytest.mark.parametrize("page", ["/today", "/people"])
async def test_who_waits_is_let_in_or_refused_on_the_page(setup: Setup, page: str) -> None:
    await says(setup, "hello?", "4711081", name="Ina")
    await says(setup, "hello?", "4711082", name="Jon")
    async with browse_as(setup.served, setup.chat, OLGA) as session:
        text = await read(session, page)
        button = r'/waiting/(\d+)/approve">.*?<button class="primary" aria-label="Let (\w+) in"'
        found = {name: number for number, name in re.findall(button, text)}
        assert sorted(found) == ["Ina", "Jon"]
        assert '<span class="count" aria-hidden="true">2</span>' in text
        for name, verb, said in (
            ("Ina", "approve", "can now talk to me"),
            ("Jon", "cancel", "I've refused"),
            ("Ina", "approve", "can talk to me already"),
            ("Ina", "cancel", "can talk to me already"),
            ("Jon", "approve", "isn't waiting any more"),
            ("Jon", "cancel", "isn't waiting any more"),
        ):
            path = f"/people/waiting/{found[name]}/{verb}"
            async with session.post(path, data={"back": page}) as answer:
                assert (answer.status, answer.url.path) == (200, page)
                assert said in html.unescape(await answer.text()), (name, verb)
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        await says(setup, "hello?", "4711083", name="Kim")
        assert "Kim" not in await read(session, "/today"), "members let nobody in"
    assert "Ina" in [one.name for one in await list_people(setup)]
    assert "Jon" not in [one.name for one in await list_people(setup)]


async def test_a_person_is_removed_after_their_name_was_typed(setup: Setup) -> None:
    zebrana = await find_named(setup, "zebrana")
    async with browse_as(setup.served, setup.chat, OLGA) as session:
        path = f"/people/{zebrana.id}/remove"
        assert zebrana.name in await read(session, path)
        status, text = await post(session, path, {"name": "somebody"})
        assert (status, "That isn't the name." in text) == (422, True)
        assert "zebrana" in [one.slug for one in await list_people(setup)]
        status, text = await post(session, path, {"name": zebrana.name})
        assert (status, "is removed" in text) == (200, True)
        assert "zebrana" not in [one.slug for one in await list_people(setup)]
        olga = await find_named(setup, "olga")
        assert (await post(session, f"/people/{olga.id}/remove"))[0] == 404, "not oneself"


async def test_each_press_in_the_list_of_reminders_says_what_it_did(setup: Setup) -> None:
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        await post(session, "/jobs/new", REMINDER)
        number = (await list_jobs(setup, "zebrana"))[-1].id
        for verb, said in (
            ("pause", "is paused."),
            ("resume", "is active again."),
            ("delete", "is deleted. You can restore it below."),
            ("restore", "is back."),
        ):
            status, text = await post(session, f"/jobs/{number}/{verb}")
            assert (status, f"“Water the plants” {said}" in text) == (200, True), verb


async def test_members_neither_invite_nor_remove(setup: Setup) -> None:
    olga = await find_named(setup, "olga")
    paths = ("/people/invite", "/people/approve", f"/people/{olga.id}/remove")
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        for path in paths:
            assert (await post(session, path, {"name": olga.name, "guest": "x"}))[0] == 403
    entrances = await asyncio.to_thread(client.ask, setup.home, "people.entrances", {})
    assert json.dumps(entrances["invitations"]) == "[]"
    assert "olga" in [one.slug for one in await list_people(setup)]


async def test_settings_are_changed_over_the_api_and_in_the_terminal(setup: Setup) -> None:
    wish = {"person": "zebrana", "settings": [{"name": "time_zone", "value": "Vienna"}]}
    done = await asyncio.to_thread(client.ask, setup.home, "settings.set", wish)
    assert {"name": "time_zone", "value": "Europe/Vienna"} in done["settings"]
    assert (await find_named(setup, "zebrana")).time_zone == "Europe/Vienna"


async def test_a_skill_is_written_changed_undone_archived_and_brought_back(setup: Setup) -> None:
    folder = setup.home / "skills" / "trip-planning"
    form = {
        "name": "trip-planning",
        "description": 'Plans trips: "short" ones',
        "instructions": "Ask for the days first.",
    }
    async with browse_as(setup.served, setup.chat, OLGA) as session:
        status, text = await post(session, "/skills/new", form)
        assert (status, "The skill “trip-planning” is ready." in text) == (200, True)
        assert "Ask for the days first." in (folder / "SKILL.md").read_text()
        assert 'Plans trips: "short" ones' in text
        whole = (folder / "SKILL.md").read_text().replace("days", "nights")
        status, text = await post(session, "/skills/trip-planning/edit", {"text": whole})
        assert (status, "has been changed" in text) == (200, True)
        assert "nights" in (folder / "SKILL.md").read_text()
        row = re.search(r'name="row" value="(\d+)"', text)
        assert row is not None
        status, _ = await post(session, "/skills/trip-planning/undo", {"row": row[1]})
        assert (status, "days" in (folder / "SKILL.md").read_text()) == (200, True)
        status, text = await post(session, "/skills/trip-planning/archive")
        assert (status, folder.exists()) == (200, False)
        back = re.search(r'action="(/skills/[^"]+/restore)"', text)
        assert back is not None
        assert (await post(session, back[1]))[0] == 200
        assert folder.exists()


async def test_an_entry_of_memory_is_added_changed_deleted_and_brought_back(setup: Setup) -> None:
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:

        async def edit(**form: str) -> str:
            status, text = await post(session, "/memory/entries", form)
            assert status == 200
            return text

        def find_row(text: str, words: str) -> str:
            before = text.partition(f">{words}</textarea>")[0]
            return str(re.findall(r'name="row" value="(\d+)"', before)[-1])

        text = await edit(text="I keep bees")
        assert "I'll remember that." in text
        row = find_row(text, "I keep bees")
        text = await edit(action="replace", row=row, text="I keep a few bees")
        row = find_row(text, "I keep a few bees")
        text = await edit(action="remove", row=row)
        assert "That's gone from my memory." in text
        assert "I keep a few bees</textarea>" not in text
        undo = re.search(r'class="flash acts" method="post" action="(/memory/\d+/undo)"', text)
        assert undo is not None
        _, text = await post(session, undo[1])
        assert "I keep a few bees</textarea>" in text
        wrong = [
            ({"text": "sk-ant-api03-" + "a" * 95}, "That looks like a password"),
            ({"action": "remove", "row": "999999"}, "You have no note 999999"),
            ({"text": " "}, "Write what I should remember."),
        ]
        for form, words in wrong:
            status, text = await post(session, "/memory/entries", form)
            assert (status, words in text) == (422, True), form
    async with browse_as(setup.served, setup.chat, OLGA) as session:
        status, _ = await post(session, "/memory/entries", {"action": "remove", "row": row})
        assert status == 422, "nobody else's"


async def test_a_wrong_skill_says_so_and_only_owners_write(setup: Setup) -> None:
    form = {"name": "Trip Planning", "description": "Plans trips", "instructions": "Ask first."}
    async with browse_as(setup.served, setup.chat, OLGA) as session:
        status, text = await post(session, "/skills/new", form)
        assert (status, "A skill's name consists of" in text) == (422, True)
        assert ">Ask first.</textarea>" in text
        status, text = await post(session, "/skills/new", form | {"name": "x", "instructions": ""})
        assert (status, 'id="fault-instructions"' in text) == (422, True)
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        status, _ = await post(session, "/skills/new", form | {"name": "trip-planning"})
        assert status == 409
    assert not (setup.home / "skills" / "trip-planning").exists()


async def test_an_owner_changes_a_setting_of_the_file_and_takes_it_back(setup: Setup) -> None:
    config = setup.home / "config.toml"
    before = config.read_text()
    async with browse_as(setup.served, setup.chat, OLGA) as session:
        status, text = await post(session, "/configuration/turns.max_steps", {"value": "some"})
        assert status == 422
        assert 'id="fault-value"' in text
        assert 'value="some"' in text
        assert config.read_text() == before
        status, text = await post(session, "/configuration/turns.max_steps", {"value": "77"})
        assert (status, "The setting “turns.max_steps” is saved." in text) == (200, True)
        assert "max_steps = 77" in config.read_text()
        assert '<input type="hidden" name="reset" value="yes">' in text
        await post(session, "/configuration/turns.max_steps", {"reset": "yes"})
        assert "max_steps" not in config.read_text()
        for name in ("access.allow", "plugins.enabled", "tools.backend", "turns.unknown", "x"):
            status, _ = await post(session, f"/configuration/{name}", {"value": "x"})
            assert status == 404, name
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        status, _ = await post(session, "/configuration/turns.max_steps", {"value": "9"})
        assert status == 403
    assert "max_steps" not in config.read_text()


async def test_what_was_allowed_is_listed_and_taken_back(setup: Setup) -> None:
    zebrana = await find_named(setup, "zebrana")
    database, now = setup.served.gateway.database, setup.served.gateway.now()
    shape = json.dumps(["terminal", "run", "workspace", "git", "push"])
    new = NewApproval(person_id=zebrana.id, decided_by=zebrana.id, scope="always", subject=shape)
    await database.write("test", approvals.insert, new, now=now)
    (stored,) = await database.read(approvals.list_of, person_id=zebrana.id)
    async with browse_as(setup.served, setup.chat, OLGA) as session:
        assert "git push" not in await read(session, "/approvals")
        assert (await post(session, f"/approvals/{stored.id}/revoke"))[0] == 404
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        assert "git push" in await read(session, "/approvals")
        status, text = await post(session, f"/approvals/{stored.id}/revoke")
        assert (status, "You haven't allowed anything" in text) == (200, True)
    assert await database.read(approvals.list_of, person_id=zebrana.id) == []


async def test_the_address_of_a_form_leads_to_the_page_that_it_is_on(setup: Setup) -> None:
    rows = {
        "/memory/entries": "/memory",
        "/memory/12/undo": "/memory",
        "/jobs/1/pause": "/jobs/1",
        "/webhooks/add": "/webhooks",
        "/people/waiting/3/approve": "/people",
        "/questions/1/answer": "/today",
        "/workspace/add": "/workspace",
    }
    async with browse_as(setup.served, setup.chat, OLGA) as session:
        for path, page in rows.items():
            async with session.get(path, allow_redirects=False) as answer:
                assert (answer.status, answer.headers["Location"]) == (303, page), path
