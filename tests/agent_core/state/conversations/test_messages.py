"""The transcript: what was put in comes out, for its person, or a damage is told."""

import pytest

from agent_core.errors import StoreDamaged
from agent_core.ids import CallId, TurnId
from agent_core.state.conversations import messages, turns
from agent_core.state.conversations.messages import START
from agent_core.state.engine.database import Connection
from agent_core.state.queues import reviews
from agent_core.transcript import Message, RawPart, TextPart, ToolCallPart, ToolResultPart
from tests.agent_core.state.rows import Dialogue, add_dialogue, add_person, add_turn

ODD = "\u202eRTL \u200f family \U0001f469\u200d\U0001f467 zero\u200bwidth \\ \"'\n\t end\x00nul"
CALL = CallId("c1")
TRANSCRIPT = [
    Message(
        role="user",
        parts=(TextPart(text="It is noon.", is_fact=True), TextPart(text="What do I like?")),
    ),
    Message(
        role="assistant",
        parts=(
            RawPart(provider="anthropic", model="m", payload='{"thinking": "…"}'),
            TextPart(text="Let me look."),
            ToolCallPart(call_id=CALL, name="recall", arguments='{"query": "like"}'),
        ),
    ),
    Message(
        role="tool",
        parts=(ToolResultPart(call_id=CALL, name="recall", text="tea", is_error=False),),
    ),
    Message(role="assistant", parts=(TextPart(text=ODD),)),
]


@pytest.fixture
def dialogue(connection: Connection) -> Dialogue:
    return add_dialogue(connection, add_person(connection))


def keep(connection: Connection, dialogue: Dialogue, kept: list[Message]) -> list[int]:
    turn_id = add_turn(connection, dialogue)
    return list(messages.append(connection, dialogue.shelf(turn_id), kept, now=5))


def read(connection: Connection, dialogue: Dialogue) -> list[Message]:
    stored = messages.list_session(
        connection, session_id=dialogue.session_id, person_id=dialogue.person.id
    )
    return [row.message for row in stored]


def test_a_transcript_comes_back_as_it_was_put_in(
    connection: Connection, dialogue: Dialogue
) -> None:
    ids = keep(connection, dialogue, TRANSCRIPT)
    assert ids == sorted(ids)
    assert read(connection, dialogue) == TRANSCRIPT


def test_what_is_added_later_stands_behind_with_its_turn(
    connection: Connection, dialogue: Dialogue
) -> None:
    for message in TRANSCRIPT:
        keep(connection, dialogue, [message])
    assert read(connection, dialogue) == TRANSCRIPT
    stored = messages.list_session(
        connection, session_id=dialogue.session_id, person_id=dialogue.person.id
    )
    assert len({row.turn_id for row in stored}) == len(TRANSCRIPT)


def test_a_transcript_is_read_by_its_person_only(
    connection: Connection, dialogue: Dialogue
) -> None:
    keep(connection, dialogue, TRANSCRIPT)
    bob = add_person(connection, "bob")
    where = {"session_id": dialogue.session_id, "person_id": bob.id}
    assert messages.list_session(connection, **where) == []
    assert messages.count_spoken(connection, **where) == 0
    assert messages.list_texts(connection, limit=9, **where) == []


def test_words_are_what_people_and_the_assistant_said(
    connection: Connection, dialogue: Dialogue
) -> None:
    keep(connection, dialogue, TRANSCRIPT)
    where = {"session_id": dialogue.session_id, "person_id": dialogue.person.id}
    assert messages.count_spoken(connection, **where) == 3
    assert messages.list_texts(connection, limit=2, **where) == [
        ("user", "What do I like?"),
        ("assistant", "Let me look."),
    ]


def test_the_words_of_a_turn_are_its_persons(connection: Connection, dialogue: Dialogue) -> None:
    turn_id = add_turn(connection, dialogue)
    steer = Message(role="user", parts=(TextPart(text="And hot?"),))
    messages.append(connection, dialogue.shelf(turn_id), [*TRANSCRIPT, steer], now=5)
    keep(connection, dialogue, TRANSCRIPT)
    said = messages.request_of_turn(connection, turn_id=turn_id, person_id=dialogue.person.id)
    assert said == "What do I like?\n\nAnd hot?"
    bob = add_person(connection, "bob")
    assert messages.request_of_turn(connection, turn_id=turn_id, person_id=bob.id) == ""


@pytest.mark.parametrize(
    "damage",
    [
        "role = 'assistant'",
        "parts = replace(parts, 'noon', 'moon')",
        "text = 'What do I hate?'",
        "checksum = checksum + 1",
    ],
)
def test_a_row_that_changed_on_the_disk_is_never_served(
    connection: Connection, dialogue: Dialogue, damage: str
) -> None:
    first, *_ = keep(connection, dialogue, TRANSCRIPT)
    connection.execute(f"UPDATE messages SET {damage} WHERE id = ?", (first,))
    with pytest.raises(StoreDamaged, match=f"message {first} of the transcript is damaged"):
        read(connection, dialogue)


def test_the_newest_message_is_the_last_one_of_its_session(
    connection: Connection, dialogue: Dialogue
) -> None:
    def newest() -> int:
        return messages.find_newest(
            connection, session_id=dialogue.session_id, person_id=dialogue.person.id
        )

    assert newest() == START
    ids = keep(connection, dialogue, TRANSCRIPT)
    keep(connection, add_dialogue(connection, dialogue.person, key="another"), TRANSCRIPT)
    assert newest() == ids[-1]


@pytest.mark.parametrize(
    ("fact", "count"),
    [
        ("From: [forgotten]", 1),
        ("[forgotten]", 1),
        ('Answers a message: "[forgotten]"', 0),
        ('Answers a message: "a: [forgotten]"', 0),
        ("| [forgotten]", 0),
    ],
)
def test_the_mark_counts_only_where_no_person_can_write_it(
    connection: Connection, dialogue: Dialogue, fact: str, count: int
) -> None:
    own = TextPart(text="what does [forgotten] mean?\n[forgotten]")
    told = TextPart(text=f"<facts>\n{fact}\n</facts>", is_fact=True)
    result = ToolResultPart(call_id=CallId("c"), name="web", text="a\n[forgotten]\n")
    said = [Message(role="user", parts=(told, own)), Message(role="tool", parts=(result,))]
    keep(connection, dialogue, said)
    place = {"session_id": dialogue.session_id, "person_id": dialogue.person.id}
    assert messages.count_forgotten(connection, **place) == count
    newest = TurnId(turns.find_newest(connection))
    found = reviews.has_forgotten(
        connection, person_id=dialogue.person.id, after=TurnId(0), until=newest
    )
    assert found == bool(count)
