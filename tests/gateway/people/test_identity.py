"""Identity: deny by default, one-time codes, and the owner's own console."""

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from adapters.ids import Address, PlatformMessageId, PlatformUserId
from adapters.messages import InboundMessage, Sender
from agent_core.ids import InboxId, PersonId
from agent_core.state.engine.database import Database
from agent_core.state.lifecycle import merge_people
from agent_core.state.people import people
from agent_core.state.people.people import NewAccount, Person
from agent_core.state.queues.outbox import OutboxRow
from gateway.people.admission import (
    API_PLATFORM,
    LOCAL_PLATFORM,
    Approved,
    approve,
    new_claim_code,
    slug_of,
)
from gateway.people.identity import Identity
from gateway.people.onboarding import Access, hash_code
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


@dataclass(frozen=True)
class Rig:
    """The identity of a running gateway, and accounts that write to it, mostly Ana's."""

    database: Database
    time: Time
    identity: Identity

    def restart(self, *allow: str) -> "Rig":
        """Return the gateway after a restart with this allowlist."""
        identity = Identity(self.database, Access(allow), self.time)
        return replace(self, identity=identity)

    async def identify(
        self, user_id: str = "5", platform: str = "telegram", *, name: str = "Ana"
    ) -> Person | None:
        return await self.identity.identify(platform, sender(user_id, name))

    async def stranger(self, number: int = 1, *, is_direct: bool = True) -> OutboxRow | None:
        """Return the reply to a message of Ana, whom nobody knows."""
        said = message(is_direct=is_direct)
        rows = await self.identity.handle_stranger("telegram", said, InboxId(number))
        return rows[0] if rows else None

    async def claim_code(self) -> str:
        return await self.database.write("code", lambda c: new_claim_code(c, now=self.time.now))

    async def claim(self, code: str, user_id: str = "5") -> str:
        row = await self.identity.redeem("telegram", message(user_id), InboxId(1), ("claim", code))
        return row.body if row else ""

    async def guess(self, times: int, user_id: str = "5") -> None:
        for number in range(times):
            await self.claim(f"AAAA-AAA{number + 2}", user_id)

    async def approve(self, code: str, by: PersonId | None = None) -> Approved | str:
        return await self.database.write(
            "approve", lambda c: approve(c, code, "UTC", self.time.now, by=by)
        )


@pytest.fixture
def rig(database: Database) -> Rig:
    time = Time()
    return Rig(database, time, Identity(database, Access(()), time))


async def test_nobody_is_known_by_default(rig: Rig) -> None:
    assert await rig.identify() is None


async def test_an_account_on_the_allowlist_keeps_its_person(rig: Rig) -> None:
    rig = rig.restart("telegram:5")
    first = await rig.identify()
    rig.identity.forget_known()
    assert first
    assert first == await rig.identify(name="Ana Maria")
    assert first.role == "member"
    assert await rig.identify("6") is None
    assert await rig.identify("5", "discord") is None


async def test_an_account_removed_from_the_allowlist_is_a_stranger(rig: Rig) -> None:
    ana = await rig.restart("telegram:5").identify()
    assert await rig.restart().identify() is None
    assert await rig.restart("telegram:5").identify() == ana


async def test_an_account_approved_by_code_stays_without_the_allowlist(rig: Rig) -> None:
    listed = rig.restart("telegram:5")
    ana = await listed.identify()
    assert OWNED in await listed.claim(await rig.claim_code())
    again = await rig.restart().identify()
    assert ana
    assert again
    assert (again.id, again.role) == (ana.id, "owner")


async def test_a_star_lets_everybody_in_each_as_a_person_of_their_own(rig: Rig) -> None:
    rig = rig.restart("*")
    ana = await rig.identify("5", name="Ana")
    other = await rig.identify("6", name="Ana")
    assert ana
    assert other
    assert ana.id != other.id
    assert (ana.slug, other.slug) == ("ana", "ana-2")


async def test_two_first_messages_at_once_make_one_person(rig: Rig) -> None:
    rig = rig.restart("*")
    first, second = await asyncio.gather(rig.identify(), rig.identify())
    assert first == second
    assert len(await rig.database.read(people.list_all)) == 1


async def test_the_local_console_is_the_owners(rig: Rig) -> None:
    owner = await rig.identify("local", "console")
    assert owner
    assert owner.is_owner


async def test_a_claim_joins_the_account_to_the_owner_of_the_console(rig: Rig) -> None:
    owner = await rig.identify("local", "console")
    assert owner
    assert OWNED in await rig.claim(await rig.claim_code())
    known = await rig.identify()
    assert known
    assert known.id == owner.id


async def test_a_claim_code_works_once(rig: Rig) -> None:
    code = await rig.claim_code()
    assert OWNED in await rig.claim(code.lower().replace("-", " "))
    assert await rig.claim(code, "6") == general.CODE_INVALID()
    assert await rig.identify("6") is None


async def test_a_claim_code_expires_and_a_newer_one_ends_it(rig: Rig) -> None:
    replaced = await rig.claim_code()
    current = await rig.claim_code()
    assert await rig.claim(replaced) == general.CODE_INVALID()
    rig.time.now += 24 * HOUR
    assert await rig.claim(current) == general.CODE_INVALID()


async def test_guessing_is_stopped_even_for_the_right_code(rig: Rig) -> None:
    code = await rig.claim_code()
    for number in range(4):
        assert await rig.claim(f"AAAA-AAA{number + 2}") == general.CODE_INVALID()
    assert await rig.claim("AAAA-AAA6") == general.CODE_BLOCKED()
    assert await rig.claim(code) == ""
    assert OWNED in await rig.claim(code, "6")


async def test_the_use_of_codes_is_audited(rig: Rig) -> None:
    await rig.guess(5, "6")
    await rig.claim(await rig.claim_code())
    stored = await rig.database.read(
        lambda c: c.execute("SELECT person_id, actor, action FROM audit").fetchall()
    )
    assert stored == [
        (None, "account:telegram:6", "code.guessed"),
        (1, "account:telegram:5", "claim"),
    ]


async def test_a_restart_forgets_no_wrong_code(rig: Rig) -> None:
    code = await rig.claim_code()
    for _ in range(5):
        await rig.restart().guess(1)
    assert await rig.restart().claim(code) == ""
    assert OWNED in await rig.restart().claim(code, "6")


async def test_guessing_codes_causes_silence_for_a_while(rig: Rig) -> None:
    await rig.guess(5)
    assert await rig.stranger(2) is None
    rig.time.now += 600_000
    assert await rig.stranger(3)


async def test_a_code_shown_in_a_room_is_revoked_even_by_an_ignored_account(rig: Rig) -> None:
    code = await rig.claim_code()
    await rig.guess(5)
    shown = message(is_direct=False)
    assert await rig.identity.redeem("telegram", shown, InboxId(7), ("claim", code)) is None
    assert await rig.claim(code, "6") == general.CODE_INVALID()


async def test_linked_accounts_have_access_while_one_is_allowed(rig: Rig) -> None:
    ana = await rig.restart("telegram:5").identify()
    assert ana
    added = NewAccount(platform="discord", user_id="7", display_name="Ana", admitted_by="list")
    await rig.database.write(
        "add", lambda c: people.attach_account(c, added, person_id=ana.id, now=0)
    )
    assert await rig.restart("telegram:5").identify("7", "discord") == ana
    assert await rig.restart().identify("7", "discord") is None


async def test_a_person_read_during_a_change_is_not_cached(rig: Rig) -> None:
    rig = rig.restart("telegram:5")
    await rig.identify()
    rig.identity.forget_known()
    reading = asyncio.create_task(rig.identify())
    await asyncio.sleep(0)
    rig.identity.forget_known()
    await reading
    assert not rig.identity.is_known("telegram", sender())


async def test_guessing_is_allowed_again_after_the_pause(rig: Rig) -> None:
    code = await rig.claim_code()
    await rig.guess(5)
    rig.time.now += 600_000
    assert await rig.claim("AAAA-AAA7") == general.CODE_INVALID()
    assert OWNED in await rig.claim(code)


async def test_a_code_is_not_taken_where_others_read_it(rig: Rig) -> None:
    code = await rig.claim_code()
    row = await rig.identity.redeem(
        "telegram", message(is_direct=False), InboxId(1), ("claim", code)
    )
    assert row
    assert row.body == general.CLAIM_IN_GROUP()
    assert await rig.identify() is None
    assert await rig.claim(code, "6") == general.CODE_INVALID(), "others have read it"


async def test_a_room_can_be_talked_full_of_codes_only_so_often(rig: Rig) -> None:
    said = [
        await rig.identity.redeem(
            "telegram", message(is_direct=False), InboxId(number), ("claim", "AAAA-AAAA")
        )
        for number in range(8)
    ]
    assert [row is not None for row in said] == [True] * 5 + [False] * 3


async def test_a_member_with_a_conversation_of_their_own_keeps_it_when_they_claim(rig: Rig) -> None:
    rig = rig.restart("telegram:5")
    console = await rig.identify("local", "console")
    ana = await rig.identify()
    assert OWNED in await rig.claim(await rig.claim_code())
    claimed = await rig.identify()
    assert console
    assert ana
    assert claimed
    assert (claimed.id, claimed.is_owner) == (ana.id, True)
    assert (await rig.identify("local", "console")) == console


async def test_a_stranger_gets_the_instructions_once_an_hour(rig: Rig) -> None:
    await rig.identify("local", "console")
    reported = await rig.stranger(1)
    assert code_in(reported)
    assert await rig.stranger(2) is None
    rig.time.now += HOUR
    assert await rig.stranger(3)


async def test_a_stranger_in_a_room_gets_silence(rig: Rig) -> None:
    row = await rig.stranger(1, is_direct=False)
    assert row is None


async def test_without_an_owner_a_stranger_is_told_to_claim(rig: Rig) -> None:
    reported = await rig.stranger(1)
    assert reported
    assert "/claim" in reported.body


async def test_an_approved_code_lets_exactly_its_account_in(rig: Rig) -> None:
    await rig.identify("local", "console")
    code = code_in(await rig.stranger(1))
    approved = await rig.approve(code)
    assert isinstance(approved, Approved)
    assert approved.name == "Ana"
    ana = await rig.identify()
    assert ana
    assert ana.role == "member"
    assert await rig.identify("6") is None
    assert await rig.approve(code) == "“Ana” can talk to me already."
    assert await rig.approve(code, by=ana.id) == general.IN_ALREADY()


async def test_a_claim_code_approves_nobody_and_a_pairing_code_claims_nothing(rig: Rig) -> None:
    await rig.identify("local", "console")
    pairing = code_in(await rig.stranger(1))
    claiming = await rig.claim_code()
    assert await rig.approve(claiming) == general.CODE_INVALID()
    assert await rig.claim(pairing) == general.CODE_INVALID()


async def test_codes_are_stored_as_hashes_only(rig: Rig) -> None:
    code = await rig.claim_code()
    stored = await rig.database.read(lambda c: c.execute("SELECT * FROM link_codes").fetchall())
    assert code not in str(stored)
    assert hash_code(code) in str(stored)


async def test_known_people_do_not_pile_up_in_memory(database: Database) -> None:
    identity = Identity(database, Access(("*",)), Time(), most_known=3)
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


@pytest.mark.parametrize("platform", [LOCAL_PLATFORM, API_PLATFORM])
async def test_whoever_is_named_by_a_merged_persons_id_is_the_one_who_stayed(
    rig: Rig, platform: str
) -> None:
    """A message of the page, or of a program, may be on its way while its person is linked."""
    listed = rig.restart("telegram:5", "telegram:6")
    ana, other = await listed.identify("5"), await listed.identify("6", name="Ben")
    assert ana
    assert other
    assert await listed.identify(str(other.id), platform) == other
    await rig.database.write(
        "test.merge",
        merge_people.merge,
        kept=ana.id,
        absorbed=other.id,
        rename=lambda conversation: conversation.key,
        now=rig.time.now,
    )
    listed.identity.forget_known()
    found = await listed.identify(str(other.id), platform)
    assert found
    assert found.id == ana.id
