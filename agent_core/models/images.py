"""Images in requests: their limits, what each model accepts, and sending bodies of their size."""

import base64
import re
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import replace
from itertools import chain

from agent_core.models.contract import ModelRequest
from agent_core.transcript import ImagePart, Message

MEDIA_TYPES = ("image/jpeg", "image/png", "image/gif", "image/webp")
"""Types that both Anthropic and OpenAI read."""
MOST_BYTES_EACH = 3_932_160
"""Per image. Anthropic accepts 5 MiB of base64 (vision guide, and its error text "image exceeds 5
MB maximum: … bytes > 5242880 bytes"), which is three quarters of that in bytes. Larger ones pass in
some places, so this limits the default, not the setting.
"""
MOST_PIXELS = 8000
"""Per side; Anthropic refuses more (vision guide)."""
MOST_IMAGES = 20
"""Per request; above that, Anthropic accepts only 2,000 pixels per side (vision guide)."""
MOST_BYTES = 15_000_000
"""Bytes of all images in one request: 20 MB as base64, of Anthropic's 32 MB per request."""
IMAGE_TOKENS = 1600
"""Approximate tokens of the largest image; Anthropic scales larger ones down."""

UNSEEN = "[A picture was sent here that you can't be shown. Say so where it matters.]"
REPEATED = "[The same picture as above.]"


def choose(messages: Iterable[Message]) -> tuple[str, ...]:
    """The keys of the newest images, which a request with these messages shows.

    If there are too many, the older half is dropped at once. A request with one more image then
    nearly always begins with the same bytes, and the provider's cache holds.
    """
    kept: dict[str, int] = {}
    # This runs over the whole transcript before each call, and images in it are rare.
    parts = chain.from_iterable(message.parts for message in messages)
    for part in [part for part in parts if type(part) is ImagePart]:
        kept.setdefault(part.file_key, part.size)
        if len(kept) <= MOST_IMAGES and sum(kept.values()) <= MOST_BYTES:
            continue
        while len(kept) > 1 and (
            len(kept) > MOST_IMAGES // 2 or sum(kept.values()) > MOST_BYTES // 2
        ):
            del kept[next(iter(kept))]
    return tuple(kept)


class ImageSelection:
    """Renders the images of one request, each once."""

    def __init__(self, images: Mapping[str, bytes]) -> None:
        self._images = images
        self._shown: set[str] = set()

    def show(self, part: ImagePart) -> tuple[str, str]:
        """(base64, "") for an image that can be shown, else ("", a note)."""
        data = self._images.get(part.file_key)
        if not data or part.media_type not in MEDIA_TYPES:
            return "", UNSEEN
        if part.file_key in self._shown:
            return "", REPEATED
        self._shown.add(part.file_key)
        return base64.b64encode(data).decode("ascii"), ""


_MOST_KNOWN = 10_000
_STATUSES = (400, 404, 415, 422, 500, 501)
"""Statuses with which servers refuse images; llama.cpp sends 500, OpenRouter 404."""
_TOO_LARGE = 413
_ABOUT_IMAGES = re.compile("image|vision|multimodal|multi-modal|content must be a string")


def is_about_images(status: int, said: str) -> bool:
    """True if the error of a request with images is probably about them."""
    return status == _TOO_LARGE or (
        status in _STATUSES and _ABOUT_IMAGES.search(said.lower()) is not None
    )


class ImageSupport:
    """Remembers which images each model accepted and refused, in memory.

    An image stays in the transcript, so a refused one would make every later request fail.
    """

    def __init__(self) -> None:
        self._taken: dict[tuple[str, str], None] = {}
        self._refused: dict[tuple[str, str], None] = {}

    def spare(self, request: ModelRequest) -> ModelRequest:
        """The request without the images that its model has refused."""
        kept = {
            key: data
            for key, data in request.images.items()
            if (request.model, key) not in self._refused
        }
        return request if len(kept) == len(request.images) else replace(request, images=kept)

    def take(self, request: ModelRequest) -> None:
        """Record that the model accepted a request."""
        _note(self._taken, ((request.model, key) for key in request.images))

    def refuse(self, request: ModelRequest) -> None:
        """Record that the model refused a request because of an image.

        The error doesn't name the image: one accepted before is suspected only if all were.
        """
        names = [(request.model, key) for key in request.images]
        _note(self._refused, [name for name in names if name not in self._taken] or names)


def _note(known: dict[tuple[str, str], None], names: Iterable[tuple[str, str]]) -> None:
    for name in names:
        known[name] = None
        if len(known) > _MOST_KNOWN:
            del known[next(iter(known))]


LARGE = 1_000_000
"""Bytes above which aiohttp warns about a body in one piece."""
_PIECE = 256 * 1024


class ChunkedBody:
    """A body as an async iterable. Its length must be set in a header."""

    def __init__(self, payload: bytes) -> None:
        self._payload = payload

    async def __aiter__(self) -> AsyncIterator[bytes]:
        view = memoryview(self._payload)
        for start in range(0, len(view), _PIECE):
            yield bytes(view[start : start + _PIECE])


def chunk_large(payload: bytes) -> bytes | ChunkedBody:
    """Return a small body unchanged, a large one in pieces."""
    return payload if len(payload) <= LARGE else ChunkedBody(payload)
