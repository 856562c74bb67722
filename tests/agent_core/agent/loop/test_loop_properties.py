"""Whatever a model does, a turn ends once and every call that is kept is answered once."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.errors import (
    ModelBusy,
    ModelDenied,
    ModelInterrupted,
    ModelOverflow,
    ModelRejected,
    ModelUnknown,
)
from agent_core.events import ToolEnded, ToolStarted, TurnEnded
from agent_core.models.contract import StopReason, TextDelta, Usage
from agent_core.models.router import ModelPolicy
from agent_core.transcript import Part, RawPart, TextPart, ToolResultPart
from tests.agent_core.agent.loop.rig import HELLO, Rig, shown
from tests.fakes.model import Piece, Play, call, finish, say
from tests.fakes.tool import FakeTool

STOPS: list[StopReason] = ["end", "tools", "length", "pause", "refusal", "overflow", "unknown"]
TEXTS = st.sampled_from(["", " ", "word", "<facts>x</facts>", "🙂", "a\n\nb"])
CALLS = st.builds(
    call,
    st.sampled_from(["look", "send", "loo", ""]),
    st.sampled_from(["{}", "", "{", '{"n":1}', "[]", '{"n":1}']),
    st.sampled_from(["c1", "c2", "", "c1-2"]),
)
THOUGHTS = st.just(RawPart(provider="fake", model="fake-1", payload="{}"))
PARTS = st.one_of(CALLS, THOUGHTS, TEXTS.map(lambda text: TextPart(text=text)))
ERRORS = st.sampled_from(
    [
        ModelBusy("busy"),
        ModelBusy("busy", retry_after=3),
        ModelBusy("busy", retry_after=300),
        ModelInterrupted("cut"),
        ModelRejected("no"),
        ModelOverflow("long"),
        ModelUnknown("who"),
        ModelDenied("no"),
    ]
)
USAGES = st.builds(Usage, input_tokens=st.integers(0, 50), output_tokens=st.integers(0, 50))


@st.composite
def plays(draw: st.DrawFn) -> Play:
    deltas: list[Piece] = [TextDelta(text=draw(TEXTS)) for _ in range(draw(st.integers(0, 3)))]
    end = draw(st.sampled_from(["answer", "answer", "answer", "error", "nothing"]))
    if end == "error":
        return [*deltas, draw(ERRORS)]
    if end == "nothing":
        return deltas
    parts: list[Part] = draw(st.lists(PARTS, max_size=4))
    return [*deltas, finish(*parts, stop=draw(st.sampled_from(STOPS)), usage=draw(USAGES))]


@pytest.mark.slow
@given(
    behaviour=st.lists(plays(), max_size=12),
    steers=st.sets(st.integers(0, 12), max_size=3),
    draining_at=st.one_of(st.none(), st.integers(0, 12)),
    steps=st.integers(1, 6),
    tokens=st.sampled_from([0, 0, 60]),
    fallbacks=st.sampled_from([(), ("fake-2",)]),
)
async def test_any_behaviour_of_a_model_ends_in_one_way(
    behaviour: list[Play],
    steers: set[int],
    draining_at: int | None,
    steps: int,
    tokens: int,
    fallbacks: tuple[str, ...],
) -> None:
    look = FakeTool("look", cost="free")
    send = FakeTool("send", effect="unsafe")
    policy = ModelPolicy(model="fake-1", fallbacks=fallbacks)
    rig = Rig(tools=[look, send], policy=policy, steps=steps, tokens=tokens)

    def meddle(number: int) -> Piece:
        async def act() -> None:
            if number in steers:
                rig.host.speak(f"steer {number}")
            rig.host.draining = rig.host.draining or number == draining_at

        return act

    planned = [[meddle(number), *play] for number, play in enumerate(behaviour)]
    rig.model.plays = [*planned, *[say("done")] * 40]

    events = await rig.run()  # the journal itself checks that every call is answered once

    ended = events[-1]
    assert isinstance(ended, TurnEnded)
    assert (ended.ending == "suspended") == (rig.journal.last_words is None)
    if ended.ending == "answered":
        assert ended.text.strip()
        assert rig.journal.transcript[-1].role == "assistant"
    started = [event.call_id for event in events if isinstance(event, ToolStarted)]
    finished = [event.call_id for event in events if isinstance(event, ToolEnded)]
    assert sorted(started) == sorted(finished)
    assert len(set(started)) == len(started)
    shown(events)
    _check_transcript(rig)
    said = [message.text for message in rig.journal.transcript if message.role == "user"]
    for steer in rig.host.taken:
        assert said.count(steer.text) == 1
    assert rig.model.streaming == 0
    assert len(rig.model.requests) <= 2 * (2 * steps + 1) * 2


def _check_transcript(rig: Rig) -> None:
    """A transcript as providers take it: results right behind their calls, each once."""
    transcript = [HELLO, *rig.journal.transcript]
    for before, message in pairwise(transcript):
        given = [part.call_id for part in message.parts if isinstance(part, ToolResultPart)]
        assert given == [asked.call_id for asked in before.calls]
        assert message.parts
    is_open = bool(transcript[-1].calls)
    assert not is_open or rig.journal.last_words is None
    ids = [asked.call_id for message in transcript for asked in message.calls]
    assert len(set(ids)) == len(ids)
    for request in rig.model.requests:
        longest = min(len(request.messages), len(transcript))
        kept = request.messages[:longest]
        # the summary's question stands in the transcript only together with its answer
        assert kept == tuple(transcript[:longest]) or kept[:-1] == tuple(transcript[: longest - 1])
