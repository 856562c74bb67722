"""Rules of confirmations, whoever brings them, and cases in which unlinking is refused."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from agent_core.chats import Chat
from agent_core.ids import LinkId, QuestionId, TaskId, TurnId
from agent_core.memory.store import MemoryStore
from agent_core.state.conversations import turns
from agent_core.state.conversations.questions import Question
from agent_core.state.engine.database import Connection, Database
from agent_core.state.lifecycle import merge_people
from agent_core.state.people import account_links, people
from agent_core.state.people.account_links import OtherSide
from agent_core.state.people.people import Account, NewAccount, Person
from agent_core.state.queues import reviews, tasks
from agent_core.state.queues.tasks import Queue
from gateway.errors import Declined
from gateway.outbound.questions import AnswerOutcome
from gateway.people.merging import KEEP, NO, YES, AccountMerging, UnlinkRequest, ask_to_join
from gateway.texts import people as people_texts
from tests.agent_core.state.rows import add_dialogue, add_person, add_turn
from tests.databases import open_database

EXPIRES = 1000
LINKED = people_texts.LINKED(account=people_texts.name_account("p", "ben", "ben"))


class Deployment:
    """Ann, Ben and Cleo with an account each; Ben's account has sent Ann's code."""

    def __init__(self, database: Database, folder: Path) -> None:
        self.database = database
        self.merging = AccountMerging(MemoryStore(database, folder))
        self.ann = self.ben = self.cleo = _NOBODY
        self.link_id = LinkId(0)

    async def open(self) -> "Deployment":
        def work(connection: Connection) -> tuple[list[Person], LinkId]:
            three = [_enter(connection, slug) for slug in ("ann", "ben", "cleo")]
            return three, _wish(connection, three[0], three[1])

        (self.ann, self.ben, self.cleo), self.link_id = await self.database.write("x", work)
        return self

    async def answer(
        self, key: str = YES, *, by: Person | None = None, now: int = 5, kind: str = "link"
    ) -> AnswerOutcome:
        def work(connection: Connection) -> AnswerOutcome:
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
                chat=Chat(platform="p", address="ann"),
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
        try:
            done, _ = await self.database.write(
                "unlink", lambda c: self.merging.unlink(c, person, leaving, 9)
            )
        except Declined as error:
            return str(error)
        return people_texts.describe_unlinked(done)

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
            "turn", lambda c: add_turn(c, add_dialogue(c, person, key=f"direct:{person.id}"))
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
        chat=Chat(platform="p", address=first.slug),
        now=0,
        expires_at=EXPIRES,
    )
    side = OtherSide(
        platform="p", user_id=other.slug, name=other.slug, chat=other.slug, person_id=other.id
    )
    account_links.redeem(connection, link_id=link_id, other=side)
    return link_id


@pytest.fixture
async def deployment(tmp_path: Path) -> AsyncIterator[Deployment]:
    database = await open_database(tmp_path / "state.db")
    yield await Deployment(database, tmp_path / "memories").open()
    await database.close()


async def test_the_asker_can_confirm(deployment: Deployment) -> None:
    outcome = await deployment.answer()
    assert outcome.words == LINKED
    assert [account.user_id for account in await deployment.accounts(deployment.ann)] == [
        "ann",
        "ben",
    ]
    assert await deployment.state() == "joined"
    assert [(row.chat.address, row.body) for row in outcome.rows] == [
        ("ben", people_texts.describe_linked_notice("p", "Ann"))
    ]


async def test_nobody_else_can_confirm(deployment: Deployment) -> None:
    for somebody in (deployment.ben, deployment.cleo):
        assert (await deployment.answer(by=somebody)).words == people_texts.LINK_OVER()
    assert await deployment.state() == "asked"


@pytest.mark.parametrize("outcome", ["over", "refused", "joined"])
async def test_a_closed_request_cannot_be_confirmed(
    deployment: Deployment, outcome: account_links.LinkState
) -> None:
    await deployment.database.write(
        "close",
        lambda c: account_links.close(c, link_id=deployment.link_id, outcome=outcome, now=1),
    )
    assert (await deployment.answer()).words == people_texts.LINK_OVER()
    assert len(await deployment.accounts(deployment.ann)) == 1


async def test_an_expired_request_cannot_be_confirmed(deployment: Deployment) -> None:
    assert (await deployment.answer(now=EXPIRES)).words == people_texts.LINK_OVER()
    assert (await deployment.answer(now=EXPIRES - 1)).words == LINKED


async def test_a_no_is_reported_to_the_other_account(deployment: Deployment) -> None:
    outcome = await deployment.answer(NO)
    assert [row.body for row in outcome.rows] == [people_texts.LINK_REFUSED_NOTICE()]
    assert await deployment.state() == "refused"


@pytest.mark.parametrize("who", ["ann", "ben"])
async def test_a_running_turn_of_either_keeps_the_question_open(
    deployment: Deployment, who: str
) -> None:
    await deployment.run_turn(deployment.ann if who == "ann" else deployment.ben)
    outcome = await deployment.answer()
    assert (outcome.words, outcome.stays_open) == (people_texts.BUSY(), True)
    assert await deployment.state() == "asked"

    def end(connection: Connection) -> None:
        for turn in turns.list_running(connection):
            turns.end(connection, turn_id=turn.id, state="answered", reason="", now=6)

    await deployment.database.write("end", end)
    assert (await deployment.answer()).words == LINKED


@pytest.mark.parametrize("who", ["ann", "ben"])
async def test_a_running_review_of_either_keeps_the_question_open(
    deployment: Deployment, who: str
) -> None:
    person = deployment.ann if who == "ann" else deployment.ben

    def begin(connection: Connection) -> TaskId:
        reviews.enqueue(connection, person_id=person.id, until=TurnId(1), payload="{}", now=1)
        task = tasks.take_due(connection, queue=Queue(kinds=(reviews.KIND,)), now=2)
        assert task
        return task.id

    task_id = await deployment.database.write("begin", begin)
    outcome = await deployment.answer()
    assert (outcome.words, outcome.stays_open) == (people_texts.BUSY(), True)
    await deployment.database.write("end", lambda c: tasks.finish(c, task_id=task_id))
    assert (await deployment.answer()).words == LINKED


async def test_a_memory_that_is_being_changed_keeps_the_question_open(
    deployment: Deployment,
) -> None:
    async with deployment.merging._memory._lock(deployment.ben.id):
        assert (await deployment.answer()).stays_open
        assert (await deployment.answer(KEEP, kind="merge")).stays_open is False
    async with deployment.merging._memory._lock(deployment.ann.id):
        assert (await deployment.answer(KEEP, kind="merge")).stays_open
    assert (await deployment.answer()).words == LINKED


@pytest.mark.parametrize("pair", [("cleo", "ann"), ("cleo", "ben"), ("ben", "cleo")])
async def test_linking_cancels_other_confirmed_requests(
    deployment: Deployment, pair: tuple[str, str]
) -> None:
    first, other = (getattr(deployment, name) for name in pair)
    wish = await deployment.database.write("wish", lambda c: _wish(c, first, other))
    await deployment.answer()
    found = await deployment.database.read(lambda c: account_links.find(c, link_id=wish))
    assert found
    assert found.state == "over"


async def test_unlinking_cancels_confirmed_requests(deployment: Deployment) -> None:
    await deployment.answer()
    wish = await deployment.database.write(
        "wish", lambda c: _wish(c, deployment.cleo, deployment.ben)
    )
    _, theirs = await deployment.accounts(deployment.ann)
    await deployment.unlink(deployment.ann, theirs)
    found = await deployment.database.read(lambda c: account_links.find(c, link_id=wish))
    assert found
    assert found.state == "over"


async def test_only_own_accounts_are_unlinked_and_not_during_a_turn(
    deployment: Deployment,
) -> None:
    mine = await deployment.account(deployment.ann)
    assert (
        await deployment.unlink(deployment.ann, await deployment.account(deployment.cleo))
        == people_texts.UNLINK_UNKNOWN()
    )
    assert await deployment.unlink(deployment.ann, mine) == people_texts.UNLINK_LAST()
    await deployment.answer()
    assert await deployment.unlink(deployment.ann, mine) == people_texts.UNLINK_FIRST()
    await deployment.run_turn(deployment.ann)
    _, theirs = await deployment.accounts(deployment.ann)
    assert await deployment.unlink(deployment.ann, theirs) == people_texts.BUSY()
    stale = replace(mine, person_id=deployment.cleo.id)
    assert await deployment.unlink(deployment.cleo, stale) == people_texts.UNLINK_UNKNOWN()


async def test_an_unreadable_file_prevents_unlinking_completely(
    deployment: Deployment, tmp_path: Path
) -> None:
    await deployment.answer()
    file = tmp_path / "memories" / "people" / "ann" / "USER.md"
    file.mkdir(parents=True)
    mine, theirs = await deployment.accounts(deployment.ann)
    assert str(file) in await deployment.unlink(deployment.ann, theirs)
    assert await deployment.accounts(deployment.ann) == [mine, theirs]


async def test_the_first_account_to_leave_keeps_the_former_person(
    deployment: Deployment,
) -> None:
    second = NewAccount(platform="q", user_id="ben", display_name="Ben", admitted_by="code")
    await deployment.database.write(
        "second", lambda c: people.attach_account(c, second, person_id=deployment.ben.id, now=0)
    )
    await deployment.answer()
    _, one, other = await deployment.accounts(deployment.ann)
    await deployment.unlink(deployment.ann, other)
    await deployment.unlink(deployment.ann, one)

    def look(connection: Connection) -> dict[str, list[str]]:
        return {
            person.slug: [
                account.platform
                for account in people.list_accounts(connection, person_id=person.id)
            ]
            for person in people.list_all(connection)
        }

    found = await deployment.database.read(look)
    assert found == {"ann": ["p"], "ben": ["q"], "cleo": ["p"], "ben-2": ["p"]}
    assert (
        await deployment.database.read(
            lambda c: merge_people.list_absorbed(c, person_id=deployment.ann.id)
        )
        == []
    )
