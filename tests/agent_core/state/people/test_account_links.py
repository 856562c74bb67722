"""Wishes to join accounts are taken up once; wrong codes are counted, also over a restart."""

from agent_core.chats import Chat
from agent_core.ids import LinkId, PersonId
from agent_core.state.engine.database import Connection
from agent_core.state.people import account_links
from agent_core.state.people.account_links import PAUSE, WRONG_CODES, OtherSide
from tests.agent_core.state.rows import add_person

BEN = OtherSide(platform="discord", user_id="7", name="Ben", chat="d", person_id=None)


def wish(connection: Connection, person_id: PersonId, code: str = "h") -> LinkId:
    return account_links.insert(
        connection,
        person_id=person_id,
        code_hash=code,
        chat=Chat(platform="telegram", address="t"),
        now=0,
        expires_at=100,
    )


def test_a_wish_is_found_by_its_code_until_it_expires(connection: Connection) -> None:
    link_id = wish(connection, add_person(connection).id)
    found = account_links.find_open(connection, code_hash="h", now=99)
    assert found
    assert (found.id, found.other) == (link_id, None)
    assert found.chat == Chat(platform="telegram", address="t")
    assert account_links.find_open(connection, code_hash="h", now=100) is None
    assert account_links.find_open(connection, code_hash="g", now=0) is None


def test_a_wish_is_taken_up_by_one_account_only(connection: Connection) -> None:
    person = add_person(connection)
    link_id = wish(connection, person.id)
    assert account_links.redeem(connection, link_id=link_id, other=BEN)
    assert not account_links.redeem(connection, link_id=link_id, other=BEN)
    assert account_links.find_open(connection, code_hash="h", now=0) is None
    found = account_links.find(connection, link_id=link_id)
    assert found
    assert (found.state, found.other) == ("asked", BEN)
    assert account_links.list_asked(connection, platform="discord", user_id="7") == [found]
    assert account_links.list_live(connection, person_id=person.id) == [found]


def test_a_wish_is_closed_once(connection: Connection) -> None:
    person = add_person(connection)
    link_id = wish(connection, person.id)
    account_links.redeem(connection, link_id=link_id, other=BEN)
    assert account_links.close(connection, link_id=link_id, outcome="joined", now=5)
    assert not account_links.close(connection, link_id=link_id, outcome="over", now=6)
    assert account_links.list_live(connection, person_id=person.id) == []
    assert account_links.list_asked(connection, platform="discord", user_id="7") == []
    found = account_links.find(connection, link_id=link_id)
    assert found
    assert found.state == "joined"


def test_too_many_wrong_codes_are_followed_by_the_whole_pause(connection: Connection) -> None:
    account = {"platform": "p", "user_id": "1"}
    times = [0, 1, 2, 3, PAUSE - 1]
    counted = [account_links.count_wrong(connection, **account, now=now) for now in times]
    assert counted == [1, 2, 3, 4, WRONG_CODES]
    end = PAUSE - 1 + PAUSE
    assert account_links.is_silenced(connection, **account, now=end - 1)
    assert not account_links.is_silenced(connection, **account, now=end)
    assert not account_links.is_silenced(connection, platform="p", user_id="2", now=end - 1)
    assert account_links.count_wrong(connection, **account, now=end) == 1


def test_wrong_codes_now_and_then_are_forgiven(connection: Connection) -> None:
    for number in range(20):
        now = number * PAUSE // (WRONG_CODES - 1) + number
        account_links.count_wrong(connection, platform="p", user_id="1", now=now)
        assert not account_links.is_silenced(connection, platform="p", user_id="1", now=now)
