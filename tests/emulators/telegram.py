"""A small, faithful Bot API server on loopback, with controls for tests.

In a test: `async with TelegramEmulator() as api:`.
"""

import asyncio
import contextlib
import re
from collections import Counter, deque
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from aiohttp import web

from tests.emulators.server import LoopbackServer
from tests.emulators.telegram_deeds import Deeds
from tests.emulators.telegram_faults import ChatLimit, Fault
from tests.emulators.telegram_parameters import read_parameters
from tests.emulators.telegram_texts import Json, Refusal, clean, whole, without_marks
from tests.emulators.telegram_world import BotMessage, World

TOKEN = "123456789:AAemulated-token-of-35-characters-xx"
USERNAME = "talaria_bot"
Hook = Callable[[str, Json], Awaitable[None]]
T = TypeVar("T")

_BODY_LIMIT = 60_000_000
"""Bytes of a request: a bot's largest upload, and what stands around it."""
_TAKEN_OVER = (
    "Conflict: terminated by other getUpdates request; make sure that only one bot instance is "
    "running"
)
_WEBHOOK_SET = (
    "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete "
    "the webhook first"
)


class TelegramEmulator(LoopbackServer):
    """One bot account and its HTTP server. Only `says` and similar calls are not immediate."""

    def __init__(self, *, token: str = TOKEN, username: str = USERNAME, port: int = 0) -> None:
        super().__init__(port=port)
        self.token = token
        self.world = World(bot_id=int(token.partition(":")[0]), username=username)
        self.deeds = Deeds(self.world)
        self.calls: Counter[str] = Counter()
        self.requests: deque[tuple[str, Json]] = deque(maxlen=5000)
        self.actions: deque[tuple[int, int | None, str]] = deque(maxlen=5000)
        self.menus: dict[str, list[Json]] = {}
        """The menus of commands by language; "" is that of all other languages."""
        self.has_drafts = False
        """Whether sendMessageDraft is known; Bot API servers before 9.5 refuse it."""
        self.reads_markup = False
        """Whether a text with a `parse_mode` loses its marks, instead of being refused."""
        self.drafts: dict[tuple[int, int], list[str]] = {}
        """Every text of a draft, by its chat and its number."""
        self.webhook = ""
        self.reports_length = True
        """Whether a download has a Content-Length."""
        self.before: Hook | None = None
        """Called with method and parameters before a call is applied."""
        self.after: Hook | None = None
        """Called after it is applied and before the response."""
        self.chat_limit: ChatLimit | None = None
        """Rate limit of new messages per chat; None for no limit."""
        self._faults: dict[str, list[tuple[Fault, int | None]]] = {}
        self._allowed: list[str] | None = None
        self._poller = 0
        self._is_closing = False
        self._methods: dict[str, Callable[[Json], Any]] = {
            "getme": lambda _: self.world.bot | {"can_read_all_group_messages": True},
            "sendmessage": self.world.send,
            "editmessagetext": self.world.edit,
            "deletemessage": self.world.delete,
            "sendchataction": self._act,
            "setmycommands": self._set_commands,
            "getmycommands": lambda asked: self.menus.get(str(asked.get("language_code", "")), []),
            "deletemycommands": lambda asked: self._set_commands({**asked, "commands": []}),
            "deletewebhook": self._delete_webhook,
            "getfile": self.world.file,
            "senddocument": self.deeds.send_document,
            "sendphoto": self.deeds.send_photo,
            "sendvoice": self.deeds.send_voice,
            "editmessagecaption": self.deeds.edit_caption,
            "setmessagereaction": self.deeds.react,
            "getchatmembercount": self.deeds.count_members,
            "getchat": self.deeds.notify_chat,
            "getchatadministrators": self.deeds.list_administrators,
            "answercallbackquery": self.deeds.answer_press,
        }

    def application(self) -> web.Application:
        application = web.Application(client_max_size=_BODY_LIMIT)
        application.router.add_route("*", "/bot{token}/{method}", self._serve)
        application.router.add_get("/file/bot{token}/files/{file_id}", self._give_file)
        return application

    async def stop(self) -> None:
        """Close the port and every connection. `start` opens the same port again."""
        self._is_closing = True
        self._stir()
        await super().stop()
        self._is_closing = False

    @property
    def base_url(self) -> str:
        """The part of the address before /bot<token>."""
        return self.url

    # The test's side

    def user(self, user_id: int, name: str = "Anna", **details: Any) -> int:
        """Create a person who has started the bot. Details: username, language."""
        return self.world.user(user_id, name, **details)

    def group(self, chat_id: int, title: str = "Friends", *, is_forum: bool = False) -> int:
        """Create a group with the bot; ids below -10^12 are supergroups."""
        return self.world.group(chat_id, title, is_forum=is_forum)

    def topic(self, chat_id: int, user_id: int, name: str = "Topic") -> int:
        """Create a topic of a forum; returns its thread id."""
        return self.world.topic(chat_id, user_id, name)

    async def says(
        self,
        user_id: int,
        text: str | None,
        *,
        chat: int | None = None,
        reply_to: int | None = None,
        quote: str | None = None,
        thread: int | None = None,
        **fields: Any,
    ) -> int:
        """Write as a person; returns the message's id. Fields go into the message unchanged."""
        if user_id not in self.world.users:
            self.user(user_id)
        update = self.world.write(
            user_id, text, chat=chat, reply_to=reply_to, quote=quote, thread=thread, fields=fields
        )
        self.push(update)
        return int(update["message"]["message_id"])

    async def edits(
        self, user_id: int, message_id: int, text: str, *, chat: int | None = None
    ) -> None:
        """Change the text of a person's message."""
        self.push(self.world.rewrite(user_id, message_id, text, chat=chat))

    async def presses(self, user_id: int, label: str, *, chat: int | None = None) -> None:
        """Press the newest button with this label as a person. Raises `LookupError`."""
        self.push(self.deeds.press(user_id, label, user_id if chat is None else chat))

    async def reacts(
        self, user_id: int, message_id: int, *signs: str, chat: int | None = None
    ) -> None:
        """Replace a person's reactions to a message; none removes them."""
        place = user_id if chat is None else chat
        self.push(self.deeds.react_as(user_id, place, message_id, list(signs)))

    def redeliver(self) -> None:
        """Deliver all updates so far again, as if their confirmations had been lost."""
        self.world.repeats = list(self.world.notified)
        self._stir()

    def push(self, update: Json) -> int:
        """Queue an update as is, malformed too; returns its number (its own, if it has one)."""
        kinds = [kind for kind in update if kind != "update_id"]
        if self._allowed and kinds and not any(kind in self._allowed for kind in kinds):
            return 0
        number = int(self.world.push(update)["update_id"])
        self._stir()
        return number

    def messages(self, chat_id: int, *, thread: int | None = None) -> list[BotMessage]:
        """Return the bot's visible messages in a chat, or in one topic, by age."""
        found = self.world.bot_messages.get(chat_id, {}).values()
        return [message for message in found if thread in (None, message.thread_id)]

    def texts(self, chat_id: int) -> list[str]:
        """Return the current texts of the bot's visible messages in a chat."""
        return [message.text for message in self.messages(chat_id)]

    def close_chat(self, chat_id: int, refusal: Refusal) -> None:
        """Refuse every call about this chat from now on."""
        self.world.closed[chat_id] = refusal

    def fail(self, method: str, times: int = 1, *, kind: Fault, chat_id: int | None = None) -> None:
        """Let the next calls of a method fail, in one chat or in all."""
        self._faults.setdefault(method.lower(), []).extend([(kind, chat_id)] * times)

    def clear_faults(self) -> None:
        """Drop the remaining planned faults."""
        self._faults.clear()

    @property
    def pending(self) -> list[Json]:
        """Unconfirmed updates."""
        return self.world.updates

    # The bot's side

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        method = request.match_info["method"]
        token = request.match_info["token"]
        self.calls[method] += 1
        try:
            parameters = await read_parameters(request)
            self.requests.append((method, parameters))
            if not token.partition(":")[2] or not token.partition(":")[0].isdecimal():
                raise Refusal(404, "Not Found")
            if token != self.token:
                raise Refusal(401, "Unauthorized")
            return await self._perform(request, method, parameters)
        except Refusal as refusal:
            body: Json = {
                "ok": False,
                "error_code": refusal.status,
                "description": refusal.description,
            }
            if refusal.parameters:
                body["parameters"] = refusal.parameters
            return web.json_response(body, status=refusal.status)
        finally:
            self._stir()

    async def _perform(
        self, request: web.Request, method: str, parameters: Json
    ) -> web.StreamResponse:
        if self.before is not None:
            await self.before(method, parameters)
        fault = self._next_fault(method, parameters)
        if fault is not None and fault.moment != "lose":
            return await self._break(request, fault)
        name = method.lower()
        if self.reads_markup:
            parameters = without_marks(parameters)
        if self.chat_limit and name in ("sendmessage", "senddocument", "sendphoto"):
            self.chat_limit.take(str(parameters.get("chat_id")))
        if name == "getupdates":
            result: Any = await self._get_updates(parameters)
        elif name == "sendmessagedraft" and self.has_drafts:
            result = self._draft(parameters)
        elif name in self._methods:
            result = self._methods[name](parameters)
        else:
            raise Refusal(404, "Not Found: method not found")
        if self.after is not None:
            self._stir()
            await self.after(method, parameters)
        if fault is not None:
            return await self._break(request, fault)
        return web.json_response({"ok": True, "result": result})

    def _next_fault(self, method: str, parameters: Json) -> Fault | None:
        planned = self._faults.get(method.lower(), [])
        for index, (fault, chat_id) in enumerate(planned):
            if chat_id is None or str(chat_id) == str(parameters.get("chat_id")):
                del planned[index]
                return fault
        return None

    async def _break(self, request: web.Request, fault: Fault) -> web.StreamResponse:
        if fault.moment == "answer":
            if isinstance(fault.body, str):
                return web.Response(status=fault.status, text=fault.body, content_type="text/html")
            return web.json_response(fault.body, status=fault.status)
        while fault.moment == "hang" and not self._is_closing and request.transport is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(0.5):
                    await self._changed.wait()
        if request.transport is not None:
            request.transport.abort()
        return web.Response()

    async def _get_updates(self, parameters: Json) -> list[Json]:
        if self.webhook:
            raise Refusal(409, _WEBHOOK_SET)
        self._poller += 1
        ticket = self._poller
        self._stir()  # a former poller learns that it was replaced
        allowed = parameters.get("allowed_updates")
        if allowed is not None:
            self._allowed = allowed
        self.world.confirm(whole(parameters, "offset"))
        limit = min(whole(parameters, "limit") or 100, 100)
        deadline = asyncio.get_running_loop().time() + whole(parameters, "timeout")
        while not (self.world.updates or self.world.repeats or self._is_closing):
            changed = self._changed
            try:
                async with asyncio.timeout_at(deadline):
                    await changed.wait()
            except TimeoutError:
                break
            if ticket != self._poller:
                break
        if ticket != self._poller:
            raise Refusal(409, _TAKEN_OVER)
        if self.world.repeats:
            repeats, self.world.repeats = self.world.repeats, []
            return repeats  # this includes unconfirmed updates
        return self.world.updates[:limit]

    async def _give_file(self, request: web.Request) -> web.StreamResponse:
        """Return the file at getFile's path; can fail as a method "file"."""
        self.calls["file"] += 1
        fault = self._next_fault("file", {})
        if fault is not None:
            return await self._break(request, fault)
        data = self.world.contents.get(request.match_info["file_id"])
        if data is None or request.match_info["token"] != self.token:
            raise web.HTTPNotFound
        response = web.Response(body=data)
        if not self.reports_length:
            response.enable_chunked_encoding()
        return response

    def _act(self, parameters: Json) -> bool:
        chat = self.world.chat(parameters.get("chat_id"))
        thread = whole(parameters, "message_thread_id") or None
        self.actions.append((chat["id"], thread, str(parameters.get("action"))))
        return True

    def _draft(self, parameters: Json) -> bool:
        chat = self.world.chat(parameters.get("chat_id"))
        if chat["type"] != "private" or not whole(parameters, "draft_id"):
            raise Refusal(400, "Bad Request: drafts need a private chat and a number")
        text, _ = clean(parameters)
        place = (int(chat["id"]), whole(parameters, "draft_id"))
        self.drafts.setdefault(place, []).append(text)
        return True

    def _set_commands(self, parameters: Json) -> bool:
        language, commands = str(parameters.get("language_code", "")), parameters.get("commands")
        if not re.fullmatch("([a-z]{2})?", language):
            raise Refusal(400, "Bad Request: invalid language code specified")
        if not isinstance(commands, list) or len(commands) > 100:
            raise Refusal(400, "Bad Request: BOT_COMMANDS_TOO_MUCH")
        for one in commands:
            if not re.fullmatch("[a-z0-9_]{1,32}", one["command"]):
                raise Refusal(400, "Bad Request: BOT_COMMAND_INVALID")
            if not 1 <= len(one["description"]) <= 256:
                raise Refusal(400, "Bad Request: BOT_COMMAND_DESCRIPTION_INVALID")
        self.menus[language] = commands
        return True

    def menu(self, language: str) -> list[Json]:
        """Return the menu that a person sees whose Telegram has this language."""
        return self.menus.get(language) or self.menus.get("", [])

    def _delete_webhook(self, parameters: Json) -> bool:
        self.webhook = ""
        if str(parameters.get("drop_pending_updates", "")).lower() == "true":
            self.world.updates.clear()
        return True
