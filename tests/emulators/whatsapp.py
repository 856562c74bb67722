"""Meta's Cloud API on loopback: one number, its Graph API, and the webhooks that it calls.

Requests are checked as Meta checks them, and errors have its codes and words. Webhooks are signed,
come in order, and are repeated until they are answered with 200. Shapes are those of Meta's pages
"messages webhook reference", "status messages webhook reference" and "error codes".
"""

import asyncio
import contextlib
import hashlib
import hmac
import json
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import aiohttp
from aiohttp import web

from tests.emulators.server import LoopbackServer

PHONE_ID = "106540352242922"
NUMBER = "15550783881"
ACCOUNT = "102290129340398"
SECRET = "0123456789abcdef0123456789abcdef"
VERIFY = "a-long-word"
TOKEN = "EAA" + "x" * 60
DAY = 24 * 3600.0

_TYPES = {"text", "image", "audio", "video", "document", "interactive", "reaction", "template"}
_CAPTION = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal(Exception):
    """An error in the form of the Graph API."""

    status: int
    code: int
    message: str
    details: str = ""
    subcode: int | None = None

    def body(self) -> dict[str, Any]:
        error: dict[str, Any] = {
            "message": f"(#{self.code}) {self.message}",
            "type": "OAuthException",
            "code": self.code,
            "fbtrace_id": "AZ8dLn3dFVZ1Qn0",
        }
        if self.details:
            error["error_data"] = {"messaging_product": "whatsapp", "details": self.details}
        if self.subcode is not None:
            error["error_subcode"] = self.subcode
        return {"error": error}


@dataclass(slots=True, kw_only=True)
class Sent:
    """A message that the bot sent."""

    id: str
    to: str
    request: dict[str, Any]
    states: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The words that a person sees."""
        kind = self.request["type"]
        content = self.request[kind]
        if kind == "text":
            found = content["body"]
        elif kind == "interactive":
            found = content["body"]["text"]
        elif kind == "template":
            found = content["components"][0]["parameters"][0]["text"]
        else:
            found = content.get("caption", "")
        return str(found).strip("\u2800")

    @property
    def buttons(self) -> dict[str, str]:
        """The whole labels by their ids."""
        action = self.request.get("interactive", {}).get("action", {})
        replies = {one["reply"]["id"]: one["reply"]["title"] for one in action.get("buttons", ())}
        rows = [row for section in action.get("sections", ()) for row in section["rows"]]
        return replies | {row["id"]: row.get("description", row["title"]) for row in rows}

    @property
    def is_media(self) -> bool:
        return self.request["type"] in ("image", "audio", "video", "document")


@dataclass(slots=True)
class _Hook:
    """A webhook on its way."""

    body: bytes
    kind: str
    is_acknowledged: bool = False


class WhatsAppEmulator(LoopbackServer):
    """One business number. `callback` is the address that webhooks go to."""

    def __init__(self, *, port: int = 0) -> None:
        super().__init__(port=port)
        self.callback = ""
        self.sent: list[Sent] = []
        self.hooks: list[_Hook] = []
        self.media: dict[str, tuple[str, bytes]] = {}
        self.reactions: dict[str, str] = {}
        self.marks: list[dict[str, Any]] = []
        self.commands: list[dict[str, str]] = []
        self.groups: dict[str, int] = {}
        self.names: dict[str, str] = {}
        self.last_heard: dict[str, float] = {}
        self.gone: set[str] = set()
        self.checks_window = True
        self.refuses_late_at_once = False
        """Whether 131047 comes in the answer; else Meta takes the message, and reports it."""
        self.templates = {"talaria_reminder"}
        self.reports = True
        self.holds_reports = False
        """Statuses wait until this is false again."""
        self.retry = 0.05
        self.looks = 0
        """How often the bot asked for its number."""
        self.faults: deque[tuple[str, Any]] = deque()
        """A message is refused ("refuse"), refused although it is taken ("take"), or not answered
        although it is taken ("lose"), or not taken ("drop").
        """
        self.status_errors: deque[dict[str, Any]] = deque()
        """Errors that the next accepted messages fail with."""
        self._queue: deque[_Hook] = deque()
        self._held: list[_Hook] = []
        self._number = 0
        self._task: asyncio.Task[None] | None = None
        self._is_on = False

    def application(self) -> web.Application:
        made = web.Application(client_max_size=120_000_000, middlewares=[self._guard])
        base = f"/v26.0/{PHONE_ID}"
        made.router.add_get(base, self._about)
        made.router.add_post(f"{base}/messages", self._messages)
        made.router.add_post(f"{base}/media", self._upload)
        made.router.add_post(f"{base}/conversational_automation", self._automation)
        made.router.add_get("/v26.0/{id}", self._object)
        made.router.add_get("/files/{id}", self._file)
        return made

    @property
    def base_url(self) -> str:
        return f"{self.url}/v26.0"

    async def start(self) -> None:
        await super().start()
        self._is_on = True
        self._task = self._task or asyncio.create_task(self._deliver())
        self._stir()

    async def stop(self) -> None:
        self._is_on = False
        await super().stop()

    async def __aexit__(self, *error: object) -> None:
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        await super().__aexit__(*error)

    # People

    def says(self, person: str, text: str, *, group: str = "", **more: Any) -> str:
        """A person writes; returns the message's id."""
        return self.sends(person, {"type": "text", "text": {"body": text}, **more}, group=group)

    def sends(
        self,
        person: str,
        content: Mapping[str, Any],
        *,
        group: str = "",
        contact: Mapping[str, Any] | None = None,
        kind: str = "message",
        at: float | None = None,
    ) -> str:
        """A person sends a message of any type; returns its id."""
        now = time.time() if at is None else at
        self.last_heard[group or person] = now
        message_id = self._next_id()
        is_id = not person.isdecimal()
        author = {"from_user_id": person} if is_id else {"from": person}
        message = {**author, "id": message_id, "timestamp": str(int(now)), **content}
        if group:
            message["group_id"] = group
        profile = {"name": self.names.get(person, "Anna")}
        known = {"profile": profile, ("user_id" if is_id else "wa_id"): person}
        self.calls(self.wrap(messages=[message], contacts=[contact or known]), kind=kind)
        return message_id

    def attaches(self, person: str, text: str, name: str, data: bytes, media_type: str) -> str:
        """A person sends a document."""
        media_id = self._store(media_type, data)
        document = {
            "id": media_id,
            "filename": name,
            "mime_type": media_type,
            "sha256": hashlib.sha256(data).hexdigest(),
            "caption": text,
        }
        return self.sends(person, {"type": "document", "document": document})

    def edits(self, person: str, message_id: str, text: str) -> None:
        """A person changes a message (docs: edit messages webhook)."""
        inner = {"type": "text", "text": {"body": text}}
        edit = {"original_message_id": message_id, "message": inner}
        self.sends(person, {"type": "edit", "edit": edit})

    def presses(self, person: str, message: Sent, key: str) -> None:
        """A person presses a reply button, or chooses a row."""
        interactive = message.request["interactive"]
        kind = "button_reply" if interactive["type"] == "button" else "list_reply"
        reply = {"id": key, "title": message.buttons[key][:24]}
        content = {
            "type": "interactive",
            "context": {"from": NUMBER, "id": message.id},
            "interactive": {"type": kind, kind: reply},
        }
        self.sends(person, content, kind="press")

    def reacts(self, person: str, message_id: str, emoji: str) -> None:
        """A person reacts to a message; without an emoji, they take it back."""
        reaction = {"message_id": message_id} | ({"emoji": emoji} if emoji else {})
        self.sends(person, {"type": "reaction", "reaction": reaction})

    # Webhooks

    def wrap(self, **value: Any) -> dict[str, Any]:
        """The envelope of what happened to the number."""
        metadata = {"display_phone_number": NUMBER, "phone_number_id": PHONE_ID}
        inner = {"messaging_product": "whatsapp", "metadata": metadata, **value}
        change = {"value": inner, "field": "messages"}
        entry = {"id": ACCOUNT, "changes": [change]}
        return {"object": "whatsapp_business_account", "entry": [entry]}

    def calls(self, payload: object, *, kind: str = "message") -> None:
        """Deliver a payload to the callback URL."""
        hook = _Hook(json.dumps(payload).encode(), kind)
        if kind == "status" and self.holds_reports:
            self._held.append(hook)
            return
        self.hooks.append(hook)
        self._queue.append(hook)
        self._stir()

    def release(self) -> None:
        """Deliver the statuses that were held."""
        self.holds_reports = False
        for hook in self._held:
            self.hooks.append(hook)
            self._queue.append(hook)
        self._held.clear()
        self._stir()

    def repeat(self, last: int) -> list[_Hook]:
        """Deliver the newest webhooks once more."""
        known = [hook for hook in self.hooks if hook.kind != "repeat"][-last:]
        again = [_Hook(hook.body, "repeat") for hook in known]
        self._queue.extend(again)
        self._stir()
        return again

    async def redeliver(self) -> None:
        """Deliver everything once more."""
        again = self.repeat(len(self.hooks))
        await self.wait_for(lambda: all(hook.is_acknowledged for hook in again))

    def read_file(self, sent: Sent) -> tuple[str, bytes]:
        """Return the file of a message; only documents have a name that people see."""
        content = sent.request[sent.request["type"]]
        return content.get("filename", ""), self.media[content["id"]][1]

    def acknowledged(self, kind: str) -> int:
        """How many webhooks of a kind were answered with 200."""
        return sum(hook.is_acknowledged for hook in self.hooks if hook.kind == kind)

    async def _deliver(self) -> None:
        async with aiohttp.ClientSession() as session:
            while True:
                await self.wait_for(lambda: self._queue and self._is_on, 1e9)
                hook = self._queue[0]
                if await self._post(session, hook.body):
                    self._queue.popleft()
                    hook.is_acknowledged = True
                    self._stir()
                else:
                    await asyncio.sleep(self.retry)

    async def _post(self, session: aiohttp.ClientSession, body: bytes) -> bool:
        headers = {"Content-Type": "application/json", "X-Hub-Signature-256": sign(body)}
        try:
            async with session.post(
                self.callback, data=body, headers=headers, timeout=aiohttp.ClientTimeout(10)
            ) as answer:
                return answer.status == 200
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError):
            return False

    def _report(self, sent: Sent, state: str, error: dict[str, Any] | None = None) -> None:
        if not self.reports:
            return
        sent.states.append(state)
        status: dict[str, Any] = {
            "id": sent.id,
            "status": state,
            "timestamp": str(int(time.time())),
            "recipient_id": sent.to,
        }
        if "biz_opaque_callback_data" in sent.request:
            status["biz_opaque_callback_data"] = sent.request["biz_opaque_callback_data"]
        if sent.request.get("recipient_type") == "group":
            status["recipient_type"] = "group"
        if error is not None:
            status["errors"] = [error]
        self.calls(self.wrap(statuses=[status]), kind="status")

    # The Graph API

    @web.middleware
    async def _guard(self, request: web.Request, handler: Callable[..., Any]) -> web.StreamResponse:
        if not request.headers.get("Authorization", "").endswith(TOKEN):
            refusal = Refusal(status=401, code=190, message="Error validating access token")
            return web.json_response(refusal.body(), status=401)
        try:
            answer: web.StreamResponse = await handler(request)
        except Refusal as refusal:
            return web.json_response(refusal.body(), status=refusal.status)
        return answer

    async def _about(self, _: web.Request) -> web.Response:
        self.looks += 1
        self._stir()
        return web.json_response(
            {
                "display_phone_number": "+1 555-078-3881",
                "verified_name": "Talaria",
                "id": PHONE_ID,
            }
        )

    async def _messages(self, request: web.Request) -> web.Response:
        body = await request.json()
        if body.get("messaging_product") != "whatsapp":
            raise _missing("messaging_product")
        if body.get("status") == "read":
            self.marks.append(body)
            self._stir()
            return web.json_response({"success": True})
        fault, detail = self._next_fault(body)
        if fault == "refuse":
            raise detail
        if fault == "drop":
            request.transport.close() if request.transport else None
            return web.Response()
        self._check(body)
        to = body.get("to") or body["recipient"]
        if body["type"] == "reaction":
            self.reactions[body["reaction"]["message_id"]] = body["reaction"]["emoji"]
            self._stir()
            return web.json_response(_accepted(to, self._next_id()))
        sent = Sent(id=self._next_id(), to=to, request=body)
        self._judge(sent)
        if fault == "take":
            raise detail
        if fault == "lose":
            request.transport.close() if request.transport else None
            return web.Response()
        return web.json_response(_accepted(to, sent.id))

    def _judge(self, sent: Sent) -> None:
        """Accept a message, and report what becomes of it."""
        is_template = sent.request["type"] == "template"
        late = time.time() - self.last_heard.get(sent.to, 0.0) > DAY
        if self.checks_window and late and not is_template:
            if self.refuses_late_at_once:
                raise Refusal(status=400, code=131047, message="Re-engagement message")
            self._report(sent, "failed", _late_error())
            return
        if self.status_errors:
            self._report(sent, "failed", self.status_errors.popleft())
            return
        self.sent.append(sent)
        self._report(sent, "sent")
        self._report(sent, "delivered")
        self._stir()

    def _next_fault(self, body: Mapping[str, Any]) -> tuple[str, Any]:
        if not self.faults or body.get("type") == "reaction":
            return "", None
        return self.faults.popleft()

    def _check(self, body: Mapping[str, Any]) -> None:
        to = body.get("to") or body.get("recipient")
        if not to:
            raise _missing("to")
        kind = body.get("type")
        if kind not in _TYPES or not isinstance(body.get(kind), dict):
            raise Refusal(status=400, code=100, message="Invalid parameter", details=f"type {kind}")
        if to in self.gone:
            raise Refusal(
                status=400,
                code=131026,
                message="Message undeliverable",
                details="Message Undeliverable.",
            )
        group = body.get("recipient_type") == "group"
        if group != (to in self.groups) or (group and kind == "interactive"):
            raise Refusal(status=400, code=131009, message="Parameter value is not valid")
        content = body[kind]
        if kind == "text":
            _limit(content.get("body"), 4096, "text.body")
        elif kind == "interactive":
            _check_interactive(content)
        elif kind == "template" and content["name"] not in self.templates:
            raise Refusal(status=404, code=132001, message="Template name does not exist")
        elif kind in ("image", "audio", "video", "document"):
            if content.get("id") not in self.media:
                raise Refusal(status=400, code=131009, message="Parameter value is not valid")
            if kind == "audio" and "caption" in content:
                raise Refusal(status=400, code=100, message="Unexpected key caption")
            if "caption" in content:
                _limit(content["caption"], _CAPTION, "caption")

    async def _upload(self, request: web.Request) -> web.Response:
        form = await request.post()
        file = form["file"]
        if form.get("messaging_product") != "whatsapp" or not isinstance(file, web.FileField):
            raise _missing("file")
        return web.json_response({"id": self._store(str(form["type"]), file.file.read())})

    async def _automation(self, request: web.Request) -> web.Response:
        self.commands = (await request.json())["commands"]
        self._stir()
        return web.json_response({"success": True})

    async def _object(self, request: web.Request) -> web.Response:
        name = request.match_info["id"]
        if name in self.groups:
            return web.json_response({"id": name, "total_participant_count": self.groups[name]})
        if name not in self.media:
            raise Refusal(
                status=400,
                code=100,
                subcode=33,
                message="Unsupported get request. Object does not exist",
            )
        media_type, data = self.media[name]
        about = {
            "messaging_product": "whatsapp",
            "url": f"{self.url}/files/{name}",
            "mime_type": media_type,
            "sha256": hashlib.sha256(data).hexdigest(),
            "file_size": len(data),
            "id": name,
        }
        return web.json_response(about)

    async def _file(self, request: web.Request) -> web.Response:
        found = self.media.get(request.match_info["id"])
        if found is None:
            return web.Response(status=404)
        return web.Response(body=found[1], content_type=found[0].partition(";")[0])

    def _store(self, media_type: str, data: bytes) -> str:
        self._number += 1
        name = f"{1_000_000_000 + self._number}"
        self.media[name] = (media_type, data)
        return name

    def _next_id(self) -> str:
        self._number += 1
        return f"wamid.HBgL{self._number:028d}AA=="


def sign(body: bytes, secret: str = SECRET) -> str:
    """Meta's signature of a request."""
    return f"sha256={hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}"


def rate_limit() -> tuple[str, Refusal]:
    """The limit of one person (131056)."""
    return "refuse", Refusal(
        status=400,
        code=131056,
        message="(Business Account, Consumer Account) pair rate limit hit",
        details="Message failed to send because there were too many messages sent from this phone"
        " number to the same phone number in a short period of time.",
    )


def _late_error() -> dict[str, Any]:
    return {
        "code": 131047,
        "title": "Re-engagement message",
        "message": "Re-engagement message",
        "error_data": {
            "details": "Message failed to send because more than 24 hours have passed since the"
            " customer last replied to this number."
        },
        "href": "https://developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes/",
    }


def _accepted(to: str, message_id: str) -> dict[str, Any]:
    return {
        "messaging_product": "whatsapp",
        "contacts": [{"input": to, "wa_id": to}],
        "messages": [{"id": message_id, "message_status": "accepted"}],
    }


def _missing(name: str) -> Refusal:
    text = "The parameter is required"
    return Refusal(status=400, code=131008, message=f"{text}: {name}", details=f"{text}: {name}")


def _limit(text: Any, most: int, name: str) -> None:
    if not isinstance(text, str) or not text.strip(" \n\t"):
        raise _missing(name)
    if len(text) > most:
        details = f"Param {name} must be at most {most} characters long."
        raise Refusal(status=400, code=100, message="Invalid parameter", details=details)


def _check_interactive(content: Mapping[str, Any]) -> None:
    is_list = content["type"] == "list"
    _limit(content["body"]["text"], 4096 if is_list else 1024, "interactive.body.text")
    if not is_list:
        buttons = content["action"]["buttons"]
        titles = [one["reply"]["title"] for one in buttons]
        ids = [one["reply"]["id"] for one in buttons]
        if not 0 < len(buttons) <= 3 or len(set(titles)) != len(titles):
            raise Refusal(status=400, code=131009, message="Parameter value is not valid")
        for title in titles:
            _limit(title, 20, "button title")
        for key in ids:
            _limit(key, 256, "button id")
        return
    _limit(content["action"]["button"], 20, "list button")
    rows = [row for section in content["action"]["sections"] for row in section["rows"]]
    if not 0 < len(rows) <= 10 or len({row["id"] for row in rows}) != len(rows):
        raise Refusal(status=400, code=131009, message="Parameter value is not valid")
    for row in rows:
        _limit(row["title"], 24, "row title")
        _limit(row.get("description", "x"), 72, "row description")
        _limit(row["id"], 200, "row id")
