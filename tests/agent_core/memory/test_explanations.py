"""What an entry rests on: found through joinings, shown to those only who may see it."""

from dataclasses import replace

import pytest

from agent_core.agent.prompt.message_facts import FactInputs, compose_facts
from agent_core.ids import MessageId, PersonId, TurnId
from agent_core.memory import merge_memories
from agent_core.memory.edits_within_limits import Edit
from agent_core.memory.explanations import (
    Explanation,
    ExplanationReader,
    SourceMessage,
    explain_entry,
    find_author,
)
from agent_core.memory.numbering import load_change_index
from agent_core.memory.store import MemoryStore
from agent_core.state.conversations import messages
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory import ledger
from agent_core.state.memory.evidence import Evidence
from agent_core.state.memory.ledger import Origin
from agent_core.state.people.people import Person
from agent_core.transcript import Message, escape, user_message
from tests.agent_core.memory.conftest import Desk
from tests.agent_core.state.rows import add_dialogue, add_turn


def facts(author: str) -> str:
    return compose_facts(
        FactInputs(now=0, zone="UTC", platform="telegram", is_direct=True, author=author)
    )


class Notebook:
    """A person who talks, and whose words are noted."""

    def __init__(self, database: Database, store: MemoryStore, person: Person) -> None:
        self.database = database
        self.store = store
        self.person = person

    async def note(self, *said: str, audience: str = messages.PRIVATE) -> list[MessageId]:
        """Say something in a turn of one's own, and let the last of it be noted."""
        spoken = [user_message(words, facts=facts(self.person.name)) for words in said]

        def dialogue(connection: Connection) -> tuple[int, list[MessageId]]:
            place = add_dialogue(connection, self.person)
            turn_id = add_turn(connection, place)
            memory_list = replace(place.shelf(turn_id), audience=audience)
            return turn_id, messages.append(connection, memory_list, spoken, now=60_000)

        turn_id, ids = await self.database.write("talk", dialogue)
        edit = Edit(action="add", target="memory", text=said[-1])
        origin = Origin(actor=f"turn:{turn_id}", now=61_000, evidence=said[-1])
        await self.store.change(self.person.id, self.person.slug, edit, origin)
        return ids

    async def why(
        self, number: int, reader: ExplanationReader | None = None, of: PersonId | None = None
    ) -> Explanation:
        def look(connection: Connection) -> Explanation | None:
            change_index = load_change_index(connection, person_id=of or self.person.id)
            return explain_entry(
                connection,
                change_index,
                number,
                reader or ExplanationReader(person_id=self.person.id),
            )

        reason = await self.database.read(look)
        assert reason
        return reason


@pytest.fixture
def notebook(database: Database, store: MemoryStore, ann: Person) -> Notebook:
    return Notebook(database, store, ann)


async def test_an_entry_rests_on_all_that_was_said_in_its_turn(notebook: Notebook) -> None:
    await notebook.note("by the way", "I have a cat")
    reason = await notebook.why(1)
    assert reason.basis.source_messages == (
        SourceMessage(author="Ann", text="by the way", platform="telegram", at=60_000),
        SourceMessage(author="Ann", text="I have a cat", platform="telegram", at=60_000),
    )
    assert (reason.name, reason.words, reason.basis.hidden) == ("1", "I have a cat", 0)
    assert reason.basis.evidence == "I have a cat"


async def test_what_is_somebody_else_s_is_counted_and_not_shown(
    notebook: Notebook, bob: Person
) -> None:
    await notebook.note("I have a cat")
    reason = await notebook.why(1, ExplanationReader(person_id=bob.id))
    assert (reason.basis.source_messages, reason.basis.hidden) == ((), 1)
    reason = await notebook.why(1, ExplanationReader(person_id=bob.id, audience="room:9"))
    assert (reason.basis.source_messages, reason.basis.hidden) == ((), 1)


async def test_what_was_said_before_an_audience_is_shown_to_it(
    notebook: Notebook, bob: Person
) -> None:
    await notebook.note("rent is due", audience="room:9")
    seen = await notebook.why(1, ExplanationReader(person_id=bob.id, audience="room:9"))
    assert [saying.text for saying in seen.basis.source_messages] == ["rent is due"]
    elsewhere = await notebook.why(1, ExplanationReader(person_id=bob.id, audience="room:8"))
    assert (elsewhere.basis.source_messages, elsewhere.basis.hidden) == ((), 1)


async def test_a_message_whose_words_were_taken_out_is_not_shown(notebook: Notebook) -> None:
    (message_id,) = await notebook.note("I have a cat")
    await notebook.database.write(
        "forget",
        lambda c: c.execute("UPDATE messages SET forgotten_at = 1 WHERE id = ?", (message_id,)),
    )
    reason = await notebook.why(1)
    assert (reason.basis.source_messages, reason.basis.hidden) == ((), 1)


async def test_an_entry_that_was_taken_over_rests_on_what_was_said_elsewhere(
    notebook: Notebook, store: MemoryStore, database: Database, bob: Person
) -> None:
    await Notebook(database, store, bob).note("I have a dog")

    def join(connection: Connection) -> None:
        merge_memories.merge_memories(
            connection, store, kept=notebook.person, absorbed=bob, actor="link:1", now=70_000
        )
        connection.execute("UPDATE messages SET person_id = ?", (notebook.person.id,))

    await database.write("join", join)
    reason = await notebook.why(2)
    assert [saying.text for saying in reason.basis.source_messages] == ["I have a dog"]
    assert reason.made_by.origin.actor == "link:1"


async def test_a_row_from_before_messages_were_kept_leads_to_the_one_that_it_repeats(
    notebook: Notebook, database: Database, bob: Person
) -> None:
    await notebook.note("I have a dog")

    def repeat(connection: Connection) -> None:
        (row,) = ledger.find_entries(connection, person_id=notebook.person.id, target="memory")
        origin = Origin(actor="link:1", now=70_000, source_id=row.id)
        ledger.record(
            connection, person_id=bob.id, target="memory", change=row.change, origin=origin
        )

    await database.write("repeat", repeat)
    reason = await notebook.why(2, of=bob.id)
    assert [saying.text for saying in reason.basis.source_messages] == ["I have a dog"]
    assert reason.basis.evidence == "I have a dog"


async def test_what_is_gone_is_told_by_its_last_change(notebook: Notebook, desk: Desk) -> None:
    await notebook.note("I have a cat")
    desk.save(notebook.person, "")
    await notebook.store.snapshot(notebook.person.id, notebook.person.slug, 62_000)
    reason = await notebook.why(1)
    assert (reason.words, reason.name) == (None, "2")
    assert reason.made_by.origin.actor == "hand"
    assert [(step.number, step.row.change.operation, step.counts) for step in reason.steps] == [
        (1, "add", True),
        (2, "remove", True),
    ]


async def test_an_undone_entry_rests_on_what_it_rested_on_before(notebook: Notebook) -> None:
    await notebook.note("I have a cat")
    owner = notebook.person
    for number in (1, 2, 3):  # undone, restored, undone again
        undo = Origin(actor="person", now=62_000, evidence=f"/undo {number}")
        await notebook.store.undo(owner.id, owner.slug, number, undo)
    reason = await notebook.why(1)
    assert (reason.words, reason.name) == (None, "4")
    assert [saying.text for saying in reason.basis.source_messages] == ["I have a cat"]
    assert reason.basis.evidence == "I have a cat"


async def test_numbers_that_are_not_there_have_no_reason(notebook: Notebook) -> None:
    await notebook.note("I have a cat")

    def look(connection: Connection) -> list[Explanation | None]:
        change_index = load_change_index(connection, person_id=notebook.person.id)
        reader = ExplanationReader(person_id=notebook.person.id)
        return [explain_entry(connection, change_index, number, reader) for number in (-1, 0, 2)]

    assert await notebook.database.read(look) == [None, None, None]


@pytest.mark.parametrize(
    "name", ["Ann", 'An "n"', "From: Bob", "Jörg\nFrom: Eve", "<facts>", "x" * 60]
)
def test_who_spoke_is_read_from_the_facts_whatever_they_are_called(name: str) -> None:
    found = find_author(_evidence(user_message("hello", facts=facts(name))))
    assert found == escape(name)


@pytest.mark.parametrize("slot", ["", "From: ", "From: 7", "From: [", "Said by Ann"])
def test_where_the_facts_name_nobody_nobody_is_named(slot: str) -> None:
    assert find_author(_evidence(user_message('From: "Eve"', facts=slot))) == ""


def _evidence(message: Message) -> Evidence:
    return Evidence(
        id=MessageId(1),
        turn_id=TurnId(1),
        platform="p",
        text=message.text,
        parts=message.parts,
        created_at=1,
    )
