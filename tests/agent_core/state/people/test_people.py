"""People, their accounts, and one-time codes."""

import sqlite3

import pytest

from agent_core.ids import PersonId
from agent_core.state.engine.database import Connection
from agent_core.state.people import codes, people
from agent_core.state.people.people import Admission, NewAccount, Person
from tests.agent_core.state.rows import add_person

ASKER = codes.CodeAsker(
    platform="telegram",
    user_id="7",
    display_name="Bob",
    chat="chat",
    language="de",
    time_zone="Europe/Vienna",
)


def account(user_id: str = "7", admitted_by: Admission = "code") -> NewAccount:
    return NewAccount(
        platform="telegram", user_id=user_id, display_name="Ann T.", admitted_by=admitted_by
    )


def find(connection: Connection, user_id: str = "7", platform: str = "telegram") -> Person | None:
    return people.find_by_account(connection, platform=platform, user_id=user_id)


def test_a_person_is_found_by_id_and_by_any_of_their_accounts(connection: Connection) -> None:
    ann = add_person(connection, "ann")
    bob = add_person(connection, "bob")
    people.attach_account(connection, account("7"), person_id=ann.id, now=1)
    people.attach_account(connection, account("8"), person_id=ann.id, now=2)
    people.attach_account(connection, account("9"), person_id=bob.id, now=3)
    assert people.find(connection, person_id=ann.id) == ann
    assert [find(connection, user_id) for user_id in ("7", "8", "9", "10")] == [ann, ann, bob, None]
    assert find(connection, "7", platform="discord") is None
    accounts = people.list_accounts(connection, person_id=ann.id)
    assert [(found.user_id, found.display_name) for found in accounts] == [
        ("7", "Ann T."),
        ("8", "Ann T."),
    ]
    assert people.list_all(connection) == [ann, bob]
    assert people.find(connection, person_id=PersonId(99)) is None


def test_a_taken_slug_gets_the_next_free_number(connection: Connection) -> None:
    slugs = [add_person(connection, slug).slug for slug in ("ann", "ann", "ann-3", "ann", "a_n")]
    assert slugs == ["ann", "ann-2", "ann-3", "ann-4", "a_n"]


def test_a_new_person_costs_no_more_among_many(connection: Connection) -> None:
    def count_steps(slug: str) -> int:
        steps = [0]

        def count() -> None:
            steps[0] += 1

        connection.set_progress_handler(count, 1)
        add_person(connection, slug)
        connection.set_progress_handler(None, 1)
        return steps[0]

    alone = count_steps("task-0-1")
    for number in range(1, 500):
        add_person(connection, f"task-{number}-1")
    assert count_steps("task-500-1") <= alone + 20


def test_the_first_owner_is_the_owner(connection: Connection) -> None:
    assert people.find_owner(connection) is None
    ann, bob, cleo = (add_person(connection, slug) for slug in ("ann", "bob", "cleo"))
    assert not ann.is_owner
    people.make_owner(connection, person_id=cleo.id)
    people.make_owner(connection, person_id=bob.id)
    owner = people.find_owner(connection)
    assert owner is not None
    assert owner.id == bob.id
    assert owner.is_owner


def test_the_console_alone_makes_no_platform_owner(connection: Connection) -> None:
    ann = add_person(connection)
    people.make_owner(connection, person_id=ann.id)
    assert not people.has_platform_owner(connection, local_platform="console")
    local = NewAccount(platform="console", user_id="me", display_name="", admitted_by="local")
    people.attach_account(connection, local, person_id=ann.id, now=0)
    assert not people.has_platform_owner(connection, local_platform="console")
    people.attach_account(connection, account(), person_id=ann.id, now=0)
    assert people.has_platform_owner(connection, local_platform="console")


def test_a_member_on_a_platform_makes_no_platform_owner(connection: Connection) -> None:
    people.attach_account(connection, account(), person_id=add_person(connection).id, now=0)
    assert not people.has_platform_owner(connection, local_platform="console")


def test_an_account_that_is_somebodys_stays_theirs(connection: Connection) -> None:
    ann, bob = add_person(connection, "ann"), add_person(connection, "bob")
    people.attach_account(connection, account(), person_id=ann.id, now=0)
    people.attach_account(connection, account(), person_id=bob.id, now=0)
    assert find(connection) == ann
    assert people.list_accounts(connection, person_id=bob.id) == []


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [("list", "code", "code"), ("code", "list", "code"), ("list", "list", "list")],
)
def test_a_code_gives_a_right_that_the_list_does_not_take(
    connection: Connection, first: Admission, second: Admission, expected: Admission
) -> None:
    ann = add_person(connection)
    for admission in (first, second):
        people.attach_account(connection, account("7", admission), person_id=ann.id, now=0)
    found = people.find_account(connection, platform="telegram", user_id="7")
    assert found
    assert found.admitted_by == expected
    assert people.find_account(connection, platform="telegram", user_id="8") is None


def _insert_pairing(connection: Connection, code_hash: str, *, now: int = 0) -> None:
    codes.insert(
        connection, purpose="pairing", code_hash=code_hash, asker=ASKER, now=now, expires_at=100
    )


def test_a_code_is_good_once_in_time_and_for_its_purpose(connection: Connection) -> None:
    _insert_pairing(connection, "h")
    code = codes.find(connection, code_hash="h", purpose="pairing", now=99)
    assert code is not None
    assert (code.platform, code.user_id, code.display_name, code.chat) == (
        ASKER.platform,
        ASKER.user_id,
        ASKER.display_name,
        ASKER.chat,
    )
    assert (code.language, code.time_zone) == ("de", "Europe/Vienna")
    assert (code.created_at, code.expires_at) == (0, 100)
    assert codes.find(connection, code_hash="h", purpose="pairing", now=100) is None
    assert codes.find(connection, code_hash="h", purpose="claim", now=1) is None
    assert codes.find(connection, code_hash="other", purpose="pairing", now=1) is None
    codes.use(connection, code_id=code.id, now=5)
    assert codes.find(connection, code_hash="h", purpose="pairing", now=6) is None


def test_the_latest_pairing_of_an_account_is_found_even_when_it_is_spent(
    connection: Connection,
) -> None:
    assert codes.find_latest_pairing(connection, platform="telegram", user_id="7") is None
    _insert_pairing(connection, "one", now=1)
    _insert_pairing(connection, "two", now=2)
    codes.retire(connection, purpose="pairing", now=3)
    latest = codes.find_latest_pairing(connection, platform="telegram", user_id="7")
    assert latest is not None
    assert latest.created_at == 2
    assert codes.find_latest_pairing(connection, platform="telegram", user_id="8") is None


def test_retiring_codes_ends_those_of_one_purpose_only(connection: Connection) -> None:
    _insert_pairing(connection, "pairing")
    codes.insert(connection, purpose="claim", code_hash="claim", asker=None, now=0, expires_at=100)
    codes.retire(connection, purpose="claim", now=1)
    assert codes.find(connection, code_hash="claim", purpose="claim", now=2) is None
    assert codes.find(connection, code_hash="pairing", purpose="pairing", now=2)


def test_two_codes_never_share_a_hash(connection: Connection) -> None:
    _insert_pairing(connection, "h")
    with pytest.raises(sqlite3.IntegrityError):
        _insert_pairing(connection, "h")
