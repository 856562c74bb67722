"""A turn is stored with its first lasting row, or after a delay."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from adapters.errors import RateLimited
from agent_core.state.conversations import sessions
from agent_core.state.engine.database import Connection
from agent_core.state.queues import outbox
from agent_core.tools.contract import Tool, ToolContext
from agent_core.tools.policy.contract import Action
from agent_core.transcript import Message
from gateway.app import build as app
from gateway.app.extensions import Extensions
from gateway.app.gateway import Gateway
from gateway.app.settings import load
from gateway.texts import general
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel, Gate, Play, ask, call, say
from tests.fakes.tool import FakeTool
from tests.integration.harness import Harness, quick, running
from tests.integration.turns.refused_writes import refuse
from tests.integration.turns.stored_states import states
from tests.patience import PATIENCE

NEVER = 600.0
"""Seconds until a deferred start, longer than any test."""
LATE = replace(quick(), start_delay=NEVER)
"""No turn begins because of the delay."""
FIRST = say("Welcome.")


async def open_dialogue(harness: Harness) -> None:
    """Write once: a message that opens a session is stored at once."""
    await harness.chat.says("hello")
    await harness.chat.sees_text("Welcome.")
    await harness.at_rest()


async def close_session(harness: Harness) -> None:
    """Close the session without telling the running turn."""

    def work(connection: Connection) -> None:
        row = connection.execute("SELECT MIN(id) FROM conversations").fetchone()
        sessions.end(connection, conversation_id=row[0], now=1)

    await harness.gateway.database.write("test", work)


async def said_in(harness: Harness, turn_state: str) -> list[str]:
    """Return the transcript of the turns in this state."""

    def look(connection: Connection) -> list[str]:
        return [
            row[0]
            for row in connection.execute(
                "SELECT text FROM messages WHERE turn_id IN"
                " (SELECT id FROM turns WHERE state = ?) ORDER BY id",
                (turn_state,),
            )
        ]

    return await harness.read(look)


async def list_paid(harness: Harness) -> list[str]:
    """Return what each paid answer was for."""

    def look(connection: Connection) -> list[str]:
        return [row[0] for row in connection.execute("SELECT purpose FROM usage ORDER BY id")]

    return await harness.read(look)


class Commits:
    """The names in each commit, in order."""

    def __init__(self) -> None:
        self.works: list[str] = []

    def __call__(self, moment: str, names: tuple[str, ...]) -> None:
        if moment == "committed":
            self.works += names


async def watch_commits(
    home: Path, *plays: Play, tools: tuple[Tool, ...] = (), presses: Sequence[str] = ()
) -> list[str]:
    """What is written about the second of two messages that are answered.

    `presses` are the buttons that answer its questions, in order.
    """
    chat, commits = FakeChat(), Commits()
    given = {"TALARIA_ACCESS__ALLOW": "*", "TALARIA_ACCESS__GREET": "false"}
    settings = load({"TALARIA_HOME": str(home), **given})
    stop, opened = asyncio.Event(), asyncio.get_running_loop().create_future()

    async def watch(gateway: Gateway) -> None:
        opened.set_result(gateway)

    model = FakeModel(FIRST, *plays)
    extensions = Extensions(adapters={"fake": chat}, model=model, observe=commits, tools=tools)
    serving = asyncio.create_task(
        app.run(settings, stop=stop, companions=(watch,), extensions=extensions)
    )
    harness = Harness(gateway=await opened, chat=chat, model=model)
    await harness.until(lambda: chat.inlet is not None)
    await open_dialogue(harness)
    commits.works.clear()
    await chat.says("and now?")
    for label in presses:
        await harness.until(lambda label=label: label in chat.shown[-1].labels)
        await chat.press(label)
        await harness.until(lambda label=label: label not in chat.shown[-1].labels)
    await harness.at_rest()
    stop.set()
    await serving
    return commits.works


async def test_a_short_turn_is_one_commit(tmp_path: Path) -> None:
    works = await watch_commits(tmp_path, say("So."))
    assert works == ["inbox.store", "turns.settle", "outbox.sent"]


async def test_the_answer_before_a_tool_stores_its_turn(tmp_path: Path) -> None:
    recall = ask(call("recall", '{"query": "tea"}'))
    works = await watch_commits(tmp_path, recall, say("So."))
    steps = ["turns.answer", "turns.input", "turns.settle", "outbox.sent"]
    assert works == ["inbox.store", *steps]


async def test_each_step_with_a_tool_is_two_commits(tmp_path: Path) -> None:
    steps = [ask(call("recall", f'{{"query": "tea {one}"}}', f"c{one}")) for one in range(4)]
    works = await watch_commits(tmp_path, *steps, say("So."))
    assert works == [
        "inbox.store",
        *["turns.answer", "turns.input"] * 4,
        "turns.settle",
        "outbox.sent",
    ]


async def test_an_effect_is_on_disk_before_and_after(tmp_path: Path) -> None:
    noted = ask(call("memory", '{"action": "add", "target": "user", "content": "Likes tea"}'))
    works = await watch_commits(tmp_path, noted, say("So."))
    own = [work for work in works if work.startswith("turns.")]
    assert own == ["turns.answer", "turns.input", "turns.settle"]


class Poster(FakeTool):
    """A tool whose calls are judged by the policy."""

    def __init__(self, kind: Literal["send", "read"]) -> None:
        super().__init__("post", effect="unsafe")
        self._kind: Literal["send", "read"] = kind

    def list_actions(
        self, arguments: Mapping[str, object], context: ToolContext
    ) -> Sequence[Action]:
        outward = self._kind == "send"
        place = "a.example" if outward else "workspace"
        return (Action(kind=self._kind, target="a note", place=place, is_outward=outward),)


async def test_an_effect_that_may_be_asked_about_is_two_commits_once_the_turn_is_on_disk(
    tmp_path: Path,
) -> None:
    steps = [ask(call("post", f'{{"text": "{one}"}}', f"c{one}")) for one in range(3)]
    works = await watch_commits(tmp_path, *steps, say("So."), tools=(Poster("read"),))
    own = [work for work in works if work.startswith("turns.")]
    first = ["turns.answer", "turns.begin_step", "turns.input"]
    assert own == [*first, *["turns.begin_step", "turns.input"] * 2, "turns.settle"]


async def test_a_call_is_on_disk_before_a_person_is_asked_about_it(tmp_path: Path) -> None:
    steps = [ask(call("post", f'{{"text": "{one}"}}', f"c{one}")) for one in range(2)]
    works = await watch_commits(
        tmp_path, *steps, say("So."), tools=(Poster("send"),), presses=["Once", "Once"]
    )
    step = ["turns.answer", "questions.ask", "questions.answer", "turns.begin_step", "turns.input"]
    assert [work for work in works if work in step] == step * 2


async def test_of_calls_at_once_all_results_but_the_last_are_stored_when_they_end(
    tmp_path: Path,
) -> None:
    calls = [call("recall", f'{{"query": "tea {one}"}}', f"c{one}") for one in range(3)]
    works = await watch_commits(tmp_path, ask(*calls), say("So."))
    own = [work for work in works if work.startswith("turns.")]
    assert own[0] == "turns.answer"
    assert own[1:-2] == ["turns.result"] * 2
    assert own[-2:] == ["turns.input", "turns.settle"]


async def test_a_longer_turn_is_stored_meanwhile(tmp_path: Path) -> None:
    gate = Gate()
    async with running(tmp_path, FakeModel(FIRST, [gate.hold, *say("So.")])) as harness:
        await open_dialogue(harness)
        await harness.chat.says("and now?")
        async with asyncio.timeout(PATIENCE):
            while await states(harness, "turns") != ["answered", "running"]:
                await asyncio.sleep(0.005)
        gate.open.set()
        await harness.chat.sees_text("So.")
        await harness.at_rest()
        assert await states(harness, "turns") == ["answered", "answered"]


@pytest.mark.parametrize("command", ["/stop", "/new"])
async def test_a_turn_stopped_before_it_is_stored_is_finished(tmp_path: Path, command: str) -> None:
    gate = Gate()
    model = FakeModel(FIRST, [gate.hold], say("Yes."))
    async with running(tmp_path, model, timings=LATE) as harness:
        await open_dialogue(harness)
        await harness.chat.says("tell me a tale")
        await gate.reached.wait()
        await harness.chat.says(command)
        await harness.chat.sees_text(general.describe_stop("", ()).split(".")[0])
        await harness.at_rest()
        assert await said_in(harness, "stopped") == [
            "tell me a tale",
            general.describe_stop("", ()),
        ]
        await harness.chat.says("are you there?")
        await harness.chat.sees_text("Yes.")
        await harness.at_rest()
        heard = [m.text for m in model.requests[-1].messages if m.role == "user"]
        before = ["hello", "tell me a tale"] if command == "/stop" else []
        assert heard == [*before, "are you there?"]
        assert await states(harness, "inbox") == ["done"] * 4


async def test_moving_a_turn_stores_it(tmp_path: Path) -> None:
    gate = Gate()
    others = {"other": FakeChat(name="other")}
    model = FakeModel(FIRST, [gate.hold, *say("There.")])
    async with running(tmp_path, model, others=others, timings=LATE) as harness:
        await open_dialogue(harness)
        await harness.chat.says("tell me", chat="1")
        await gate.reached.wait()
        await harness.chat.says("/here", chat="2")
        await harness.until(harness.gateway.router.is_idle)
        gate.open.set()
        assert (await harness.chat.sees_text("There.")).chat_id == "2"
        await harness.at_rest()


@pytest.mark.parametrize("has_answered", [False, True])
async def test_an_answer_in_a_closed_session_is_dropped_and_charged(
    tmp_path: Path, has_answered: bool
) -> None:
    gate = Gate()
    model = FakeModel(FIRST, [gate.hold, *say("Old.")], say("New."))
    async with running(tmp_path, model) as harness:
        await open_dialogue(harness)
        await harness.chat.says("and now?")
        await gate.reached.wait()
        await close_session(harness)
        if has_answered:
            gate.open.set()
        await harness.chat.sees_text("New.")
        await harness.at_rest()
        assert [shown.text for shown in harness.chat.shown] == ["Welcome.", "New."]
        assert [m.text for m in model.requests[-1].messages] == ["and now?"]
        assert await states(harness, "turns") == ["answered", "answered"]
        assert await states(harness, "inbox") == ["done", "done"]
        paid = ["turn", "broken", "turn"] if has_answered else ["turn", "turn"]
        assert await list_paid(harness) == paid


async def test_a_tool_call_in_a_closed_session_is_not_run(
    tmp_path: Path,
) -> None:
    gate = Gate()
    recall = ask(call("recall", '{"query": "tea"}'))
    model = FakeModel(FIRST, [gate.hold, *recall], say("New."))
    async with running(tmp_path, model, timings=LATE) as harness:
        await open_dialogue(harness)
        await harness.chat.says("tea?")
        await gate.reached.wait()
        await close_session(harness)
        gate.open.set()
        await harness.chat.sees_text("New.")
        await harness.at_rest()
        assert await list_paid(harness) == ["turn", "broken", "turn"]
        assert await states(harness, "turns") == ["answered", "answered"]


async def test_an_answer_of_a_turn_that_cannot_be_stored_is_kept(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    model = FakeModel(FIRST, say("Kept."))
    async with running(tmp_path, model, timings=LATE) as harness:
        await open_dialogue(harness)
        relent = await refuse(harness, "no_turns", "INSERT ON turns")
        await harness.chat.says("and now?")
        await harness.until(lambda: "the end of turn" in caplog.text)
        await relent()
        await harness.chat.sees_text("Kept.")
        await harness.at_rest()
        assert len(model.requests) == 2
        assert await states(harness, "turns") == ["answered", "answered"]


async def test_a_turn_that_cannot_be_stored_calls_no_model(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    recall = ask(call("recall", '{"query": "tea"}'))
    model = FakeModel(FIRST, recall, say("Begun."))
    async with running(tmp_path, model, timings=LATE) as harness:
        await open_dialogue(harness)
        relent = await refuse(harness, "no_turns", "INSERT ON turns")
        await harness.chat.says("tea?")
        await harness.until(lambda: caplog.text.count("a turn waits for the store") > 3)
        assert len(model.requests) == 2
        await relent()
        await harness.chat.sees_text("Begun.")
        await harness.at_rest()
        assert await states(harness, "turns") == ["answered", "answered"]
        assert await states(harness, "inbox") == ["done", "done"]
        assert await list_paid(harness) == ["turn", "broken", "turn"]


async def test_an_unexpected_error_before_a_turn_is_stored_is_reported(
    tmp_path: Path,
) -> None:
    async def break_down() -> None:
        raise RuntimeError("planned")

    async with running(tmp_path, FakeModel(FIRST, [break_down], say("Fine."))) as harness:
        await open_dialogue(harness)
        await harness.chat.says("and now?")
        await harness.chat.sees_text("Something went wrong on my side.")
        await harness.chat.says("better?")
        await harness.chat.sees_text("Fine.")
        await harness.at_rest()
        assert (await said_in(harness, "failed"))[0] == "and now?"
        assert await states(harness, "inbox") == ["done"] * 3


async def test_the_answers_of_a_broken_turn_that_cannot_begin_are_paid_for(
    tmp_path: Path,
) -> None:
    gate = Gate()

    async def break_down() -> None:
        raise RuntimeError("planned")

    model = FakeModel(FIRST, say(stop="pause"), [gate.hold, break_down], say("New."))
    async with running(tmp_path, model, timings=LATE) as harness:
        await open_dialogue(harness)
        await harness.chat.says("and now?")
        await gate.reached.wait()
        await close_session(harness)
        gate.open.set()
        await harness.chat.sees_text("New.")
        await harness.at_rest()
        assert await list_paid(harness) == ["turn", "broken", "turn"]


async def test_a_message_that_cannot_start_a_turn_is_set_aside(
    tmp_path: Path,
) -> None:
    model = FakeModel(FIRST, say("Lost."), say("Fine."))
    async with running(tmp_path, model) as harness:
        await open_dialogue(harness)
        await harness.chat.says("half a letter: \ud800")
        await harness.chat.sees_text(general.NOT_STARTED())
        await harness.chat.says("better?")
        await harness.chat.sees_text("Fine.")
        await harness.at_rest()
        assert await states(harness, "inbox") == ["done", "dead", "done"]
        assert await states(harness, "turns") == ["answered", "answered"]
        assert await list_paid(harness) == ["turn", "broken", "turn"]


async def test_an_answer_in_flight_that_may_not_leave_is_queued_again(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, FakeModel(FIRST, say("Yes.")), timings=LATE) as harness:
        await open_dialogue(harness)
        harness.chat.plan(RateLimited("slow down", retry_after=0.05))
        await harness.chat.says("are you there?")
        await harness.chat.sees_text("Yes.")
        await harness.at_rest()
        assert [shown.text for shown in harness.chat.shown] == ["Welcome.", "Yes."]

        def count(connection: Connection) -> int:
            return outbox.count(connection, state="sent")

        assert await harness.read(count) == 2


async def test_the_cached_conversation_matches_the_stored_one(tmp_path: Path) -> None:
    """In each turn, the model reads what a new process would read."""
    recall = ask(call("recall", '{"query": "tea"}'), text="Let me see.")
    model = FakeModel(recall, FIRST, say("Yes."))
    async with running(tmp_path, model, timings=LATE) as harness:
        await open_dialogue(harness)
        await harness.chat.says("sure?")
        await harness.chat.sees_text("Yes.")
    again = FakeModel(say("Good."), say("A title"))
    async with running(tmp_path, again, timings=LATE) as harness:
        await harness.chat.says("good", id=9)
        await harness.chat.sees_text("Good.")
    asked, afresh = what_is_read(model, "sure?"), what_is_read(again, "good")
    assert asked == afresh[: len(asked)]
    assert [m.text for m in afresh[len(asked) :]] == ["Yes.", "good"]


def what_is_read(model: FakeModel, words: str) -> list[Message]:
    """Return the request for a message, ignoring titles."""
    return next(list(r.messages) for r in model.requests if r.messages[-1].text == words)


async def test_a_short_turn_flushes_the_full_text_index_once(tmp_path: Path) -> None:
    written: list[str] = []
    model = FakeModel(FIRST, say("Fine."))
    async with running(tmp_path, model, timings=LATE) as harness:
        await open_dialogue(harness)

        def listen(connection: Connection) -> None:
            connection.set_trace_callback(written.append)

        await harness.gateway.database.write("test", listen)
        await harness.chat.says("how are you?")
        await harness.chat.sees_text("Fine.")
        await harness.at_rest()
    stored = [sql for sql in written if sql.startswith("INSERT INTO message_search ")]
    segments = [sql for sql in written if "INTO 'main'.'message_search_idx'" in sql]
    assert (len(stored), len(segments)) == (2, 1)
