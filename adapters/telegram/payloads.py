"""Outgoing payloads (posts, inline keyboards, the HTML preview), and the ids of sent messages."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from adapters.errors import Rejected
from adapters.ids import Address, PlatformMessageId
from adapters.messages import Button, ButtonStyle, OutboundFile, OutboundMessage
from adapters.telegram.render import Entity, EntityKind, Page, render
from adapters.toolkit.caches import BoundedDict
from adapters.toolkit.text import count_units

_SUPERGROUPS_BELOW = -1_000_000_000_000


def chat_of(address: Address) -> int:
    """Return the chat's number. Raises `Rejected` if the address is not Telegram's."""
    return _number(address.chat_id)


def thread_of(address: Address) -> int | None:
    """Return the topic's number, or None outside topics. Raises `Rejected`."""
    return None if address.thread_id is None else _number(address.thread_id)


def message_of(message_id: PlatformMessageId) -> int:
    """Return the message's number. Raises `Rejected` if the id is not Telegram's."""
    return _number(message_id)


def has_own_count(chat_id: int) -> bool:
    """Return True for supergroups and channels; a bot's other chats share one id sequence."""
    return chat_id < _SUPERGROUPS_BELOW


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise Rejected(f'"{text}" is no chat, topic or message of Telegram.') from None


_MOST_PROBES = 100
_MARGIN = 20
"""The number of ids that may be taken by messages in flight: those of the 16 concurrent calls, and
a few messages of people.
"""
_REMEMBERED = 4096
_ACCOUNT = 0
"""Stands for all private chats and basic groups, which share one sequence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """Ids to try, in order, and whether the message may have a higher id."""

    within_reach: list[int]
    are_more: bool


class KnownIds:
    """The newest ids seen, and the ids of the last few thousand messages of this process."""

    def __init__(self) -> None:
        self._newest: dict[int, int] = {}
        self._sent: BoundedDict[tuple[int, int], None] = BoundedDict(_REMEMBERED)

    def note_sent(self, chat_id: int, message_id: int) -> None:
        """Record the id of a message that we sent."""
        self._sent.put((chat_id, message_id), None)
        self._note(chat_id, message_id)

    def note_updates(self, updates: Iterable[dict[str, Any]]) -> None:
        """Record the ids of people's messages; skips unreadable updates."""
        for update in updates:
            message = update.get("message")
            if isinstance(message, dict) and isinstance(message.get("chat"), dict):
                chat_id, message_id = message["chat"].get("id"), message.get("message_id")
                if isinstance(chat_id, int) and isinstance(message_id, int):
                    self._note(chat_id, message_id)

    def newest(self, chat_id: int) -> int | None:
        """Return the newest id seen in this chat's sequence."""
        return self._newest.get(_counter(chat_id))

    def candidates(self, chat_id: int, after: int) -> Candidates:
        """Return the ids after `after` that a message in doubt may have."""
        newest = self._newest.get(_counter(chat_id), 0)
        end = max(newest, after) + _MARGIN if newest else after + _MOST_PROBES
        within_reach = range(after + 1, min(end, after + _MOST_PROBES) + 1)
        return Candidates(
            within_reach=[i for i in within_reach if (chat_id, i) not in self._sent],
            are_more=end > after + _MOST_PROBES,
        )

    def _note(self, chat_id: int, message_id: int) -> None:
        counter = _counter(chat_id)
        self._newest[counter] = max(self._newest.get(counter, 0), message_id)


def _counter(chat_id: int) -> int:
    return chat_id if has_own_count(chat_id) else _ACCOUNT


MOST_BUTTONS = 100
"""Buttons on one message (the limit of Telegram's clients and servers)."""

_MARK = "t:"
"""The prefix of our callback data, because a chat may still show another program's buttons."""
_STYLES: dict[ButtonStyle, str | None] = {"plain": None, "good": "success", "danger": "danger"}
_ROW_LETTERS = 30
"""The most characters of all labels in one row that a phone shows in full."""
_ROW_BUTTONS = 3
_DRAFTS = (1 << 31) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """An inline button. `data` is at most 64 bytes (Bot API, InlineKeyboardButton).

    It either sends its data or opens its address.
    """

    label: str
    data: str
    style: str | None
    url: str = ""


Keyboard = tuple[tuple[Key, ...], ...]
"""Rows of buttons."""


def lay_out(buttons: Sequence[Button]) -> Keyboard:
    """Arrange buttons so that every label is readable; short ones share a row."""
    rows: list[list[Key]] = []
    letters = 0
    for button in buttons:
        letters += len(button.label)
        if not rows or len(rows[-1]) == _ROW_BUTTONS or letters > _ROW_LETTERS:
            rows.append([])
            letters = len(button.label)
        rows[-1].append(
            Key(
                label=button.label,
                data=_MARK + button.key,
                style=_STYLES[button.style],
                url=button.url,
            )
        )
    return tuple(tuple(row) for row in rows)


def read_key(data: str) -> str | None:
    """Return the key of one of our buttons, None for anything else."""
    return data.removeprefix(_MARK) if data.startswith(_MARK) else None


CAPTION_LIMIT = 1024
"""UTF-16 units of a caption after rendering (Bot API, sendDocument: caption)."""
PHOTO_LIMIT = 10_000_000
"""Bytes of a picture that a bot may send as a photo (Bot API, sendPhoto)."""
VOICE_TYPE = "audio/ogg; codecs=opus"
"""The only format that every client shows as a voice message (Bot API, sendVoice)."""
PHOTO_TYPES = ("image/png", "image/jpeg", "image/webp")
FILE_LIMIT = 50_000_000
"""Bytes of a file that a bot may send (Bot API, sendDocument)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """A message to send; with a file, the page is its caption."""

    chat_id: int
    thread_id: int | None
    page: Page
    reply_to: int | None
    is_silent: bool
    keyboard: Keyboard
    file: OutboundFile | None


def make_post(message: OutboundMessage) -> Post:
    """Build the post of a message. Raises `Rejected` on content that Telegram never accepts."""
    page = render(message.text)
    if message.file is None:
        if not page.text:
            raise Rejected("The message is empty, and Telegram takes no empty messages.")
    else:
        if count_units(page.text) > CAPTION_LIMIT:
            raise Rejected(f"Telegram takes at most {CAPTION_LIMIT} letters below a file.")
        if not message.file.data:
            raise Rejected("The file is empty, and Telegram takes no empty files.")
        if len(message.file.data) > FILE_LIMIT:
            raise Rejected("The file is larger than the 50 MB that Telegram takes.")
    return Post(
        chat_id=chat_of(message.address),
        thread_id=thread_of(message.address),
        page=page,
        reply_to=message_of(message.reply_to) if message.reply_to else None,
        is_silent=message.is_silent,
        keyboard=lay_out(message.buttons),
        file=message.file,
    )


def draft_id_of(key: str) -> int:
    """Return the draft id of a turn: a number above zero (Bot API, sendMessageDraft)."""
    return int.from_bytes(hashlib.blake2b(key.encode(), digest_size=4).digest()) % _DRAFTS + 1


_TAGS: dict[EntityKind, str] = {
    "pre": "pre",
    "code": "code",
    "blockquote": "blockquote",
    "bold": "b",
    "italic": "i",
    "strikethrough": "s",
}


def write_html(page: Page) -> str:
    """Render the page's entities as HTML tags (Bot API, HTML style). Tags are always nested."""
    written: list[str] = []
    is_open: list[Entity] = []
    at = 0
    for letter in page.text:
        is_open = _move_on(written, is_open, page, at)
        written.append(escape(letter, quote=False))
        at += count_units(letter)
    written += [_close(entity) for entity in reversed(is_open)]
    return "".join(written)


def _move_on(written: list[str], is_open: list[Entity], page: Page, at: int) -> list[Entity]:
    """Close and open tags at a position, longest first; returns the open ones."""
    ends = [number for number, entity in enumerate(is_open) if entity.offset + entity.length <= at]
    begins = sorted((one for one in page.entities if one.offset == at), key=lambda e: -e.length)
    if not ends and not begins:
        return is_open
    kept, crossed = is_open, list[Entity]()
    if ends:
        kept, behind = is_open[: ends[0]], is_open[ends[0] :]
        written += [_close(entity) for entity in reversed(behind)]
        crossed = [one for one in behind if one.offset + one.length > at]
    opened = [*crossed, *begins]
    written += [_open(entity) for entity in opened]
    return [*kept, *opened]


def _open(entity: Entity) -> str:
    if entity.kind == "text_link":
        return f'<a href="{escape(entity.url or "")}">'
    if entity.kind == "pre" and entity.language:
        return f'<pre><code class="language-{escape(entity.language)}">'
    return f"<{_TAGS[entity.kind]}>"


def _close(entity: Entity) -> str:
    if entity.kind == "text_link":
        return "</a>"
    if entity.kind == "pre" and entity.language:
        return "</code></pre>"
    return f"</{_TAGS[entity.kind]}>"
