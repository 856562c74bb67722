"""The Bot API calls that Talaria makes, through the SDK; maps the SDK's errors."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self
from urllib.parse import urlencode

from adapters.abilities import MenuText
from adapters.errors import AdapterError, FileTooLarge, Rejected, Unreachable, Unsure
from adapters.messages import OutboundFile
from adapters.telegram.errors import translate
from adapters.telegram.http_transport import HttpTransport, NotThere, TooLong
from adapters.telegram.library import (
    BadRequest,
    Bot,
    BotCommand,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    InputFile,
    InvalidToken,
    LinkPreviewOptions,
    Message,
    MessageEntity,
    ReplyParameters,
    TelegramError,
)
from adapters.telegram.payloads import PHOTO_LIMIT, PHOTO_TYPES, VOICE_TYPE, Keyboard, Post
from adapters.telegram.receive import BotIdentity
from adapters.telegram.render import Page
from adapters.telegram.settings import TelegramSettings

_PRESS_TIMEOUT = 5.0
"""Seconds to acknowledge a press; the next updates wait for that."""
_FILE_TIMEOUT = 120.0
"""Seconds for a whole file in either direction: 50 MB at 3.5 megabits a second."""
_CONNECTIONS = 16
"""Concurrent calls. Telegram accepts about 30 messages a second, each taking some 50 ms."""

_UPDATES = ("message", "edited_message", "callback_query", "message_reaction", "chat_member")
"""Reactions and most joins reach only a bot that is an administrator (Bot API, Update)."""
_OPEN = ("username", "active_usernames", "linked_chat_id")
"""Fields of a chat that people can read without being members: a public group, or one that shows
the comments of a channel.
"""
_NO_PREVIEW = LinkPreviewOptions(is_disabled=True)
_NO_PHOTO = ("photo_invalid_dimensions", "image_process_failed", "photo_ext_invalid")
"""Refusals of a picture that can still be sent as a document."""
_NO_VOICE = "voice_messages_forbidden"
"""The refusal if a person accepts no voice messages; a document is still possible."""
_UNCHANGED = "message is not modified"
_TOO_BIG = "file is too big"
_FETCH_LIMIT = 20_000_000
"""The most bytes of a file that bots can download (Bot API, getFile)."""


class Api:
    """The Bot API calls. Every method raises `AdapterError` and has a timeout."""

    def __init__(self, settings: TelegramSettings) -> None:
        self._settings = settings
        self._calls = HttpTransport(connections=_CONNECTIONS, timeout=settings.answer_timeout)
        self._polls = HttpTransport(connections=1, timeout=settings.answer_timeout)
        self._bot = Bot(
            settings.token,
            base_url=f"{settings.base_url}/bot",
            base_file_url=f"{settings.base_url}/file/bot",
            request=self._calls,
            get_updates_request=self._polls,
        )

    async def __aenter__(self) -> Self:
        await self._calls.initialize()
        await self._polls.initialize()
        return self

    async def __aexit__(self, *_: object) -> None:
        try:
            await self._polls.shutdown()
        finally:  # even if the gateway stops waiting
            await self._calls.shutdown()

    async def fetch_me(self) -> BotIdentity:
        """Return the bot's identity; the first call, which also verifies the token."""
        with _translated():
            user = await self._bot.get_me()
        return BotIdentity(
            user_id=user.id,
            username=user.username or "",
            joins_groups=user.can_join_groups is not False,
        )

    async def drop_webhook(self) -> None:
        """Remove the webhook so that updates wait for `fetch`; keeps all pending updates."""
        with _translated():
            await self._bot.delete_webhook(drop_pending_updates=False)

    async def fetch(self, offset: int, wait: int) -> list[Any]:
        """Return raw updates from `offset` on and acknowledge earlier ones; waits `wait` seconds.

        Raw, because one unreadable update makes the SDK's own method fail for the whole batch.
        """
        query = urlencode(
            {"offset": offset, "timeout": wait, "allowed_updates": json.dumps(_UPDATES)}
        )
        with _translated():
            updates = await self._polls.post(
                f"{self._bot.base_url}/getUpdates?{query}",
                read_timeout=wait + self._settings.poll_margin,
            )
        if not isinstance(updates, list):
            raise Unreachable("Telegram answered a request for updates with something else")
        return updates

    async def answer_press(self, query_id: str) -> None:
        """Acknowledge a press to the presser's client."""
        with _translated():
            await self._bot.answer_callback_query(query_id, read_timeout=_PRESS_TIMEOUT)

    async def send(self, post: Post) -> int:
        """Send a message, with its file if it has one, and return its id."""
        reply = None
        if post.reply_to is not None:
            reply = ReplyParameters(message_id=post.reply_to, allow_sending_without_reply=True)
        about: dict[str, Any] = {
            "chat_id": post.chat_id,
            "message_thread_id": post.thread_id,
            "reply_parameters": reply,
            "disable_notification": post.is_silent or None,
            "reply_markup": _markup(post.keyboard),
        }
        with _translated(lost=Unsure, unwell=Unsure):
            if post.file is None:
                message = await self._bot.send_message(
                    text=post.page.text,
                    entities=_entities(post.page),
                    link_preview_options=_NO_PREVIEW,
                    **about,
                )
            else:
                message = await self._send_file(post, post.file, about)
        return message.message_id

    async def _send_file(self, post: Post, file: OutboundFile, about: Mapping[str, Any]) -> Message:
        """Send a picture as a photo, speech as a voice message, any other file as a document."""
        about = {
            "caption": post.page.text or None,
            "caption_entities": _entities(post.page),
            "read_timeout": _FILE_TIMEOUT,
            **about,
        }
        if file.media_type in PHOTO_TYPES and len(file.data) <= PHOTO_LIMIT:
            try:
                return await self._bot.send_photo(photo=_upload(file), **about)
            except BadRequest as error:
                if not any(word in str(error).lower() for word in _NO_PHOTO):
                    raise
        if file.media_type == VOICE_TYPE:
            try:
                return await self._bot.send_voice(voice=_upload(file), **about)
            except BadRequest as error:
                if _NO_VOICE not in str(error).lower():
                    raise
        return await self._bot.send_document(
            document=_upload(file), disable_content_type_detection=True, **about
        )

    async def edit(self, post: Post, message_id: int) -> bool:
        """Replace a message or a file's caption; return False if it was the same already."""
        about: dict[str, Any] = {
            "chat_id": post.chat_id,
            "message_id": message_id,
            "reply_markup": _markup(post.keyboard),
        }
        try:
            if post.file is None:
                await self._bot.edit_message_text(
                    text=post.page.text,
                    entities=_entities(post.page),
                    link_preview_options=_NO_PREVIEW,
                    **about,
                )
            else:
                await self._bot.edit_message_caption(
                    caption=post.page.text, caption_entities=_entities(post.page), **about
                )
        except TelegramError as error:
            if isinstance(error, BadRequest) and _UNCHANGED in str(error).lower():
                return False
            raise translate(error, lost=Unsure, unwell=Unreachable) from error
        return True

    async def draft(self, post: Post, draft_id: int) -> None:
        """Show a growing text in a private chat; Telegram removes it after half a minute."""
        try:
            await self._bot.send_message_draft(
                chat_id=post.chat_id,
                draft_id=draft_id,
                text=post.page.text,
                message_thread_id=post.thread_id,
                entities=_entities(post.page),
            )
        except InvalidToken as error:  # the SDK's name for a 404, the answer to unknown methods
            raise Rejected("This Bot API server knows no drafts.") from error
        except TelegramError as error:
            raise translate(error, lost=Unreachable, unwell=Unreachable) from error

    async def delete(self, chat_id: int, message_id: int) -> None:
        """Delete a message; raises `MessageGone` if it is missing or too old."""
        with _translated(lost=Unsure):
            await self._bot.delete_message(chat_id=chat_id, message_id=message_id)

    async def react(self, chat_id: int, message_id: int, emoji: str | None) -> None:
        """Set the reaction on a message, or remove it."""
        with _translated(lost=Unsure):
            await self._bot.set_message_reaction(
                chat_id=chat_id, message_id=message_id, reaction=[emoji] if emoji else []
            )

    async def type(self, chat_id: int, thread_id: int | None) -> None:
        """Show the typing indicator for five seconds."""
        with _translated():
            await self._bot.send_chat_action(
                chat_id=chat_id, action="typing", message_thread_id=thread_id
            )

    async def show_menu(self, entries: Sequence[MenuText], language: str) -> None:
        """Publish the command menu for all chats, for people whose Telegram has this language.

        The language is a code of ISO 639-1; "" stands for all that have no menu of their own.
        """
        commands = [BotCommand(entry.name, entry.description) for entry in entries]
        with _translated():
            await self._bot.set_my_commands(commands, language_code=language)

    async def fetch_file(self, file_id: str, *, most_bytes: int) -> bytes:
        """Download a file that a person sent. Raises `Rejected` if it is not available."""
        try:
            file = await self._bot.get_file(file_id)
            if (file.file_size or 0) > most_bytes:
                raise too_large(most_bytes)
            if not (file.file_path or "").startswith(self._bot.base_file_url):
                raise Rejected("Telegram does not give that file away.")
            return await self._calls.download(
                str(file.file_path), most_bytes=most_bytes, timeout=_FILE_TIMEOUT
            )
        except TooLong as error:
            raise too_large(most_bytes) from error
        except NotThere as error:
            raise Rejected("Telegram does not have that file any more.") from error
        except BadRequest as error:
            if _TOO_BIG in str(error).lower():
                raise too_large(_FETCH_LIMIT) from error
            raise Rejected("Telegram does not have that file any more.") from error
        except TelegramError as error:
            raise translate(error, lost=Unreachable, unwell=Unreachable) from error

    async def count_members(self, chat_id: int) -> int | None:
        """Count a group's members, including the bot; None if others can read along."""
        with _translated():
            # Raw, because the SDK's own method fails on a chat that lacks a field it knows.
            chat = await self._calls.post(f"{self._bot.base_url}/getChat?chat_id={chat_id}")
            if not isinstance(chat, dict) or any(chat.get(field) for field in _OPEN):
                return None
            return await self._bot.get_chat_member_count(chat_id=chat_id)

    async def find_creator(self, chat_id: int) -> int | None:
        """Return the user who created a group; None if they are anonymous or gone."""
        url = f"{self._bot.base_url}/getChatAdministrators?chat_id={chat_id}"
        with _translated():
            members = await self._calls.post(url)
        for member in members if isinstance(members, list) else ():
            if isinstance(member, dict) and member.get("status") == "creator":
                user = member.get("user")
                creator = user.get("id") if isinstance(user, dict) else None
                return creator if isinstance(creator, int) else None
        return None


@contextmanager
def _translated(
    *, lost: type[AdapterError] = Unreachable, unwell: type[AdapterError] = Unreachable
) -> Iterator[None]:
    """Map the SDK's errors; see `translate`."""
    try:
        yield
    except TelegramError as error:
        raise translate(error, lost=lost, unwell=unwell) from error


def too_large(most_bytes: int) -> FileTooLarge:
    """Build the error for a file that exceeds the limit."""
    text = f"The file is larger than the {most_bytes / 1e6:g} MB that are read."
    return FileTooLarge(text, most_bytes=most_bytes)


def _entities(page: Page) -> list[MessageEntity] | None:
    if not page.entities:
        return None
    return [
        MessageEntity(
            type=entity.kind,
            offset=entity.offset,
            length=entity.length,
            url=entity.url,
            language=entity.language,
        )
        for entity in page.entities
    ]


def _markup(keyboard: Keyboard) -> InlineKeyboardMarkup | None:
    """Build the inline keyboard; None removes the buttons of an edited message."""
    if not keyboard:
        return None
    return InlineKeyboardMarkup(
        [
            [
                InlineKeyboardButton(key.label, url=key.url)
                if key.url
                else InlineKeyboardButton(key.label, callback_data=key.data, style=key.style)
                for key in row
            ]
            for row in keyboard
        ]
    )


def _upload(file: OutboundFile) -> InputFile:
    name = "".join(letter if letter.isprintable() else "_" for letter in file.name)
    upload = InputFile(file.data, filename=name)
    upload.mimetype = file.media_type
    return upload
