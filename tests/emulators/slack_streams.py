"""Streamed messages: chat.startStream, chat.appendStream, chat.stopStream.

Undocumented, but measured by others: an open stream refuses chat.update and chat.delete,
keeps to the kind of text that it was opened with, and ends after some minutes.
"""

import time

from tests.emulators.slack_blocks import MARKDOWN_LIMIT, BadBlocks, check
from tests.emulators.slack_chat import blocks_of, metadata_of
from tests.emulators.slack_shapes import Json, Refusal, SlackMessage, Stream
from tests.emulators.slack_surfaces import set_session
from tests.emulators.slack_world import World

_STATUSES = ("pending", "in_progress", "complete", "error")
_TITLE_LIMIT = 256
_WORDS = "markdown_text"


def start(world: World, parameters: Json) -> Json:
    """chat.startStream. Raises `Refusal`."""
    channel = world.place(parameters)
    thread_ts = world.thread_in(channel, parameters)
    if thread_ts is None:
        raise Refusal("invalid_thread_ts")
    if channel.kind != "im":
        for key in ("recipient_user_id", "recipient_team_id"):
            if not parameters.get(key):
                raise Refusal(f"missing_{key}")
        if parameters["recipient_user_id"] not in channel.members:
            raise Refusal("user_not_found")
    if parameters.get("task_display_mode", "timeline") not in ("timeline", "plan", "dense"):
        raise Refusal("invalid_arguments")
    message = SlackMessage(
        channel=channel.id,
        ts=world.next_ts(),
        user=world.app.bot_user_id,
        bot=world.app.bot_id,
        thread_ts=thread_ts,
        stream=Stream(started=time.monotonic()),
    )
    _take(message, parameters)
    world.put(message)
    return {"channel": channel.id, "ts": message.ts}


def append(world: World, parameters: Json) -> Json:
    """chat.appendStream. Raises `Refusal`."""
    message = _open_stream(world, parameters)
    if not parameters.get("markdown_text") and not parameters.get("chunks"):
        raise Refusal("no_text")
    _take(message, parameters)
    message.note()
    return {"channel": message.channel, "ts": message.ts}


def stop(world: World, parameters: Json) -> Json:
    """chat.stopStream. Raises `Refusal`."""
    message = _open_stream(world, parameters)
    blocks = blocks_of(parameters) or []
    metadata = metadata_of(parameters)
    before = world.shown(message, with_metadata=True)
    _take(message, parameters)
    status = parameters.get("session_status")
    if status is not None:
        named = {"channel_id": message.channel, "thread_ts": message.thread_ts, "status": status}
        set_session(world, named)
    stream = world.age(message)
    assert stream is not None
    stream.is_open = False
    message.blocks += blocks
    message.metadata = metadata or None
    world.change(message, before)
    shown = world.shown(message, with_metadata=True)
    return {"channel": message.channel, "ts": message.ts, "message": shown}


def _open_stream(world: World, parameters: Json) -> SlackMessage:
    channel = world.place(parameters)
    message = world.own(channel, parameters.get("ts"), "message_not_owned_by_app")
    if message.stream is not None and message.stream.stopped_by_user:
        raise Refusal("stopped_by_user")
    if not message.is_streaming:
        raise Refusal("message_not_in_streaming_state")
    return message


def _take(message: SlackMessage, parameters: Json) -> None:
    """Add a call's content, or nothing if any of it is wrong. Raises `Refusal`."""
    stream = message.stream
    assert stream is not None
    markdown, chunks = parameters.get("markdown_text"), parameters.get("chunks")
    if markdown and chunks:
        raise Refusal("invalid_arguments", "[ERROR] markdown_text and chunks exclude each other")
    if not markdown and not chunks:
        return
    mode = "text" if markdown else "chunks"
    if stream.mode not in (None, mode):
        raise Refusal("streaming_mode_mismatch")
    checked = [_checked(chunk) for chunk in chunks or []] if not markdown else []
    words = str(markdown or "") + "".join(c["text"] for c in checked if c["type"] == _WORDS)
    if len(message.markdown_text) + len(words) > MARKDOWN_LIMIT:
        raise Refusal("msg_too_long")
    stream.mode = mode
    message.markdown_text += words
    for chunk in checked:
        if chunk["type"] == "task_update":
            stream.tasks[chunk["id"]] = stream.tasks.get(chunk["id"], {}) | chunk
        elif chunk["type"] == "plan_update":
            stream.plan = chunk["title"]
        elif chunk["type"] == "blocks":
            message.blocks += chunk["blocks"]


def _checked(chunk: object) -> Json:
    if not isinstance(chunk, dict):
        raise Refusal("invalid_chunks")
    match chunk.get("type"):
        case "markdown_text" if isinstance(chunk.get("text"), str):
            return chunk
        case "task_update" if chunk.get("id") and chunk.get("title"):
            if chunk.get("status") in _STATUSES and len(str(chunk["title"])) <= _TITLE_LIMIT:
                return chunk
        case "plan_update" if chunk.get("title") and len(str(chunk["title"])) <= _TITLE_LIMIT:
            return chunk
        case "blocks":
            try:
                return chunk | {"blocks": check(chunk.get("blocks"))}
            except BadBlocks as bad:
                raise Refusal("invalid_blocks", f"[ERROR] {bad}") from None
        case _:
            pass
    raise Refusal("invalid_chunks")
