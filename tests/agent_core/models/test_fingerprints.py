"""A request's fingerprint: the same for the same request, whatever was digested before."""

import time
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from agent_core.ids import CallId, ConversationId
from agent_core.models.contract import ModelRequest, Sampling
from agent_core.models.fingerprints import Digest, Fingerprints
from agent_core.models.shapes import restore_wishes
from agent_core.transcript import (
    Message,
    Part,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    user_message,
)

TALK = ConversationId(1)

words = st.text(max_size=12)
parts: st.SearchStrategy[Part] = st.one_of(
    st.builds(TextPart, text=words, is_fact=st.booleans()),
    st.builds(ToolCallPart, call_id=words.map(CallId), name=words, arguments=words),
    st.builds(ToolResultPart, call_id=words.map(CallId), name=words, text=words),
)
messages = st.builds(
    Message,
    role=st.sampled_from(["user", "assistant", "tool"]),
    parts=st.lists(parts, max_size=3).map(tuple),
)
transcripts = st.lists(messages, max_size=5).map(tuple)


def digest(said: tuple[Message, ...]) -> Digest:
    taken = Digest()
    for message in said:
        taken.add(message)
    return taken


def ask(said: tuple[Message, ...], **fields: object) -> ModelRequest:
    request = ModelRequest(
        model="m", system="s", tools=(), messages=said, max_output_tokens=10, images={}
    )
    return replace(request, **fields)  # type: ignore[arg-type]


@given(st.lists(transcripts, min_size=1, max_size=6))
def test_what_was_digested_before_changes_nothing(dialogue: list[tuple[Message, ...]]) -> None:
    """Transcripts that grow, are cut, are changed in the middle, or are another's."""
    known = Fingerprints()
    for said in dialogue:
        assert known.take(TALK, "p", ask(said)) == Fingerprints().take(TALK, "p", ask(said))
        assert known.take(TALK, "p", ask(said)) == digest(said).seal("p", ("m", 10), ())


@given(transcripts, transcripts)
def test_other_words_have_another_fingerprint(
    one: tuple[Message, ...], other: tuple[Message, ...]
) -> None:
    first, second = (digest(said).seal("p", ("m", 10), ()) for said in (one, other))
    assert (first.hash == second.hash) == (one == other)


def test_everything_that_is_sent_counts() -> None:
    said = (user_message("hello"),)
    known = Fingerprints()
    taken = [
        known.take(TALK, "p", ask(said)),
        known.take(TALK, "q", ask(said)),
        known.take(TALK, "p", ask(said, model="n")),
        known.take(TALK, "p", ask(said, max_output_tokens=11)),
        known.take(TALK, "p", ask(said, images={"a": b"1"})),
        known.take(TALK, "p", ask(said, response_schema="{}")),
        known.take(TALK, "p", ask(said, sampling=Sampling(seed=1))),
        known.take(TALK, "p", ask(said, tool_choice="required")),
        known.take(TALK, "p", ask((Message(role="assistant", parts=said[0].parts),))),
    ]
    assert len({one.hash for one in taken}) == len(taken)
    both = ask(said, images={"a": b"1", "b": b"2"})
    turned = ask(said, images={"b": b"2", "a": b"1"})
    assert known.take(TALK, "p", both) == known.take(TALK, "p", turned)


def test_a_call_in_a_long_conversation_costs_what_is_new_in_it() -> None:
    """300 turns: some 0.02 ms a call. The bound leaves room for a busy machine."""
    known, dialogue = (
        Fingerprints(),
        [user_message("word " * 40, facts="<facts>") for _ in range(600)],
    )
    known.take(TALK, "p", ask(tuple(dialogue)))
    taken = []
    for _ in range(50):
        dialogue += [user_message("word " * 40, facts="<facts>") for _ in range(2)]
        request = ask(tuple(dialogue))
        began = time.perf_counter()
        known.take(TALK, "p", request)
        taken.append(time.perf_counter() - began)
    whole = ask(tuple(dialogue))
    began = time.perf_counter()
    Fingerprints().take(TALK, "p", whole)
    anew = time.perf_counter() - began
    assert sorted(taken)[25] < anew / 10


def test_wishes_are_kept_in_the_shape() -> None:
    """What is stored with a call tells them, so an old request has the same fingerprint."""
    sampling = Sampling(temperature=0.5, seed=3, stop=("END", "ENDE"))
    wished = ask(
        (user_message("hello"),),
        shape='{"dialect":"x"}',
        response_schema='{"type":"object"}',
        sampling=sampling,
        tool_choice="required",
    )
    taken = Fingerprints().take(TALK, "p", wished)
    stored = ask(wished.messages, shape=taken.shape)
    assert Fingerprints().take(TALK, "p", stored) == taken
    restored = restore_wishes(stored)
    assert replace(restored, shape=wished.shape) == wished
