"""A compressed conversation keeps its head, its tail and its pairs, and says what is gone."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from agent_core.agent.replay.trajectories import Trajectory
from agent_core.batch.compression import compress, count_tokens, split_pieces
from agent_core.ids import CallId, SessionId
from agent_core.transcript import Message, TextPart, ToolCallPart, ToolResultPart, user_message


def pair(number: int, size: int, name: str = "terminal") -> tuple[Message, Message]:
    made = CallId(f"c{number}")
    asked = ToolCallPart(call_id=made, name=name, arguments='{"command": "ls"}')
    result = ToolResultPart(call_id=made, name=name, text="x" * size)
    return (
        Message(role="assistant", parts=(asked,)),
        Message(role="tool", parts=(result,)),
    )


def make(count: int, size: int = 400) -> Trajectory:
    middle = [one for number in range(count) for one in pair(number, size)]
    answer = Message(role="assistant", parts=(TextPart(text="Done."),))
    return Trajectory(
        session_id=SessionId(1),
        person="task-1",
        model="m",
        started_at=0,
        system="Be brief.",
        tools=(),
        messages=(user_message("Do it."), *middle, answer),
    )


def test_a_short_one_stays_as_it_is() -> None:
    short = make(2)
    assert compress(short, count_tokens(short)) is short


def test_the_oldest_steps_of_the_middle_go_first() -> None:
    long = make(20)
    found = compress(long, 1200)
    assert found is not None
    assert count_tokens(found) <= 1200
    assert found.messages[:3] == long.messages[:3]
    assert found.messages[-5:] == long.messages[-5:]
    note = found.messages[3]
    kept = (len(found.messages) - 3) // 2
    assert note.role == "user"
    assert note.text == f"[{20 - kept} steps are left out here: terminal {20 - kept} times.]"


def test_what_does_not_fit_at_all_is_not_cut_further() -> None:
    assert compress(make(20, 4000), 1000) is None


@given(st.integers(0, 12), st.integers(1, 900), st.integers(50, 4000))
def test_pairs_are_never_parted(count: int, size: int, most: int) -> None:
    long = make(count, size)
    found = compress(long, most)
    if found is None:
        return
    assert count_tokens(found) <= most
    for piece in split_pieces(found.messages):
        calls = {call.call_id for call in piece[0].calls}
        results = {
            part.call_id
            for one in piece[1:]
            for part in one.parts
            if isinstance(part, ToolResultPart)
        }
        assert calls == results
    assert found.messages[0] == long.messages[0]
    assert found.messages[-1] == long.messages[-1]
    assert replace(found, messages=()) == replace(long, messages=())
