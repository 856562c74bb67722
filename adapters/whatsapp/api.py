"""The calls of the Cloud API that Talaria makes; maps its answers to errors of platforms."""

import json
from collections.abc import Mapping
from typing import Any, Self
from urllib.parse import urlsplit

import aiohttp

from adapters.errors import AdapterError, FileTooLarge, Rejected, Unreachable, Unsure
from adapters.messages import OutboundFile
from adapters.toolkit.http import CONNECT_TIMEOUT, make_connector, name_mishap, read_at_most
from adapters.toolkit.text import Json, inside, parts, text_in, words_in
from adapters.whatsapp.errors import translate
from adapters.whatsapp.settings import WhatsAppSettings

_CONNECTIONS = 32
_FILE_TIMEOUT = aiohttp.ClientTimeout(total=120.0, connect=CONNECT_TIMEOUT)
_MOST_ANSWER = 1_000_000
_FIELDS = "display_phone_number,verified_name"
_META = ("facebook.com", "fbsbx.com", "fbcdn.net", "whatsapp.net", "whatsapp.com")
"""Domains that files come from; no other host gets the token."""


class Api:
    """The calls of one number. Every method raises `AdapterError` and has a timeout."""

    def __init__(self, settings: WhatsAppSettings) -> None:
        self._settings = settings
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        settings = self._settings
        self._session = aiohttp.ClientSession(
            connector=make_connector(_CONNECTIONS),
            headers={"Authorization": f"Bearer {settings.token}"},
            timeout=aiohttp.ClientTimeout(total=settings.answer_timeout, connect=CONNECT_TIMEOUT),
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def fetch_number(self) -> Json:
        """Return the number and its name; it verifies the token, too."""
        phone = self._settings.phone_number_id
        return await self._call("GET", f"/{phone}", params={"fields": _FIELDS})

    async def post(self, request: Mapping[str, Any], *, lost: type[AdapterError] = Unsure) -> Json:
        """Send a message, a reaction or a read mark. `lost` is raised if no answer came."""
        phone = self._settings.phone_number_id
        body = {"messaging_product": "whatsapp", **request}
        return await self._call("POST", f"/{phone}/messages", lost=lost, json=body)

    async def send(self, request: Mapping[str, Any]) -> str:
        """Send a message, and return its id. Raises `Unsure` if no clear answer came."""
        answer = await self.post(request)
        try:
            return text_in(parts(answer, "messages")[0], "id")
        except (ValueError, IndexError) as error:
            raise Unsure("WhatsApp did not name the message that it took.") from error

    async def upload(self, file: OutboundFile) -> str:
        """Upload a file, and return its id. Nobody sees it yet, so it may be repeated."""
        form = aiohttp.FormData()
        form.add_field("messaging_product", "whatsapp")
        form.add_field("type", file.media_type)
        form.add_field("file", file.data, filename=file.name, content_type=file.media_type)
        path = f"/{self._settings.phone_number_id}/media"
        answer = await self._call("POST", path, data=form, timeout=_FILE_TIMEOUT)
        return self._read(answer, "id")

    async def download(self, media_id: str, *, most_bytes: int) -> bytes:
        """Fetch a file: its address, which is valid for five minutes, and then its bytes."""
        about = await self._call("GET", f"/{media_id}")
        size = about.get("file_size")
        if isinstance(size, int) and size > most_bytes:
            raise _too_large(most_bytes)
        address = self._read(about, "url")
        self._check_host(address)
        try:
            async with self._open().get(address, timeout=_FILE_TIMEOUT) as answer:
                if answer.status in (404, 410):
                    raise Rejected("The file is no longer there.")
                if answer.status != 200:
                    raise Unreachable(f"WhatsApp gave no file (HTTP {answer.status}).")
                data = await read_at_most(answer, most_bytes)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise name_mishap(error, "WhatsApp", lost=Unreachable) from error
        if data is None:
            raise _too_large(most_bytes)
        return data

    async def count_members(self, group: str) -> int | None:
        """Return how many people are in a group; None if WhatsApp does not tell."""
        params = {"fields": "total_participant_count"}
        count = (await self._call("GET", f"/{group}", params=params)).get("total_participant_count")
        return count if isinstance(count, int) and not isinstance(count, bool) else None

    async def set_commands(self, commands: list[dict[str, str]]) -> None:
        """Publish the commands that the app offers after a slash."""
        path = f"/{self._settings.phone_number_id}/conversational_automation"
        await self._call("POST", path, json={"commands": commands})

    async def _call(
        self, method: str, path: str, *, lost: type[AdapterError] = Unreachable, **options: Any
    ) -> Json:
        address = f"{self._settings.base_url}{path}"
        try:
            async with self._open().request(method, address, **options) as answer:
                body = await read_at_most(answer, _MOST_ANSWER)
                found: Any = json.loads(body or b"null")
                status = answer.status
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            raise name_mishap(error, "WhatsApp", lost=lost) from error
        if not isinstance(found, dict):
            raise lost("WhatsApp's answer can't be read: it is no object.")
        if "error" in found:
            raise translate(inside(found, "error"), lost=lost, is_server_fault=status >= 500)
        if status >= 400:
            raise lost(f"WhatsApp answered with HTTP {status}.")
        return found

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            raise Unreachable("WhatsApp is not connected.")
        return self._session

    def _check_host(self, address: str) -> None:
        """Raise `Rejected` unless an address is Meta's or the configured server's."""
        given, home = urlsplit(address), urlsplit(self._settings.base_url)
        host = given.hostname or ""
        is_meta = given.scheme == "https" and any(
            host == one or host.endswith(f".{one}") for one in _META
        )
        if not is_meta and (given.scheme, given.netloc) != (home.scheme, home.netloc):
            raise Rejected("The file does not lie at Meta, so it can't be fetched from there.")

    @staticmethod
    def _read(answer: Json, key: str) -> str:
        try:
            return text_in(answer, key)
        except ValueError as error:
            raise Unreachable(f"WhatsApp's answer can't be read: {error}.") from error


def read_name(number: Json) -> tuple[str, str]:
    """Return the number as people know it, and its digits."""
    shown = words_in(number, "display_phone_number")
    name = words_in(number, "verified_name")
    digits = "".join(letter for letter in shown if letter.isdecimal())
    return f"{name} ({shown})" if name else shown, digits


def _too_large(most_bytes: int) -> FileTooLarge:
    return FileTooLarge("The file is larger than the limit.", most_bytes=most_bytes)
