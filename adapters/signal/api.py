"""The calls of signal-cli that Talaria makes; maps their errors."""

import base64
import binascii
import logging
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from adapters.errors import (
    AdapterError,
    AdapterStopped,
    FileTooLarge,
    NoProgram,
    Rejected,
    Unreachable,
    Unsure,
)
from adapters.ids import Address
from adapters.messages import Attachment, OutboundFile, OutboundMessage
from adapters.signal.errors import (
    describe_distrust,
    judge_results,
    translate,
    translate_linking,
)
from adapters.signal.places import group_of, read_message_id, to
from adapters.signal.receive import Account
from adapters.signal.render import render
from adapters.signal.rpc import Rpc, RpcError
from adapters.toolkit.text import Json, number_in, parts, words_in

_log = logging.getLogger(__name__)

FILE_LIMIT = 14_000_000
"""The largest file to send, in bytes: signal-cli reads no text over 20,000,000 characters in a call
and closes the connection (Jackson, StreamReadConstraints; tried with 0.13.19).
"""
_OLDEST = (0, 12, 0)
"""The first version whose subscriptions have today's form (signal-cli's change log)."""
_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)")
_VOICE = "audio/ogg; codecs=opus"


class Api:
    """signal-cli, as one account."""

    def __init__(self, rpc: Rpc, me: Account) -> None:
        self._rpc = rpc
        self._account = me.name
        self.me = me

    async def check_version(self) -> str:
        """Return the version. Raises `NoProgram` if it is too old."""
        try:
            answer = await self._rpc.call("version", {}, lost=Unreachable)
        except RpcError as error:
            raise translate(error, account=self._account) from error
        said = words_in(answer, "version") if isinstance(answer, dict) else ""
        found = _VERSION.match(said)
        if found and tuple(map(int, found.groups())) < _OLDEST:
            raise NoProgram(
                f"signal-cli {said} is too old. Install 0.13 or newer, and restart Talaria."
            )
        return said

    async def list_distrusted(self) -> tuple[str, ...]:
        """Return a sentence for each person whose safety number has changed."""
        found = await self._call("listIdentities", {})
        known = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
        return tuple(
            describe_distrust(words_in(one, "number", "uuid"), words_in(one, "safetyNumber"))
            for one in known
            if words_in(one, "trustLevel") == "UNTRUSTED"
        )

    async def check_account(self) -> None:
        """Ask for something that only a known account has. Raises `NotLinked`."""
        await self._call("listIdentities", {})

    async def link(self, show: Callable[[str], None]) -> None:
        """Become a device of the account whose phone scans the code. Raises `AdapterError`."""
        try:
            begun = await self._rpc.call("startLink", {}, lost=Unreachable)
            address = words_in(begun, "deviceLinkUri") if isinstance(begun, dict) else ""
            show(address)
            wanted = {"deviceLinkUri": address, "deviceName": "Talaria"}
            done = await self._rpc.call("finishLink", wanted, lost=Unreachable)
        except RpcError as error:
            raise translate_linking(error) from error
        names = [done.get("number"), done.get("aci")] if isinstance(done, dict) else []
        if not self.me.is_me(*(name for name in names if isinstance(name, str))):
            raise Rejected(
                f"The phone has the account {names[0] if names else '?'}, not {self._account}."
                " It is linked; give its number instead."
            )

    async def find_aci(self) -> str:
        """Return our own account id, which mentions of us may name instead of our number."""
        try:
            found = await self._call("getUserStatus", {"recipient": [self._account]})
        except AdapterStopped:
            raise
        except AdapterError as error:
            _log.debug("signal-cli does not say its own account id: %s", error)
            return ""
        known = found if isinstance(found, list) else []
        return next((words_in(one, "uuid") for one in known if isinstance(one, dict)), "")

    async def send(self, message: OutboundMessage, *, edits: int | None = None) -> tuple[int, bool]:
        """Send a message, or a new version of one; return its time, and whether trust is missing.

        Raises `AdapterError` if nobody received it.
        """
        params = {**to(message.address), **_make_post(message, self._account)}
        if edits is not None:
            params["editTimestamp"] = edits
        if self.me.is_me(message.address.chat_id):
            params["notifySelf"] = True  # else it looks as if the person had written it
        return _read_sent(await self._call("send", params, lost=Unsure), message.address)

    async def react(self, address: Address, message_id: str, emoji: str, *, is_on: bool) -> int:
        """Add or remove a reaction; return its time."""
        sent_at, author = read_message_id(message_id)
        params = {
            **to(address),
            "emoji": emoji,
            "targetAuthor": author or self._account,
            "targetTimestamp": sent_at,
            "remove": not is_on,
        }
        return _read_sent(await self._call("sendReaction", params), address)[0]

    async def delete(self, address: Address, sent_at: int) -> int:
        """Delete one of our messages on all devices; return the time of that."""
        result = await self._call("remoteDelete", {**to(address), "targetTimestamp": sent_at})
        return _read_sent(result, address)[0]

    async def show_typing(self, address: Address) -> None:
        """Show that something is being written."""
        await self._call("sendTyping", to(address))

    async def mark_read(self, author: str, times: list[int]) -> None:
        """Tell an author that their messages are stored."""
        params = {"recipient": author, "targetTimestamp": times, "type": "read"}
        await self._call("sendReceipt", params)

    async def list_members(self, address: Address) -> list[str] | None:
        """Return the accounts in a group, ours too; None if we are not in it."""
        group = group_of(address)
        found = await self._call("listGroups", {"groupId": [group]})
        for one in found if isinstance(found, list) else []:
            if isinstance(one, dict) and one.get("id") == group and one.get("isMember"):
                return [words_in(member, "uuid", "number") for member in parts(one, "members")]
        return None

    async def fetch(self, attachment: Attachment, *, most_bytes: int) -> bytes:
        """Return the bytes of a file that signal-cli has stored."""
        file_id, _, chat_id = attachment.file_id.partition(" ")
        group = group_of(Address(chat_id=chat_id, is_direct=True))
        whose = {"recipient": chat_id} if group is None else {"groupId": group}
        answer = await self._call("getAttachment", {"id": file_id, **whose})
        encoded = words_in(answer, "data") if isinstance(answer, dict) else ""
        if len(encoded) // 4 * 3 > most_bytes + 2:
            raise too_large(most_bytes)
        try:
            found = base64.b64decode(encoded, validate=True)
        except (binascii.Error, ValueError) as error:
            raise Rejected("signal-cli's copy of the file is damaged.") from error
        if len(found) > most_bytes:
            raise too_large(most_bytes)
        return found

    async def _call(
        self, method: str, params: Json, *, lost: type[AdapterError] = Unreachable
    ) -> Any:
        """Call as our account."""
        try:
            return await self._rpc.call(method, {"account": self._account, **params}, lost=lost)
        except RpcError as error:
            recipient = params.get("recipient")
            names = recipient if isinstance(recipient, list) else [recipient or ""]
            raise translate(error, account=self._account, recipient=str(names[0])) from error


def too_large(most_bytes: int) -> FileTooLarge:
    """Make the error for a file over a limit."""
    return FileTooLarge("The file is larger than the limit.", most_bytes=most_bytes)


def _read_sent(result: Any, address: Address) -> tuple[int, bool]:
    """Return the time of a send, and whether somebody's safety number kept it from them."""
    if not isinstance(result, dict):
        raise Unsure("signal-cli's answer names no time.")
    results = parts(result, "results")
    recipient = "" if group_of(address) else address.chat_id
    if refused := judge_results(results, recipient=recipient):
        raise refused
    is_distrusted = any(words_in(one, "type") == "IDENTITY_FAILURE" for one in results)
    try:
        return number_in(result, "timestamp"), is_distrusted
    except ValueError as error:
        raise Unsure("signal-cli's answer names no time.") from error


def _make_post(message: OutboundMessage, account: str) -> Json:
    page = render(message.text)
    post: Json = {"message": page.text}
    if page.styles:
        post["textStyle"] = list(page.styles)
    if message.reply_to is not None:
        sent_at, author = read_message_id(message.reply_to)
        post |= {"quoteTimestamp": sent_at, "quoteAuthor": author or account}
    if message.file is not None:
        post["attachments"] = [_make_data_uri(message.file)]
        if message.file.media_type == _VOICE:
            post["voiceNote"] = True
    return post


def _make_data_uri(file: OutboundFile) -> str:
    """Write a file as RFC 2397 wants it, with the name that signal-cli adds to it."""
    if len(file.data) > FILE_LIMIT:
        raise Rejected(f"{file.name} is too large for signal-cli: at most 14 MB.")
    media_type = file.media_type.partition(";")[0].strip() or "application/octet-stream"
    name = quote(file.name, safe="")
    return f"data:{media_type};filename={name};base64,{base64.b64encode(file.data).decode()}"
