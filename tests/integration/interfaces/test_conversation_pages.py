"""The page Conversations: reading, searching, writing, and consent to be read by an owner."""

import asyncio
import json
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import aiohttp

from agent_core.ids import SessionId
from agent_core.state.conversations import transcripts
from agent_core.state.engine.database import Connection
from agent_core.state.lifecycle import export, person_data
from agent_core.state.people import audit, people
from agent_core.state.people.people import Person
from agent_core.transcript import TextPart, ToolResultPart
from gateway.chats import read_chat
from gateway.inbound.api_platform import ApiPlatform
from gateway.people.admission import API_PLATFORM
from gateway.people.reading_consent import READING_HOURS
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel, say
from tests.integration.interfaces.api_setup import OLGA, ZEBRANA, Setup, find_named
from tests.integration.interfaces.console_setup import browse_as, list_places, open_chat, read
from tests.integration.served import served
from tests.patience import PATIENCE

STREAM = {"Accept": "text/event-stream"}


async def find_shown(session: aiohttp.ClientSession, word: str) -> str:
    """The page of the talk that has a word."""
    for place in await list_places(session):
        shown = (await read(session, place)).partition("<main")[2]
        if word in shown:
            return shown
    raise AssertionError(word)


async def test_a_person_reads_their_conversations(setup: Setup) -> None:
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        shown = await find_shown(session, "bluefishsaid")
        assert "bluefishanswer" in shown
        assert shown.index("bluefishsaid") < shown.index("bluefishanswer")
        for number in ("0", "99999999999999999999"):
            await read(session, f"/conversations/{number}", 404)


async def test_a_person_goes_on_in_their_conversation_on_the_page(setup: Setup) -> None:
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        setup.model.plays = [say("A heron.")]
        await setup.chat.says("Which bird?", user=ZEBRANA, chat=ZEBRANA, name="Z", id="on-1")
        await setup.chat.sees_text("A heron.")
        assert "A heron." in await read(session, "/history")
        old = re.findall(r'href="(/chats/\d+)"', await read(session, "/conversations"))
        setup.model.plays = [say("Gladly.")]
        async with open_chat(session) as page:
            await page.say("Go on here.")
            await page.hear_text("Gladly.")
        asked = [one.text for one in setup.model.requests[-1].messages]
        assert any("Which bird?" in one for one in asked)
        async with asyncio.timeout(PATIENCE):
            while "Gladly." not in await read(session, "/history"):
                pass
        setup.model.plays = [say("Still here.")]
        await setup.chat.says("And now?", user=ZEBRANA, chat=ZEBRANA, name="Z", id="on-2")
        await setup.chat.sees_text("Still here.")
        assert any("Gladly." in one.text for one in setup.model.requests[-1].messages)
        assert "Still here." in await read(session, "/history")
        assert old == re.findall(r'href="(/chats/\d+)"', await read(session, "/conversations"))


async def test_a_new_chat_is_empty_and_the_old_one_goes_on(setup: Setup) -> None:
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        async with session.post("/new") as answer:
            assert (answer.status, answer.url.path) == (200, "/")
        assert "bluefish" not in await read(session, "/history")
        places = re.findall(r'href="(/chats/\d+)"', await read(session, "/conversations"))
        found = [one for one in places if "bluefishanswer" in await read(session, one)]
        old = found[0]
        assert f'action="{old}/go-on"' in await read(session, old)
        async with browse_as(setup.served, setup.chat, OLGA) as other:
            await read(other, old, 404)
            async with other.post(f"{old}/go-on") as answer:
                assert answer.status == 404
        async with session.post(f"{old}/go-on") as answer:
            assert (answer.status, answer.url.path) == (200, "/")
        assert "bluefishanswer" in await read(session, "/history")


async def test_older_pages_hold_every_message_once(setup: Setup) -> None:
    zebrana = await find_named(setup, "zebrana")

    def walk(connection: Connection, limit: int) -> list[int]:
        [listed, *_] = [
            one
            for one in transcripts.list_conversations(
                connection, person_id=zebrana.id, before=2**62, limit=9
            )
            if one.kind == "direct"
        ]
        before, found = 2**62, list[int]()
        while page := transcripts.list_messages(
            connection,
            conversation_id=listed.id,
            person_id=zebrana.id,
            before=before,
            limit=limit,
        ):
            found += [one.id for one in page]
            before = found[-1]
        return found

    whole, *paged = [
        await setup.served.gateway.database.read(lambda c, n=limit: walk(c, n))
        for limit in (1000, 1, 2, 3)
    ]
    assert len(whole) > 6
    assert whole == sorted(whole, reverse=True)
    assert all(one == whole for one in paged)


def find_message(page: str, text: str) -> str:
    """The number of the message with this text."""
    return page.partition(f">{text}</div>")[0].rpartition('id="text-')[2].partition('"')[0]


async def fork_of(session: aiohttp.ClientSession, number: str, key: str = "k") -> tuple[int, str]:
    """Fork a conversation from a message; the status and the address of what follows."""
    async with session.post(f"/messages/{number}/fork", data={"key": key}) as answer:
        return answer.status, answer.url.path


async def test_a_conversation_is_forked_from_a_message_and_goes_on_apart(setup: Setup) -> None:
    database, zebrana = setup.served.gateway.database, await find_named(setup, "zebrana")
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        for said, answered in (("I keep hens.", "How many?"), ("Nine.", "So many!")):
            setup.model.plays = [say(answered)]
            form = {"text": said, "key": said}
            async with session.post("/conversations/messages", data=form, headers=STREAM) as sent:
                assert answered in await sent.text()
        origin = max(await list_own(session), key=int)
        shown = await read(session, f"/conversations/{origin}")
        assert 'name="conversation" value="' in shown
        answer_of_one = find_message(shown, "How many?")
        status, place = await fork_of(session, answer_of_one)
        assert status == 200
        assert place != f"/conversations/{origin}"
        assert await fork_of(session, answer_of_one) == (status, place)
        made = await read(session, place)
        assert "There are no messages on this page." in made
        way = re.findall(r'href="(/conversations/\d+\?before=\d+)"', made)[0]
        before = await read(session, way)
        assert "How many?" in before
        assert "Nine." not in before.partition("<main")[2]
        setup.model.plays = [say("Eight is better.")]
        number = place.rpartition("/")[2]
        form = {"text": "Eight.", "key": "eight", "conversation": number}
        async with session.post("/conversations/messages", data=form, headers=STREAM) as sent:
            assert "Eight is better." in await sent.text()
        asked = [one.text for one in setup.model.requests[-1].messages]
        assert any("I keep hens." in one for one in asked)
        assert any("How many?" in one for one in asked)
        assert not any("Nine." in one or "So many!" in one for one in asked)
        assert "Eight is better." in await read(session, place)
        assert "Eight is better." not in await read(session, f"/conversations/{origin}")
        assert f'href="{place}"' in await read(session, "/conversations")
        for bad in ("0", "x", str(2**70)):
            form = {"text": "Hello", "key": bad, "conversation": bad}
            async with session.post("/conversations/messages", data=form) as sent:
                assert sent.status == 404
    direct = await database.read(
        lambda c: [
            one.id
            for one in transcripts.list_conversations(
                c, person_id=zebrana.id, before=2**62, limit=99
            )
            if one.kind == "direct"
        ]
    )
    async with browse_as(setup.served, setup.chat, OLGA) as other:
        status, place = await fork_of(other, answer_of_one)
        assert status == 404
        for stranger in (number, str(direct[0])):
            form = {"text": "Hello", "key": stranger, "conversation": stranger}
            async with other.post("/conversations/messages", data=form) as sent:
                assert sent.status == 404


async def list_found(session: aiohttp.ClientSession, word: str) -> list[str]:
    """The texts that a search on the page finds."""
    found = await read(session, f"/search?q={word}")
    hits = found.partition('id="found-messages"')[2].partition("</section>")[0]
    texts = re.findall(r'<span class="cut">(.*?)</span>', hits, re.DOTALL)
    return [re.sub(r"</?mark>", "", text) for text in texts]


def list_exported(connection: Connection, person: Person) -> list[str]:
    """The texts of an export's conversations."""
    subject = person_data.find_subject(
        connection, person_id=person.id, is_alone=lambda chat: read_chat(chat).is_direct
    )
    return [
        part.text
        for session in export.walk_sessions(connection, subject=subject)
        for message in export.walk_messages(
            connection, session_id=SessionId(int(str(session["id"]))), subject=subject
        )
        for part in message.parts
        if isinstance(part, TextPart)
    ]


async def test_a_fork_is_removed_and_comes_back(setup: Setup) -> None:
    zebrana = await find_named(setup, "zebrana")
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        setup.model.plays = [say("How many?")]
        form = {"text": "I keep hens.", "key": "1"}
        async with session.post("/conversations/messages", data=form, headers=STREAM) as sent:
            assert "How many?" in await sent.text()
        origin = max(await list_own(session), key=int)
        shown = await read(session, f"/conversations/{origin}")
        assert "/remove" not in shown
        message = find_message(shown, "How many?")
        _, place = await fork_of(session, message)
        number = place.rpartition("/")[2]
        form = {"text": "Nine wyandottes.", "key": "2", "conversation": number}
        setup.model.plays = [say("So many!")]
        async with session.post("/conversations/messages", data=form, headers=STREAM) as sent:
            assert "So many!" in await sent.text()
        assert "Nine wyandottes." in await list_found(session, "wyandottes")
        async with session.post(f"/conversations/{origin}/remove") as answer:
            assert answer.status == 409
            assert "only a copy of a conversation" in await answer.text()
        async with browse_as(setup.served, setup.chat, OLGA) as other:
            for verb in ("remove", "restore"):
                async with other.post(f"{place}/{verb}") as answer:
                    assert answer.status == 404
        for _ in range(2):  # a repeat changes nothing
            async with session.post(f"{place}/remove") as answer:
                assert (answer.status, answer.url.path) == (200, place)
                text = await answer.text()
        assert "This conversation is removed" in text
        assert "Nine wyandottes." in text
        assert 'id="write"' not in text
        assert "/fork" not in text
        assert "Nine wyandottes." not in await list_found(session, "wyandottes")
        assert "I keep hens." in await list_found(session, "hens")
        listed, _, removed = (await read(session, "/conversations")).partition('id="removed"')
        assert f'href="{place}"' not in listed
        assert f'action="{place}/restore"' in removed
        async with session.post("/conversations/messages", data=form | {"key": "3"}) as sent:
            assert sent.status == 409
            assert "Bring it back first" in await sent.text()
        exported = await setup.served.gateway.database.read(partial(list_exported, person=zebrana))
        assert "Nine wyandottes." in exported
        async with session.post(f"{place}/restore") as answer:
            assert (answer.status, answer.url.path) == (200, place)
        assert "Nine wyandottes." in await list_found(session, "wyandottes")
        assert number in await list_own(session)


async def test_a_running_conversation_is_not_removed(setup: Setup) -> None:
    database = setup.served.gateway.database
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        reserved = (await setup.served.gateway.load_ids()).next_session()
        message = re.findall(
            r'action="/messages/(\d+)/fork"',
            await find_shown(session, "bluefishsaid"),
        )[0]
        _, place = await fork_of(session, message)
        taken = "SELECT MAX(id) FROM sessions"  # never one that a turn has reserved meanwhile
        assert await database.read(lambda c: c.execute(taken).fetchone()[0]) == reserved + 1
        setup.model.plays = [say("Yes.")]
        form = {"text": "Go on?", "key": "g", "conversation": place.rpartition("/")[2]}
        async with session.post("/conversations/messages", data=form, headers=STREAM) as sent:
            assert "Yes." in await sent.text()
        state = "UPDATE turns SET state = :state WHERE id = (SELECT MAX(id) FROM turns)"
        await database.write("test", lambda c: c.execute(state, {"state": "running"}) and None)
        async with session.post(f"{place}/remove") as answer:
            assert answer.status == 409
            assert "complete yet" in await answer.text()
        await database.write("test", lambda c: c.execute(state, {"state": "answered"}) and None)
        async with session.post(f"{place}/remove") as answer:
            assert answer.status == 200


async def list_own(session: aiohttp.ClientSession) -> list[str]:
    """The numbers of the conversations that the page lists, the direct one left out."""
    places = await list_places(session)
    return [place.rpartition("/")[2] for place in places if place.startswith("/conversations/")]


async def test_a_direct_conversation_is_forked_with_the_results_of_its_calls(setup: Setup) -> None:
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        found = [
            (place, message)
            for place in await list_places(session)
            for message in re.findall(r'action="/messages/(\d+)/fork"', await read(session, place))
        ]
        assert found
        called = set[str]()
        for origin, message in found:
            setup.model.plays = [say("Go on.")]
            status, place = await fork_of(session, message)
            assert (status, place != origin) == (200, True)
            form = {"text": "And then?", "key": message, "conversation": place.rpartition("/")[2]}
            async with session.post("/conversations/messages", data=form, headers=STREAM) as sent:
                assert "Go on." in await sent.text()
            asked = setup.model.requests[-1].messages
            calls = {call.call_id for one in asked for call in one.calls}
            results = {
                part.call_id
                for one in asked
                for part in one.parts
                if isinstance(part, ToolResultPart)
            }
            assert calls == results
            called |= calls
        assert called


async def test_a_search_marks_the_words_and_leads_to_the_message(setup: Setup) -> None:
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        found = await read(session, "/search?q=remember+bluefishsaid")
        hits = found.partition('id="found-messages"')[2].partition("</section>")[0]
        assert "<mark>remember</mark> <mark>bluefishsaid</mark>" in hits
        place = re.findall(r'href="(/chats/\d+\?at=(\d+))#message-(\d+)"', hits)[0]
        assert place[1] == place[2]
        shown = await read(session, place[0])
        assert f'class="bubble mine sought" id="message-{place[1]}"' in shown
        near = found.partition('id="near"')[2].partition("</details>")[0]
        assert "without your search words" in near
        assert "<mark>" not in near
        nothing = await read(session, "/search?q=xyzzyx")
        assert "Nothing was found. Try other words, or name a month." in nothing
        assert "<b>" not in await read(session, "/search?q=%22%00%3Cb%3E")
    async with browse_as(setup.served, setup.chat, OLGA) as session:
        hidden = (await read(session, "/search?q=bluefishsaid")).partition('id="found"')[2]
        assert "bluefish" not in hidden


async def test_a_message_is_answered_once_and_its_answer_streams(setup: Setup) -> None:
    setup.model.plays = [say("A grey heron.")]
    form = {"text": "Which bird is grey?", "key": "k1"}
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        told: list[str] = []
        for _ in range(2):  # a browser sends a form again after a broken line
            head = {"Accept": "text/event-stream"}
            async with session.post("/conversations/messages", data=form, headers=head) as answer:
                assert answer.status == 200
                lines = (await answer.text()).splitlines()
            parts = [json.loads(one[6:]) for one in lines if one.startswith("data: ")]
            told.append("".join(one.get("text", "") for one in parts))
            assert "event: done" in lines
        assert told == ["A grey heron.", "A grey heron."]
        shown = await read(session, (await list_places(session))[0])
        assert shown.partition('class="bubbles"')[2].count("Which bird is grey?") == 1
    zebrana = await find_named(setup, "zebrana")

    def count(connection: Connection) -> int:
        listed = transcripts.list_conversations(
            connection, person_id=zebrana.id, before=2**62, limit=1
        )
        found = transcripts.list_messages(
            connection,
            conversation_id=listed[0].id,
            person_id=zebrana.id,
            before=2**62,
            limit=10,
        )
        return sum(one.text == "A grey heron." for one in found)

    assert await setup.served.gateway.database.read(count) == 1


async def test_a_message_without_a_script_leads_back_to_the_page(setup: Setup) -> None:
    setup.model.plays = [say("A grey heron.")]
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        form = {"text": "Which bird?", "key": "k2"}
        async with session.post(
            "/conversations/messages", data=form, allow_redirects=False
        ) as answer:
            assert (answer.status, answer.headers["Location"]) == (303, "/conversations")
        for words in ("", "   ", "x" * 1_000_001):
            form = {"text": words, "key": "k3"}
            async with session.post("/conversations/messages", data=form) as answer:
                assert answer.status in (409, 413)
                text = await answer.text()
                assert "the message is empty or too long" in text or answer.status == 413


async def test_a_page_and_programs_share_the_places_of_a_person(setup: Setup) -> None:
    go_on = asyncio.Event()
    setup.model.plays = [[go_on.wait, *say("done")], *(say("done") for _ in range(20))]
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:

        async def send(number: int) -> int:
            form = {"text": f"question {number}", "key": str(number)}
            async with session.post("/conversations/messages", data=form, headers=STREAM) as answer:
                await answer.read()
                return answer.status

        asking = [asyncio.create_task(send(number)) for number in range(16)]
        requests = "chat/completions"
        asked = {"model": "talaria", "messages": [{"role": "user", "content": "and this?"}]}
        async with asyncio.timeout(PATIENCE):
            while sum(api_platform(setup).waiting.values()) < 16:
                await asyncio.sleep(0.005)
            assert (await setup.post(requests, setup.zebrana, asked))[0] == 429
            assert await send(16) == 409
        go_on.set()
        assert await asyncio.gather(*asking) == [200] * 16


def api_platform(setup: Setup) -> ApiPlatform:
    found = setup.served.gateway.platforms.adapters[API_PLATFORM]
    assert isinstance(found, ApiPlatform)
    return found


def list_deeds(rows: Sequence[audit.AuditEntry]) -> list[str]:
    return [one.action for one in reversed(rows) if one.action.startswith("reading.")]


async def test_an_owner_reads_only_with_consent_and_only_for_a_time(setup: Setup) -> None:
    database, chat = setup.served.gateway.database, setup.chat
    zebrana = await find_named(setup, "zebrana")
    ask, place = f"/people/{zebrana.id}/ask", f"/people/{zebrana.id}"
    async with (
        browse_as(setup.served, chat, OLGA) as owner,
        browse_as(setup.served, chat, ZEBRANA) as member,
    ):
        await read(owner, place, 404)
        async with member.post(ask) as answer:
            assert answer.status == 403
        async with owner.post(ask) as answer:
            assert "Asked, no answer yet" in await answer.text()
        asked = await chat.sees_text("asks to read your conversations for 24 hours")
        assert asked.chat_id == ZEBRANA
        async with owner.post(ask) as answer:
            assert answer.status == 409
            assert "already asked" in await answer.text()
        await read(owner, place, 404)
        await chat.press("Allow for 24 hours", user=ZEBRANA, chat=ZEBRANA, name="Zebrana")
        await chat.until(lambda: "Olga may read your conversations" in asked.text)
        listed = await read(owner, place)
        first = listed.partition(f'href="{place}/')[2].partition('"')[0]
        shown = await read(owner, f"{place}/{first}")
        assert "bluefishsaid" in shown
        assert "/turns/" not in shown
        assert "You may read until" in await read(owner, "/people")
        for path in ("/turns", "/memory", "/search?q=bluefishsaid", "/jobs"):
            text = (await read(owner, path)).partition('id="found"')[2]
            assert "bluefish" not in text, path
        assert "Olga may read your conversations until" in await read(member, "/conversations")
        async with member.post("/reading/end") as answer:
            assert "may read your conversations until" not in await answer.text()
        await read(owner, place, 404)
        await read(owner, f"{place}/{first}", 404)
    rows = await database.read(lambda c: audit.list_of(c, person_id=zebrana.id, limit=50))
    assert list_deeds(rows) == ["reading.ask", "reading.allow", "reading.end"]


async def test_a_consent_ends_by_itself_by_a_command_and_with_the_role(home: Path) -> None:
    moments = [1_800_000_000_000]
    chat = FakeChat(limit=100_000, _ids=2000)
    async with served(
        home, adapters={"fake": chat}, model=FakeModel(), now=lambda: moments[-1]
    ) as running:
        everybody = await running.gateway.database.read(people.list_all)
        zebrana = next(one for one in everybody if one.slug == "zebrana")
        place, press = f"/people/{zebrana.id}", {"user": ZEBRANA, "chat": ZEBRANA, "name": "Z"}

        async def allow(owner: aiohttp.ClientSession) -> None:
            seen = len(chat.shown)
            async with owner.post(f"{place}/ask") as answer:
                assert answer.status == 200, await answer.text()
            await chat.until(lambda: any(one.keyboard for one in chat.shown[seen:]))
            asked = next(one for one in chat.shown[seen:] if one.keyboard)
            await chat.press("Allow for 24 hours", **press)
            await chat.until(lambda: not asked.keyboard)
            await read(owner, place)

        async with browse_as(running, chat, OLGA) as owner:
            await allow(owner)
            await chat.says("/console private", **press)
            await chat.sees_text("Nobody but you can read your conversations.")
            await read(owner, place, 404)
            await allow(owner)
        moments.append(moments[-1] + READING_HOURS * 3_600_000)
        async with browse_as(running, chat, OLGA) as owner:
            await read(owner, place, 404)
            await allow(owner)

            def demote(connection: Connection) -> None:
                connection.execute("UPDATE people SET role = 'member' WHERE slug = 'olga'")

            await running.gateway.database.write("test", demote)
            await read(owner, place, 403)


async def test_a_conversation_is_renamed_and_the_name_is_taken_back(setup: Setup) -> None:
    async with (
        browse_as(setup.served, setup.chat, ZEBRANA) as session,
        browse_as(setup.served, setup.chat, OLGA) as other,
    ):
        place = next(one for one in await list_places(session) if one.startswith("/chats/"))
        before = re.search(r"<title>([^<]*) · Talaria", await read(session, place))
        async with session.post(f"{place}/title", data={"title": " Boat \n trip "}) as answer:
            text = await answer.text()
        assert "This conversation is now called “Boat trip”." in text
        assert "<title>Boat trip · Talaria" in text
        former = re.search(r'type="hidden" name="title" value="([^"]*)"', text)
        assert former is not None
        async with other.post(f"{place}/title", data={"title": "Mine"}) as answer:
            assert answer.status == 404
        async with session.post(f"{place}/title", data={"title": former[1]}) as answer:
            assert answer.status == 200
        after = re.search(r"<title>([^<]*) · Talaria", await read(session, place))
        assert before is not None
        assert after is not None
        assert after[1] == before[1]
