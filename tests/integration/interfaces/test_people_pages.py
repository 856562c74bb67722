"""The pages about people: how accounts came to them, unlinking one, and who is in each room."""

import aiohttp

from agent_core.chats import Chat
from agent_core.ids import PersonId
from agent_core.state.conversations import sessions
from agent_core.state.engine.database import Connection
from agent_core.state.people import account_links, audit, people, presence, rooms
from agent_core.state.people.account_links import OtherSide
from agent_core.state.people.people import NewAccount
from agent_core.state.people.rooms import Room
from gateway.texts import rooms as rooms_texts
from tests.agent_core.state.rows import Dialogue, add_turn
from tests.integration.interfaces.api_setup import ZEBRANA, Setup, find_named, make_token
from tests.integration.interfaces.console_setup import browse, browse_as
from tests.integration.interfaces.page_texts import find_row, read

LINKED_AT = 1_795_000_000_000


async def link(setup: Setup, slug: str) -> int:
    """Give a person a second account, as a link does; its number."""
    person = await find_named(setup, slug)

    def work(connection: Connection) -> int:
        asked = account_links.insert(
            connection,
            person_id=person.id,
            code_hash="h",
            chat=Chat(platform="fake", address="1"),
            now=LINKED_AT,
            expires_at=LINKED_AT + 1,
        )
        other = OtherSide(platform="slack", user_id="U7", name="Heron", chat="1", person_id=None)
        account_links.redeem(connection, link_id=asked, other=other)
        account_links.close(connection, link_id=asked, outcome="joined", now=LINKED_AT)
        gone = people.insert(connection, slug="heron", name="Heron", role="member", now=1)
        new = NewAccount(platform="slack", user_id="U7", display_name="Heron", admitted_by="code")
        people.attach_account(connection, new, person_id=person.id, now=LINKED_AT)
        account = people.find_account(connection, platform="slack", user_id="U7")
        assert account is not None
        connection.execute(
            "UPDATE accounts SET came_from = :gone WHERE id = :id",
            {"gone": gone.id, "id": account.id},
        )
        connection.execute(
            "UPDATE people SET joined_to = :kept WHERE id = :gone",
            {"kept": person.id, "gone": gone.id},
        )
        return account.id

    return await setup.served.gateway.database.write("test", work)


async def test_a_person_sees_how_each_account_came_and_unlinks_one(setup: Setup) -> None:
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        text = await read(session, "/accounts")
        assert "on the list of allowed accounts, since " in text
        assert "/unlink" not in text
        number = await link(setup, "zebrana")
        text = await read(session, "/accounts")
        assert "approved by code: Wed 18 Nov; linked: Wed 18 Nov" in text
        asked = await read(session, f"/accounts/{number}/unlink")
        assert "Unlink Slack: Heron?" in asked
        assert "To undo this, link the two accounts again with /link." in asked
        assert "linked: " in await read(session, "/accounts"), "asking changes nothing"
        evil = {"Origin": "http://evil.example"}
        async with session.post(f"/accounts/{number}/unlink", headers=evil) as answer:
            assert answer.status == 403
        async with session.post(f"/accounts/{number}/unlink") as answer:
            assert answer.status == 200
            assert "is a separate person again" in await answer.text()
        async with session.get("/accounts") as answer:
            assert answer.status == 401, "whoever holds the other account may have this login"
    accounts = await setup.served.gateway.database.read(
        lambda c: people.find_account(c, platform="slack", user_id="U7")
    )
    assert accounts is not None
    assert accounts.person_id != (await find_named(setup, "zebrana")).id


async def test_a_person_without_an_account_that_may_talk_is_shown_as_such(setup: Setup) -> None:
    """As after an unlink of an account that was never let in by itself."""
    number = await link(setup, "zebrana")

    def look_linked(connection: Connection) -> None:
        connection.execute(
            "UPDATE accounts SET admitted_by = 'list' WHERE id = :id", {"id": number}
        )

    def part(connection: Connection) -> None:
        connection.execute(
            "UPDATE people SET joined_to = NULL WHERE id ="
            " (SELECT came_from FROM accounts WHERE id = :id)",
            {"id": number},
        )
        connection.execute(
            "UPDATE accounts SET person_id = came_from, came_from = NULL WHERE id = :id",
            {"id": number},
        )

    out = "may not talk until an owner lets it in"
    async with browse(setup.served) as session:
        await setup.served.gateway.database.write("test", look_linked)
        text = await read(session, "/people")
        assert "linked to the other accounts, since Wed 18 Nov" in text
        assert out not in text
        await setup.served.gateway.database.write("test", part)
        text = await read(session, "/people")
        assert "linked to the other accounts" not in text
        assert f"known since Wed 18 Nov; {out}" in text


async def test_nobody_unlinks_an_account_of_somebody_else(setup: Setup) -> None:
    number = await link(setup, "zebrana")
    async with browse(setup.served) as session:
        for path in (f"/accounts/{number}/unlink", "/accounts/99999999999999999999/unlink"):
            async with session.get(path) as answer:
                assert answer.status == 404
            async with session.post(path) as answer:
                assert answer.status == 404
        text = await read(session, "/people")
    assert '<span title="U7">Slack: Heron</span><br>' in text
    assert '<span class="soft">approved by code: Wed 18 Nov; linked' in text


async def test_an_owner_sees_who_wrote_in_a_room_and_why_it_is_not_direct(setup: Setup) -> None:
    olga, zebrana = await find_named(setup, "olga"), await find_named(setup, "zebrana")

    def work(connection: Connection) -> None:
        made = {
            name: rooms.insert(
                connection, platform="fake", chat_id=name, title=name, slug=name, now=1
            )
            for name in ("choir", "attic", "cellar", "garden")
        }
        for at, person_id in ((1, olga.id), (2, zebrana.id)):
            write(connection, made["choir"], person_id, LINKED_AT + at * 60_000)
        presence.note(
            connection, platform="fake", chat_id="choir", user_ids=["a", "b"], now=LINKED_AT
        )
        rooms.note_full_asked(connection, room_id=made["attic"].id, now=LINKED_AT)
        rooms.set_mode(
            connection, room_id=made["garden"].id, mode="full", by=zebrana.id, now=LINKED_AT
        )

    await setup.served.gateway.database.write("test", work)
    async with browse(setup.served) as session:
        text = await read(session, "/people")
    wrote = text.partition('<th scope="row">choir</th>')[2].partition("</tr>")[0]
    assert wrote.index("Zebrana, <time") < wrote.index("Olga, <time")
    assert find_row(text, "choir")[-1].startswith("not possible: others have been there since Wed")
    assert find_row(text, "attic")[-1].startswith("asked: Wed 18 Nov")
    assert find_row(text, "cellar")[-2:] == ["nobody", "no: nobody has agreed to that"]
    assert find_row(text, "garden")[-1] == "continues for Zebrana"


async def test_an_owner_chooses_on_the_page_how_a_group_is_answered(setup: Setup) -> None:
    olga, gateway = await find_named(setup, "olga"), setup.served.gateway

    def work(connection: Connection) -> Room:
        return rooms.insert(
            connection, platform="fake", chat_id="choir", title="choir", slug="choir", now=1
        )

    room = await gateway.database.write("test", work)
    path = f"/people/rooms/{room.id}"
    async with browse(setup.served) as session:
        assert f'href="{path}"' in await read(session, "/people")
        asked = await read(session, path)
        assert 'value="person" checked' in asked
        assert 'value="full"' not in asked, "its person agrees to that, in the group"
        async with session.post(path, data={"mode": "room", "name": "Altos"}) as answer:
            assert answer.status == 200
            assert "The group “Altos” has been changed." in await answer.text()
        await setup.chat.until(
            lambda: rooms_texts.MODES["room"]() in [one.text for one in setup.chat.shown]
        )
        async with session.post(path, data={"mode": "full", "name": "Altos"}) as answer:
            assert answer.status == 409
        async with session.post("/people/rooms/99", data={"mode": "off"}) as answer:
            assert answer.status == 404
    changed = await gateway.database.read(rooms.find_by_id, room_id=room.id)
    assert changed is not None
    assert (changed.mode, changed.name, changed.set_by) == ("room", "Altos", olga.id)
    done = await gateway.database.read(audit.list_of, person_id=room.person_id, limit=9)
    assert [(one.actor, one.action, one.detail) for one in done[::-1]] == [
        (f"person:{olga.id}", "room.name", " -> Altos"),
        (f"person:{olga.id}", "room.mode", "person -> room"),
    ]


async def test_a_program_of_an_owner_changes_a_group_and_no_other_does(setup: Setup) -> None:
    def work(connection: Connection) -> Room:
        return rooms.insert(
            connection, platform="fake", chat_id="choir", title="choir", slug="choir", now=1
        )

    room = await setup.served.gateway.database.write("test", work)
    url = f"{setup.served.address.origin()}/api/rooms"
    async with aiohttp.ClientSession() as session:
        for slug, status in (("zebrana", 403), ("olga", 200)):
            token = await make_token(setup.home, slug, "manage")
            head = {"Authorization": f"Bearer {token}"}
            async with session.get(url, headers=head) as answer:
                assert answer.status == status
            async with session.patch(
                f"{url}/{room.id}", json={"mode": "off"}, headers=head
            ) as answer:
                assert answer.status == status
                body = await answer.json()
    assert body == {
        "number": room.id,
        "platform": "fake",
        "title": "choir",
        "name": "",
        "mode": "off",
    }


def write(connection: Connection, room: Room, person_id: PersonId, at: int) -> None:
    """Record a turn of a person in their conversation of a room."""
    conversation = sessions.ensure_conversation(
        connection,
        sessions.NewConversation(
            key=f"room:{room.id}:{person_id}",
            kind="room",
            person_id=person_id,
            is_direct=False,
            room_id=room.id,
        ),
        now=at,
    )
    person = people.find(connection, person_id=person_id)
    assert person is not None
    session_id = sessions.insert(connection, conversation_id=conversation.id, now=at)
    dialogue = Dialogue(person=person, conversation=conversation, session_id=session_id)
    add_turn(connection, dialogue, now=at)
