"""A shared conversation: nobody steers, stops or moves another person's turn."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from gateway.texts import general
from tests.fakes.model import FakeModel, Gate, ask, call, say
from tests.integration.accounts import enrol
from tests.integration.harness import Harness, running
from tests.integration.model_requests import words
from tests.integration.questions import QUESTION, ROOM, waiting

ANN = {"user": "ann", "name": "Ann", **ROOM}
BEN = {"user": "ben", "name": "Ben", **ROOM}
CLEO = {"user": "cleo", "name": "Cleo", **ROOM}


@asynccontextmanager
async def room(home: Path, model: FakeModel, at_once: int = 400) -> AsyncIterator[Harness]:
    """A gateway with a room that shares one conversation; Cleo is the owner."""
    async with running(home, model, TALARIA_TURNS__AT_ONCE=str(at_once)) as harness:
        await enrol(harness, "ann", "Ann")
        await enrol(harness, "ben", "Ben")
        await enrol(harness, "cleo", "Cleo", owner=True)
        await harness.chat.says("/room room", **CLEO)
        await harness.at_rest()
        harness.chat.shown.clear()
        yield harness


async def settled(harness: Harness) -> None:
    await harness.until(harness.gateway.router.is_idle)


async def test_another_persons_message_is_its_own_turn(
    tmp_path: Path,
) -> None:
    gate = Gate()
    model = FakeModel(
        [gate.hold, *ask(call("recall", '{"query": "tea"}'))], say("For Ann."), say("For Ben.")
    )
    async with room(tmp_path, model) as harness:
        await harness.chat.says("tea", **ANN)
        await gate.reached.wait()
        await harness.chat.says("coffee", **BEN)
        await settled(harness)
        gate.open.set()
        await harness.chat.sees_text("For Ben.")
        await harness.at_rest()
        assert words(model, 1) == ["tea"]
        assert words(model, 2) == ["tea", "coffee"]


async def test_only_the_asker_and_owners_stop_a_running_turn(tmp_path: Path) -> None:
    gate = Gate()
    async with room(tmp_path, FakeModel([gate.hold])) as harness:
        await harness.chat.says("tea", **ANN)
        await gate.reached.wait()
        for said in ("/stop", "/new"):
            await harness.chat.says(said, **BEN)
        await settled(harness)
        await harness.until(harness.gateway.dispatcher.is_idle)
        assert [one.text for one in harness.chat.shown] == [general.STOP_NOT_YOURS()] * 2
        await harness.chat.says("/stop", **CLEO)
        await harness.chat.sees_text("(Stopped.)")


async def test_only_the_asker_and_owners_stop_a_waiting_turn(tmp_path: Path) -> None:
    gate = Gate()
    model = FakeModel([gate.hold, *say("Elsewhere.")], say("For Ann."))
    async with room(tmp_path, model, at_once=1) as harness:
        await harness.chat.says("hold on", user="dan", name="Dan", chat="dan")
        await gate.reached.wait()
        await harness.chat.says("tea", **ANN)
        await settled(harness)
        await harness.chat.says("/stop", **BEN)
        await harness.chat.sees_text(general.STOP_NOT_YOURS())
        gate.open.set()
        await harness.chat.sees_text("For Ann.")


async def test_here_of_another_in_the_same_room_changes_nothing(tmp_path: Path) -> None:
    gate = Gate()
    async with room(tmp_path, FakeModel([gate.hold, *say("For Ann.")])) as harness:
        await harness.chat.says("tea", id="a1", **ANN)
        await gate.reached.wait()
        await harness.chat.says("/here", id="b1", **BEN)
        await settled(harness)
        gate.open.set()
        answer = await harness.chat.sees_text("For Ann.")
        assert answer.reply_to == "a1"


async def test_others_neither_answer_a_question_nor_end_the_wait(tmp_path: Path) -> None:
    model = FakeModel(QUESTION, say("For Ann."), say("For Ben."))
    async with room(tmp_path, model) as harness:
        await harness.chat.says("paint my room", **ANN)
        await waiting(harness)
        await harness.chat.says("Blue", **BEN)
        await settled(harness)
        assert harness.gateway.questions.answers._futures
        await harness.chat.says("Red", **ANN)
        await harness.chat.sees_text("For Ben.")
        assert words(model, 1) == ["paint my room"]
        assert words(model, 2) == ["paint my room", "Blue"]


async def test_an_owner_stops_any_turn_of_the_room(tmp_path: Path) -> None:
    gate = Gate()
    async with running(tmp_path, FakeModel([gate.hold])) as harness:
        await enrol(harness, "cleo", "Cleo", owner=True)
        await harness.chat.says("tea", **ANN)
        await gate.reached.wait()
        await harness.chat.says("/stop", **CLEO)
        await harness.chat.sees_text("(Stopped.)")
        await harness.at_rest()
        assert general.STOP_NOTHING() not in [one.text for one in harness.chat.shown]
