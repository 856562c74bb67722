"""The images and PDF files of a request."""

import base64
from collections.abc import Collection, Iterable, Mapping
from itertools import chain

from agent_core.models.catalog import reads_pdf
from agent_core.state.conversations.images import MEDIA_TYPES
from agent_core.transcript import ImagePart, Message, PdfPart

MOST_IMAGES = 20
"""Images per request; with more, Anthropic accepts only 2,000 pixels per side (vision guide)."""
MOST_BYTES = 15_000_000
"""Bytes of all images in one request. As base64 they take 20 MB; Anthropic allows 32 MB per
request.
"""
MOST_PAGES = 80
"""Pages of all PDF files in one request; Anthropic accepts 100 pages for models with a window of
200,000 tokens (PDF support guide).
"""

UNSEEN = "[A picture was sent here that you can't be shown. Say so where it matters.]"
UNSEEN_PDF = "[The PDF file itself can't be shown to you; of it, you see only the text above.]"
REPEATED = "[The same picture as above.]"
REPEATED_PDF = "[The same PDF file as above.]"


def choose(messages: Iterable[Message]) -> tuple[str, ...]:
    """Return the keys of the newest images and PDF files, which a request shows.

    If there are too many, the older half is dropped at once. Then a request with one more image
    nearly always begins with the same bytes, so the provider's cache still works.
    """
    kept: dict[str, tuple[int, int, int]] = {}
    most = (MOST_IMAGES, MOST_BYTES, MOST_PAGES)
    # This runs over the whole transcript before each call, and few messages contain images.
    parts = chain.from_iterable(message.parts for message in messages)
    for part in [part for part in parts if isinstance(part, ImagePart)]:
        pages = part.pages if isinstance(part, PdfPart) else 0
        kept.setdefault(part.file_key, (0 if pages else 1, part.size, pages))
        if not _is_above(kept.values(), most):
            continue
        while len(kept) > 1 and _is_above(kept.values(), [one // 2 for one in most]):
            del kept[next(iter(kept))]
    return tuple(kept)


def _is_above(kept: Iterable[tuple[int, int, int]], most: Iterable[int]) -> bool:
    sums = map(sum, zip(*kept, strict=True))
    return any(size > limit for size, limit in zip(sums, most, strict=True))


def list_shown(model: str, keys: Collection[str], messages: Iterable[Message]) -> Collection[str]:
    """Return the keys, without those of PDF files if the model reads none."""
    if not keys or reads_pdf(model):
        return keys
    parts = (part for message in messages for part in message.images)
    return set(keys) - {part.file_key for part in parts if isinstance(part, PdfPart)}


class ImageSelection:
    """Renders the images and PDF files of one request, each only once."""

    def __init__(self, images: Mapping[str, bytes]) -> None:
        self._images = images
        self._shown: set[str] = set()

    def show(self, part: ImagePart) -> tuple[str, str]:
        """Return (base64, "") for an image that can be shown, else ("", a note)."""
        is_file = isinstance(part, PdfPart)
        data = self._images.get(part.file_key)
        if not data or not (is_file or part.media_type in MEDIA_TYPES):
            return "", UNSEEN_PDF if is_file else UNSEEN
        if part.file_key in self._shown:
            return "", REPEATED_PDF if is_file else REPEATED
        self._shown.add(part.file_key)
        return base64.b64encode(data).decode("ascii"), ""
