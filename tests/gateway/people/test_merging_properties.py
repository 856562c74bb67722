"""Five accounts are joined and split at random: every word and note stays with its account."""

import random
import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import cast

import pytest

from agent_core.chats import Chat, Place
from agent_core.ids import AccountId, TurnId
from agent_core.memory import merge_memories
from agent_core.memory.editing import apply_edits
from agent_core.memory.edits_within_limits import Edit
from agent_core.memory.files import ABSENT
from agent_core.memory.store import MemoryLimits, MemoryStore
from agent_core.memory.sync import MemoryList, find_list, find_rows, sync_lists
from agent_core.memory.undo import undo
from agent_core.state.conversations import messages, sessions, turns
from agent_core.state.conversations.questions import Question
from agent_core.state.conversations.turns import TurnRequest
from agent_core.state.engine.database import Database
from agent_core.state.lifecycle import merge_people
from agent_core.state.memory.ledger import Origin
from agent_core.state.people import account_links, people
from agent_core.state.people.account_links import OtherSide
from agent_core.state.people.people import Account, NewAccount, Person
from agent_core.state.search import message_index, passages
from agent_core.state.search.message_index import Term
from agent_core.state.search.search_scope import SearchFilter
from agent_core.transcript import Message, TextPart
from gateway.errors import Declined
from gateway.people.merging import YES, AccountMerging, UnlinkRequest
from tests.agent_core.state.message_index import check_index
from tests.agent_core.state.rows import PROMPT, add_person
from tests.agent_core.state.schema import create_schema

ACCOUNTS = 5
STEPS = 60


class Deployment:
    """What was said by each account, beside the database that has to know it."""

    def __init__(self, connection: sqlite3.Connection, folder: Path, seed: int) -> None:
        self.connection = connection
        self.chance = random.Random(seed)
        # In every other town the notes of one or two accounts are all that fits.
        limits = MemoryLimits(memory=60) if seed % 2 else MemoryLimits()
        self.store = MemoryStore(cast("Database", None), folder, limits)
        self.merging = AccountMerging(self.store)
        self.now = 0
        self.began: dict[AccountId, set[str]] = {}
        self.said_in: dict[int, set[str]] = {}
        self.noted: dict[AccountId, set[str]] = {}
        self.noted_by: dict[str, AccountId] = {}
        for number in range(ACCOUNTS):
            person = add_person(connection, f"person-{number}")
            account = NewAccount(
                platform="p", user_id=str(number), display_name="x", admitted_by="code"
            )
            people.attach_account(connection, account, person_id=person.id, now=0)
            self.began[self.accounts()[-1].id] = set()
            self.noted[self.accounts()[-1].id] = set()

    def accounts(self) -> list[Account]:
        found = (
            people.find_account(self.connection, platform="p", user_id=str(number))
            for number in range(ACCOUNTS)
        )
        return [account for account in found if account]

    def person(self, account: Account) -> Person:
        found = people.find(self.connection, person_id=account.person_id)
        assert found
        return found

    def speak(self) -> None:
        account = self.chance.choice(self.accounts())
        person, is_direct = self.person(account), self.chance.random() < 0.6
        key = f"direct:{person.id}" if is_direct else f"room:p:1::{person.id}"
        dialogue = sessions.ensure_conversation(
            self.connection,
            sessions.NewConversation(
                key=key,
                kind="direct" if is_direct else "room",
                person_id=person.id,
                is_direct=is_direct,
            ),
            now=self.now,
        )
        if self.chance.random() < 0.3:
            sessions.end(self.connection, conversation_id=dialogue.id, now=self.now)
        opened = sessions.find_open(self.connection, conversation_id=dialogue.id)
        session_id = (
            opened.id
            if opened
            else sessions.insert(
                self.connection, conversation_id=dialogue.id, account_id=account.id, now=self.now
            )
        )
        sessions.insert_prompt(self.connection, prompt_hash=PROMPT, system="", tools="[]", now=0)
        sessions.touch(self.connection, session_id=session_id, prompt_hash=PROMPT, now=self.now)
        turn_id = turns.insert(
            self.connection,
            conversation=dialogue,
            session_id=session_id,
            request=TurnRequest(
                person_id=person.id,
                account_id=account.id,
                place=Place(chat=Chat(platform="p", address=account.user_id)),
            ),
            prompt_hash=PROMPT,
            now=self.now,
        )
        word = f"word{self.now}"
        memory_list = messages.TranscriptPlace(
            session_id=session_id,
            turn_id=turn_id,
            person_id=person.id,
            conversation_id=dialogue.id,
            platform="p",
        )
        said = Message(role="user", parts=(TextPart(text=f"tea {word}"),))
        messages.append(self.connection, memory_list, [said], now=self.now)
        turns.end(self.connection, turn_id=turn_id, state="answered", reason="", now=self.now)
        beginner = self.connection.execute(
            "SELECT account_id FROM sessions WHERE id = :id", {"id": session_id}
        ).fetchone()[0]
        self.began[AccountId(beginner)].add(word)
        if self.chance.random() < 0.4:
            self.note(person, account, f"turn:{turn_id}", f"note {self.now}")

    def note(self, person: Person, account: Account, actor: str, text: str) -> None:
        self.edit(person, Edit(action="add", target="memory", text=text), actor)
        self.noted[account.id].add(text)
        self.noted_by[text] = account.id

    def edit(self, person: Person, edit: Edit, actor: str) -> None:
        work = partial(apply_edits, edits=[edit], origin=Origin(actor=actor, now=self.now))
        sync_lists(self.connection, [(self.memory_list(person), ABSENT)], work, self.now)

    def forget(self) -> None:
        """Somebody drops a note, whoever it came from."""
        person = self.person(self.chance.choice(self.accounts()))
        notes = find_list(self.connection, self.memory_list(person))
        if notes:
            text = self.chance.choice(notes)
            self.edit(person, Edit(action="remove", target="memory", old=text), "person")
            for noted in self.noted.values():
                noted.discard(text)

    def undo(self) -> None:
        """Somebody takes a change of their memory back, whatever it was."""
        person = self.person(self.chance.choice(self.accounts()))
        memory_list = self.memory_list(person)
        rows = find_rows(self.connection, memory_list)
        before = set(find_list(self.connection, memory_list))
        if rows:
            row = self.chance.choice(rows)
            work = partial(undo, row_id=row.id, origin=Origin(actor="person", now=self.now))
            sync_lists(self.connection, [(memory_list, ABSENT)], work, self.now)
        after = set(find_list(self.connection, memory_list))
        for text in before - after:
            self.noted[self.noted_by[text]].discard(text)
        for text in after - before:
            self.noted[self.noted_by[text]].add(text)

    def left_out_of(self, person: Person) -> list[str]:
        """Notes that did not fit when others were joined to a person."""
        gone = merge_people.list_absorbed(self.connection, person_id=person.id)
        return merge_memories.list_unmerged(self.connection, kept=person.id, absorbed=gone)

    def keep(self) -> None:
        person = self.person(self.chance.choice(self.accounts()))
        self.merging.keep(self.connection, person, str(self.now), self.now)

    def memory_list(self, person: Person) -> MemoryList:
        return MemoryList(person_id=person.id, target="memory", limit=100_000)

    def join(self) -> None:
        one, other = self.chance.sample(self.accounts(), 2)
        if one.person_id == other.person_id:
            return
        link_id = account_links.insert(
            self.connection,
            person_id=one.person_id,
            code_hash=str(self.now),
            chat=Chat(platform="p", address="c"),
            now=self.now,
            expires_at=self.now + 9,
        )
        side = OtherSide(
            platform="p", user_id=other.user_id, name="x", chat="c", person_id=other.person_id
        )
        account_links.redeem(self.connection, link_id=link_id, other=side)
        question = cast("Question", type("Asked", (), {"payload": str(link_id)})())
        outcome = self.merging.answer_link(
            self.connection, question, YES, self.person(one), self.now
        )
        assert "Linked" in outcome.words

    def unlink(self, account: Account) -> None:
        leaving = UnlinkRequest(account=account, is_admitted=True)
        with suppress(Declined):  # such as for the last account of a person
            self.merging.unlink(self.connection, self.person(account), leaving, self.now)

    def check(self) -> None:
        check_index(self.connection)
        wrong = self.connection.execute(
            "SELECT messages.id FROM messages JOIN sessions ON sessions.id = messages.session_id"
            " JOIN conversations ON conversations.id = sessions.conversation_id"
            " JOIN turns ON turns.id = messages.turn_id WHERE"
            " messages.person_id <> conversations.person_id"
            " OR turns.person_id <> conversations.person_id"
            " OR turns.conversation_id <> conversations.id"
            " OR messages.scope <> 'p' || conversations.person_id || ' c' || conversations.id"
        ).fetchall()
        assert wrong == []
        doubled = self.connection.execute(
            "SELECT conversation_id FROM sessions WHERE ended_at IS NULL"
            " GROUP BY conversation_id HAVING COUNT(*) > 1"
        ).fetchall()
        assert doubled == []
        for account in self.accounts():
            person = self.person(account)
            assert person in people.list_all(self.connection)
            alike = [one.id for one in self.accounts() if one.person_id == person.id]
            expected = set[str]().union(*(self.began[one] for one in alike))
            field = SearchFilter(person_id=person.id, scope=f"p{person.id}", except_turn=TurnId(0))
            tea = [Term(word="tea")]
            held = message_index.list_holders(self.connection, field=field, terms=tea, limit=1000)
            ids = [message_index.message_of(one) for one in held]
            hits = passages.load_messages(self.connection, field=field, message_ids=ids)
            assert {hit.text.split()[1] for hit in hits} == expected
            notes = [
                *find_list(self.connection, self.memory_list(person)),
                *self.left_out_of(person),
            ]
            assert sorted(notes) == sorted(set[str]().union(*(self.noted[one] for one in alike)))


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(tmp_path / "x.db", isolation_level=None)
    create_schema(connection)
    yield connection
    connection.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "undoes"), [*((seed, True) for seed in (*range(8), 21, 129)), (107, False)]
)
def test_accounts_keep_what_they_began_through_any_linking(
    connection: sqlite3.Connection, tmp_path: Path, seed: int, undoes: bool
) -> None:
    deployment = Deployment(connection, tmp_path / "memories", seed)
    for _ in range(STEPS):
        deployment.now += 10
        deed = deployment.chance.random()
        if deed < 0.5:
            deployment.speak()
        elif deed < 0.58:
            deployment.forget()
        elif deed < 0.62:
            deployment.keep()
        elif undoes and deed < 0.66:
            deployment.undo()
        elif deed < 0.85:
            deployment.join()
        else:
            deployment.unlink(deployment.chance.choice(deployment.accounts()))
        deployment.check()
    for _ in range(ACCOUNTS):
        for account in deployment.accounts():
            deployment.unlink(account)
    deployment.check()
    assert len({account.person_id for account in deployment.accounts()}) == ACCOUNTS
