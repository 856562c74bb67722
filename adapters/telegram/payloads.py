"""Outgoing payloads: inline keyboards, posts and the HTML preview; pure."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from adapters.errors import Rejected
from adapters.messages import Button, ButtonStyle, OutboundFile, OutboundMessage
from adapters.telegram.lookup import chat_of, message_of, thread_of
from adapters.telegram.render import Entity, EntityKind, Page, render
from adapters.toolkit import count_units

MOST_BUTTONS = 100
"""Buttons on one message (the limit of Telegram's clients and servers)."""

_MARK = "t:"
"""The prefix of our callback data: a chat may still show another program's buttons."""
_STYLES: dict[ButtonStyle, str | None] = {"plain": None, "good": "success", "danger": "danger"}
_ROW_LETTERS = 30
"""Characters of all labels in one row that a phone shows in full."""
_ROW_BUTTONS = 3
_DRAFTS = (1 << 31) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """An inline button. `data` is at most 64 bytes (Bot API, InlineKeyboardButton)."""

    label: str
    data: str
    style: str | None


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
            Key(label=button.label, data=_MARK + button.key, style=_STYLES[button.style])
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
    """Return the draft of a turn: a number above zero (Bot API, sendMessageDraft)."""
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
    """Render the page's entities as HTML tags (Bot API, HTML style). Tags never cross."""
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
