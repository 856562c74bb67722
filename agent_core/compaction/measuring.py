"""How long requests may become, and how long one is: estimated, or counted where it is close."""

import logging
from dataclasses import dataclass

from agent_core.compaction.gauge import Gauge
from agent_core.errors import ModelError
from agent_core.ids import SessionId
from agent_core.models.contract import CountsTokens, Model, ModelRequest, Usage
from agent_core.models.windows import find_window
from agent_core.state.people import LEAST_CAP

_SURE_PERCENT = 90
"""Of the estimated length of a request that was refused: what the model likely takes."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRules:
    """How long the house lets requests become, in tokens of input.

    At `threshold_percent` of the limit a talk is made shorter. `window_tokens` is what the
    models of this house read; 0 for what is known of each.
    """

    cap_tokens: int
    threshold_percent: int
    window_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """No request is longer than `limit`; above `threshold` it is made shorter first."""

    limit: int
    threshold: int


class Measures:
    """Knows the bounds, and measures requests against them."""

    def __init__(self, *, provider: Model, model: str, rules: ContextRules) -> None:
        """`model` is the name of the one that thinks."""
        self._provider = provider
        self.model = model
        self._rules = rules
        self._gauge = Gauge()
        self._refused: dict[str, int] = {}
        """The shortest request, by model, that was too long for it."""

    def bounds(self, request: ModelRequest, cap: int | None) -> Bounds:
        """The bounds of a request; `cap` is its person's own, if they have set one."""
        window = self._rules.window_tokens or find_window(request.model)
        limit = min(window - request.max_output_tokens, self._rules.cap_tokens)
        refused = self._refused.get(request.model, limit)
        limit = max(min(limit, cap or limit, refused), LEAST_CAP)
        return Bounds(limit=limit, threshold=limit * self._rules.threshold_percent // 100)

    def refuse(self, model: str, tokens: int) -> None:
        """A request of about so many tokens was too long for a model."""
        known = self._refused.get(model, tokens)
        self._refused[model] = min(known, tokens * _SURE_PERCENT // 100)

    def estimate(self, session_id: SessionId, model: str, estimated: int) -> int:
        """How many tokens a request likely is, by what was learned."""
        return self._gauge.read(session_id, model, estimated).likely

    async def measure(
        self, session_id: SessionId, request: ModelRequest, estimated: int, threshold: int
    ) -> int:
        """How many tokens a request is. Where the estimate leaves in doubt on which side of
        the threshold that is, its provider counts, if it can.
        """
        reading = self._gauge.read(session_id, request.model, estimated)
        is_clear = reading.high <= threshold or reading.low > threshold
        if is_clear or not isinstance(self._provider, CountsTokens):
            return reading.likely
        try:
            counted = await self._provider.count(request)
        except ModelError as error:
            _log.warning("%s did not count a request: %s", request.model, error)
            return reading.likely
        self._gauge.learn(session_id, request.model, estimated, counted)
        return counted

    def learn(self, session_id: SessionId, model: str, estimated: int, taken: Usage) -> None:
        """A request of so many estimated tokens was made, and took this."""
        measured = taken.input_tokens + taken.cache_read_tokens + taken.cache_write_tokens
        self._gauge.learn(session_id, model, estimated, measured)
