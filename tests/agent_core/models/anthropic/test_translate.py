"""The neutral request as the API's JSON: shape, purity, stable bytes."""

import json
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.ids import CallId
from agent_core.models.anthropic.answer import AnswerReader
from agent_core.models.anthropic.translate import render_request
from agent_core.transcript import (
    Message,
    RawPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    user_message,
)
from tests.agent_core.models.calls import ask, calls, results, says
from tests.emulators.anthropic_rules import complain

THOUGHT = RawPart(
    provider="anthropic",
    model="claude-sonnet-5-5",
    payload='{"type":"redacted_thinking","data":"eA=="}',
)

DEEP = '{"a":' + "[" * 300 + "]" * 300 + "}"
"""An object, but nested so deeply that where it is parsed would decide whether it can be."""


def render(*messages: Message | str, **options: Any) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(render_request(ask(*messages), **options))
    return body


def unmarked(body: bytes) -> bytes:
    """Bytes without their breakpoints."""
    return body.replace(b',"cache_control":{"type":"ephemeral"}', b"")


def marks(body: dict[str, Any]) -> list[str]:
    """Where the breakpoints are, as paths."""
    found = [
        f"tools.{n}" for n, tool in enumerate(body.get("tools", ())) if "cache_control" in tool
    ]
    found += ["system" for block in body.get("system", ()) if "cache_control" in block]
    for n, message in enumerate(body["messages"]):
        found += [
            f"messages.{n}.{place}"
            for place, block in enumerate(message["content"])
            if "cache_control" in block
        ]
    return found


def test_the_breakpoints_stand_where_the_next_call_will_look() -> None:
    body = render("one", says("1"), user_message("two", facts="<facts>x</facts>"))
    assert marks(body) == ["tools.1", "system", "messages.0.0", "messages.2.1"]
    assert body["system"][0]["cache_control"] == {"type": "ephemeral"}
    assert render("one", cache_ttl="1h")["system"][0]["cache_control"]["ttl"] == "1h"


def test_without_tools_and_system_nothing_empty_is_sent() -> None:
    body = json.loads(render_request(ask("hi", tools=(), system=" ")))
    assert "tools" not in body
    assert "system" not in body
    assert marks(body) == ["messages.0.0"]


def test_the_same_request_gives_the_same_bytes_and_changes_nothing() -> None:
    request = ask("one", calls(("a", "memory", {"text": "ü"})), results(("a", "ok")), says("1"))
    before = deepcopy(request)
    assert render_request(request) == render_request(request)
    assert request == before


def test_a_longer_conversation_begins_with_the_bytes_of_the_shorter() -> None:
    messages: list[Message] = []
    former = b""
    for turn in range(5):
        messages.append(user_message(f"say {turn}", facts=f"<facts>{turn}</facts>"))
        for step in (
            Message(role="assistant", parts=(THOUGHT, *calls((f"c{turn}", "memory", {})).parts)),
            results((f"c{turn}", "ok")),
            says(f"answer {turn}"),
        ):
            # The list of messages is still open, and so is the last message's content.
            bytes_now = unmarked(render_request(ask(*messages))).split(b']}],"stream"')[0]
            assert bytes_now.startswith(former)
            former = bytes_now
            messages.append(step)


def test_neighbours_of_one_role_become_one_message() -> None:
    body = render("one", "two", says("a"), says("b"), "three")
    roles = [message["role"] for message in body["messages"]]
    assert roles == ["user", "assistant", "user"]
    assert [block["text"] for block in body["messages"][0]["content"]] == ["one", "two"]


def test_a_failed_result_is_marked() -> None:
    body = render("x", calls(("a", "memory", {})), results(("a", "no such entry"), is_error=True))
    assert body["messages"][2]["content"][0]["is_error"] is True


def test_a_message_without_words_is_sent_as_such() -> None:
    body = render("   ")
    assert body["messages"][0]["content"][0]["text"] == "(a message without words)"


def test_what_is_no_unicode_is_sent_as_a_question_mark() -> None:
    body = json.loads(render_request(ask("half a \ud83d pair")))
    assert body["messages"][0]["content"][0]["text"] == "half a ? pair"


def test_thoughts_alone_are_no_message_and_never_stand_last() -> None:
    alone = Message(role="assistant", parts=(THOUGHT,))
    assert [m["role"] for m in render("a", alone, "b")["messages"]] == ["user"]
    trailing = Message(role="assistant", parts=(TextPart(text="so"), THOUGHT))
    content = render("a", trailing, "b")["messages"][1]["content"]
    assert [block["type"] for block in content] == ["text"]
    # ...but an answer that is to be gone on with goes back as it came.
    content = render("a", trailing)["messages"][1]["content"]
    assert [block["type"] for block in content] == ["text", "redacted_thinking"]
    assert marks(render("a", trailing))[-1] == "messages.1.0"


def test_calls_of_another_provider_get_names_that_the_api_takes() -> None:
    def turn(text: str) -> tuple[Message, Message]:
        return calls(("call 0", "memory", {}), ("x", "recall", {})), Message(
            role="tool",
            parts=tuple(
                ToolResultPart(call_id=CallId(call), name="memory", text=text)
                for call in ("call 0", "x")
            ),
        )

    body = render("a", *turn("first"), *turn("second"))
    assert complain(body) is None
    ids = [b["id"] for m in body["messages"] for b in m["content"] if b["type"] == "tool_use"]
    assert len(set(ids)) == 4


@pytest.mark.parametrize(
    "arguments",
    ["", "not json", "[1]", "null", '{"a": ', DEEP, "[" * 5000],
    ids=range(7),
)
def test_arguments_that_are_no_object_still_make_a_request(arguments: str) -> None:
    call = ToolCallPart(call_id=CallId("a"), name="memory", arguments=arguments)
    body = render("x", Message(role="assistant", parts=(call,)), results(("a", "bad arguments")))
    assert complain(body) is None
    assert body["messages"][1]["content"][0]["input"] == {"unreadable_arguments": arguments}


texts = st.text(max_size=20)
user_messages = st.builds(user_message, texts, facts=texts)
assistant_messages = st.builds(
    lambda text, raw, count: Message(
        role="assistant",
        parts=(
            *((THOUGHT,) if raw else ()),
            TextPart(text=text),
            *(
                ToolCallPart(call_id=CallId(f"c{n}"), name="memory", arguments="{}")
                for n in range(count)
            ),
        ),
    ),
    texts,
    st.booleans(),
    st.integers(0, 3),
)


def with_results(messages: list[Message]) -> list[Message]:
    """As the loop keeps it: every call is answered in the message after it."""
    kept: list[Message] = []
    for message in messages:
        kept.append(message)
        if message.calls:
            kept.append(results(*((call.call_id, "") for call in message.calls)))
    return kept


@given(st.lists(st.one_of(user_messages, assistant_messages), max_size=12))
def test_any_transcript_makes_a_request_that_the_api_takes(messages: list[Message]) -> None:
    body = render(*with_results(messages), "last")
    assert complain(body) is None


def test_an_event_without_its_fields_is_a_value_error() -> None:
    for event in ({"type": "content_block_delta"}, {"type": "message_start"}, None, 3):
        with pytest.raises(ValueError, match="lacks"):
            AnswerReader("m").read(event)


@pytest.mark.parametrize("odd", [0, True, None, [], {"a": 1}, 1.5])
def test_a_block_with_anything_in_place_of_words_is_read(odd: object) -> None:
    reader = AnswerReader("m")
    call = {"type": "tool_use", "id": odd, "name": odd, "input": {"query": "tea"}}
    for index, block in enumerate(({"type": "text", "text": odd}, call)):
        reader.read({"type": "content_block_start", "index": index, "content_block": block})
        reader.read({"type": "content_block_stop", "index": index})
    reader.read({"type": "message_delta", "delta": {"stop_reason": "tool_use"}})
    (part,) = reader.finish().message.parts
    assert isinstance(part, ToolCallPart)
    assert (part.call_id, part.name) == ("", "")


def test_events_and_blocks_of_next_year_are_no_error() -> None:
    reader = AnswerReader("m")
    for event in (
        {"type": "message_start", "message": {"model": "m-2", "usage": {"input_tokens": 3}}},
        {"type": "something_new", "field": 1},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "hologram", "d": 1}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "hologram_delta"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": "a"}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "b"}},
        {"type": "content_block_stop", "index": 1},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
    ):
        reader.read(event)
    assert reader.is_whole
    answer = reader.finish()
    assert answer.message.parts == (
        RawPart(provider="anthropic", model="m", payload='{"type":"hologram","d":1}'),
        TextPart(text="ab"),
    )
    assert (answer.model, answer.usage.input_tokens) == ("m-2", 3)
