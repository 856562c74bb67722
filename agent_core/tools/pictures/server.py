"""A server that makes pictures, with OpenAI's protocol (`/images/generations`)."""

import base64
import binascii
import json
import logging
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import aiohttp

from agent_core.tools.readers.faults import FetchFailed
from agent_core.tools.web.fetching import Fetcher, FetchRequest

_log = logging.getLogger(__name__)

MOST_BYTES = 8_000_000
"""Bytes of a picture; every platform accepts this size."""
_MOST_ANSWER = MOST_BYTES * 4 // 3 + 200_000
_MOST_LOGGED = 500
_REFUSED = ("moderation_blocked", "content_policy_violation", "content_filter")
_NO_CREDIT = ("insufficient_quota", "billing_hard_limit_reached")
_ENDS = {
    "image/png": (b"\x89PNG\r\n\x1a\n", b"IEND\xaeB`\x82"),
    "image/jpeg": (b"\xff\xd8\xff", b"\xff\xd9"),
    "image/gif": (b"GIF8", b";"),
}
"""The first and the last bytes of a whole picture, by media type."""


class PictureFailed(Exception):
    """No picture came. The text is a clause for the model; `is_billed` if it may cost anyway."""

    def __init__(self, text: str, *, is_billed: bool = False) -> None:
        super().__init__(text)
        self.is_billed = is_billed


@dataclass(frozen=True, slots=True, kw_only=True)
class MadePicture:
    """A whole picture, and the tokens that the server counted; 0 if it counts none."""

    data: bytes
    media_type: str
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureServer:
    """The route `/images/generations` below `address`. Empty options are left to the server."""

    address: str
    key: str | None = field(repr=False)
    model: str
    size: str
    quality: str
    seconds: float

    async def make(self, prompt: str) -> MadePicture:
        """Have one picture made; never tried again, because each try is paid.

        Raises `PictureFailed`.
        """
        options = {"size": self.size, "quality": self.quality}
        asked = {"model": self.model, "prompt": prompt, "n": 1}
        asked |= {name: value for name, value in options.items() if value}
        status, body = await self._post(asked)
        if status != 200:
            shown = body[:_MOST_LOGGED].decode(errors="replace")
            _log.warning("the server of pictures answered %d: %s", status, shown)
            raise PictureFailed(_explain(status, _read_code(body)))
        if len(body) > _MOST_ANSWER:
            raise PictureFailed("the picture is larger than 8 MB", is_billed=True)
        return await self._read(body)

    async def _post(self, asked: dict[str, Any]) -> tuple[int, bytes]:
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        timeout = aiohttp.ClientTimeout(total=self.seconds)
        address = f"{self.address.rstrip('/')}/images/generations"
        try:
            async with (
                aiohttp.ClientSession(timeout=timeout, headers=headers) as session,
                session.post(address, json=asked, allow_redirects=False) as response,
            ):
                kept = bytearray()
                while len(kept) <= _MOST_ANSWER and (piece := await response.content.readany()):
                    kept += piece
                return response.status, bytes(kept)
        except TimeoutError as error:
            text = f"the server took longer than {self.seconds:g} s; it may charge for it anyway"
            raise PictureFailed(text, is_billed=True) from error
        except aiohttp.ClientConnectorError as error:
            _log.warning("the server of pictures can't be reached: %s", error)
            raise PictureFailed("the server of pictures can't be reached now") from error
        except (aiohttp.ClientError, OSError) as error:
            _log.warning("the server of pictures broke off: %s", error)
            text = "the connection broke off; the server may charge for it anyway"
            raise PictureFailed(text, is_billed=True) from error

    async def _read(self, body: bytes) -> MadePicture:
        """Read the picture of an answer, wherever it lies. Raises `PictureFailed`."""
        try:
            answer = json.loads(body)
            found = answer["data"][0]
            inside, link = found.get("b64_json"), found.get("url")
        except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
            raise PictureFailed("the server sent no picture", is_billed=True) from None
        if isinstance(link, str) and link.startswith("data:"):
            inside = link.partition(",")[2]
        if isinstance(inside, str) and inside:
            try:
                data = base64.b64decode(inside, validate=True)
            except binascii.Error:
                data = b""
        elif isinstance(link, str):
            data = await self._fetch(link)
        else:
            raise PictureFailed("the server sent no picture", is_billed=True)
        if len(data) > MOST_BYTES:
            raise PictureFailed("the picture is larger than 8 MB", is_billed=True)
        if not (media_type := find_media_type(data)):
            raise PictureFailed("what the server sent is no whole picture", is_billed=True)
        usage = answer.get("usage")
        return MadePicture(
            data=data,
            media_type=media_type,
            input_tokens=_count(usage, "input_tokens"),
            output_tokens=_count(usage, "output_tokens"),
        )

    async def _fetch(self, link: str) -> bytes:
        """Fetch a picture from where the server put it: the internet, or that server itself."""
        fetcher = Fetcher(allow_hosts=(urlsplit(self.address).netloc,), seconds=self.seconds)
        try:
            page = await fetcher.fetch(FetchRequest(url=link, most_bytes=MOST_BYTES + 1))
        except FetchFailed as error:
            text = f"the picture was made, but can't be fetched: {error}"
            raise PictureFailed(text, is_billed=True) from error
        return page.body


def find_media_type(data: bytes) -> str:
    """Return the media type of a whole picture; "" for anything else."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp" if int.from_bytes(data[4:8], "little") + 8 <= len(data) else ""
    for media_type, (first, last) in _ENDS.items():
        if data.startswith(first) and last in data[-64:]:
            return media_type
    return ""


def _count(usage: object, name: str) -> int:
    found = usage.get(name) if isinstance(usage, dict) else None
    return found if isinstance(found, int) and 0 <= found < 10**9 else 0


def _read_code(body: bytes) -> str:
    """Return code and type of an error in one word list; "" if there is none."""
    try:
        error = json.loads(body)["error"]
        return f"{error.get('code')} {error.get('type')} {error.get('param')}"
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        return ""


def _explain(status: int, code: str) -> str:
    """Return the clause for a refused request; the log has the server's own words."""
    if any(word in code for word in _REFUSED):
        return "the server refuses this description; ask the person for another one"
    if any(word in code for word in _NO_CREDIT) or status == 402:
        return "the owner's account at the server has no credit left"
    if status in (401, 403):
        return "the server does not accept the owner's key for pictures; the owner has to look"
    if status == 404 or "model" in code:
        return "the server does not know the model of `images.model`; the owner has to look"
    if status == 429:
        return "the server has too much to do; the person may ask again in a minute"
    if status >= 500:
        return "the server of pictures fails now; the person may ask again later"
    return "the server refuses the request; the owner finds its words in the log"
