"""What the emulated Slack is made of: refusals, messages, and how Slack writes text."""

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
    """An answer of the Web API that is not ok."""

    def __init__(self, code: str, *messages: str) -> None:
        super().__init__(code)
        self.code = code
        self.messages = messages


@dataclass(kw_only=True)
class Stream:
    """How far a streamed message has come."""

    started: float
    """Seconds of the emulator's steady clock."""
    mode: str | None = None
    """"text" or "chunks": the first call with words decides, and all later ones keep to it."""
    is_open: bool = True
    stopped_by_user: bool = False
    tasks: dict[str, Json] = field(default_factory=dict)
    """The newest state of each task that was shown, by its id."""
    plan: str = ""


@dataclass(kw_only=True)
class SlackMessage:
    """A message as it stands in a channel, with every text that it ever showed."""

    channel: str
    ts: str
    user: str
    bot: str | None = None
    """The bot's id (B...) on its own messages."""
    thread_ts: str | None = None
    text: str = ""
    blocks: list[Json] = field(default_factory=list)
    """As given by the app; blocks that Slack makes of text are not among them."""
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
        """What people read: Markdown as it is, then blocks, or the text where there is neither."""
        pieces = [self.markdown_text, flatten(self.blocks)]
        words = "\n".join(piece for piece in pieces if piece)
        return words or plain(self.text)

    @property
    def buttons(self) -> dict[str, str]:
        """What its buttons say, by action id."""
        return {
            element["action_id"]: element["text"]["text"]
            for element in elements_of(self.blocks)
            if element["type"] == "button"
        }

    def note(self) -> None:
        """Remember what is shown now."""
        self.history.append(self.shown)


def elements_of(blocks: list[Json]) -> list[Json]:
    """Everything that can be pressed or chosen, with the id of its block."""
    found = []
    for block in blocks:
        pieces = [*block.get("elements", [])] if block["type"] == "actions" else []
        if isinstance(block.get("accessory"), dict):
            pieces.append(block["accessory"])
        found += [{**piece, "block_id": block["block_id"]} for piece in pieces]
    return found


def escaped(text: str) -> str:
    """A person's words as Slack passes them on: escaped, with addresses in angle brackets."""

    def change(match: re.Match[str]) -> str:
        piece = match[0]
        if piece in _ESCAPED:
            return _ESCAPED[piece]
        return piece if piece.startswith("<") else f"<{piece.replace('&', '&amp;')}>"

    return _TOKEN.sub(change, text)


def rich_text(text: str, block_id: str) -> Json:
    """The block that Slack makes of a person's escaped words."""
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
    """A parameter that should be a whole number. Raises `Refusal`."""
    value = parameters.get(key)
    if value in (None, ""):
        return default
    try:
        return int(str(value))
    except ValueError:
        raise Refusal("invalid_arguments", f"[ERROR] {key} must be an integer") from None


def truth(parameters: Json, key: str) -> bool:
    """A parameter that should be a boolean, in any of the ways in which clients write it."""
    return str(parameters.get(key, "")).lower() in ("true", "1")


def required(parameters: Json, key: str) -> str:
    """A parameter that has to be there. Raises `Refusal`."""
    value = parameters.get(key)
    if value in (None, ""):
        raise Refusal("invalid_arguments", f"[ERROR] missing required field: {key}")
    return str(value)
