"""The wire to Telegram: the only import of its SDK, whose errors end here."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any, Self
from urllib.parse import urlencode

import aiohttp
from telegram import Bot, BotCommand, LinkPreviewOptions, MessageEntity, ReplyParameters
from telegram.error import (
    BadRequest,
    ChatMigrated,
    Conflict,
    Forbidden,
    InvalidToken,
    NetworkError,
    RetryAfter,
    TelegramError,
    TimedOut,
)
from telegram.request import BaseRequest, RequestData

from adapters.abilities import MenuEntry
from adapters.errors import (
    AdapterError,
    AdapterStopped,
    ChatGone,
    MessageGone,
    RateLimited,
    Rejected,
    Unreachable,
    Unsure,
)
from adapters.telegram.receive import Me
from adapters.telegram.render import Page
from adapters.telegram.settings import TelegramSettings

_CONNECT_TIMEOUT = 10.0
_ANSWER_TIMEOUT = 25.0
_POLL_MARGIN = 10.0
"""Seconds beyond the asked-for wait after which a request for updates is given up."""
_CONNECTIONS = 16
"""Calls under way at once. Telegram takes about 30 messages a second, each in some 50 ms."""
_IDLE = 30.0
"""Seconds after which an unused connection is closed, before a server or router does so
unseen, which would make the next message an unsure one."""
_DEFAULT_WAIT = 5.0
"""Seconds to wait on a 429 that does not say for how long."""

_UPDATES = ("message", "edited_message")
_NO_PREVIEW = LinkPreviewOptions(is_disabled=True)
_UNCHANGED = "message is not modified"
_MESSAGE_GONE = (
    "message to edit not found",
    "message can't be edited",
    "message_id_invalid",
    "message_edit_time_expired",
)
_CHAT_GONE = (
    "chat not found",
    "peer_id_invalid",
    "user not found",
    "user is deactivated",
    "group chat was upgraded",
    "group chat was deactivated",
    "message thread not found",
    "topic_closed",
    "topic_deleted",
    "chat_write_forbidden",
    "chat_restricted",
    "channel_private",
    "not enough rights",
    "have no rights",
    "bot is not a member",
    "need administrator rights",
)


class AnotherPoller(AdapterStopped):
    """Another program reads updates with the same token."""


class _NeverLeft(NetworkError):
    """No connection came about, therefore nothing was sent."""


class _Unwell(NetworkError):
    """The server answered that it can't answer."""


class _TooFast(NetworkError):
    """The server asks for a pause. The SDK's own class for it warns whenever it is made."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"Telegram asks to wait for {seconds:g} s")
        self.seconds = seconds


class Api:
    """The calls that Talaria makes. Every method raises `AdapterError` and waits with a limit."""

    def __init__(self, settings: TelegramSettings) -> None:
        self._settings = settings
        self._calls = _AiohttpRequest(connections=_CONNECTIONS, timeout=_ANSWER_TIMEOUT)
        self._polls = _AiohttpRequest(connections=1, timeout=_ANSWER_TIMEOUT)
        self._bot = Bot(
            settings.token,
            base_url=f"{settings.base_url}/bot",
            request=self._calls,
            get_updates_request=self._polls,
        )

    async def __aenter__(self) -> Self:
        await self._calls.initialize()
        await self._polls.initialize()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._polls.shutdown()
        await self._calls.shutdown()

    async def fetch_me(self) -> Me:
        """Who the bot is; the first call, which tells whether the token is good."""
        try:
            user = await self._bot.get_me()
        except TelegramError as error:
            raise translate(error, lost=Unreachable, unwell=Unreachable) from error
        return Me(user_id=user.id, username=user.username or "")

    async def drop_webhook(self) -> None:
        """Have updates kept for `fetch` instead of pushed elsewhere; none is dropped."""
        try:
            await self._bot.delete_webhook(drop_pending_updates=False)
        except TelegramError as error:
            raise translate(error, lost=Unreachable, unwell=Unreachable) from error

    async def fetch(self, offset: int, wait: int) -> list[Any]:
        """Updates from `offset` on, raw, confirming all below; waits up to `wait` seconds.

        Raw, because the SDK's own method fails on a whole batch for one unreadable update.
        """
        query = urlencode(
            {"offset": offset, "timeout": wait, "allowed_updates": json.dumps(_UPDATES)}
        )
        try:
            updates = await self._polls.post(
                f"{self._bot.base_url}/getUpdates?{query}", read_timeout=wait + _POLL_MARGIN
            )
        except TelegramError as error:
            raise translate(error, lost=Unreachable, unwell=Unreachable) from error
        if not isinstance(updates, list):
            raise Unreachable("Telegram answered a request for updates with something else")
        return updates

    async def send(
        self,
        page: Page,
        chat_id: int | str,
        thread_id: int | None,
        *,
        reply_to: int | None,
        is_silent: bool,
    ) -> int:
        """Post a message and return its id."""
        reply = None
        if reply_to is not None:
            reply = ReplyParameters(message_id=reply_to, allow_sending_without_reply=True)
        try:
            message = await self._bot.send_message(
                chat_id=chat_id,
                text=page.text,
                entities=_entities(page),
                message_thread_id=thread_id,
                reply_parameters=reply,
                disable_notification=is_silent or None,
                link_preview_options=_NO_PREVIEW,
            )
        except TelegramError as error:
            raise translate(error, lost=Unsure, unwell=Unsure) from error
        return message.message_id

    async def edit(self, page: Page, chat_id: int | str, message_id: int) -> bool:
        """Make a message read so; False if it did already."""
        try:
            await self._bot.edit_message_text(
                chat_id=chat_id,
                message_id=message_id,
                text=page.text,
                entities=_entities(page),
                link_preview_options=_NO_PREVIEW,
            )
        except TelegramError as error:
            if isinstance(error, BadRequest) and _UNCHANGED in str(error).lower():
                return False
            raise translate(error, lost=Unsure, unwell=Unreachable) from error
        return True

    async def type(self, chat_id: int | str, thread_id: int | None) -> None:
        """Show "typing" for five seconds."""
        try:
            await self._bot.send_chat_action(
                chat_id=chat_id, action="typing", message_thread_id=thread_id
            )
        except TelegramError as error:
            raise translate(error, lost=Unreachable, unwell=Unreachable) from error

    async def show_menu(self, entries: Sequence[MenuEntry]) -> None:
        """Publish the menu of commands for all chats."""
        commands = [BotCommand(entry.name, entry.description) for entry in entries]
        try:
            await self._bot.set_my_commands(commands)
        except TelegramError as error:
            raise translate(error, lost=Unreachable, unwell=Unreachable) from error


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


def translate(
    error: TelegramError, *, lost: type[AdapterError], unwell: type[AdapterError]
) -> AdapterError:
    """This wing's name for an error of the SDK.

    `lost` is raised when a request left and no answer came, `unwell` when the server answered
    with 5xx: what these mean depends on whether the call may be made twice.
    """
    match error:
        case _TooFast():
            return RateLimited(f"{error}.", retry_after=error.seconds)
        case RetryAfter():
            return RateLimited(f"{error}.", retry_after=_seconds(error))
        case ChatMigrated():
            return ChatGone(
                f"The group became a supergroup; its chat id is now {error.new_chat_id}."
            )
        case Forbidden():
            return ChatGone(f"Telegram lets nobody be reached in this chat: {error}.")
        case InvalidToken():
            return AdapterStopped(
                "Telegram does not know the token in TELEGRAM_BOT_TOKEN. Ask @BotFather for it "
                "(/mybots, your bot, API Token) and start again."
            )
        case Conflict():
            return AnotherPoller(
                "Another program is receiving messages with the token in TELEGRAM_BOT_TOKEN "
                f"({error}). Stop it, or have @BotFather make a new token (/revoke)."
            )
        case BadRequest():
            return _translate_refusal(str(error))
        case _NeverLeft():
            return Unreachable(f"Telegram can't be reached: {error}.")
        case _Unwell():
            return unwell(f"Telegram is unwell: {error}.")
        case TimedOut():
            return lost("Telegram did not answer in time.")
        case NetworkError():
            return lost(f"The connection to Telegram broke: {error}.")
        case _:  # an answer that is no JSON; the call may well have been applied
            return lost(f"Telegram's answer can't be read: {error}.")


def _translate_refusal(text: str) -> AdapterError:
    said = text.lower()
    if any(words in said for words in _MESSAGE_GONE):
        return MessageGone(f"Telegram: {text}.")
    if any(words in said for words in _CHAT_GONE):
        return ChatGone(f"Telegram: {text}.")
    return Rejected(f"Telegram: {text}.")


def _seconds(error: RetryAfter) -> float:
    wait = error.retry_after
    return float(wait) if isinstance(wait, int | float) else wait.total_seconds()


class _AiohttpRequest(BaseRequest):
    """The SDK's seam for HTTP, on aiohttp: less than half the CPU of its own, and it tells a
    request that never left from one that got no answer. JSON only, no uploads.
    """

    __slots__ = ("_connections", "_session", "_slots", "_timeout")

    def __init__(self, *, connections: int, timeout: float) -> None:
        self._connections = connections
        self._timeout = timeout
        self._session: aiohttp.ClientSession | None = None
        self._slots = asyncio.Semaphore(connections)

    @property
    def read_timeout(self) -> float:
        return self._timeout

    async def initialize(self) -> None:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=self._connections, keepalive_timeout=_IDLE),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"User-Agent": self.USER_AGENT, "Content-Type": "application/json"},
        )

    async def shutdown(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def do_request(  # noqa: PLR0913 - the SDK's signature
        self,
        url: str,
        method: str,
        request_data: RequestData | None = None,
        read_timeout: Any = BaseRequest.DEFAULT_NONE,
        write_timeout: Any = BaseRequest.DEFAULT_NONE,
        connect_timeout: Any = BaseRequest.DEFAULT_NONE,
        pool_timeout: Any = BaseRequest.DEFAULT_NONE,
    ) -> tuple[int, bytes]:
        """Make one request. Raises the `NetworkError`s of this module and `TimedOut`.

        Of the timeouts only `read_timeout` is heeded: it bounds the call as a whole, once it
        is its turn.
        """
        total = read_timeout if isinstance(read_timeout, int | float) else self._timeout
        timeout = aiohttp.ClientTimeout(total=total, connect=_CONNECT_TIMEOUT)
        body = json.dumps(request_data.parameters).encode() if request_data else b"{}"
        async with self._slots:
            if self._session is None:
                raise _NeverLeft("not connected yet, or not any more")
            try:
                async with self._session.request(
                    method, url, data=body, timeout=timeout, allow_redirects=False
                ) as response:
                    payload = await response.read()
            except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
                raise _NeverLeft(str(error)) from error
            except TimeoutError as error:
                raise TimedOut from error
            except aiohttp.ClientError as error:  # its text may hold the address with the token
                raise NetworkError(type(error).__name__) from error
        if response.status == 429:
            raise _TooFast(_read_wait(payload, response.headers.get("Retry-After", "")))
        if response.status >= 500:
            raise _Unwell(f"{response.status} {response.reason}")
        return response.status, payload


def _read_wait(payload: bytes, header: str) -> float:
    """The seconds that a 429 asks for, in its body or, from a proxy, in its header."""
    try:
        answer = json.loads(payload)
    except ValueError:
        answer = None
    parameters = answer.get("parameters") if isinstance(answer, dict) else None
    wait = parameters.get("retry_after") if isinstance(parameters, dict) else None
    if isinstance(wait, int | float):
        return float(wait)
    return float(header) if header.isdecimal() else _DEFAULT_WAIT
