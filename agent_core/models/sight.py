"""Remembers which pictures a model refused, so that none of them ends a conversation."""

import re
from collections.abc import Iterable
from dataclasses import replace

from agent_core.models.contract import ModelRequest

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


class Sight:
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
