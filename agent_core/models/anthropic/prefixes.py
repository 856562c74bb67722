"""Keeps how long talks were rendered, so that each call renders only what is new in it."""

from collections import OrderedDict
from dataclasses import dataclass

from agent_core.models.anthropic.translate import Prefix, render_behind, render_request
from agent_core.models.contract import ModelRequest
from agent_core.transcript import Message

_SHORT = 32
"""Messages up to which a talk is rendered anew each time: that takes no time to speak of."""
_MOST_WEIGHT = 16_000_000
"""Bytes kept over all talks, twice: as messages and as text."""


@dataclass(frozen=True, slots=True)
class _Known:
    messages: tuple[Message, ...]
    prefix: Prefix


class Prefixes:
    """Renders requests. What comes of it is the same as without anything kept."""

    def __init__(self, most_weight: int = _MOST_WEIGHT) -> None:
        self._most = most_weight
        self._weight = 0
        self._talks: OrderedDict[tuple[str, Message], _Known] = OrderedDict()
        """By model and first message: two talks that share both only cost each other time."""

    def render(self, request: ModelRequest, *, cache_ttl: str, effort: str) -> bytes:
        """The body of a request; see `render_request`."""
        messages = request.messages
        if len(messages) <= _SHORT:
            return render_request(request, cache_ttl=cache_ttl, effort=effort)
        key = request.model, messages[0]
        known = self._talks.pop(key, None) or _Known((), Prefix())
        self._weight -= len(known.prefix.text)
        # Messages that were there before are the same objects: this compares pointers.
        is_same = messages[: len(known.messages)] == known.messages
        before = known.prefix if is_same else Prefix()
        body, longer = render_behind(before, request, cache_ttl=cache_ttl, effort=effort)
        self._talks[key] = _Known(messages[: longer.count], longer)
        self._weight += len(longer.text)
        while self._weight > self._most:
            _, dropped = self._talks.popitem(last=False)
            self._weight -= len(dropped.prefix.text)
        return body
