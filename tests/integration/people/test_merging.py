"""What a confirmation is held to whoever hands it on, and what unlinking refuses."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from agent_core.ids import LinkId, QuestionId
from agent_core.memory.store import MemoryStore
from agent_core.state.conversations import turns
from agent_core.state.conversations.questions import Question
from agent_core.state.engine.database import Connection, Database
from agent_core.state.lifecycle import merge_people
from agent_core.state.people import account_links, people
from agent_core.state.people.account_links import OtherSide
from agent_core.state.people.people import Account, NewAccount, Person
from gateway.outbound.questions import Outcome
from gateway.people.merging import KEEP, NO, YES, AccountMerging, UnlinkRequest, ask_to_join
from gateway.texts import people as people_texts
from tests.agent_core.state.rows import add_person, add_talk, add_turn

EXPIRES = 1000
LINKED = people_texts.describe_linked(people_texts.name_account("p", "ben", "ben"))


class Hall:
    """Ann, Ben and Cleo with an account each; Ben's account has sent Ann's code."""

    def __init__(self, database: Database, folder: Path) -> None:
        self.database = database
        self.merging = AccountMerging(MemoryStore(database, folder))
        self.ann = self.ben = self.cleo = _NOBODY
        self.link_id = LinkId(0)

    async def open(self) -> "Hall":
        def work(connection: Connection) -> tuple[list[Person], LinkId]:
            three = [_enter(connection, slug) for slug in ("ann", "ben", "cleo")]
            return three, _wish(connection, three[0], three[1])

        (self.ann, self.ben, self.cleo), self.link_id = await self.database.write("x", work)
        return self

    async def answer(
        self, key: str = YES, *, by: Person | None = None, now: int = 5, kind: str = "link"
    ) -> Outcome:
        def work(connection: Connection) -> Outcome:
            link = account_links.find(connection, link_id=self.link_id)
            assert link
            assert link.other
            new = ask_to_join(link, link.other)
            question = Question(
                id=QuestionId(1),
                turn_id=None,
                call_id=None,
                state="open",
                answer=None,
                platform="p",
                chat="ann",
                person_id=new.person_id,
                kind=new.kind,
                text=new.text,
                choices=new.choices,
                payload=new.payload,
                secret=new.secret,
                expires_at=new.expires_at,
            )
            answer = self.merging.answerers()["link" if kind == "link" else "merge"]
            return answer(connection, question, key, by or self.ann, now)

        return await self.database.write("answer", work)

    async def unlink(self, person: Person, account: Account) -> str:
        leaving = UnlinkRequest(account=account, is_admitted=True)
        told, _ = await self.database.write(
            "unlink", lambda c: self.merging.unlink(c, person, leaving, 9)
        )
        return told

    async def account(self, person: Person) -> Account:
        return (await self.accounts(person))[0]

    async def accounts(self, person: Person) -> list[Account]:
        return await self.database.read(lambda c: people.list_accounts(c, person_id=person.id))

    async def state(self) -> str:
        link = await self.database.read(lambda c: account_links.find(c, link_id=self.link_id))
        assert link
        return link.state

    async def run_turn(self, person: Person) -> None:
        await self.database.write(
            "turn", lambda c: add_turn(c, add_talk(c, person, key=f"direct:{person.id}"))
        )


_NOBODY = Person(id=0, slug="nobody", name="", role="member", time_zone=None)  # type: ignore[arg-type]


def _enter(connection: Connection, slug: str) -> Person:
    person = add_person(connection, slug)
    account = NewAccount(platform="p", user_id=slug, display_name=slug, admitted_by="code")
    people.attach_account(connection, account, person_id=person.id, now=0)
    return person


def _wish(connection: Connection, first: Person, other: Person) -> LinkId:
    link_id = account_links.insert(
        connection,
        person_id=first.id,
        code_hash=f"{first.slug} {other.slug}",
        place=("p", first.slug),
        now=0,
        expires_at=EXPIRES,
    )
    side = OtherSide(
        platform="p", user_id=other.slug, name=other.slug, chat=other.slug, person_id=other.id
    )
    account_links.redeem(connection, link_id=link_id, other=side)
    return link_id


@pytest.fixture
async def hall(tmp_path: Path) -> AsyncIterator[Hall]:
    database = await Database.open(tmp_path / "state.db")
    yield await Hall(database, tmp_path / "memories").open()
    await database.close()


async def test_the_one_who_asked_joins(hall: Hall) -> None:
    outcome = await hall.answer()
    assert outcome.words == LINKED
    assert [account.user_id for account in await hall.accounts(hall.ann)] == ["ann", "ben"]
    assert await hall.state() == "joined"
    assert [(row.chat, row.body) for row in outcome.rows] == [
        ("ben", people_texts.describe_linked_notice("p", "Ann"))
    ]


async def test_somebody_else_does_not(hall: Hall) -> None:
    for somebody in (hall.ben, hall.cleo):
        assert (await hall.answer(by=somebody)).words == people_texts.LINK_OVER()
    assert await hall.state() == "asked"


@pytest.mark.parametrize("outcome", ["over", "refused", "joined"])
async def test_what_is_over_is_not_confirmed_any_more(
    hall: Hall, outcome: account_links.LinkState
) -> None:
    await hall.database.write(
        "close", lambda c: account_links.close(c, link_id=hall.link_id, outcome=outcome, now=1)
    )
    assert (await hall.answer()).words == people_texts.LINK_OVER()
    assert len(await hall.accounts(hall.ann)) == 1


async def test_what_has_expired_is_not_confirmed_any_more(hall: Hall) -> None:
    assert (await hall.answer(now=EXPIRES)).words == people_texts.LINK_OVER()
    assert (await hall.answer(now=EXPIRES - 1)).words == LINKED


async def test_a_no_is_told_to_the_other_side(hall: Hall) -> None:
    outcome = await hall.answer(NO)
    assert [row.body for row in outcome.rows] == [people_texts.LINK_REFUSED_NOTICE()]
    assert await hall.state() == "refused"


@pytest.mark.parametrize("who", ["ann", "ben"])
async def test_a_running_turn_of_either_keeps_the_question_open(hall: Hall, who: str) -> None:
    await hall.run_turn(hall.ann if who == "ann" else hall.ben)
    outcome = await hall.answer()
    assert (outcome.words, outcome.stays_open) == (people_texts.BUSY(), True)
    assert await hall.state() == "asked"

    def end(connection: Connection) -> None:
        for turn in turns.list_running(connection):
            turns.end(connection, turn_id=turn.id, state="answered", reason="", model="", now=6)

    await hall.database.write("end", end)
    assert (await hall.answer()).words == LINKED


async def test_a_memory_that_is_being_changed_keeps_the_question_open(hall: Hall) -> None:
    async with hall.merging._memory._lock(hall.ben.id):
        assert (await hall.answer()).stays_open
        assert (await hall.answer(KEEP, kind="merge")).stays_open is False
    async with hall.merging._memory._lock(hall.ann.id):
        assert (await hall.answer(KEEP, kind="merge")).stays_open
    assert (await hall.answer()).words == LINKED


@pytest.mark.parametrize("pair", [("cleo", "ann"), ("cleo", "ben"), ("ben", "cleo")])
async def test_what_else_was_agreed_to_by_either_ends_with_the_joining(
    hall: Hall, pair: tuple[str, str]
) -> None:
    first, other = (getattr(hall, name) for name in pair)
    wish = await hall.database.write("wish", lambda c: _wish(c, first, other))
    await hall.answer()
    found = await hall.database.read(lambda c: account_links.find(c, link_id=wish))
    assert found
    assert found.state == "over"


async def test_an_unlinking_ends_what_was_agreed_to_as_well(hall: Hall) -> None:
    await hall.answer()
    wish = await hall.database.write("wish", lambda c: _wish(c, hall.cleo, hall.ben))
    _, theirs = await hall.accounts(hall.ann)
    await hall.unlink(hall.ann, theirs)
    found = await hall.database.read(lambda c: account_links.find(c, link_id=wish))
    assert found
    assert found.state == "over"


async def test_only_ones_own_accounts_are_split_off_and_not_while_a_turn_runs(hall: Hall) -> None:
    mine = await hall.account(hall.ann)
    assert (
        await hall.unlink(hall.ann, await hall.account(hall.cleo)) == people_texts.UNLINK_UNKNOWN()
    )
    assert await hall.unlink(hall.ann, mine) == people_texts.UNLINK_LAST()
    await hall.answer()
    assert await hall.unlink(hall.ann, mine) == people_texts.UNLINK_FIRST()
    await hall.run_turn(hall.ann)
    _, theirs = await hall.accounts(hall.ann)
    assert await hall.unlink(hall.ann, theirs) == people_texts.BUSY()
    stale = replace(mine, person_id=hall.cleo.id)
    assert await hall.unlink(hall.cleo, stale) == people_texts.UNLINK_UNKNOWN()


async def test_a_file_that_cannot_be_read_stops_an_unlinking_before_anything_is_changed(
    hall: Hall, tmp_path: Path
) -> None:
    await hall.answer()
    file = tmp_path / "memories" / "people" / "ann" / "USER.md"
    file.mkdir(parents=True)
    mine, theirs = await hall.accounts(hall.ann)
    assert str(file) in await hall.unlink(hall.ann, theirs)
    assert await hall.accounts(hall.ann) == [mine, theirs]


async def test_of_two_accounts_that_were_one_the_first_to_leave_is_the_old_one(
    hall: Hall,
) -> None:
    second = NewAccount(platform="q", user_id="ben", display_name="Ben", admitted_by="code")
    await hall.database.write(
        "second", lambda c: people.attach_account(c, second, person_id=hall.ben.id, now=0)
    )
    await hall.answer()
    _, one, other = await hall.accounts(hall.ann)
    await hall.unlink(hall.ann, other)
    await hall.unlink(hall.ann, one)

    def look(connection: Connection) -> dict[str, list[str]]:
        return {
            person.slug: [
                account.platform
                for account in people.list_accounts(connection, person_id=person.id)
            ]
            for person in people.list_all(connection)
        }

    found = await hall.database.read(look)
    assert found == {"ann": ["p"], "ben": ["q"], "cleo": ["p"], "ben-2": ["p"]}
    assert (
        await hall.database.read(lambda c: merge_people.list_absorbed(c, person_id=hall.ann.id))
        == []
    )
