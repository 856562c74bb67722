"""Hundreds of people at once, and a flood that delays only its own person."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path

import pytest

from adapters.ids import EventId
from adapters.messages import RawEvent
from agent_core.models.contract import ModelAnswer, ModelRequest, TextDelta
from agent_core.transcript import Message
from tests.fakes.model import FakeModel, say
from tests.integration.harness import Harness, running

PEOPLE = 300
FLOOD = 500


class Echo(FakeModel):
    """Repeats the last message once released."""

    def __init__(self, before: Callable[[str], Awaitable[object]]) -> None:
        super().__init__()
        self._before = before

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelAnswer, None]:
        self.requests.append(request)
        words = list_new(request.messages)
        self.streaming += 1
        try:
            await self._before(words[-1])
            for piece in say(f"You said: {words[-1]}"):
                assert isinstance(piece, TextDelta | ModelAnswer)
                yield piece
        finally:
            self.streaming -= 1


def list_new(messages: tuple[Message, ...]) -> list[str]:
    """What the person said since the last answer."""
    new: list[str] = []
    for message in messages:
        new = [] if message.role == "assistant" else [*new, message.text]
    return new


def answers(harness: Harness) -> Counter[tuple[str, str]]:
    return Counter((shown.chat_id, shown.text) for shown in harness.chat.shown)


@pytest.mark.thorough
async def test_hundreds_of_people_are_answered_once_in_their_own_chat(tmp_path: Path) -> None:
    everybody = asyncio.Event()

    async def wait_for_everybody(words: str) -> None:
        if model.streaming == PEOPLE:
            everybody.set()
        await everybody.wait()

    model = Echo(wait_for_everybody)
    async with running(tmp_path, model) as harness:
        for number in range(PEOPLE):
            await harness.chat.says(f"I am {number}", user=str(number), chat=str(number))
        await harness.chat.sees(PEOPLE)
        await harness.at_rest()
        expected = {(str(number), f"You said: I am {number}"): 1 for number in range(PEOPLE)}
        assert answers(harness) == expected
        assert len(model.requests) == PEOPLE


async def test_a_flood_delays_itself_and_is_read_completely(tmp_path: Path) -> None:
    others_are_done = asyncio.Event()

    async def hold_the_flood(words: str) -> None:
        if words.startswith("flood"):
            await others_are_done.wait()

    model = Echo(hold_the_flood)
    async with running(tmp_path, model) as harness:
        for number in range(FLOOD):
            await harness.chat.says(f"flood {number}", user="flood", chat="flood")
            if number % 50 == 0:
                other = str(number // 50)
                await harness.chat.says(f"I am {other}", user=other, chat=other)
        await harness.chat.sees(10)
        assert all(shown.chat_id != "flood" for shown in harness.chat.shown)
        others_are_done.set()
        await harness.chat.sees_text(f"flood {FLOOD - 1}")
        await harness.at_rest()
        flooded = [r.messages for r in model.requests if "flood" in r.messages[0].text]
        said = [message.text for message in flooded[-1] if message.role == "user"]
        assert said == [f"flood {number}" for number in range(FLOOD)]
        assert len(flooded) <= 4, "what gathers is answered together"


async def test_a_person_in_fifty_rooms_leaves_slots_to_others(tmp_path: Path) -> None:
    others_are_done = asyncio.Event()

    async def hold_the_flood(words: str) -> None:
        if words.startswith("flood"):
            await others_are_done.wait()

    places = {"TALARIA_TURNS__AT_ONCE": "4", "TALARIA_TURNS__PER_PERSON": "2"}
    model = Echo(hold_the_flood)
    async with running(tmp_path, model, **places) as harness:
        for room in range(50):
            await harness.chat.says(
                f"flood {room}", user="flood", chat=f"room {room}", direct=False
            )
        await harness.until(lambda: model.streaming == 2)
        for number in range(10):
            await harness.chat.says(f"I am {number}", user=str(number), chat=str(number))
        await harness.chat.sees(10)
        assert model.streaming == 2, "no more of one person than are allowed at once"
        others_are_done.set()
        await harness.at_rest()
        assert len(harness.chat.shown) == 60
        assert set(answers(harness).values()) == {1}


async def test_unaddressed_messages_delay_nothing(tmp_path: Path) -> None:
    async def at_once(words: str) -> None:
        """Nothing to wait for."""

    async with running(tmp_path, Echo(at_once)) as harness:
        assert harness.chat.inlet
        noise = [
            RawEvent(event_id=EventId(f"noise {number}"), payload='{"noise": true}')
            for number in range(2000)
        ]
        await harness.chat.inlet.take(noise)
        await harness.chat.says("hello")
        await harness.chat.sees(1)
        assert not harness.gateway.router.is_idle(), "the chatter is still being put away"
