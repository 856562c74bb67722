"""What models take of pictures: which kinds, how large, how many in one request; pure."""

import base64
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import chain

from agent_core.models.contract import ModelRequest
from agent_core.transcript import ImagePart, Message

MEDIA_TYPES = ("image/jpeg", "image/png", "image/gif", "image/webp")
"""What both Anthropic and OpenAI read."""
MOST_BYTES_EACH = 3_932_160
"""Of one picture. Anthropic takes 5 MiB of base64 each (vision guide, and its error text:
"image exceeds 5 MB maximum: … bytes > 5242880 bytes"), which is three quarters of it in bytes.
Larger ones pass in some places, so this bounds the default, not what may be set."""
MOST_PIXELS = 8000
"""Of one side; Anthropic refuses more (vision guide)."""
MOST_IMAGES = 20
"""In one request: above it Anthropic takes 2,000 pixels a side only (vision guide)."""
MOST_BYTES = 15_000_000
"""Of all pictures in one request: 20 MB as base64, where Anthropic takes 32 MB in all."""
IMAGE_TOKENS = 1600
"""About what the largest picture costs: Anthropic scales down what is larger."""

UNSEEN = "[A picture was sent here that you can't be shown. Say so where it matters.]"
REPEATED = "[The same picture as above.]"


def choose(messages: Iterable[Message]) -> tuple[str, ...]:
    """The keys of the pictures that a request with these messages shows: the newest ones.

    Where they become too many, the older half goes at once: a request that is one picture
    longer begins with the same bytes nearly always, so that the provider's cache holds.
    """
    kept: dict[str, int] = {}
    # All of the talk is looked at before each call, and hardly anything in it is a picture.
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
    """Shows the pictures of one request, each of them once."""

    def __init__(self, images: Mapping[str, bytes]) -> None:
        self._images = images
        self._shown: set[str] = set()

    def show(self, part: ImagePart) -> tuple[str, str]:
        """(base64, "") for a picture that can be shown; else ("", a text in its place)."""
        data = self._images.get(part.file_key)
        if not data or part.media_type not in MEDIA_TYPES:
            return "", UNSEEN
        if part.file_key in self._shown:
            return "", REPEATED
        self._shown.add(part.file_key)
        return base64.b64encode(data).decode("ascii"), ""


_MOST_KNOWN = 10_000
_STATUSES = (400, 404, 415, 422, 500, 501)
"""With which servers refuse pictures; llama.cpp says 500, OpenRouter 404."""
_TOO_LARGE = 413
_ABOUT_IMAGES = re.compile("image|vision|multimodal|multi-modal|content must be a string")


def is_about_images(status: int, said: str) -> bool:
    """True if an error of a request that holds pictures is likely to be about them."""
    return status == _TOO_LARGE or (
        status in _STATUSES and _ABOUT_IMAGES.search(said.lower()) is not None
    )


class ImageSupport:
    """What one provider's models took and refused.

    A picture stands in the transcript for good: were it sent again, every later turn would
    be refused as well. This is forgotten with the process, and learned again by one call.
    """

    def __init__(self) -> None:
        self._taken: dict[tuple[str, str], None] = {}
        self._refused: dict[tuple[str, str], None] = {}

    def spare(self, request: ModelRequest) -> ModelRequest:
        """The request without the pictures that its model has refused."""
        kept = {
            key: data
            for key, data in request.images.items()
            if (request.model, key) not in self._refused
        }
        return request if len(kept) == len(request.images) else replace(request, images=kept)

    def take(self, request: ModelRequest) -> None:
        """The model took this request."""
        _note(self._taken, ((request.model, key) for key in request.images))

    def refuse(self, request: ModelRequest) -> None:
        """The model refused this request for a picture in it.

        Which one it was is not known: one that was taken before only if all of them were.
        """
        names = [(request.model, key) for key in request.images]
        _note(self._refused, [name for name in names if name not in self._taken] or names)


def _note(known: dict[tuple[str, str], None], names: Iterable[tuple[str, str]]) -> None:
    for name in names:
        known[name] = None
        if len(known) > _MOST_KNOWN:
            del known[next(iter(known))]
