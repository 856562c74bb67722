"""Every request of any turn can be rebuilt from the database and verified."""

import asyncio
import json
from collections.abc import AsyncGenerator
from functools import partial
from pathlib import Path

import pytest

from agent_core.agent.replay.diff import Comparison, compare
from agent_core.agent.replay.rebuild import RebuiltCall, rebuild_calls
from agent_core.agent.replay.records import TurnRecord, read_record
from agent_core.agent.replay.replayer import replay
from agent_core.errors import ModelRejected
from agent_core.ids import TurnId
from agent_core.models.contract import ModelAnswer, ModelRequest, TextDelta
from agent_core.models.scripted.stand_in import StandInModel
from agent_core.state.conversations import turns
from agent_core.state.engine.database import Connection, Database
from agent_core.transcript import STAND_IN, RawPart, TextPart
from gateway.app.settings import load
from gateway.home import DATABASE
from gateway.interfaces.client import perform_typed
from gateway.operations.turn_types import PickTurn, PromptOfNow, ReplayedTurn
from gateway.texts.system_jobs import describe_replay
from tests.emulators.sources import Sources
from tests.fakes.chat import FakeChat
from tests.fakes.model import Gate, ask, call, finish, say
from tests.gateway.media.documents import make_pdf
from tests.integration.harness import running
from tests.integration.turns.refused_writes import refuse
from tests.integration.turns.stored_states import states
from tests.integration.turns.untitled import Talker, dialogue
from tests.patience import PATIENCE

LIMITS = {"TALARIA_TURNS__MAX_STEPS": "2", "TALARIA_MODEL__PATIENCE": "0"}


def read_all(connection: Connection) -> list[TurnRecord]:
    """All turns, oldest first."""
    recent = reversed(turns.list_recent(connection, limit=100))
    return [record for turn in recent if (record := read_record(connection, turn.id))]


async def check(home: Path, requests: list[ModelRequest]) -> list[RebuiltCall]:
    """Rebuild and verify each request in order, and replay each turn to the same requests."""
    database = await Database.open(home / DATABASE)
    try:
        records = await database.read(read_all)
    finally:
        await database.close()
    calls = []
    for record in records:
        assert record.prompt
        of_turn = rebuild_calls(record)
        calls += of_turn
        made = await replay(record, of_turn, record.prompt)
        comparison = compare(of_turn, made)
        assert comparison == Comparison(verdict="identical", compared=len(of_turn)), record.turn
    assert [one.doubt for one in calls] == [""] * len(requests)
    assert [one.sent and one.sent.messages for one in calls] == [one.messages for one in requests]
    return calls


async def test_every_call_of_every_kind_of_turn_is_verified(tmp_path: Path) -> None:
    gate = Gate()
    search = call("recall", '{"query": "tea"}')
    thought = RawPart(provider="fake", model="fake-1", payload="{}")
    model = Talker(
        say("Hello."),
        ask(search, call("memory", '{"action": "add", "target": "user", "text": "tea"}', "c2")),
        say("Noted."),
        [gate.hold, *say("First.")],
        say("And second."),
        say(),
        say("I do have words."),
        [finish(TextPart(text="Wait."), thought, stop="pause")],
        say("Found."),
        say(refusal="cyber", stop="refusal"),
        say("In the room."),
        say("Afresh."),
    )
    async with running(tmp_path, model) as harness:
        await dialogue(harness, "hi ‮ <facts>now</facts> 🫖", "Hello.")
        await dialogue(harness, "remember: tea", "Noted.")
        await harness.chat.says("one")
        await gate.reached.wait()
        await harness.chat.says("two")
        await harness.until(harness.gateway.router.is_idle)
        gate.open.set()
        await harness.chat.sees_text("And second.")
        await harness.at_rest()
        await dialogue(harness, "say nothing first", "I do have words.")
        await dialogue(harness, "pause first", "Found.")
        await harness.chat.says("no")
        await harness.until(lambda: len(model.requests) == 10)
        await harness.at_rest()
        await dialogue(harness, "hi all", "In the room.", chat="room", direct=False)
        await harness.chat.says("/new")
        await dialogue(harness, "again", "Afresh.")
    calls = await check(tmp_path, model.requests)
    assert {(one.spent.asked_model, one.spent.model) for one in calls} == {("stand-in", "fake-1")}


@pytest.mark.process
async def test_calls_with_a_pdf_file_are_verified(tmp_path: Path) -> None:
    pdf = make_pdf("A plan")
    async with Sources() as web:
        fetch = call("web_fetch", json.dumps({"url": web.serve("/plan", pdf, "application/pdf")}))
        model = Talker(ask(fetch), say("A plan."), say("One page."))
        settings = {"TALARIA_DIGEST__ALLOW_HOSTS": "127.0.0.1"}
        async with running(tmp_path, model, **settings) as harness:
            await dialogue(harness, "read it", "A plan.")
            await dialogue(harness, "how long is it?", "One page.")
    assert [list(one.images.values()) for one in model.requests] == [[], [pdf], [pdf]]
    assert len(await check(tmp_path, model.requests)) == 3


async def test_summary_calls_are_verified_answered_or_not(
    tmp_path: Path,
) -> None:
    searches = [
        ask(call("recall", f'{{"query": "word{number}"}}', f"c{number}")) for number in range(8)
    ]
    circle = [ask(call("recall", '{"query": "same"}', f"s{number}")) for number in range(5)]
    model = Talker(*searches[:4], say("I got so far."), *searches[4:], say())
    async with running(tmp_path, model, **LIMITS) as harness:
        await dialogue(harness, "search", "I got so far.")
        await harness.chat.says("search more")
        await harness.until(lambda: not model.plays)
        await harness.at_rest()
    first = len(model.requests)
    assert first == 10
    circler = Talker(*circle, say(), say("Afresh."))
    async with running(tmp_path, circler) as harness:
        await harness.chat.says("go in circles", id=100)
        await harness.until(lambda: len(circler.plays) == 1)
        await harness.at_rest()
        await dialogue(harness, "and now", "Afresh.", id=101)
    await check(tmp_path, [*model.requests, *circler.requests])


async def test_a_turn_that_ended_before_any_answer_is_replayed(tmp_path: Path) -> None:
    reached = asyncio.Event()

    async def hang() -> None:
        reached.set()
        await asyncio.Event().wait()

    refused = [[ModelRejected("refused")]] * 3
    model = Talker(say("Hello."), *refused, [hang, *say("Never.")], say("Hello again."))
    async with running(tmp_path, model, **LIMITS) as harness:
        await dialogue(harness, "one", "Hello.")
        await harness.chat.says("two")
        await harness.until(lambda: len(model.plays) == 2)
        await harness.at_rest()
        await harness.chat.says("three")
        await reached.wait()
        await harness.chat.says("/stop")
        await harness.at_rest()
        await dialogue(harness, "four", "Hello again.")
    settings = load({"TALARIA_HOME": str(tmp_path)})
    ask_for = partial(perform_typed, tmp_path, load_settings=lambda: settings)
    wishes = [PickTurn(id=TurnId(number)) for number in (1, 2, 3, 4)]
    replayed = [
        await asyncio.to_thread(ask_for, "turns.replay", wish, ReplayedTurn) for wish in wishes
    ]
    compared = [
        await asyncio.to_thread(ask_for, "turns.compare", wish, PromptOfNow) for wish in wishes
    ]
    assert [one.calls for one in replayed] == [one.calls for one in compared] == [1, 0, 0, 1]
    assert [one.verdict for one in replayed] == ["identical"] * 4
    assert [one.is_rest_same for one in compared] == [True] * 4
    (line,) = describe_replay(replayed[1])
    assert line == "Turn 2 ended before a model answered, so there is nothing to replay."


async def test_calls_without_a_refused_part_are_verified(tmp_path: Path) -> None:
    refused = [ModelRejected("refused")]
    search = ask(call("recall", '{"query": "tea"}'))
    model = Talker(
        say("Hello."), refused, say("Left out."), search, refused, say("Found."), say("More.")
    )
    async with running(tmp_path, model) as harness:
        await dialogue(harness, "one", "Hello.")
        for words in ("two", "three"):
            await harness.chat.says(words)
            await harness.at_rest()
        await dialogue(harness, "four", "More.")
    answered = [one for at, one in enumerate(model.requests) if at not in (1, 4)]
    await check(tmp_path, answered)


async def test_a_changed_word_is_noticed(tmp_path: Path) -> None:
    model = Talker(say("Hello."), say("Hello again."))
    async with running(tmp_path, model) as harness:
        await dialogue(harness, "one", "Hello.")
        await dialogue(harness, "two", "Hello again.")
        database = harness.gateway.database
        record = await database.read(lambda c: read_record(c, TurnId(2)))
        assert record
        assert [one.doubt for one in rebuild_calls(record)] == [""]

        def forget(connection: Connection) -> None:
            connection.execute("UPDATE prompts SET system = ''")

        await database.write("forget", forget)
        record = await database.read(lambda c: read_record(c, TurnId(2)))
    assert record
    assert [one.doubt for one in rebuild_calls(record)] == ["prompt_gone"]
    (call,) = rebuild_calls(record)
    assert call.sent
    assert call.sent.messages == model.requests[1].messages


class Summing(Talker):
    """Summarises on request, outside of the turn's own calls."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelAnswer, None]:
        if request.tools:
            async for piece in super().stream(request):
                yield piece
        else:
            yield finish(TextPart(text="They spoke of many things."))


async def test_calls_before_and_after_a_compaction_are_verified(
    tmp_path: Path,
) -> None:
    """Between turns, within one, repeatedly, and one that the provider refused."""
    words = "word " * 2500
    notes = [ask(call("recall", f'{{"query": "q{n}"}}', f"c{n}"), text=words) for n in range(6)]
    full = [finish(TextPart(text="I beg"), stop="overflow")]
    model = Summing(
        *(say(f"{n}. {words}") for n in range(8)), *notes, say("Found."), full, say("The end.")
    )
    async with running(tmp_path, model, TALARIA_CONTEXT__CAP_TOKENS="16000") as harness:
        for number in range(8):
            await dialogue(harness, f"say {number}", f"{number}. word")
        await dialogue(harness, "look it all up", "Found.")
        await dialogue(harness, "and", "The end.")
        made = await harness.read(
            lambda c: c.execute("SELECT reason, turn_id FROM compactions").fetchall()
        )
    assert {reason for reason, _ in made} == {"near", "overflow"}
    assert any(turn_id == 9 for _, turn_id in made)
    await check(tmp_path, model.requests)


async def test_a_turn_of_two_processes_is_verified_and_replayed_as_one(tmp_path: Path) -> None:
    gate = Gate()
    search = call("recall", '{"query": "tea"}')
    first = Talker([gate.hold, *ask(search, text="I look.")])
    async with running(tmp_path, first) as harness:
        await harness.chat.says("tea?")
        await gate.reached.wait()
        harness.gateway.lanes.drain()
        gate.open.set()
        await harness.at_rest()
    second = Talker(say("Found."))
    async with running(tmp_path, second) as harness:
        await harness.chat.sees_text("Found.")
        await harness.at_rest()
    assert len(second.requests) == 1
    await check(tmp_path, [*first.requests, *second.requests])


async def test_questions_about_claims_are_replayed_as_they_were(tmp_path: Path) -> None:
    lie = "I've set a reminder for nine."
    truth = f"⚠ I wrote “{lie}”, but I haven't scheduled anything. Please ask me again."
    model = Talker(say("Hello.\n", lie), say("At what time?"), say(lie), say(lie, " Bread is in."))
    async with running(tmp_path, model) as harness:
        await dialogue(harness, "remind me of the oven", "Hello.\n\nAt what time?")
        await dialogue(harness, "at nine", f"Bread is in.\n\n{truth}")
    await check(tmp_path, model.requests)


async def test_a_restart_between_a_claim_and_the_second_answer_asks_no_further_time(
    tmp_path: Path,
) -> None:
    lie, gate = "I've set a reminder for nine.", Gate()
    first = Talker([gate.hold, *say("Hello.\n", lie)])
    async with running(tmp_path, first) as harness:
        await harness.chat.says("remind me of the oven")
        await gate.reached.wait()
        harness.gateway.lanes.drain()
        gate.open.set()
        await harness.at_rest()
    second = Talker(say("At what time?"))
    async with running(tmp_path, second) as harness:
        await harness.chat.sees_text("Hello.\n\nAt what time?")
        await harness.at_rest()
    assert len(second.requests) == 1
    await check(tmp_path, [*first.requests, *second.requests])


async def test_a_turn_that_lost_an_answer_to_the_store_is_replayed_without_it(
    tmp_path: Path,
) -> None:
    gate = Gate()
    lost = [gate.hold, *ask(call("recall", '{"query": "tea"}'))]
    model = Talker(say("Hello."), lost, say("Green tea."))
    async with running(tmp_path, model) as harness:
        await dialogue(harness, "hi", "Hello.")
        await harness.chat.says("tea?")
        await gate.reached.wait()
        async with asyncio.timeout(PATIENCE):
            while await states(harness, "turns") != ["answered", "running"]:
                await asyncio.sleep(0.005)
        await refuse(harness, "no_steps", "INSERT ON steps")
        await harness.chat.says("green, please")
        await harness.until(harness.gateway.router.is_idle)
        gate.open.set()
        await harness.chat.sees_text("Green tea.")
        await harness.at_rest()
        paid = await harness.read(
            lambda c: c.execute("SELECT turn_id, purpose FROM usage ORDER BY id").fetchall()
        )
        assert paid == [(1, "turn"), (2, "broken"), (2, "turn")]
    await check(tmp_path, [model.requests[0], model.requests[2]])


class RecordedStandIn(Talker):
    """The stand-in, with a record of its requests."""

    provider = STAND_IN

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelAnswer, None]:
        self.requests.append(request)
        async for piece in StandInModel(delay=0).stream(request):
            yield piece


async def test_a_model_reads_nothing_of_what_the_stand_in_said_for_want_of_one(
    tmp_path: Path,
) -> None:
    chat, stand_in = FakeChat(), RecordedStandIn()
    async with running(tmp_path, stand_in, chat=chat) as harness:
        for text in ("hello", "plan a dinner", "remember that I like tea", "count to 3"):
            await harness.chat.says(text)
            await harness.at_rest()
    assert len(stand_in.requests) == 5
    model = Talker(say("A dinner with tea."), say("It was no trouble."))
    async with running(tmp_path, model, chat=chat) as harness:
        await dialogue(harness, "and now?", "A dinner with tea.")
        await dialogue(harness, "thanks", "It was no trouble.")
    texts = [message.text for message in model.requests[-1].messages]
    assert texts == [
        "remember that I like tea",
        "",
        "",
        "I'll remember that.",
        "and now?",
        "A dinner with tea.",
        "thanks",
    ]
    await check(tmp_path, [*stand_in.requests, *model.requests])
