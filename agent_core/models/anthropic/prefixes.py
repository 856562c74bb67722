"""Keeps how long talks were rendered, so that each call renders only what is new in it."""

from agent_core.models.anthropic.translate import Prefix, render_behind, render_request
from agent_core.models.beginnings import Beginnings
from agent_core.models.contract import ModelRequest

_SHORT = 8
"""Messages up to which a talk is rendered anew each time: to keep what comes of it takes longer."""


class Prefixes:
    """Renders requests. What comes of it is the same as without anything kept."""

    def __init__(self) -> None:
        self._prefixes: Beginnings[Prefix] = Beginnings()

    def render(self, request: ModelRequest, *, cache_ttl: str, effort: str) -> bytes:
        """The body of a request; see `render_request`."""
        messages = request.messages
        if len(messages) <= _SHORT:
            return render_request(request, cache_ttl=cache_ttl, effort=effort)
        key = request.model, messages[0]
        _, before = self._prefixes.take(key, messages) or (0, Prefix())
        body, longer = render_behind(before, request, cache_ttl=cache_ttl, effort=effort)
        # Twice its length: as text, and as the messages that it is made of.
        self._prefixes.keep(key, messages[: longer.count], longer, 2 * len(longer.text))
        return body
