"""Words taken out of single rows: what stays, what is refused, and what may come again."""

import sqlite3
from collections.abc import Callable
from functools import partial

import pytest

from agent_core.chats import Chat
from agent_core.ids import CallId, PromptHash
from agent_core.privacy.erasure.person import redact_message
from agent_core.state.conversations import files, messages, sessions, turns
from agent_core.state.lifecycle import person_data, redact
from agent_core.state.memory import ledger
from agent_core.state.memory.ledger import Change, Origin
from agent_core.state.queues import inbox, outbox
from agent_core.state.queues.outbox import NewOutboxMessage
from agent_core.transcript import (
    ImagePart,
    Message,
    PdfPart,
    RawPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from tests.agent_core.state.rows import add_dialogue, add_person, add_turn

CALL = ToolCallPart(call_id=CallId("c"), name="t", arguments='{"secret": 1}')


def test_a_prompt_without_words_is_written_again_when_it_is_needed_again(
    connection: sqlite3.Connection,
) -> None:
    key = PromptHash("h")

    def freeze(system: str) -> None:
        sessions.insert_prompt(connection, prompt_hash=key, system=system, tools="[1]", now=1)

    freeze("first")
    freeze("first")
    redact.drop_prompt(connection, prompt_hash=key)
    assert sessions.get_prompt(connection, prompt_hash=key) == ("", "[]", "[]")
    freeze("first")
    assert sessions.get_prompt(connection, prompt_hash=key)[:2] == ("first", "[1]")


def test_a_file_that_was_emptied_is_kept_again_when_it_comes_again(
    connection: sqlite3.Connection,
) -> None:
    key = files.store(connection, data=b"bytes", media_type="text/plain", now=1)
    redact.empty_files(connection, keys=[key])
    assert files.find(connection, key=key) is None
    assert files.store(connection, data=b"bytes", media_type="text/plain", now=2) == key
    found = files.find(connection, key=key)
    assert found
    assert found.data == b"bytes"


def test_an_event_that_is_still_worked_on_keeps_its_words(connection: sqlite3.Connection) -> None:
    (row,) = inbox.store(connection, platform="p", events=[("1", "words")], now=1)
    assert not redact.drop_event(connection, inbox_id=row.id)
    assert inbox.list_received(connection)[0].payload == "words"
    inbox.finish(connection, inbox_id=row.id)
    assert redact.drop_event(connection, inbox_id=row.id)


def test_a_message_on_its_way_is_left_and_one_that_is_queued_is_not_sent_any_more(
    connection: sqlite3.Connection,
) -> None:
    rows = [
        outbox.enqueue(
            connection, NewOutboxMessage(chat=Chat(platform="p", address="c"), body=body), now=1
        )
        for body in ("going", "owed")
    ]
    outbox.mark_sending(connection, outbox_id=rows[0].id)
    assert not redact.drop_words(connection, outbox_id=rows[0].id)
    assert redact.drop_words(connection, outbox_id=rows[1].id)
    assert outbox.mark_sending(connection, outbox_id=rows[1].id) is None
    assert [row.body for row in outbox.list_open(connection)] == ["going"]


def test_a_row_of_the_ledger_stays_whole_without_its_words(connection: sqlite3.Connection) -> None:
    person = add_person(connection)
    row = ledger.record(
        connection,
        person_id=person.id,
        target="memory",
        change=Change(operation="replace", position=0, before="old secret", after="plain"),
        origin=Origin(actor="turn:1", now=1, evidence="a secret quote"),
    )
    ledger.redact(connection, entry_id=row.id, is_wanted=lambda text: "secret" in text, mark="[x]")
    (left,) = ledger.find_entries(connection, person_id=person.id, target="memory")
    assert (left.change.before, left.change.after, left.origin.evidence) == ("[x]", "plain", "")
    ledger.empty(connection, person_id=person.id, actor="erased")
    (left,) = ledger.find_entries(connection, person_id=person.id, target="memory")
    assert left.change == Change(operation="add", position=0, before=None, after=None)


def test_a_buried_message_is_whole_and_keeps_its_calls_and_results(
    connection: sqlite3.Connection,
) -> None:
    dialogue = add_dialogue(connection, add_person(connection))
    turn_id = add_turn(connection, dialogue)
    asked = Message(
        role="assistant",
        parts=(
            RawPart(provider="p", model="m", payload='"secret"'),
            TextPart(text="secret"),
            CALL,
        ),
    )
    given = Message(
        role="tool",
        parts=(ToolResultPart(call_id=CallId("c"), name="t", text="secret", is_error=True),),
    )
    said = Message(
        role="user",
        parts=(
            TextPart(text="secret facts", is_fact=True),
            ImagePart(file_key="k", media_type="image/png", size=1),
        ),
    )
    everything = (said, asked, given)
    ids = messages.append(connection, dialogue.shelf(turn_id), everything, now=1)
    redact.drop_from_index(connection, message_ids=ids)
    for message_id, message in zip(ids, everything, strict=True):
        redacted = redact_message(message, "[x]")
        redact.redact_message(connection, message_id=message_id, redacted=redacted, now=2)
        assert redact.read_message(connection, message_id=message_id) is None
    stored = messages.list_session(
        connection, session_id=dialogue.session_id, person_id=dialogue.person.id
    )
    left = [one.message.parts for one in stored]
    call = ToolCallPart(call_id=CallId("c"), name="t", arguments="{}")
    result = ToolResultPart(call_id=CallId("c"), name="t", text="[x]", is_error=True)
    assert left == [(TextPart(text="[x]"),), (TextPart(text="[x]"), call), (result,)]


@pytest.mark.parametrize("kind", [ImagePart, partial(PdfPart, pages=2)], ids=["picture", "PDF"])
def test_a_picture_of_a_tool_is_held_by_its_call_until_its_message_is_forgotten(
    connection: sqlite3.Connection, kind: Callable[..., ImagePart]
) -> None:
    dialogue = add_dialogue(connection, add_person(connection))
    turn_id = add_turn(connection, dialogue)
    key = files.store(connection, data=b"bytes", media_type="image/png", now=1)
    image = kind(file_key=key, media_type="image/png", size=5)
    step = turns.Step(
        call_id=CALL.call_id, name="t", outcome="A picture.", is_error=False, images=(image,)
    )
    begun = [(CALL.call_id, "t", "read")]
    turns.begin_steps(connection, turn_id=turn_id, calls=begun, now=1)
    turns.end_step(connection, turn_id=turn_id, step=step, now=2)
    assert person_data.list_referenced(connection, keys=[key]) == {key}
    result = ToolResultPart(call_id=CALL.call_id, name="t", text="A picture.")
    shown = Message(role="tool", parts=(result, image))
    (message_id,) = messages.append(connection, dialogue.shelf(turn_id), [shown], now=3)
    redacted = redact_message(shown, "forgotten")
    assert redacted.images == ()
    redact.drop_from_index(connection, message_ids=[message_id])
    redact.redact_message(connection, message_id=message_id, redacted=redacted, now=4)
    assert person_data.list_referenced(connection, keys=[key]) == set()
