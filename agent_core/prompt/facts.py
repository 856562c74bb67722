"""The facts of a turn, put in front of the person's words: when, where, who, about what."""

from dataclasses import dataclass
from functools import lru_cache

from agent_core.tools.clock import local_time
from agent_core.tools.quoting import flatten, quote

_NAME_LIMIT = 80
_TITLE_LIMIT = 120
_NOTE_LIMIT = 160
_QUOTE_LIMIT = 4000
_MAX_ATTACHMENTS = 10
_MINUTE = 60_000
"""Milliseconds."""

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_PLATFORMS = {"telegram": "Telegram", "discord": "Discord", "slack": "Slack"}


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotedMessage:
    """The message that the person answers, and whose it was."""

    author: str
    text: str
    is_ours: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FactInputs:
    """What is known of a message. `now` is in milliseconds since the epoch, `zone` IANA.

    `attachments` are notes on what came along and can't be read, for instance `image cat.jpg:
    damaged`. `is_spoken` says that words of the person's come from a voice note. `wanted` is
    the language that the person has set, and `unasked` what they were never asked for. `news`
    are finished lines; see `prompt.news`.
    """

    now: int
    zone: str
    platform: str
    is_direct: bool
    author: str
    room_title: str | None = None
    is_thread: bool = False
    language: str | None = None
    quote: QuotedMessage | None = None
    attachments: tuple[str, ...] = ()
    is_spoken: bool = False
    wanted: str | None = None
    unasked: tuple[str, ...] = ()
    news: tuple[str, ...] = ()


def compose_facts(inputs: FactInputs) -> str:
    """The block of facts. Names, titles and quotes are JSON strings of one line each, so
    that nothing in them can end the block or pass for a fact. Pure.
    """
    lines = [
        "<facts>",
        f"Now: {_describe_time(inputs.now // _MINUTE, inputs.zone)}",
        f"Place: {_describe_place(inputs)}",
        f"From: {_describe_author(inputs)}",
    ]
    if inputs.quote:
        lines.append(_describe_quote(inputs.quote))
    if inputs.attachments:
        lines.append(
            f"Attached, you know only this of it: {_describe_attached(inputs.attachments)}"
        )
    if inputs.is_spoken:
        lines.append("Spoken: a machine wrote down what they said, and may have misheard")
    if inputs.wanted:
        lines.append(f"They want answers in: {flatten(inputs.wanted, 20)}")
    lines += inputs.news
    if inputs.unasked:
        lines.append(
            f"Not known of them: {', '.join(inputs.unasked)}. Ask once, at the end and in passing;"
            " keep the answer with `settings`. Nobody reminds you again"
        )
    return "\n".join([*lines, "</facts>"])


@lru_cache(maxsize=64)
def _describe_time(minute: int, zone: str) -> str:
    """A minute since the epoch on a person's clock; many ask for the same."""
    moment = local_time(minute * _MINUTE, zone)
    name = zone if str(moment.tzinfo) == zone else "UTC"
    return f"{_WEEKDAYS[moment.weekday()]} {moment:%Y-%m-%d %H:%M}, {name} ({moment:%z})"


def _describe_place(inputs: FactInputs) -> str:
    platform = _PLATFORMS.get(inputs.platform, flatten(inputs.platform, _NAME_LIMIT))
    place = "direct talk"
    if not inputs.is_direct:
        title = f" {quote(inputs.room_title, _TITLE_LIMIT)}" if inputs.room_title else ""
        place = f"room{title}, others can read along"
    return f"{platform}, {place}{', in a thread' if inputs.is_thread else ''}"


def _describe_author(inputs: FactInputs) -> str:
    language = f", app language {flatten(inputs.language, 20)}" if inputs.language else ""
    return f"{quote(inputs.author, _NAME_LIMIT)}{language}"


def _describe_quote(message: QuotedMessage) -> str:
    whose = (
        "your message" if message.is_ours else f"a message by {quote(message.author, _NAME_LIMIT)}"
    )
    return f"Answers {whose}: {quote(message.text, _QUOTE_LIMIT)}"


def _describe_attached(attachments: tuple[str, ...]) -> str:
    named = ", ".join(quote(name, _NOTE_LIMIT) for name in attachments[:_MAX_ATTACHMENTS])
    more = len(attachments) - _MAX_ATTACHMENTS
    return f"{named} and {more} more" if more > 0 else named
