"""Makes a message owed into what Telegram is asked to show; pure."""

from dataclasses import dataclass

from adapters.errors import Rejected
from adapters.letters import count_units
from adapters.messages import OutboundFile, OutboundMessage
from adapters.telegram.buttons import Keyboard, lay_out
from adapters.telegram.places import chat_of, message_of, thread_of
from adapters.telegram.render import Page, render

CAPTION_LIMIT = 1024
"""UTF-16 units below a file, counted after rendering (Bot API, sendDocument: caption)."""
FILE_LIMIT = 50_000_000
"""Bytes of a file that a bot may send (Bot API, sendDocument)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """One message as Telegram takes it; with a file, the page is its caption."""

    chat_id: int
    thread_id: int | None
    page: Page
    reply_to: int | None
    is_silent: bool
    keyboard: Keyboard
    file: OutboundFile | None


def make_post(message: OutboundMessage) -> Post:
    """The post of a message. Raises `Rejected` on what Telegram would never take."""
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
