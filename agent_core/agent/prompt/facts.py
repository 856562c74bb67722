"""The facts of a turn, put in front of the person's words: when, where, who, about what."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from agent_core.agent.prompt.context import PromptContext, ShownEntries, hash_entry
from agent_core.memory.archive.inventory import (
    MOST_COUNTED,
    Inventory,
    SearchableCounts,
    SearchScope,
    VisibleMessages,
)
from agent_core.memory.shared import SharedList
from agent_core.tools.clock import local_time
from agent_core.tools.untrusted_text import escape, flatten, quote
from agent_core.transcript import Message, TextPart

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
    subject = (
        "your message" if message.is_ours else f"a message by {quote(message.author, _NAME_LIMIT)}"
    )
    return f"Answers {subject}: {quote(message.text, _QUOTE_LIMIT)}"


def _describe_attached(attachments: tuple[str, ...]) -> str:
    named = ", ".join(quote(name, _NOTE_LIMIT) for name in attachments[:_MAX_ATTACHMENTS])
    more = len(attachments) - _MAX_ATTACHMENTS
    return f"{named} and {more} more" if more > 0 else named


MOST_CHARACTERS = 1500
"""More than this is not put into facts: a fresh prompt shows it better."""

_NEW, _GONE = "New in", "Gone from"
_TOLD = re.compile(rf"({_NEW}|{_GONE}) (team|block:[\w-]+): (\[.*\])")


def find_news(
    shown: ShownEntries, shared: Sequence[SharedList], said: Iterable[Message]
) -> tuple[str, ...]:
    """One line for each list with entries that the talk was not told of, or told too much of.

    `shown` is what the talk's prompt shows, `said` all messages of the talk, oldest first: what
    was told already stands in the facts of these. Pure.
    """
    told = _read_told(said)
    lines: list[str] = []
    for one in shared:
        known = told.get(one.target, {})
        now = {escape(entry): hash_entry(one, entry) for entry in one.entries}
        new = [text for text, its_mark in now.items() if not known.get(text, its_mark in shown)]
        gone = [text for text, stands in known.items() if stands and text not in now]
        lines += [_write(_NEW, one, new)] if new else []
        lines += [_write(_GONE, one, gone)] if gone else []
    return tuple(lines)


def _read_told(said: Iterable[Message]) -> dict[str, dict[str, bool]]:
    """For each list the entries that facts have told of, and whether the last word was that
    they are there.
    """
    # All facts of a talk are looked at before each of its turns, and most tell of nothing.
    facts = [
        part.text
        for message in said
        if message.role == "user"
        for part in message.parts[:1]
        if type(part) is TextPart and part.is_fact and (_NEW in part.text or _GONE in part.text)
    ]
    told: dict[str, dict[str, bool]] = {}
    for found in (_TOLD.fullmatch(line) for text in facts for line in text.split("\n")):
        if found:
            texts = dict.fromkeys(json.loads(found[3]), found[1] == _NEW)
            told.setdefault(found[2], {}).update(texts)
    return told


def _write(what: str, shared: SharedList, texts: Sequence[str]) -> str:
    return f"{what} {shared.target}: {json.dumps(texts, ensure_ascii=False)}"


_MAX_TAGS = 12


async def describe_searchable(
    inventory: Inventory, context: PromptContext, view: VisibleMessages, now: int
) -> tuple[str, ...]:
    """The line for a talk that shows what is in `view`. Raises `StoreError`."""
    reach = SearchScope(
        owner_id=context.conversation.person_id,
        scope=context.conversation.scope,
        memory_owner_id=context.memory_owner.person_id if context.memory_owner else None,
    )
    holdings = await inventory.look_up(reach, view, now=now)
    return describe_holdings(holdings, context.person.time_zone or "UTC")


def describe_holdings(holdings: SearchableCounts, zone: str) -> tuple[str, ...]:
    """The line that tells what there is to be searched; none where there is nothing. Pure.

    Tags hold letters, digits and hyphens only, so that they can't pass for a fact.
    """
    found = []
    if holdings.messages:
        since = local_time(holdings.since, zone)
        found.append(f"{_count(holdings.messages, 'message', 'messages')} since {since:%Y-%m-%d}")
    if holdings.entries:
        tags = ", ".join(holdings.tags[:_MAX_TAGS])
        more = ", …" if len(holdings.tags) > _MAX_TAGS else ""
        named = f" (tags: {tags}{more})" if tags else ""
        found.append(f"archive: {_count(holdings.entries, 'entry', 'entries')}{named}")
    return (f"You can search: {'; '.join(found)}",) if found else ()


def _count(number: int, one: str, many: str) -> str:
    over = "over " if number >= MOST_COUNTED else ""
    return f"{over}{number:,} {one if number == 1 else many}"
