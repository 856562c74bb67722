"""Messages of the bot: chat.postMessage, update, delete, response_url."""

import time
from dataclasses import dataclass

from tests.emulators.slack_blocks import BLOCK_TEXT_LIMIT, MARKDOWN_LIMIT, BadBlocks, check, size
from tests.emulators.slack_shapes import Json, Refusal, SlackMessage
from tests.emulators.slack_world import Channel, World

TEXT_LIMIT = 40_000
"""Characters after which Slack cuts the text of a new message."""
UPDATE_TEXT_LIMIT = 4000
"""Characters of text beyond which chat.update refuses."""
ANSWERS_PER_URL = 5
SECONDS_PER_URL = 30 * 60


@dataclass(kw_only=True)
class ResponseUrl:
    """An address where an app may answer a command or a click for a while."""

    channel: str
    user: str
    source: SlackMessage | None
    """The message that was pressed."""
    until: float
    """Seconds of the emulator's steady clock."""
    left: int = ANSWERS_PER_URL


def blocks_of(parameters: Json, key: str = "blocks") -> list[Json] | None:
    """Return the given blocks; None without any. Raises `Refusal`."""
    given = parameters.get(key)
    if given is None:
        return None
    if not isinstance(given, list):
        raise Refusal("invalid_blocks_format")
    try:
        blocks = check(given)
    except BadBlocks as bad:
        raise Refusal("invalid_blocks", f"[ERROR] {bad}") from None
    if size(blocks) > BLOCK_TEXT_LIMIT:
        raise Refusal("msg_blocks_too_long")
    return blocks


def metadata_of(parameters: Json) -> Json | None:
    """Return the given metadata; an empty object removes it. Raises `Refusal`."""
    given = parameters.get("metadata")
    if given is None:
        return None
    if given == {}:
        return {}
    if not isinstance(given, dict) or not isinstance(given.get("event_type"), str):
        raise Refusal("invalid_metadata_format")
    if not isinstance(given.get("event_payload"), dict):
        raise Refusal("invalid_metadata_schema")
    return given


def markdown_of(parameters: Json, *others: str) -> str:
    """Return the given Markdown, which excludes other text fields. Raises `Refusal`."""
    markdown = str(parameters.get("markdown_text") or "")
    if markdown and any(parameters.get(key) for key in others):
        raise Refusal("markdown_text_conflict")
    if len(markdown) > MARKDOWN_LIMIT:
        raise Refusal("msg_too_long")
    return markdown


def compose(world: World, channel: Channel, parameters: Json, user: str = "") -> SlackMessage:
    """Return a message of the bot that is not shown yet. Raises `Refusal`."""
    markdown = markdown_of(parameters, "text", "blocks")
    text = str(parameters.get("text") or "")[:TEXT_LIMIT]
    blocks = blocks_of(parameters) or []
    if not (text.strip() or blocks or markdown.strip() or parameters.get("attachments")):
        raise Refusal("no_text")
    return SlackMessage(
        channel=channel.id,
        ts=world.next_ts(),
        user=world.app.bot_user_id,
        bot=world.app.bot_id,
        thread_ts=world.thread_in(channel, parameters),
        text=text,
        blocks=blocks,
        markdown_text=markdown,
        metadata=metadata_of(parameters) or None,
        unfurl_links=parameters.get("unfurl_links"),
        unfurl_media=parameters.get("unfurl_media"),
        is_broadcast=bool(parameters.get("reply_broadcast")),
    )


def post(world: World, parameters: Json) -> Json:
    """chat.postMessage. Raises `Refusal`."""
    channel = world.place(parameters)
    message = world.put(compose(world, channel, parameters))
    shown = world.shown(message, with_metadata=True)
    return {"channel": channel.id, "ts": message.ts, "message": shown}


def update(world: World, parameters: Json) -> Json:
    """chat.update. Omitted fields stay: blocks, metadata. Raises `Refusal`."""
    channel = world.place(parameters)
    message = world.own(channel, parameters.get("ts"), "cant_update_message")
    if message.is_streaming:
        raise Refusal("streaming_state_conflict")
    markdown = markdown_of(parameters, "text", "blocks")
    text = str(parameters.get("text") or "")
    if len(text.encode()) > UPDATE_TEXT_LIMIT:
        raise Refusal("msg_too_long")
    blocks = blocks_of(parameters)
    if not text.strip() and not markdown.strip() and not blocks:
        raise Refusal("no_text")
    metadata = metadata_of(parameters)
    before = world.shown(message, with_metadata=True)
    if text or markdown:
        message.text, message.markdown_text = text, markdown
    if blocks is not None or markdown:
        message.blocks = blocks or []
        message.markdown_text = markdown
    if metadata is not None:
        message.metadata = metadata or None
    message.edited = {"user": world.app.bot_user_id, "ts": world.next_ts()}
    world.change(message, before)
    return {"channel": channel.id, "ts": message.ts, "text": message.text} | {
        "message": world.shown(message, with_metadata=True)
    }


def delete(world: World, parameters: Json) -> Json:
    """chat.delete. Raises `Refusal`."""
    channel = world.place(parameters)
    message = world.own(channel, parameters.get("ts"), "cant_delete_message")
    if message.is_streaming:
        raise Refusal("cant_delete_message")
    world.remove(message)
    return {"channel": channel.id, "ts": message.ts}


def whisper(world: World, user: str, message: SlackMessage) -> None:
    """Show a message to one person only."""
    message.note()
    world.channels[message.channel].ephemerals.append((user, message))


def answer(world: World, url: ResponseUrl, parameters: Json) -> None:
    """Handle a post to a response_url, or an app's ack. Raises `Refusal`."""
    if time.monotonic() > url.until:
        raise Refusal("expired_url")
    if url.left <= 0:
        raise Refusal("used_url")
    url.left -= 1
    whisper(world, url.user, compose(world, world.channels[url.channel], parameters))
