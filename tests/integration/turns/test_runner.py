"""Turns through the whole gateway: answered, steered, stopped, queued, retried, resumed."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

from agent_core.errors import ModelBusy, ModelDenied
from agent_core.models.contract import TextDelta
from agent_core.state.conversations import turns
from agent_core.state.engine import meta
from agent_core.state.engine.database import Connection
from agent_core.state.queues import outbox
from gateway.app.timings import Timings
from gateway.texts import general
from gateway.turns.presenter import PresenterTimings
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel, Gate, ask, call, say
from tests.fakes.tool import FakeTool
from tests.integration.harness import Harness, quick, running

NO_PATIENCE = {"TALARIA_MODEL__PATIENCE": "0"}
FORWARD = {"text": "buy black tea", "forwarded": "Mallory"}
CUT_OFF = {"TALARIA_TURNS__DRAIN_SECONDS": "0"}
"""What still runs is cut off, as a crash would."""
SHORT_WAIT = Timings(outage_pace=0.5, display=PresenterTimings(first_outage=0.01))


def heard(model: FakeModel, request: int = -1) -> list[str]:
    """Return the texts of people in one request."""
    return [m.text for m in model.requests[request].messages if m.role == "user"]


async def count_open(harness: Harness) -> tuple[int, int, int]:
    """Return (events not done, turns running, messages not sent)."""

    def look(connection: object) -> tuple[int, int, int]:
        execute = connection.execute  # type: ignore[attr-defined]
        return (
            execute("SELECT COUNT(*) FROM inbox WHERE state <> 'done'").fetchone()[0],
            execute("SELECT COUNT(*) FROM turns WHERE state = 'running'").fetchone()[0],
            execute("SELECT COUNT(*) FROM outbox WHERE state <> 'sent'").fetchone()[0],
        )

    return await harness.read(look)


async def _forever() -> None:
    await asyncio.Event().wait()


async def test_a_message_is_answered_and_everything_is_done(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(say("Hello ", "Ana."))) as harness:
        await harness.chat.says("hi")
        assert await harness.chat.sees(1) == ["Hello Ana."]
        await harness.at_rest()
        assert await count_open(harness) == (0, 0, 0)


async def test_the_next_message_is_read_with_what_was_said_before(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(say("One."), say("Two."))) as harness:
        await harness.chat.says("first")
        await harness.chat.sees(1)
        await harness.at_rest()
        await harness.chat.says("second")
        await harness.chat.sees(2)
        assert heard(harness.model) == ["first", "second"]
        assert harness.model.requests[0].system == harness.model.requests[1].system


async def test_conversation_survives_a_restart(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(say("One."))) as harness:
        await harness.chat.says("first")
        await harness.chat.sees(1)
    async with running(tmp_path, FakeModel(say("Two."))) as harness:
        await harness.chat.says("second", id=2)
        await harness.chat.sees(1)
        assert heard(harness.model) == ["first", "second"]


async def test_an_event_that_comes_twice_is_answered_once(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(say("One."))) as harness:
        for _ in range(3):
            await harness.chat.says("first", id=1, event="same")
        await harness.at_rest()
        assert await harness.chat.sees(1) == ["One."]


async def test_a_poison_event_is_set_aside_and_the_next_is_answered(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(say("One."))) as harness:
        await harness.chat.says("", poison=True)
        await harness.chat.says("", noise=True)
        await harness.chat.says("first")
        assert await harness.chat.sees(1) == ["One."]
        await harness.at_rest()
        states = await harness.read(
            lambda c: [row[0] for row in c.execute("SELECT state FROM inbox ORDER BY id")]
        )
        assert states[:2] == ["dead", "done"]


async def test_a_message_while_tools_run_steers_the_turn(tmp_path: Path) -> None:
    gate = Gate()
    model = FakeModel([gate.hold, *ask(call("recall", '{"query": "tea"}'))], say("Green tea."))
    async with running(tmp_path, model) as harness:
        await harness.chat.says("tea?")
        await gate.reached.wait()
        await harness.chat.says("green, please")
        await harness.until(lambda: harness.gateway.lanes.count_waiting(_only(harness)) == 1)
        gate.open.set()
        assert await harness.chat.sees(1) == ["Green tea."]
        await harness.at_rest()
        assert heard(model) == ["tea?", "green, please"]
        assert len(model.requests) == 2
        assert await count_open(harness) == (0, 0, 0)


async def test_words_that_steer_are_evidence_at_once(tmp_path: Path) -> None:
    look, gate, later = FakeTool("look"), Gate(), Gate()
    model = FakeModel(
        [gate.hold, *ask(call("look", "{}", "c1"))],
        [later.hold, *ask(call("look", "{}", "c2"))],
        ask(call("look", "{}", "c3")),
        say("Green tea."),
    )
    async with running(tmp_path, model, tools=(look,)) as harness:
        await harness.chat.says("tea?")
        for hold, more in ((gate, {"text": "green, please"}), (later, FORWARD)):
            await hold.reached.wait()
            await harness.chat.says(**more)
            await harness.until(lambda: harness.gateway.lanes.count_waiting(_only(harness)) == 1)
            hold.open.set()
        await harness.chat.sees_text("Green tea.")
    first, second, third = (context for _, context in look.asked)
    assert (first.evidence, first.sources) == ("tea?", ())
    assert (second.evidence, second.sources) == ("tea?\ngreen, please", ())
    assert (third.evidence, bool(third.sources)) == ("tea?\ngreen, please", True)


async def test_a_message_while_the_answer_streams_is_answered_too(tmp_path: Path) -> None:
    gate = Gate()
    model = FakeModel([gate.hold, *say("First answer.")], say("Second answer."))
    async with running(tmp_path, model) as harness:
        await harness.chat.says("one")
        await gate.reached.wait()
        await harness.chat.says("two")
        await harness.until(lambda: harness.gateway.lanes.count_waiting(_only(harness)) == 1)
        gate.open.set()
        assert await harness.chat.sees(1) == ["First answer.\n\nSecond answer."]


async def test_an_edit_of_a_waiting_message_replaces_its_words(tmp_path: Path) -> None:
    gate = Gate()
    model = FakeModel([gate.hold, *say("One.")], say("Two."))
    async with running(tmp_path, model) as harness:
        await harness.chat.says("one")
        await gate.reached.wait()
        await harness.chat.says("tow", id=77)
        await harness.chat.says("two", id=77, edit=True, event="the edit")
        await harness.until(harness.gateway.router.is_idle)
        gate.open.set()
        await harness.at_rest()
        assert heard(model) == ["one", "two"]
        assert await count_open(harness) == (0, 0, 0)


async def test_stop_ends_the_turn_and_says_what_was_done(tmp_path: Path) -> None:
    reached = asyncio.Event()

    async def hold() -> None:
        reached.set()
        await asyncio.Event().wait()

    play = ask(call("recall", '{"query": "tea"}'))
    model = FakeModel(play, [hold], say("Later."))
    async with running(tmp_path, model) as harness:
        await harness.chat.says("search")
        await reached.wait()
        await harness.chat.says("/stop")
        shown = await harness.chat.sees_text("Stopped")
        assert "recall" in shown.text
        await harness.at_rest()
        assert model.streaming == 0
        await harness.chat.says("again")
        await harness.chat.sees_text("Later.")
        await harness.at_rest()
        assert await count_open(harness) == (0, 0, 0)


async def test_stop_with_nothing_running_says_so(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel()) as harness:
        await harness.chat.says("/stop")
        await harness.chat.sees_text("Nothing is running")


async def test_a_queued_message_gets_a_turn_of_its_own(tmp_path: Path) -> None:
    gate = Gate()
    model = FakeModel([gate.hold, *say("One.")], say("Two."))
    async with running(tmp_path, model) as harness:
        await harness.chat.says("one")
        await gate.reached.wait()
        await harness.chat.says("/queue two")
        await harness.chat.sees_text(general.QUEUED())
        gate.open.set()
        await harness.chat.sees_text("Two.")
        await harness.at_rest()
        assert [shown.text for shown in harness.chat.shown] == [
            general.QUEUED(),
            "One.",
            "Two.",
        ]
        assert await count_open(harness) == (0, 0, 0)


async def test_new_starts_a_session_and_keeps_the_old_one_searchable(
    tmp_path: Path,
) -> None:
    model = FakeModel(
        say("One."), ask(call("recall", '{"query": "zebra"}')), say("You spoke of a zebra.")
    )
    async with running(tmp_path, model) as harness:
        await harness.chat.says("the zebra is striped")
        await harness.chat.sees(1)
        await harness.at_rest()
        await harness.chat.says("/new")
        await harness.chat.sees_text("started a new conversation")
        await harness.chat.says("what of the animal?")
        await harness.chat.sees_text("You spoke")
        assert heard(model, 1) == ["what of the animal?"]
        results = [part for m in model.requests[2].messages if m.role == "tool" for part in m.parts]
        assert "the zebra is striped" in str(results)


async def test_a_model_failure_is_reported_and_retry_works(tmp_path: Path) -> None:
    model = FakeModel([ModelBusy("overloaded")], say("Now it works."))
    async with running(tmp_path, model, **NO_PATIENCE) as harness:
        await harness.chat.says("do it")
        await harness.chat.sees_text("/retry")
        await harness.at_rest()
        await harness.chat.says("/retry")
        await harness.chat.sees_text("Now it works.")
        assert heard(model)[-1] == "do it"
        await harness.at_rest()
        assert await count_open(harness) == (0, 0, 0)


async def test_a_refused_key_is_named_in_one_sentence(tmp_path: Path) -> None:
    model = FakeModel([ModelDenied("the key is wrong")], say("Now it works."))
    async with running(tmp_path, model, timings=SHORT_WAIT) as harness:
        await harness.chat.says("hello")
        shown = await harness.chat.sees_text("I can't use my model at the moment")
        assert "the key is wrong" not in shown.text
        await harness.chat.sees_text("Now it works.")


async def test_an_edit_reaches_a_turn_that_waits_for_its_model(tmp_path: Path) -> None:
    model = FakeModel([ModelBusy("overloaded")], say("Green it is."))
    async with running(tmp_path, model, timings=SHORT_WAIT) as harness:
        await harness.chat.says("black tea?", id=7)
        await harness.chat.sees_text("overloaded")
        await harness.chat.says("green tea?", id=7, edit=True, event="the edit")
        await harness.chat.sees_text("Green it is.")
        await harness.at_rest()
        assert heard(model) == ["black tea?", "green tea?"]
        assert "which they edited" in str(model.requests[-1].messages)
        assert await count_open(harness) == (0, 0, 0)
        assert len(model.requests) == 2


async def test_an_edit_reaches_a_turn_of_an_earlier_process_that_waits(tmp_path: Path) -> None:
    chat, slow = FakeChat(), replace(SHORT_WAIT, outage_pace=30.0)
    model = FakeModel([ModelBusy("overloaded")])
    async with running(tmp_path, model, chat=chat, timings=slow) as harness:
        await chat.says("black tea?", id="7")
        await chat.sees_text("overloaded")
    model = FakeModel([ModelBusy("overloaded")], say("Green it is."))
    async with running(tmp_path, model, chat=chat, timings=SHORT_WAIT) as harness:
        await harness.until(lambda: len(model.requests) == 1)
        handle = harness.gateway.lanes._handles[_only(harness)]
        await harness.until(lambda: handle.awaits_model)
        await chat.says("green tea?", id="7", edit=True, event="the edit")
        await chat.sees_text("Green it is.")
        await harness.at_rest()
        assert heard(model) == ["black tea?", "green tea?"]
        assert await count_open(harness) == (0, 0, 0)


async def test_two_people_stay_separate(tmp_path: Path) -> None:
    model = FakeModel(say("A."), say("B."), ask(call("recall", '{"query": "secret"}')), say("No."))
    async with running(tmp_path, model) as harness:
        await harness.chat.says("my secret is blue", user="1", chat="1")
        await harness.chat.sees(1)
        await harness.chat.says("hello", user="2", chat="2", name="Ben")
        await harness.chat.sees(2)
        await harness.at_rest()
        await harness.chat.says("what is the secret?", user="2", chat="2", name="Ben")
        await harness.chat.sees(3)
        assert "blue" not in str(model.requests[1:])


async def test_a_room_neither_shows_private_memory_nor_finds_private_conversation(
    tmp_path: Path,
) -> None:
    remember = call("memory", '{"action": "add", "target": "user", "text": "Ana is a spy"}')
    model = FakeModel(
        ask(remember),
        say("Noted."),
        ask(call("recall", '{"query": "spy"}'), call("memory", "{}", "c2")),
        say("Hm."),
    )
    async with running(tmp_path, model) as harness:
        await harness.chat.says("remember that I am a spy")
        await harness.chat.sees(1)
        await harness.at_rest()
        await harness.chat.says("who am I?", chat="room", direct=False)
        await harness.chat.sees(2)
        assert "settings" not in [spec.name for spec in model.requests[2].tools]
        assert "Ana is a spy" not in str(model.requests[2:])
        assert "that I am a spy" not in str(model.requests[2:])


async def test_unaddressed_messages_in_a_room_are_not_answered(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(say("Yes?"))) as harness:
        await harness.chat.says("chatter", chat="room", direct=False, addressed=False)
        await harness.chat.says("bot?", chat="room", direct=False)
        assert await harness.chat.sees(1) == ["Yes?"]
        assert heard(harness.model) == ["bot?"]


async def test_a_long_answer_is_sent_in_ordered_parts(tmp_path: Path) -> None:
    chat = FakeChat(limit=10)
    async with running(tmp_path, FakeModel(say("0123456789abcdefghijXYZ")), chat=chat) as harness:
        await chat.says("go")
        assert await chat.sees(3) == ["0123456789", "abcdefghij", "XYZ"]
        await harness.at_rest()


async def test_a_drain_leaves_unfinished_work_to_the_next_start(tmp_path: Path) -> None:
    gate = Gate()
    play = [gate.hold, *ask(call("recall", '{"query": "tea"}'))]
    model = FakeModel(play)
    chat = FakeChat()
    async with running(tmp_path, model, chat=chat) as harness:
        await chat.says("search")
        await gate.reached.wait()
        asyncio.get_running_loop().call_later(0.05, gate.open.set)
    assert chat.shown == []
    again = FakeModel(say("Found it."))
    async with running(tmp_path, again) as harness:
        assert await harness.chat.sees(1) == ["Found it."]
        await harness.at_rest()
        assert heard(again) == ["search"]
        assert [m.role for m in again.requests[0].messages] == ["user", "assistant", "tool"]
        assert await count_open(harness) == (0, 0, 0)


async def test_an_answer_without_words_is_paid_for_when_its_turn_is_suspended(
    tmp_path: Path,
) -> None:
    gate = Gate()
    async with running(tmp_path, FakeModel([gate.hold, *say()])) as harness:
        await harness.chat.says("tea?")
        await gate.reached.wait()
        harness.gateway.lanes.drain()
        gate.open.set()
        await harness.at_rest()
    async with running(tmp_path, FakeModel(say("Green tea."))) as harness:
        await harness.chat.sees_text("Green tea.")
        await harness.at_rest()
        paid = await harness.read(lambda c: c.execute("SELECT turn_id FROM usage").fetchall())
        assert paid == [(1,), (1,)]


async def test_a_turn_that_crashed_six_times_is_given_up(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(say("One."))) as harness:
        await harness.chat.says("first")
        await harness.chat.sees(1)
        await harness.at_rest()

        def leave_running(connection: Connection) -> None:
            """Store a turn at its sixth crash: five are counted, one is not yet."""
            connection.execute("UPDATE turns SET state = 'running', attempts = 2")
            meta.put(connection, key="crash_backoff", value=json.dumps({"1": [5, 1]}))

        await harness.gateway.database.write("test", leave_running)
    async with running(tmp_path, FakeModel()) as harness:
        await harness.chat.sees_text("interrupted several times")
        await harness.at_rest()
        latest = await harness.read(lambda c: turns.list_recent(c, limit=1))
        assert (latest[0].state, latest[0].reason) == ("failed", "crashed")


async def test_status_shows_the_cost(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(say("One."))) as harness:
        await harness.chat.says("first")
        await harness.chat.sees(1)
        await harness.at_rest()
        await harness.chat.says("/status")
        shown = await harness.chat.sees_text("Last 24 hours")
        assert "Messages: 2 · I have nothing to do" in shown.text


async def test_an_unknown_command_names_help(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel()) as harness:
        await harness.chat.says("/dance")
        await harness.chat.sees_text("/help")


async def test_only_owners_approve(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel()) as harness:
        await harness.chat.says("/approve ABCD-EFGH")
        await harness.chat.sees_text("Only an owner")


async def test_empty_and_huge_messages_are_rejected_with_a_reason(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel()) as harness:
        await harness.chat.says("  ")
        await harness.chat.sees_text("message was empty")
        await harness.chat.says("x" * 1_000_000)
        await harness.chat.sees_text("1,000,000 characters")


async def test_a_long_turn_shows_typing(tmp_path: Path) -> None:
    go = asyncio.Event()
    async with running(tmp_path, FakeModel([go.wait, *say("Done.")])) as harness:
        await harness.chat.says("think")
        await harness.chat.types()
        go.set()
        await harness.chat.sees_text("Done.")


async def test_a_streaming_answer_grows_in_one_message(tmp_path: Path) -> None:
    go = asyncio.Event()
    first, *rest = say("The answer ", "is 42.")
    async with running(tmp_path, FakeModel([first, go.wait, *rest])) as harness:
        await harness.chat.says("think")
        await harness.chat.sees_text("The answer")
        go.set()
        await harness.chat.sees_text("is 42.")
        await harness.at_rest()
        assert len(harness.chat.shown) == 1
        assert await harness.read(lambda c: outbox.count(c, state="sent")) == 1


async def test_an_answer_comes_whole_where_every_edit_leaves_a_mark(tmp_path: Path) -> None:
    go = asyncio.Event()
    first, *rest = say("The answer ", "is 42.")
    async with running(tmp_path, FakeModel([first, go.wait, *rest])) as harness:
        harness.chat.pace = replace(harness.chat.pace, grows=False)
        await harness.chat.says("think")
        await harness.chat.types()
        go.set()
        await harness.chat.sees_text("is 42.")
        await harness.at_rest()
        (shown,) = harness.chat.shown
        assert shown.texts == ["The answer is 42."]


def _only(harness: Harness) -> object:
    (conversation_id,) = harness.gateway.lanes._workers._queues
    return conversation_id


async def test_a_split_surrogate_pair_is_rejoined(tmp_path: Path) -> None:
    play = say("Look: \ud83d", "\ude00", " and half: \ud83d")
    async with running(tmp_path, FakeModel(play, say("Two."))) as harness:
        await harness.chat.says("smile")
        assert await harness.chat.sees(1) == [
            "Look: \U0001f600 and half: \N{REPLACEMENT CHARACTER}"
        ]
        await harness.at_rest()
        await harness.chat.says("again")
        await harness.chat.sees_text("Two.")


async def test_an_invisible_answer_counts_as_empty(tmp_path: Path) -> None:
    model = FakeModel(say("\u200b\u200d"), say("There you are."))
    async with running(tmp_path, model) as harness:
        await harness.chat.says("hello")
        assert await harness.chat.sees(1) == ["There you are."]


async def test_a_broken_answer_that_a_message_continues_stays_in_no_message(
    tmp_path: Path,
) -> None:
    chat = FakeChat()
    model = FakeModel([TextDelta(text="Tea comes from a mount"), _forever])
    async with running(
        tmp_path, model, chat=chat, timings=quick(first_words=0.0), **CUT_OFF
    ) as harness:
        await chat.says("tea?")
        await chat.sees_text("a mount")
        await chat.says("green, please")
        await harness.until(lambda: harness.gateway.lanes.count_waiting(_only(harness)) == 1)
    answer = say("Tea comes from a mountain.")
    async with running(
        tmp_path, FakeModel(answer, say("Green it is.")), chat=chat, timings=quick(first_words=0.0)
    ) as harness:
        await chat.sees_text("mountain.")
        await harness.at_rest()
    # The second message joins the resumed turn before or after its call of the model.
    assert [shown.text for shown in chat.shown] in (
        ["Tea comes from a mountain."],
        ["Tea comes from a mountain.", "Green it is."],
    )


async def test_an_interrupted_stream_that_a_message_continues_stays_in_no_message(
    tmp_path: Path,
) -> None:
    go = asyncio.Event()
    model = FakeModel(
        [TextDelta(text="Tea comes from a mount"), go.wait, ModelBusy("overloaded")],
        say("Tea comes from a mountain."),
    )
    timings = replace(quick(first_words=0.0), outage_pace=0.01)
    async with running(tmp_path, model, timings=timings) as harness:
        await harness.chat.says("tea?")
        await harness.chat.sees_text("a mount")
        await harness.chat.says("green, please")
        await harness.until(lambda: harness.gateway.lanes.count_waiting(_only(harness)) == 1)
        go.set()
        await harness.chat.sees_text("mountain.")
        await harness.at_rest()
        assert [shown.text for shown in harness.chat.shown] == ["Tea comes from a mountain."]


async def test_an_answer_that_was_not_shown_stands_above_the_next_one(tmp_path: Path) -> None:
    """The first answer is too short to be shown while the turn goes on."""
    gate, end = Gate(), asyncio.Event()
    growing, *rest = say("Two is a longer answer", " than one.")
    model = FakeModel([gate.hold, *say("One.")], [growing, end.wait, *rest], say("Three."))
    timings = quick(first_words=0.0, first_length=10)
    async with running(tmp_path, model, timings=timings) as harness:
        await harness.chat.says("one?")
        await gate.reached.wait()
        await harness.chat.says("two?")
        await harness.until(lambda: harness.gateway.lanes.count_waiting(_only(harness)) == 1)
        gate.open.set()
        await harness.chat.sees_text("Two is")
        await harness.chat.says("three?")
        await harness.until(lambda: harness.gateway.lanes.count_waiting(_only(harness)) == 1)
        end.set()
        await harness.chat.sees_text("Three.")
        await harness.at_rest()
        assert [shown.text for shown in harness.chat.shown] == [
            "One.\n\nTwo is a longer answer than one.",
            "Three.",
        ]


async def test_an_answer_is_shown_once_after_two_crashes_and_two_further_messages(
    tmp_path: Path,
) -> None:
    chat, at_once = FakeChat(), quick(first_words=0.0)
    model = FakeModel([TextDelta(text="One. And t"), _forever])
    async with running(tmp_path, model, chat=chat, timings=at_once, **CUT_OFF) as harness:
        await chat.says("one and two?")
        await chat.sees_text("And t")
        await chat.says("three?")
        await harness.until(lambda: harness.gateway.lanes.count_waiting(_only(harness)) == 1)
    model = FakeModel([TextDelta(text="One. And two.\n\nThr"), _forever])
    async with running(tmp_path, model, chat=chat, timings=at_once, **CUT_OFF) as harness:
        await chat.sees_text("Thr")
        await harness.until(lambda: len(harness.model.requests) == 1)
        before = harness.gateway.lanes.count_waiting(_only(harness))
        await chat.says("four?")
        await harness.until(lambda: harness.gateway.lanes.count_waiting(_only(harness)) > before)
    model = FakeModel(say("One. And two.\n\nThree.\n\nFour."), say("Done."))
    async with running(tmp_path, model, chat=chat, timings=at_once) as harness:
        await chat.sees_text("Four.")
        await harness.at_rest()
    # The messages join the resumed turn before or after its call of the model.
    shown = " ".join(word for one in chat.shown for word in one.text.split())
    assert shown.removesuffix(" Done.") == "One. And two. Three. Four."
