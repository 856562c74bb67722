"""A turn reads what its model is shown, however old the conversation is."""

from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from agent_core.agent.compaction.compactor import apply_compaction
from agent_core.agent.history import History, Told
from agent_core.agent.turn import PreparedTurn
from agent_core.models.contract import ModelAnswer, ModelRequest, TextDelta, Usage
from agent_core.models.token_estimate import estimate_input
from agent_core.state.conversations import messages
from agent_core.state.conversations.messages import StoredMessage
from agent_core.transcript import TextPart
from tests.agent_core.agent.bench import Bench
from tests.fakes.model import FakeModel, finish

_WORDS = " and so on" * 40
_CAP = 8_000


class Talker(FakeModel):
    """Answers everything at once, and counts tokens like the estimate."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelAnswer, None]:
        taken = Usage(input_tokens=estimate_input(request), output_tokens=9)
        yield replace(finish(TextPart(text=f"Yes{_WORDS}")), usage=taken)


@pytest.fixture
def talk(bench: Bench) -> Bench:
    bench.model, bench.cap = Talker(), _CAP
    bench.hire()
    return bench


async def prepare(bench: Bench) -> PreparedTurn:
    return await bench.agent.prepare(bench.dialogue, bench.person, platform="telegram")


async def read_all(bench: Bench, prepared: PreparedTurn) -> list[StoredMessage]:
    session, owner = prepared.session, bench.dialogue.person_id
    assert session
    return await bench.database.read(
        lambda c: messages.list_session(c, session_id=session.id, person_id=owner)
    )


async def test_a_history_is_as_long_as_what_the_model_is_shown(talk: Bench) -> None:
    longest, lengths = 0, []
    for number in range(120):
        await talk.ask(f"one more, {number}{_WORDS}")
        prepared = await prepare(talk)
        lengths.append(len(prepared.history.messages))
        longest = max(longest, prepared.history.weight)
    assert max(lengths[60:]) <= max(lengths[:60]) < len(await read_all(talk, prepared)) / 4
    assert longest < _CAP * 16


async def test_a_turn_after_a_start_sees_what_it_would_have_seen_before(talk: Bench) -> None:
    for number in range(60):
        await talk.ask(f"one more, {number}{_WORDS}")
        known = await prepare(talk)
        talk.hire()
        read = await prepare(talk)
        assert read.history == known.history
        assert read.compaction == known.compaction
        whole = await read_all(talk, read)
        shown = apply_compaction(read.history.messages, read.compaction)
        assert shown == apply_compaction(whole, read.compaction)
        assert read.history.told == Told().extend(whole)
    assert read.compaction


def test_what_was_told_counts_once() -> None:
    assert History().extend([]).told == Told()
    assert Told().extend([]) == Told()
