"""Images that a model has refused."""

import re
from collections.abc import Iterable
from dataclasses import replace

from agent_core.models.catalog import reads_pdf
from agent_core.models.contract import ModelRequest
from agent_core.state.conversations.images import is_pdf

_MOST_KNOWN = 10_000
_STATUSES = (400, 404, 415, 422, 500, 501)
"""Statuses with which servers refuse images; llama.cpp sends 500, OpenRouter 404."""
_TOO_LARGE = 413
_ABOUT_IMAGES = re.compile(
    "image|vision|multimodal|multi-modal|content must be a string|pdf|'file'|invalid file"
)


def is_about_images(status: int, said: str) -> bool:
    """True if a failed request with images probably failed because of them."""
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
        """Return the request without images that its model refused, and without unreadable files.

        A PDF file is sent only to models that can read it according to the table.
        """
        reads = not request.images or reads_pdf(request.model)
        kept = {
            key: data
            for key, data in request.images.items()
            if (request.model, key) not in self._refused and (reads or not is_pdf(data))
        }
        return request if len(kept) == len(request.images) else replace(request, images=kept)

    def take(self, request: ModelRequest) -> None:
        """Record that the model accepted a request."""
        _note(self._taken, ((request.model, key) for key in request.images))

    def has_taken(self, model: str) -> bool:
        """True if a model accepted any image."""
        return any(name == model for name, _ in self._taken)

    def refuse(self, request: ModelRequest) -> None:
        """Record that the model refused a request because of an image.

        The error doesn't name the image. Images accepted before are suspected only if all of them
        were.
        """
        names = [(request.model, key) for key in request.images]
        _note(self._refused, [name for name in names if name not in self._taken] or names)


def _note(known: dict[tuple[str, str], None], names: Iterable[tuple[str, str]]) -> None:
    for name in names:
        known[name] = None
        if len(known) > _MOST_KNOWN:
            del known[next(iter(known))]
