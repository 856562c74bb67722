"""Data types of the emulated Slack: refusals, messages, and Slack's text format."""

import re
from dataclasses import dataclass, field
from typing import Any

from tests.emulators.slack_blocks import flatten, plain

Json = dict[str, Any]

_TOKEN = re.compile(
    r"<(?:[@#!][^<>\s]+|https?://[^<>\s]+|mailto:[^<>\s]+)>|https?://[^\s<>]+|[&<>]"
)
_PIECE = re.compile(r"<@(?P<user>\w+)>|<(?P<url>https?://[^<>|]+)(?:\|[^<>]*)?>")
_ESCAPED = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


class Refusal(Exception):
    """A Web API response that is not ok."""

    def __init__(self, code: str, *messages: str) -> None:
        super().__init__(code)
        self.code = code
        self.messages = messages


@dataclass(kw_only=True)
class Stream:
    """The state of a streamed message."""

    started: float
    """Seconds of the emulator's steady clock."""
    mode: str | None = None
    """"text" or "chunks": the first call with text decides for all later ones."""
    is_open: bool = True
    stopped_by_user: bool = False
    tasks: dict[str, Json] = field(default_factory=dict)
    """The newest state of each task that was shown, by its id."""
    plan: str = ""


@dataclass(kw_only=True)
class SlackMessage:
    """A message in a channel, with every text it has shown."""

    channel: str
    ts: str
    user: str
    bot: str | None = None
    """The bot's id (B...) on its own messages."""
    thread_ts: str | None = None
    text: str = ""
    blocks: list[Json] = field(default_factory=list)
    """As given by the app, without blocks that Slack makes of text."""
    markdown_text: str = ""
    metadata: Json | None = None
    files: list[Json] = field(default_factory=list)
    reactions: list[tuple[str, str]] = field(default_factory=list)
    """Name and user of each, oldest first."""
    unfurl_links: bool | None = None
    unfurl_media: bool | None = None
    stream: Stream | None = None
    edited: Json | None = None
    is_broadcast: bool = False
    client_msg_id: str | None = None
    history: list[str] = field(default_factory=list)

    @property
    def is_streaming(self) -> bool:
        return self.stream is not None and self.stream.is_open

    @property
    def tasks(self) -> list[Json]:
        return list(self.stream.tasks.values()) if self.stream is not None else []

    @property
    def shown(self) -> str:
        """The text people read: Markdown, then blocks, or the text without either."""
        pieces = [self.markdown_text, flatten(self.blocks)]
        words = "\n".join(piece for piece in pieces if piece)
        return words or plain(self.text)

    @property
    def buttons(self) -> dict[str, str]:
        """The labels of its buttons, by action id."""
        return {
            element["action_id"]: element["text"]["text"]
            for element in elements_of(self.blocks)
            if element["type"] == "button"
        }

    def note(self) -> None:
        """Record the current text."""
        self.history.append(self.shown)


def elements_of(blocks: list[Json]) -> list[Json]:
    """Return everything to press or choose from, with the id of its block."""
    found = []
    for block in blocks:
        pieces = [*block.get("elements", [])] if block["type"] == "actions" else []
        if isinstance(block.get("accessory"), dict):
            pieces.append(block["accessory"])
        found += [{**piece, "block_id": block["block_id"]} for piece in pieces]
    return found


def escaped(text: str) -> str:
    """Return a person's text as Slack sends it: escaped, addresses in angle brackets."""

    def change(match: re.Match[str]) -> str:
        piece = match[0]
        if piece in _ESCAPED:
            return _ESCAPED[piece]
        return piece if piece.startswith("<") else f"<{piece.replace('&', '&amp;')}>"

    return _TOKEN.sub(change, text)


def rich_text(text: str, block_id: str) -> Json:
    """Return the block that Slack makes of a person's escaped text."""
    elements: list[Json] = []
    place = 0
    for match in _PIECE.finditer(text):
        if match.start() > place:
            elements.append({"type": "text", "text": plain(text[place : match.start()])})
        if match["user"]:
            elements.append({"type": "user", "user_id": match["user"]})
        else:
            elements.append({"type": "link", "url": plain(match["url"])})
        place = match.end()
    if place < len(text):
        elements.append({"type": "text", "text": plain(text[place:])})
    section = {"type": "rich_text_section", "elements": elements}
    return {"type": "rich_text", "block_id": block_id, "elements": [section]}


def whole(parameters: Json, key: str, default: int) -> int:
    """Return a whole-number parameter. Raises `Refusal`."""
    value = parameters.get(key)
    if value in (None, ""):
        return default
    try:
        return int(str(value))
    except ValueError:
        raise Refusal("invalid_arguments", f"[ERROR] {key} must be an integer") from None


def truth(parameters: Json, key: str) -> bool:
    """Return a boolean parameter, in any form that clients use."""
    return str(parameters.get(key, "")).lower() in ("true", "1")


def required(parameters: Json, key: str) -> str:
    """Return a required parameter. Raises `Refusal`."""
    value = parameters.get(key)
    if value in (None, ""):
        raise Refusal("invalid_arguments", f"[ERROR] missing required field: {key}")
    return str(value)
