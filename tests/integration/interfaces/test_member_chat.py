"""The chat of the page: whoever is logged in writes there as themselves, as in a chat app."""

import json

import pytest

from agent_core.state.engine.database import Connection
from agent_core.state.lifecycle import person_data
from gateway.chats import is_direct_chat
from tests.fakes.model import ask, call, say
from tests.integration.interfaces.api_setup import OLGA, ZEBRANA, Setup, find_named
from tests.integration.interfaces.console_setup import browse_as, list_places, open_chat, read

REMIND = call("remind", json.dumps({"text": "Call Ada", "when": "tomorrow at 8 pm"}))


@pytest.mark.parametrize("user", [OLGA, ZEBRANA])
async def test_own_words_act_on_the_page_and_can_be_undone(setup: Setup, user: str) -> None:
    async with browse_as(setup.served, setup.chat, user) as session, open_chat(session) as page:
        setup.model.plays = [ask(REMIND), say("I'll remind you tomorrow.")]
        await page.say("Remind me tomorrow at 8 pm to call Ada")
        told = await page.hear_text("⏰ tomorrow, 20:00: Call Ada")
        assert [one["label"] for one in told["buttons"]] == ["Undo"]
        assert "Call Ada" in (await read(session, "/jobs")).partition("<main")[2]
        await page.write(
            type="press", id=f"p-{user}", message=told["id"], key=told["buttons"][0]["key"]
        )
        await page.hear_text("I've deleted **Call Ada**.")


async def test_reminders_that_were_all_cancelled_on_the_page_come_back(setup: Setup) -> None:
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session, open_chat(session) as page:
        for name in ("Ada", "Bob"):
            order = {"text": f"Call {name}", "when": "tomorrow at 8 pm"}
            setup.model.plays = [ask(call("remind", json.dumps(order))), say("Set.")]
            await page.say(f"Remind me tomorrow at 8 pm to call {name}")
            await page.hear_text(f"⏰ tomorrow, 20:00: Call {name}")
        for number in range(3):  # what was said before names no reminder
            setup.model.plays = [say(f"Yes, {number}.")]
            await page.say("It rains")
            await page.hear_text(f"Yes, {number}.")
        deletes = [
            call("manage_jobs", json.dumps({"action": "delete", "job": job}), f"c-{job}")
            for job in ("Ada", "Bob")
        ]
        setup.model.plays = [ask(*deletes), say("Done.")]
        await page.say("Cancel all my reminders")
        await page.hear_text("Deleted: Call Bob")
        shown = await read(session, "/jobs")
        assert [f"Bring it back: Call {name}" in shown for name in ("Ada", "Bob")] == [True, True]
        await page.say("/undo")
        told = await page.hear_text("Call Bob** is as it was")
        assert "Call Ada** is as it was" in told["text"]
        shown = await read(session, "/jobs")
        assert ("Bring it back: " in shown, "Call Ada" in shown, "Call Bob" in shown) == (
            False,
            True,
            True,
        )


async def test_what_a_member_says_on_the_page_taints_no_other_chat(setup: Setup) -> None:
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session, open_chat(session) as page:
        setup.model.plays = [say("Lovely.")]
        await page.say("I like herons.")
        await page.hear_text("Lovely.")
    assert "program of theirs" not in str(setup.model.requests[-1].messages)
    setup.model.plays = [ask(REMIND), say("I'll remind you tomorrow.")]
    await setup.chat.says(
        "Remind me tomorrow at 8 pm to call Ada", user=ZEBRANA, chat=ZEBRANA, name="Z", id="t-1"
    )
    assert (await setup.chat.sees_text("⏰ tomorrow, 20:00: Call Ada")).labels == ["Undo"]


async def test_a_member_has_commands_and_files_on_the_page(setup: Setup) -> None:
    zebrana = await find_named(setup, "zebrana")
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session, open_chat(session) as page:
        start = json.loads(await read(session, "/start"))
        assert {"remind", "memory"} & {one["name"] for one in start["commands"]}
        await page.say("/whoami")
        assert zebrana.name in (await page.hear_text("member"))["text"]
        async with session.post("/files", data=b"Herons eat fish.") as answer:
            key = (await answer.json())["key"]
        setup.model.plays = [say("I have read it.")]
        await page.say("Read this", files=[{"key": key, "name": "birds.txt", "type": "text/plain"}])
        await page.hear_text("I have read it.")
        assert "Herons eat fish." in str(setup.model.requests[-1].messages)
        shown = await read(session, "/history")
        assert "/whoami" in shown
        assert "birds.txt" in shown


async def test_nobody_sees_the_chat_of_another_person(setup: Setup) -> None:
    async with (
        browse_as(setup.served, setup.chat, ZEBRANA) as hers,
        browse_as(setup.served, setup.chat, OLGA) as olgas,
        open_chat(hers) as page,
        open_chat(olgas) as other,
    ):
        setup.model.plays = [say("Fish, mostly.")]
        await page.say("What do local herons eat?")
        await page.hear_text("Fish, mostly.")
        await other.write(type="open", user=str((await find_named(setup, "zebrana")).id))
        assert "already" in (await other.hear("error"))["text"]
        await other.say("/whoami")
        assert "heron" not in (await other.hear("message"))["text"]
        assert "herons" in await read(hers, "/history")
        assert "herons" not in await read(olgas, "/history")

    zebrana, olga = [await find_named(setup, slug) for slug in ("zebrana", "olga")]

    def walk(connection: Connection, person_id: int) -> str:
        subject = person_data.find_subject(connection, person_id=person_id, is_alone=is_direct_chat)
        return str(list(person_data.walk_events(connection, subject=subject)))

    texts = [
        await setup.served.gateway.database.read(lambda c, n=one.id: walk(c, n))
        for one in (zebrana, olga)
    ]
    assert ["What do local herons eat?" in one for one in texts] == [True, False]
    assert ["/whoami" in one for one in texts] == [False, True]


async def test_a_code_is_not_taken_from_a_page(setup: Setup) -> None:
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session, open_chat(session) as page:
        for command in ("/claim ABCD-EFGH", "/join ABCD-EFGH", "/link ABCD-EFGH"):
            await page.say(command)
            await page.hear_text("A code counts for the account that sends it")
        await page.say("/whoami")
        await page.hear_text("member")


async def test_own_words_act_in_a_fork_on_the_page(setup: Setup) -> None:
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        place = next(one for one in await list_places(session) if one.startswith("/chats/"))
        shown = (await read(session, place)).partition("<main")[2]
        number = shown.partition('id="text-')[2].partition('"')[0]
        async with session.post(f"/messages/{number}/fork", data={"key": "k"}) as answer:
            fork = answer.url.path.rpartition("/")[2]
        setup.model.plays = [ask(REMIND), say("I'll remind you tomorrow.")]
        form = {
            "text": "Remind me tomorrow at 8 pm to call Ada",
            "key": "f-1",
            "conversation": fork,
        }
        async with session.post(
            "/conversations/messages", data=form, headers={"Accept": "text/event-stream"}
        ) as sent:
            assert "I'll remind you tomorrow." in await sent.text()
        assert "Call Ada" in (await read(session, "/jobs")).partition("<main")[2]


async def test_an_answer_in_a_chat_app_keeps_what_was_done_below_it(setup: Setup) -> None:
    setup.model.plays = [ask(REMIND), say("I'll remind you tomorrow.")]
    await setup.chat.says(
        "Remind me tomorrow at 8 pm to call Ada", user=ZEBRANA, chat=ZEBRANA, name="Z", id="r-1"
    )
    await setup.chat.sees_text("⏰ tomorrow, 20:00: Call Ada")
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        shown = json.loads(await read(session, "/history"))["entries"]
        texts = [one["text"] for one in shown if one["who"] == "theirs"]
        assert "I'll remind you tomorrow.\n\n⏰ tomorrow, 20:00: Call Ada" in texts
        async with session.post("/new") as answer:
            assert answer.status == 200
        place = next(one for one in await list_places(session) if one.startswith("/chats/"))
        assert "⏰ tomorrow, 20:00: Call Ada" in await read(session, place)


async def test_whoever_may_not_talk_any_more_has_no_files_there(setup: Setup) -> None:
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        async with session.post("/files", data=b"Herons eat fish.") as answer:
            key = (await answer.json())["key"]
        assert "Herons" in await read(session, f"/files/{key}")

        def take_away(connection: Connection) -> None:
            connection.execute(
                "UPDATE accounts SET platform = 'gone', admitted_by = 'list' WHERE user_id = :user",
                {"user": ZEBRANA},
            )

        await setup.served.gateway.database.write("test.take_away", take_away)
        await read(session, f"/files/{key}", status=401)
        async with session.post("/files", data=b"More of them.") as answer:
            assert answer.status == 401
