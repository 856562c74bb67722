"""Identity: deny by default, one-time codes, and the owner's own console."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from adapters.ids import Address, PlatformMessageId, PlatformUserId
from adapters.messages import InboundMessage, Sender
from agent_core.ids import InboxId
from agent_core.state.engine.database import Database
from agent_core.state.people import people
from agent_core.state.people.people import NewAccount
from agent_core.state.queues.outbox import OutboxRow
from gateway.people import Access
from gateway.people.admission import approve, new_claim_code, slug_of
from gateway.people.identity import Identity
from gateway.people.onboarding import hash_code
from gateway.texts import general
from tests.databases import open_database

HOUR = 3_600_000


class Time:
    def __init__(self) -> None:
        self.now = 1_000_000_000_000

    def __call__(self) -> int:
        return self.now


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    opened = await open_database(tmp_path / "state.db")
    yield opened
    await opened.close()


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def meet(database: Database, time: Time) -> Callable[..., Identity]:
    return lambda *allow: Identity(database, Access(allow), time)


OWNED = "you're now the owner"


def sender(user_id: str = "5", name: str = "Ana") -> Sender:
    return Sender(user_id=PlatformUserId(user_id), display_name=name)


def message(user_id: str = "5", *, is_direct: bool = True) -> InboundMessage:
    return InboundMessage(
        address=Address(chat_id=user_id, is_direct=is_direct),
        message_id=PlatformMessageId("1"),
        sender=sender(user_id),
        text="hello",
        is_addressed=True,
        sent_at=0,
    )


def code_in(row: OutboxRow | None) -> str:
    assert row
    found = re.search(r"[A-Z2-9]{4}-[A-Z2-9]{4}", row.body)
    assert found, row.body
    return found[0]


async def claim_code(database: Database, time: Time) -> str:
    return await database.write("code", lambda c: new_claim_code(c, now=time.now))


async def claim(identity: Identity, code: str, user_id: str = "5") -> str:
    row = await identity.claim("telegram", message(user_id), InboxId(1), code)
    return row.body if row else ""


async def test_nobody_is_known_by_default(meet: Callable[..., Identity]) -> None:
    assert await meet().identify("telegram", sender()) is None


async def test_an_account_on_the_allowlist_keeps_its_person(
    meet: Callable[..., Identity],
) -> None:
    identity = meet("telegram:5")
    first = await identity.identify("telegram", sender())
    identity.forget_known()
    assert first
    assert first == await identity.identify("telegram", sender(name="Ana Maria"))
    assert first.role == "member"
    assert await identity.identify("telegram", sender("6")) is None
    assert await identity.identify("discord", sender("5")) is None


async def test_an_account_removed_from_the_allowlist_is_a_stranger(
    meet: Callable[..., Identity],
) -> None:
    ana = await meet("telegram:5").identify("telegram", sender())
    assert await meet().identify("telegram", sender()) is None
    assert await meet("telegram:5").identify("telegram", sender()) == ana


async def test_an_account_approved_by_code_stays_without_the_allowlist(
    meet: Callable[..., Identity], database: Database, time: Time
) -> None:
    listed = meet("telegram:5")
    ana = await listed.identify("telegram", sender())
    assert OWNED in await claim(listed, await claim_code(database, time))
    again = await meet().identify("telegram", sender())
    assert ana
    assert again
    assert (again.id, again.role) == (ana.id, "owner")


async def test_a_star_lets_everybody_in_each_as_a_person_of_their_own(
    meet: Callable[..., Identity],
) -> None:
    identity = meet("*")
    ana = await identity.identify("telegram", sender("5", "Ana"))
    other = await identity.identify("telegram", sender("6", "Ana"))
    assert ana
    assert other
    assert ana.id != other.id
    assert (ana.slug, other.slug) == ("ana", "ana-2")


async def test_two_first_messages_at_once_make_one_person(
    meet: Callable[..., Identity], database: Database
) -> None:
    identity = meet("*")
    first, second = await asyncio.gather(
        identity.identify("telegram", sender()), identity.identify("telegram", sender())
    )
    assert first == second
    assert len(await database.read(people.list_all)) == 1


async def test_the_local_console_is_the_owners(meet: Callable[..., Identity]) -> None:
    owner = await meet().identify("console", sender("local"))
    assert owner
    assert owner.is_owner


async def test_a_claim_joins_the_account_to_the_owner_of_the_console(
    meet: Callable[..., Identity], database: Database, time: Time
) -> None:
    identity = meet()
    owner = await identity.identify("console", sender("local"))
    assert owner
    assert OWNED in await claim(identity, await claim_code(database, time))
    known = await identity.identify("telegram", sender())
    assert known
    assert known.id == owner.id


async def test_a_claim_code_works_once(
    meet: Callable[..., Identity], database: Database, time: Time
) -> None:
    identity = meet()
    code = await claim_code(database, time)
    assert OWNED in await claim(identity, code.lower().replace("-", " "))
    assert await claim(identity, code, "6") == general.CODE_INVALID()
    assert await identity.identify("telegram", sender("6")) is None


async def test_a_claim_code_expires_and_a_newer_one_ends_it(
    meet: Callable[..., Identity], database: Database, time: Time
) -> None:
    identity = meet()
    replaced = await claim_code(database, time)
    current = await claim_code(database, time)
    assert await claim(identity, replaced) == general.CODE_INVALID()
    time.now += 24 * HOUR
    assert await claim(identity, current) == general.CODE_INVALID()


async def test_guessing_is_stopped_even_for_the_right_code(
    meet: Callable[..., Identity], database: Database, time: Time
) -> None:
    identity = meet()
    code = await claim_code(database, time)
    for number in range(4):
        assert await claim(identity, f"AAAA-AAA{number + 2}") == general.CODE_INVALID()
    assert await claim(identity, "AAAA-AAA6") == general.CODE_BLOCKED()
    assert await claim(identity, code) == ""
    assert OWNED in await claim(identity, code, "6")


async def test_the_use_of_codes_is_audited(
    meet: Callable[..., Identity], database: Database, time: Time
) -> None:
    identity = meet()
    for number in range(5):
        await claim(identity, f"AAAA-AAA{number + 2}", "6")
    await claim(identity, await claim_code(database, time))
    stored = await database.read(
        lambda c: c.execute("SELECT person_id, actor, action FROM audit").fetchall()
    )
    assert stored == [
        (None, "account:telegram:6", "code.guessed"),
        (1, "account:telegram:5", "claim"),
    ]


async def test_a_restart_forgets_no_wrong_code(
    meet: Callable[..., Identity], database: Database, time: Time
) -> None:
    code = await claim_code(database, time)
    for number in range(5):
        await claim(meet(), f"AAAA-AAA{number + 2}")
    assert await claim(meet(), code) == ""
    assert OWNED in await claim(meet(), code, "6")


async def test_guessing_codes_causes_silence_for_a_while(
    meet: Callable[..., Identity], time: Time
) -> None:
    identity = meet()
    for number in range(5):
        await claim(identity, f"AAAA-AAA{number + 2}")
    assert await identity.handle_stranger("telegram", message(), InboxId(2)) is None
    time.now += 600_000
    assert await identity.handle_stranger("telegram", message(), InboxId(3))


async def test_a_code_shown_in_a_room_is_revoked_even_by_an_ignored_account(
    meet: Callable[..., Identity], database: Database, time: Time
) -> None:
    identity = meet()
    code = await claim_code(database, time)
    for number in range(5):
        await claim(identity, f"AAAA-AAA{number + 2}")
    shown = message(is_direct=False)
    assert await identity.claim("telegram", shown, InboxId(7), code) is None
    assert await claim(identity, code, "6") == general.CODE_INVALID()


async def test_linked_accounts_have_access_while_one_is_allowed(
    meet: Callable[..., Identity], database: Database
) -> None:
    ana = await meet("telegram:5").identify("telegram", sender())
    assert ana
    added = NewAccount(platform="discord", user_id="7", display_name="Ana", admitted_by="list")
    await database.write("add", lambda c: people.attach_account(c, added, person_id=ana.id, now=0))
    assert await meet("telegram:5").identify("discord", sender("7")) == ana
    assert await meet().identify("discord", sender("7")) is None


async def test_a_person_read_during_a_change_is_not_cached(
    meet: Callable[..., Identity], database: Database
) -> None:
    identity = meet("telegram:5")
    await identity.identify("telegram", sender())
    identity.forget_known()
    reading = asyncio.create_task(identity.identify("telegram", sender()))
    await asyncio.sleep(0)
    identity.forget_known()
    await reading
    assert not identity.is_known("telegram", sender())


async def test_guessing_is_allowed_again_after_the_pause(
    meet: Callable[..., Identity], database: Database, time: Time
) -> None:
    identity = meet()
    code = await claim_code(database, time)
    for number in range(5):
        await claim(identity, f"AAAA-AAA{number + 2}")
    time.now += 600_000
    assert await claim(identity, "AAAA-AAA7") == general.CODE_INVALID()
    assert OWNED in await claim(identity, code)


async def test_a_code_is_not_taken_where_others_read_it(
    meet: Callable[..., Identity], database: Database, time: Time
) -> None:
    identity = meet()
    code = await claim_code(database, time)
    row = await identity.claim("telegram", message(is_direct=False), InboxId(1), code)
    assert row
    assert row.body == general.CLAIM_IN_GROUP()
    assert await identity.identify("telegram", sender()) is None
    assert await claim(identity, code, "6") == general.CODE_INVALID(), "others have read it"


async def test_a_room_can_be_talked_full_of_codes_only_so_often(
    meet: Callable[..., Identity],
) -> None:
    identity = meet()
    said = [
        await identity.claim("telegram", message(is_direct=False), InboxId(number), "AAAA-AAAA")
        for number in range(8)
    ]
    assert [row is not None for row in said] == [True] * 5 + [False] * 3


async def test_a_member_with_a_conversation_of_their_own_keeps_it_when_they_claim(
    meet: Callable[..., Identity], database: Database, time: Time
) -> None:
    identity = meet("telegram:5")
    console = await identity.identify("console", sender("local"))
    ana = await identity.identify("telegram", sender())
    assert OWNED in await claim(identity, await claim_code(database, time))
    claimed = await identity.identify("telegram", sender())
    assert console
    assert ana
    assert claimed
    assert (claimed.id, claimed.is_owner) == (ana.id, True)
    assert (await identity.identify("console", sender("local"))) == console


async def test_a_stranger_gets_the_instructions_once_an_hour(
    meet: Callable[..., Identity], time: Time
) -> None:
    identity = meet()
    await identity.identify("console", sender("local"))
    reported = await identity.handle_stranger("telegram", message(), InboxId(1))
    assert code_in(reported)
    assert await identity.handle_stranger("telegram", message(), InboxId(2)) is None
    time.now += HOUR
    assert await identity.handle_stranger("telegram", message(), InboxId(3))


async def test_a_stranger_in_a_room_gets_silence(meet: Callable[..., Identity]) -> None:
    row = await meet().handle_stranger("telegram", message(is_direct=False), InboxId(1))
    assert row is None


async def test_without_an_owner_a_stranger_is_told_to_claim(meet: Callable[..., Identity]) -> None:
    reported = await meet().handle_stranger("telegram", message(), InboxId(1))
    assert reported
    assert "/claim" in reported.body


async def test_an_approved_code_lets_exactly_its_account_in(
    meet: Callable[..., Identity], database: Database, time: Time
) -> None:
    identity = meet()
    await identity.identify("console", sender("local"))
    code = code_in(await identity.handle_stranger("telegram", message(), InboxId(1)))
    approved = await database.write("approve", lambda c: approve(c, code, "UTC", time.now))
    assert approved
    assert approved.name == "Ana"
    ana = await identity.identify("telegram", sender())
    assert ana
    assert ana.role == "member"
    assert await identity.identify("telegram", sender("6")) is None
    assert await database.write("again", lambda c: approve(c, code, "UTC", time.now)) is None


async def test_a_claim_code_approves_nobody_and_a_pairing_code_claims_nothing(
    meet: Callable[..., Identity], database: Database, time: Time
) -> None:
    identity = meet()
    await identity.identify("console", sender("local"))
    pairing = code_in(await identity.handle_stranger("telegram", message(), InboxId(1)))
    claiming = await claim_code(database, time)
    assert await database.write("a", lambda c: approve(c, claiming, "UTC", time.now)) is None
    assert await claim(identity, pairing) == general.CODE_INVALID()


async def test_codes_are_stored_as_hashes_only(database: Database, time: Time) -> None:
    code = await claim_code(database, time)
    stored = await database.read(lambda c: c.execute("SELECT * FROM link_codes").fetchall())
    assert code not in str(stored)
    assert hash_code(code) in str(stored)


async def test_known_people_do_not_pile_up_in_memory(database: Database, time: Time) -> None:
    identity = Identity(database, Access(("*",)), time, most_known=3)
    for number in range(10):
        await identity.identify("telegram", sender(str(number)))
    assert len(identity._known) == 3
    assert len(await database.read(people.list_all)) == 10


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Ana", "ana"),
        ("Žofie Nová", "zofie-nova"),
        ("李", "person"),
        ("../../x", "x"),
        ("", "person"),
    ],
)
def test_a_slug_is_a_safe_folder_name(name: str, slug: str) -> None:
    assert slug_of(name) == slug
