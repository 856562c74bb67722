"""Streams, statuses and files of the emulated Slack, through the real SDK."""

from typing import Any

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from tests.emulators.slack import SlackEmulator
from tests.emulators.slack_cast import ANNA, refusal

NOTE = {"event_type": "talaria", "event_payload": {"outbox": "17"}}


async def test_a_stream_grows_shows_tasks_and_ends(
    slack: SlackEmulator, web: AsyncWebClient
) -> None:
    asked = await slack.says(ANNA, "well?")
    stream = await web.chat_stream(channel=slack.dm(ANNA), thread_ts=asked, buffer_size=1)
    await stream.append(markdown_text="One ")
    task = {"type": "task_update", "id": "t1", "title": "Look", "status": "in_progress"}
    await stream.append(chunks=[task])
    await stream.append(markdown_text="two", chunks=[task | {"status": "complete"}])
    (message,) = (m for m in slack.messages(slack.dm(ANNA)) if m.bot)
    assert (message.shown, message.is_streaming) == ("One two", True)
    assert [(t["title"], t["status"]) for t in message.tasks] == [("Look", "complete")]
    await stream.stop(markdown_text=".", metadata=NOTE, session_status="active")
    assert (message.shown, message.is_streaming, message.metadata) == ("One two.", False, NOTE)
    assert slack.texts(slack.dm(ANNA), asked) == ["One two."]
    assert slack.status(slack.dm(ANNA), asked) == "active"
    assert message.history == ["One ", "One ", "One two", "One two."]


async def test_a_stream_in_a_room_needs_a_recipient(
    slack: SlackEmulator, web: AsyncWebClient
) -> None:
    room = slack.channel("general", [ANNA])
    asked = await slack.says(ANNA, "well?", channel=room)
    start: dict[str, Any] = {"channel": room, "thread_ts": asked, "markdown_text": "x"}
    assert await refusal(web.chat_startStream(**start)) == "missing_recipient_user_id"
    start["recipient_user_id"] = slack.user(ANNA)
    assert await refusal(web.chat_startStream(**start)) == "missing_recipient_team_id"
    await web.chat_startStream(**start, recipient_team_id=slack.team_id)
    assert slack.texts(room) == ["x"]
    start["thread_ts"] = ""
    assert await refusal(web.chat_startStream(**start)) == "invalid_thread_ts"


async def test_an_open_stream_refuses_edits_and_a_closed_one_text(
    slack: SlackEmulator, web: AsyncWebClient
) -> None:
    here, asked = slack.dm(ANNA), await slack.says(ANNA, "well?")
    ts = (await web.chat_startStream(channel=here, thread_ts=asked, markdown_text="a"))["ts"]
    assert await refusal(web.chat_update(channel=here, ts=ts, text="b")) == (
        "streaming_state_conflict"
    )
    assert await refusal(web.chat_delete(channel=here, ts=ts)) == "cant_delete_message"
    chunk = {"type": "markdown_text", "text": "b"}
    assert await refusal(web.chat_appendStream(channel=here, ts=ts, chunks=[chunk])) == (
        "streaming_mode_mismatch"
    )
    long = web.chat_appendStream(channel=here, ts=ts, markdown_text="x" * 12_000)
    assert await refusal(long) == "msg_too_long"
    await web.chat_stopStream(channel=here, ts=ts, markdown_text="b")
    for call in (web.chat_appendStream, web.chat_stopStream):
        assert await refusal(call(channel=here, ts=ts, markdown_text="c")) == (
            "message_not_in_streaming_state"
        )
    await web.chat_update(channel=here, ts=ts, markdown_text="whole")
    assert slack.texts(here) == ["whole"]


async def test_a_stream_expires(slack: SlackEmulator, web: AsyncWebClient) -> None:
    here, asked = slack.dm(ANNA), await slack.says(ANNA, "well?")
    ts = (await web.chat_startStream(channel=here, thread_ts=asked, markdown_text="a"))["ts"]
    slack.world.stream_seconds = 0
    assert await refusal(web.chat_appendStream(channel=here, ts=ts, markdown_text="b")) == (
        "message_not_in_streaming_state"
    )
    await web.chat_update(channel=here, ts=ts, text="whole")
    assert slack.texts(here) == ["whole"]


@pytest.mark.parametrize(
    "chunk",
    [
        {"type": "task_update", "id": "t", "title": "x", "status": "cancelled"},
        {"type": "task_update", "id": "t", "title": "x" * 257, "status": "complete"},
        {"type": "markdown_text"},
        {"type": "song"},
    ],
)
async def test_an_invalid_chunk_is_refused(
    slack: SlackEmulator, web: AsyncWebClient, chunk: dict[str, Any]
) -> None:
    asked = await slack.says(ANNA, "well?")
    start = web.chat_startStream(channel=slack.dm(ANNA), thread_ts=asked, chunks=[chunk])
    assert await refusal(start) == "invalid_chunks"
    assert slack.texts(slack.dm(ANNA)) == []


async def test_statuses_belong_to_agents_or_assistants(
    slack: SlackEmulator, web: AsyncWebClient
) -> None:
    here, asked = slack.dm(ANNA), await slack.says(ANNA, "well?")
    where = {"channel_id": here, "thread_ts": asked}
    answer = await web.agents_sessions_setStatus(**where, status="processing", title="Asking")
    assert (answer["agent_status"], answer["title"]) == ("processing", "Asking")
    assert slack.status(here, asked) == "processing"
    assert await refusal(web.agents_sessions_setStatus(**where, status="is thinking")) == (
        "invalid_arguments"
    )
    slack.is_agent = False
    assert await refusal(web.agents_sessions_setStatus(**where, status="active")) == "not_an_agent"
    other = await slack.says(ANNA, "and?")
    await web.assistant_threads_setStatus(channel_id=here, thread_ts=other, status="is thinking…")
    assert slack.status(here, other) == "is thinking…"
    await web.chat_postMessage(channel=here, thread_ts=other, text="so")
    assert slack.status(here, other) == ""
    slack.is_assistant = slack.can_stream = False
    for call in (
        web.assistant_threads_setStatus(channel_id=here, thread_ts=other, status="x"),
        web.chat_startStream(channel=here, thread_ts=asked),
    ):
        assert await refusal(call) == "feature_not_enabled"


async def test_limits_can_be_enabled(slack: SlackEmulator, web: AsyncWebClient) -> None:
    slack.limits["chat.postMessage"] = (1, 600)
    await web.chat_postMessage(channel=slack.dm(ANNA), text="one")
    await web.chat_postMessage(channel=slack.channel(), text="one")
    with pytest.raises(SlackApiError) as caught:
        await web.chat_postMessage(channel=slack.dm(ANNA), text="two")
    assert caught.value.response.status_code == 429
    assert 1 <= int(caught.value.response.headers["Retry-After"]) <= 600
    assert slack.texts(slack.dm(ANNA)) == ["one"]
