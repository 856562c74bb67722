"""What is kept of how a talk was rendered changes nothing of what is sent."""

import json

from hypothesis import given
from hypothesis import strategies as st

from agent_core.ids import CallId
from agent_core.models.anthropic import client
from agent_core.models.anthropic.client import RenderedPrefixes
from agent_core.models.anthropic.translate import Prefix, render_behind, render_request
from agent_core.models.contract import ModelRequest
from agent_core.models.shapes import add_shape
from agent_core.transcript import (
    ImagePart,
    Message,
    Part,
    RawPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    user_message,
)
from tests.agent_core.models.calls import ask
from tests.emulators.pictures import make_png

PNG = make_png()
THOUGHT = RawPart(
    provider="anthropic",
    model="claude-sonnet-5-5",
    payload='{"type":"thinking","thinking":"Hm.","signature":"s"}',
)
words = st.sampled_from(["", "a", "🫖 two words", 'quote " and \n line'])
call_ids = st.sampled_from(["c1", "c2", "call_1", "not/taken"]).map(CallId)
pictures = st.builds(
    ImagePart,
    file_key=st.sampled_from(["k1", "k2"]),
    media_type=st.just("image/png"),
    size=st.just(len(PNG)),
)
user_parts: st.SearchStrategy[Part] = st.one_of(
    st.builds(TextPart, text=words, is_fact=st.booleans()), pictures
)
answer_parts: st.SearchStrategy[Part] = st.one_of(
    st.builds(TextPart, text=words),
    st.just(THOUGHT),
    st.builds(ToolCallPart, call_id=call_ids, name=st.just("memory"), arguments=words),
)
results = st.builds(ToolResultPart, call_id=call_ids, name=st.just("memory"), text=words)


def message(role: str, parts: st.SearchStrategy[Part]) -> st.SearchStrategy[Message]:
    return st.builds(Message, role=st.just(role), parts=st.lists(parts, max_size=3).map(tuple))


dialogues = st.lists(
    st.one_of(
        message("user", st.builds(TextPart, text=words)),
        message("assistant", st.builds(TextPart, text=words)),
        message("user", user_parts),
        message("assistant", answer_parts),
        message("tool", results),
    ),
    min_size=1,
    max_size=24,
)


@given(dialogues, st.sampled_from(["5m", "1h"]))
def test_a_conversation_that_grows_is_rendered_as_if_it_were_new(
    dialogue: list[Message], cache_ttl: str
) -> None:
    prefix = Prefix()
    for end in range(1, len(dialogue) + 1):
        request = ask(*dialogue[:end], images={"k1": PNG})
        whole = render_request(request, cache_ttl=cache_ttl)
        body, longer = render_behind(prefix, request, cache_ttl=cache_ttl)
        assert body == whole
        assert longer.count >= prefix.count
        prefix = longer
        json.loads(body)


def turn(number: int) -> list[Message]:
    return [user_message(f"say {number}"), Message(role="assistant", parts=(TextPart(text="ok"),))]


def dialogue_of(turns: int, first: str = "hello") -> ModelRequest:
    said = [message for number in range(turns) for message in turn(number)]
    return ask(user_message(first), *said, user_message("now"))


def test_only_what_is_new_is_rendered() -> None:
    whole = dialogue_of(100)
    _, prefix = render_behind(Prefix(), whole)
    assert prefix.count > len(whole.messages) - 6


def test_conversations_that_are_cut_changed_or_let_go_of_are_rendered_right() -> None:
    kept = RenderedPrefixes()
    requests = [
        dialogue_of(40),
        dialogue_of(60),
        dialogue_of(20),
        dialogue_of(60, "another"),
        dialogue_of(60),
        ask(*dialogue_of(60).messages[:1], *dialogue_of(60).messages[5:]),
        dialogue_of(3),
        dialogue_of(500),
        dialogue_of(501),
    ]
    for request in requests:
        shaped = add_shape(request, {"effort": "low"})
        assert kept.render(shaped) == render_request(request, effort="low")
    assert len(dialogue_of(3).messages) <= client._SHORT < len(dialogue_of(20).messages)
