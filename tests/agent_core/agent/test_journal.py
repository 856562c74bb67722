"""The journal: one suite for the database's and the tests' own; then what only a disk can do."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import replace
from typing import Protocol

import pytest

from agent_core.agent.journal import TurnJournal
from agent_core.agent.loop.contract import Journal
from agent_core.errors import StoreError
from agent_core.events import Steer
from agent_core.ids import CallId, InboxId
from agent_core.state.conversations import files, messages, turns, usage
from agent_core.state.conversations.messages import TranscriptPlace
from agent_core.state.engine.database import Connection, Database
from agent_core.state.lifecycle import person_data
from agent_core.state.queues import inbox
from agent_core.tools.contract import ToolResult
from agent_core.tools.results import add_image, add_pdf
from agent_core.transcript import Message, TextPart, ToolResultPart, user_message
from tests.agent_core.agent.busy_writer import busy
from tests.agent_core.state.rows import add_dialogue, add_person, add_turn
from tests.emulators.pictures import make_png
from tests.fakes.journal import FakeJournal
from tests.fakes.model import call, finish

ONE, TWO = call("look", call_id="one"), call("look", call_id="two")
ASKED = replace(finish(ONE, TWO, stop="tools"), micro_dollars=7)
LATE = replace(finish(call("send", call_id="late"), stop="tools"), micro_dollars=7)
ANSWER = replace(finish(TextPart(text="Done.")), micro_dollars=7)
SHORT = replace(finish(), micro_dollars=7)
STEER = Steer(inbox_ids=(InboxId(1), InboxId(2)), facts="", text="green, please")


def results(*texts: str) -> Message:
    """The message that answers both calls."""
    pairs = zip((ONE, TWO), texts, strict=True)
    return Message(
        role="tool",
        parts=tuple(
            ToolResultPart(call_id=one.call_id, name=one.name, text=text) for one, text in pairs
        ),
    )


class Unsafe:
    """Tools that would do harm twice; `send` is run once it is allowed."""

    def effect(self, name: str) -> str:
        return "unsafe"

    def has_receipts(self, name: str) -> bool:
        return False

    def begins_late(self, name: str) -> bool:
        return name == "send"


class Rig(Protocol):
    """A journal with eyes for what it has kept."""

    @property
    def journal(self) -> Journal: ...

    async def transcript(self) -> list[Message]:
        """What stands in the transcript once the turn is settled."""

    async def outcomes(self) -> dict[CallId, str]: ...

    async def claimed(self) -> set[InboxId]: ...

    async def paid(self) -> int:
        """How many model calls are paid for once the turn is settled."""


class FakeRig:
    def __init__(self) -> None:
        self.journal = FakeJournal()

    async def transcript(self) -> list[Message]:
        return self.journal.transcript

    async def outcomes(self) -> dict[CallId, str]:
        return {call_id: result.text for call_id, result in self.journal.results.items()}

    async def claimed(self) -> set[InboxId]:
        return {inbox_id for steer in self.journal.steers for inbox_id in steer.inbox_ids}

    async def paid(self) -> int:
        return len(self.journal.paid) + len(self.journal.unpaid)


class StoreRig:
    def __init__(self, database: Database, shelf: TranscriptPlace) -> None:
        self.database = database
        self.shelf = shelf
        self.journal = TurnJournal(
            database=database,
            shelf=shelf,
            payer_id=shelf.person_id,
            tools=Unsafe(),
            now=lambda: 1,
        )
        self._is_settled = False

    @classmethod
    async def make(cls, database: Database) -> "StoreRig":
        def work(connection: Connection) -> TranscriptPlace:
            dialogue = add_dialogue(connection, add_person(connection))
            events = [(f"event {number}", "{}") for number in range(2)]
            inbox.store(connection, platform="telegram", events=events, now=0)
            return dialogue.shelf(add_turn(connection, dialogue))

        return cls(database, await database.write("rows", work))

    async def transcript(self) -> list[Message]:
        await self._settle()
        stored = await self.database.read(
            lambda c: messages.list_session(
                c, session_id=self.shelf.session_id, person_id=self.shelf.person_id
            )
        )
        return [one.message for one in stored]

    async def outcomes(self) -> dict[CallId, str]:
        steps = await self.database.read(lambda c: turns.list_steps(c, turn_id=self.shelf.turn_id))
        return {step.call_id: step.outcome for step in steps if step.outcome is not None}

    async def claimed(self) -> set[InboxId]:
        rows = await self.database.read(
            lambda c: c.execute("SELECT id FROM inbox WHERE state = 'claimed'").fetchall()
        )
        assert {row[0] for row in rows} == self.journal.claimed
        return self.journal.claimed

    async def paid(self) -> int:
        await self._settle()
        total = await self.database.read(
            lambda c: usage.total_of_turn(c, turn_id=self.shelf.turn_id)
        )
        assert total.micro_dollars == 7 * total.calls
        return total.calls

    async def _settle(self) -> None:
        if not self._is_settled:
            self._is_settled = True
            await self.database.write(
                "settle", lambda c: self.journal.finalize(c, notice="", now=2)
            )


@pytest.fixture
async def store(database: Database) -> StoreRig:
    return await StoreRig.make(database)


@pytest.fixture(params=["fake", "store"])
async def rig(request: pytest.FixtureRequest, database: Database) -> Rig:
    return FakeRig() if request.param == "fake" else await StoreRig.make(database)


async def test_a_turn_stands_in_the_transcript_in_the_order_it_happened(rig: Rig) -> None:
    added = [results("1", "2"), user_message(STEER.text)]
    await rig.journal.record_answer(ASKED)
    await rig.journal.record_result(TWO, ToolResult(text="2"))
    await rig.journal.record_result(ONE, ToolResult(text="1"))
    await rig.journal.record_input(added, [STEER])
    rig.journal.conclude([ANSWER.message])
    assert await rig.transcript() == [ASKED.message, *added, ANSWER.message]


async def test_results_are_kept_by_their_call(rig: Rig) -> None:
    await rig.journal.record_answer(ASKED)
    await rig.journal.record_result(TWO, ToolResult(text="second"))
    assert await rig.outcomes() == {"two": "second"}
    await rig.journal.record_result(ONE, ToolResult(text="first", is_error=True))
    await rig.journal.record_input([results("first", "second")], ())
    assert await rig.outcomes() == {"one": "first", "two": "second"}


async def test_steers_are_the_turns_with_all_their_events(rig: Rig) -> None:
    assert await rig.claimed() == set()
    await rig.journal.record_input([user_message(STEER.text)], [STEER])
    assert await rig.claimed() == {1, 2}


async def test_every_answer_is_paid_for_once(rig: Rig) -> None:
    rig.journal.note_answer(
        replace(ANSWER, message=Message(role="assistant", parts=()))
    )  # the window was full before it was complete
    rig.journal.note_answer(ASKED)
    await rig.journal.record_answer(ASKED)
    await rig.journal.record_result(ONE, ToolResult(text="1"))
    await rig.journal.record_result(TWO, ToolResult(text="2"))
    await rig.journal.record_input([results("1", "2")], [])
    rig.journal.note_answer(SHORT)
    rig.journal.note_answer(ANSWER)
    rig.journal.conclude([ANSWER.message])
    assert await rig.paid() == 4


async def test_an_answer_is_paid_for_when_its_turn_is_stopped(store: StoreRig) -> None:
    store.journal.note_answer(ANSWER)
    store.journal.interrupt()
    assert await store.paid() == 1


async def cut_short(database: Database, record: Coroutine[object, object, None]) -> None:
    """Stop a turn in the middle of a record."""
    task = asyncio.create_task(record)
    async with busy(database):
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.sleep(0)
        assert not task.done(), "it waits for what it has asked for"
    with suppress(asyncio.CancelledError):
        await task
    assert task.cancelled(), "the cancellation goes on afterwards"


async def test_stopped_while_an_answer_is_recorded_its_calls_get_results(store: StoreRig) -> None:
    await cut_short(store.database, store.journal.record_answer(ASKED))
    store.journal.interrupt()
    asked, closed = await store.transcript()
    assert asked == ASKED.message
    assert [part.call_id for part in closed.parts] == ["one", "two"]  # type: ignore[union-attr]


async def test_stopped_while_results_are_put_in_they_are_not_put_in_twice(store: StoreRig) -> None:
    await store.journal.record_answer(ASKED)
    added = [results("1", "2"), user_message(STEER.text)]
    await cut_short(store.database, store.journal.record_input(added, [STEER]))
    store.journal.interrupt()
    assert await store.transcript() == [ASKED.message, *added]
    assert await store.claimed() == {1, 2}


async def test_stopped_while_a_result_is_recorded_the_result_counts(store: StoreRig) -> None:
    await store.journal.record_answer(ASKED)
    await cut_short(store.database, store.journal.record_result(ONE, ToolResult(text="1")))
    store.journal.interrupt()
    _, closed = await store.transcript()
    first, second = closed.parts
    assert isinstance(first, ToolResultPart)
    assert isinstance(second, ToolResultPart)
    assert (first.text, first.is_error) == ("1", False)
    assert second.is_error


async def test_an_answer_that_was_held_back_is_written_once(store: StoreRig) -> None:
    (send,) = LATE.message.calls
    given = Message(
        role="tool", parts=(ToolResultPart(call_id=send.call_id, name="send", text="1"),)
    )
    store.journal.note_answer(LATE)
    await store.journal.record_answer(LATE)
    assert await store.journal.record_begin(send)
    await store.journal.record_held()
    await store.journal.record_result(send, ToolResult(text="1"))
    await store.journal.record_input([given], [])
    assert await store.transcript() == [LATE.message, given]
    assert await store.paid() == 1


async def test_stopped_before_a_late_call_begins_its_answer_counts(store: StoreRig) -> None:
    store.journal.note_answer(LATE)
    await store.journal.record_answer(LATE)
    store.journal.interrupt()
    asked, closed = await store.transcript()
    assert asked == LATE.message
    assert [part.call_id for part in closed.parts] == ["late"]  # type: ignore[union-attr]
    assert await store.paid() == 1


Record = Callable[[TurnJournal], Coroutine[object, object, None]]


@pytest.mark.parametrize(
    "record",
    [
        pytest.param(lambda journal: journal.record_answer(ASKED), id="answer"),
        pytest.param(lambda journal: journal.record_input([results("", "")], [STEER]), id="input"),
    ],
)
async def test_what_the_store_refused_is_not_taken_for_written(
    store: StoreRig, record: Record
) -> None:
    refusal = "CREATE TRIGGER no BEFORE INSERT ON messages BEGIN SELECT RAISE(ABORT, 'no'); END"
    await store.database.write("refuse", lambda c: c.execute(refusal))
    with pytest.raises(StoreError):
        await record(store.journal)
    await store.database.write("relent", lambda c: c.execute("DROP TRIGGER no"))
    store.journal.interrupt()
    assert await store.transcript() == []
    assert await store.claimed() == set()
    assert await store.paid() == 0


async def test_a_turn_taken_up_closes_the_calls_of_the_process_before(store: StoreRig) -> None:
    await store.journal.record_answer(ASKED)
    later = StoreRig(store.database, store.shelf)
    later.journal.resume(ASKED.message.calls, {CallId("two"): ToolResult(text="2")})
    later.journal.interrupt()
    _, closed = await later.transcript()
    assert [part.text for part in closed.parts if isinstance(part, ToolResultPart)][1] == "2"


async def test_words_told_stand_in_the_transcript_only_where_the_model_gave_none(
    store: StoreRig,
) -> None:
    store.journal.conclude([ANSWER.message])
    await store.database.write("one", lambda c: store.journal.finalize(c, notice="told", now=1))
    store.journal.conclude([])
    await store.database.write("two", lambda c: store.journal.finalize(c, notice="told", now=1))
    store._is_settled = True
    assert [message.text for message in await store.transcript()] == ["Done.", "told"]


async def test_intents_are_on_disk_before_any_call_may_run(store: StoreRig) -> None:
    await store.journal.record_answer(ASKED)
    steps = await store.database.read(lambda c: turns.list_steps(c, turn_id=store.shelf.turn_id))
    assert [(step.call_id, step.outcome) for step in steps] == [("one", None), ("two", None)]


PNG = make_png()


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (PNG, add_image(ToolResult(text="A picture."), PNG, "image/png")),
        (b"%PDF-1.7", add_pdf(ToolResult(text="A file."), b"%PDF-1.7", 2, "")),
    ],
    ids=["a picture", "a PDF file"],
)
async def test_what_a_result_shows_is_stored_together_with_it(
    store: StoreRig, data: bytes, shown: ToolResult
) -> None:
    (image,) = shown.images
    await store.journal.record_answer(ASKED)
    refusal = "CREATE TRIGGER no BEFORE UPDATE ON steps BEGIN SELECT RAISE(ABORT, 'no'); END"
    await store.database.write("refuse", lambda c: c.execute(refusal))
    with pytest.raises(StoreError):
        await store.journal.record_result(ONE, shown)
    assert await store.database.read(lambda c: files.find(c, key=image.file_key)) is None
    await store.database.write("relent", lambda c: c.execute("DROP TRIGGER no"))
    await store.journal.record_result(ONE, shown)

    def look(connection: Connection) -> tuple[object, set[str], object]:
        found = files.find(connection, key=image.file_key)
        steps = turns.list_steps(connection, turn_id=store.shelf.turn_id)
        held = person_data.list_referenced(connection, keys=[image.file_key])
        return found and found.data, held, next(one.images for one in steps if one.images)

    assert await store.database.read(look) == (data, {image.file_key}, (image,))
    later = StoreRig(store.database, store.shelf)
    later.journal.resume(ASKED.message.calls, {ONE.call_id: replace(shown, image_data={})})
    later.journal.interrupt()
    _, closed = await later.transcript()
    assert [type(part) for part in closed.parts] == [ToolResultPart, type(image), ToolResultPart]
