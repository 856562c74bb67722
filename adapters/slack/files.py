"""Downloads attachments and uploads files."""

import asyncio
import logging
from urllib.parse import urlsplit

import aiohttp

from adapters.errors import AdapterError, FileTooLarge, NotPermitted, Rejected, Unreachable, Unsure
from adapters.messages import Attachment, OutboundFile, OutboundMessage
from adapters.slack.api import Api, SlackPlace, read
from adapters.slack.errors import read_status
from adapters.slack.places import is_ts
from adapters.slack.write_mrkdwn import caption_of
from adapters.toolkit.caches import BoundedDict
from adapters.toolkit.http import CONNECT_TIMEOUT, read_at_most
from adapters.toolkit.text import Json, inside, parts, text_in, words_in

_log = logging.getLogger(__name__)

MOST_BYTES = 1_000_000_000
"""The largest file that Slack accepts (docs: files.getUploadURLExternal)."""
_TRANSFER_TIMEOUT = aiohttp.ClientTimeout(total=300, connect=CONNECT_TIMEOUT, sock_read=30)
_MOST_REDIRECTS = 3
_PAUSES = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0)
"""Seconds between checks for an uploaded file's message, which Slack posts a moment later."""
_NO_PERMISSION = (
    "Slack did not hand out the file: the app lacks the permission files:read. Add it under "
    "OAuth & Permissions on the app's page and install the app again."
)


class Files:
    """Downloads with the bot's token and uploads in Slack's three steps."""

    def __init__(self, api: Api, *, token: str, base_url: str) -> None:
        self._api = api
        self._token = token
        self._home = urlsplit(base_url)
        self._uploads: BoundedDict[str, str] = BoundedDict()
        """File ids by message key."""

    async def fetch(self, attachment: Attachment, *, most_bytes: int) -> bytes:
        """Download a file that a person sent. Raises `AdapterError`."""
        name = attachment.name or "The file"
        if not attachment.file_id:
            raise Rejected(f"{name} does not lie in Slack, so it can't be fetched from there.")
        if attachment.size is not None and attachment.size > most_bytes:
            raise _too_large(name, most_bytes)
        url = await self._locate(attachment.file_id)
        try:
            async with self._api.session.get(
                url,
                headers={"Authorization": f"Bearer {self._token}"},
                timeout=_TRANSFER_TIMEOUT,
                max_redirects=_MOST_REDIRECTS,
            ) as response:
                return await _read(response, attachment, name, most_bytes)
        except aiohttp.TooManyRedirects as error:
            raise NotPermitted(_NO_PERMISSION) from error
        except (aiohttp.ClientError, TimeoutError) as error:
            raise Unreachable(f"{name} could not be fetched: {type(error).__name__}.") from error

    async def send(self, message: OutboundMessage, file: OutboundFile, place: SlackPlace) -> str:
        """Upload a file and return its message's ts. Raises `AdapterError`."""
        if not 0 < len(file.data) <= MOST_BYTES:
            raise Rejected(f"{file.name} is empty or too large for Slack.")
        with self._api.client() as web:
            answer = await web.files_getUploadURLExternal(filename=file.name, length=len(file.data))
            reported = read(answer)
            file_id, url = text_in(reported, "file_id"), text_in(reported, "upload_url")
        await self._upload(url, file)
        # From here on, people may see the file; it is found by its id.
        self._uploads.put(message.key, file_id)
        with self._api.client(lost=Unsure) as web:
            await web.files_completeUploadExternal(
                files=[{"id": file_id, "title": file.name}],
                channel_id=place.channel,
                initial_comment=caption_of(message.text) or None,
                thread_ts=place.thread,
            )
        for pause in _PAUSES:
            ts = await self._shared_as(file_id, place)
            if ts is not None:
                return ts
            await asyncio.sleep(pause)
        raise Unsure("Slack has the file, but does not say in which message it is shown.")

    async def find(self, message: OutboundMessage, place: SlackPlace) -> str | None:
        """Return the message of a file that this process uploaded, or None."""
        file_id = self._uploads.get(message.key)
        return await self._shared_as(file_id, place) if file_id is not None else None

    async def _locate(self, file_id: str) -> str:
        """Return a file's address; only Slack's hosts receive the token."""
        if file_id.startswith("F"):
            with self._api.client() as web:
                file = inside(read(await web.files_info(file=file_id)), "file")
                file_id = words_in(file, "url_private_download", "url_private")
        parts_of = urlsplit(file_id)
        host = parts_of.hostname or ""
        is_slack = parts_of.scheme == "https" and (
            host == "slack.com" or host.endswith((".slack.com", ".slack-files.com"))
        )
        is_home = (parts_of.scheme, parts_of.netloc) == (self._home.scheme, self._home.netloc)
        if not (is_slack or is_home):
            raise Rejected("The file does not lie in Slack, so it can't be fetched from there.")
        return file_id

    async def _upload(self, url: str, file: OutboundFile) -> None:
        try:
            async with self._api.session.post(
                url,
                data=file.data,
                headers={"Content-Type": "application/octet-stream"},
                timeout=_TRANSFER_TIMEOUT,
            ) as response:
                if response.status != 200:
                    raise read_status(response.status, Unreachable)
        except (aiohttp.ClientError, TimeoutError) as error:
            raise Unreachable(f"{file.name} could not be uploaded.") from error

    async def _shared_as(self, file_id: str, place: SlackPlace) -> str | None:
        try:
            with self._api.client() as web:
                file = inside(read(await web.files_info(file=file_id)), "file")
                stamps = [words_in(one, "ts") for one in _shares(file, place.channel)]
        except AdapterError as error:
            raise Unsure(f"Whether the file is shown is not known: {error}") from error
        return next((ts for ts in stamps if is_ts(ts)), None)


def _shares(file: Json, channel: str) -> list[Json]:
    shares = inside(file, "shares")
    return [*parts(inside(shares, "public"), channel), *parts(inside(shares, "private"), channel)]


async def _read(
    response: aiohttp.ClientResponse, attachment: Attachment, name: str, most_bytes: int
) -> bytes:
    if response.status in (404, 410):
        raise Rejected(f"{name} is no longer there.")
    if response.status in (401, 403):
        raise NotPermitted(_NO_PERMISSION)
    if response.status != 200:
        raise read_status(response.status, Unreachable)
    if response.content_type == "text/html" and attachment.media_type != "text/html":
        raise NotPermitted(_NO_PERMISSION)  # the login page for people
    data = await read_at_most(response, most_bytes)
    if data is None:
        raise _too_large(name, most_bytes)
    return data


def _too_large(name: str, most_bytes: int) -> FileTooLarge:
    return FileTooLarge(f"{name} is larger than the limit.", most_bytes=most_bytes)
