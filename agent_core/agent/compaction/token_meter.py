"""Measure requests against the context window: by an estimate, or by the provider's count."""

import logging
from collections import OrderedDict
from dataclasses import dataclass

from agent_core.errors import ModelError
from agent_core.ids import SessionId
from agent_core.models.catalog import find_window
from agent_core.models.contract import CountsTokens, HasProfiles, Model, ModelRequest, Usage
from agent_core.state.people.people import LEAST_CAP

_MOST_SESSIONS = 4096
_LEAST_RATIO, _MOST_RATIO = 0.4, 4.0
"""Plausible ratios of real to estimated tokens. Some servers report no usage, or leave out the
tokens that they read from a cache; such reports are ignored.
"""
_UNKNOWN_RATIO = 1.2
_UNKNOWN_SPREAD = 0.5
_KNOWN_SPREAD = 0.2
_GROWTH_SPREAD = 0.4
"""Relative errors of an estimate: if the model was never measured; if it was measured in other
conversations; and, for the growth only, if it was measured in this conversation.
"""
_NEW_SHARE = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenEstimate:
    """Likely tokens of a request, with a lower and an upper bound."""

    low: int
    likely: int
    high: int


@dataclass(frozen=True, slots=True)
class _Mark:
    model: str
    estimated: int
    measured: int


class TokenEstimator:
    """Estimates token counts from earlier measurements, per model and session; in memory only."""

    def __init__(self) -> None:
        self._ratios: dict[str, float] = {}
        self._marks: OrderedDict[SessionId, _Mark] = OrderedDict()

    def estimate(self, session_id: SessionId, model: str, estimated: int) -> TokenEstimate:
        """Estimate the real tokens of a request from its plain estimate."""
        ratio = self._ratios.get(model)
        mark = self._marks.get(session_id)
        if ratio is None:
            likely = estimated * _UNKNOWN_RATIO
            spread = likely * _UNKNOWN_SPREAD
        elif mark and mark.model == model:
            growth = (estimated - mark.estimated) * max(ratio, mark.measured / mark.estimated)
            likely = mark.measured + growth
            spread = abs(growth) * _GROWTH_SPREAD
        else:
            likely = estimated * ratio
            spread = likely * _KNOWN_SPREAD
        likely = max(likely, 0.0)
        return TokenEstimate(
            low=int(max(likely - spread, 0.0)), likely=int(likely), high=int(likely + spread)
        )

    def learn(self, session_id: SessionId, model: str, estimated: int, measured: int) -> None:
        """Record that a request with this plain estimate had `measured` tokens."""
        if not estimated or not _LEAST_RATIO <= measured / estimated <= _MOST_RATIO:
            return
        seen = measured / estimated
        known = self._ratios.get(model, seen)
        self._ratios[model] = known + (seen - known) * _NEW_SHARE
        self._marks[session_id] = _Mark(model, estimated, measured)
        self._marks.move_to_end(session_id)
        if len(self._marks) > _MOST_SESSIONS:
            self._marks.popitem(last=False)


KEEP_PERCENT = 30
"""Percent of `compact_tokens` that a compaction keeps; see docs/measurements.md."""
_OUTPUT_SHARE = 8
"""An eighth of the window stays free for the answer, or less if the limit for answers is lower. To
keep the whole limit free could take half of a small window; see `TokenMeter.output_left`.
"""
_SURE_PERCENT = 90
"""Percent of a refused request's estimated length that the model likely accepts."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRules:
    """The deployment's limits for requests, in input tokens.

    A conversation must be compacted at `threshold_percent` of the limit. Between turns, it is
    compacted at `compact_tokens` already, to save cost; about `keep_percent` of these stay. 0 for
    `compact_tokens` switches that off. `window_tokens` overrides the known context windows of
    models; 0 keeps them.
    """

    cap_tokens: int
    threshold_percent: int
    window_tokens: int = 0
    compact_tokens: int = 0
    keep_percent: int = KEEP_PERCENT


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextBounds:
    """The longest allowed request, and the length above which it is shortened first.

    The first request of a turn is shortened above `economy`, to about `keep`.
    """

    limit: int
    threshold: int
    economy: int
    keep: int


class TokenMeter:
    """Knows the limits of requests, and measures requests against them."""

    def __init__(self, *, provider: Model, model: str, rules: ContextRules) -> None:
        """`model` is the name of the main model."""
        self._provider = provider
        self.model = model
        self._rules = rules
        self._gauge = TokenEstimator()
        self._refused: dict[str, int] = {}
        """The shortest request that was too long, by model."""

    def bounds(self, request: ModelRequest, cap: int | None) -> ContextBounds:
        """The bounds of a request; `cap` is the person's own limit, if set."""
        window, reserve = self._find_window(request)
        limit = min(window - reserve, self._rules.cap_tokens)
        refused = self._refused.get(request.model, limit)
        limit = max(min(limit, cap or limit, refused), LEAST_CAP)
        threshold = limit * self._rules.threshold_percent // 100
        economy = min(self._rules.compact_tokens or threshold, threshold)
        return ContextBounds(
            limit=limit,
            threshold=threshold,
            economy=economy,
            keep=economy * self._rules.keep_percent // 100,
        )

    def output_left(self, session_id: SessionId, request: ModelRequest, estimated: int) -> int:
        """Return the tokens that an answer may have.

        That is what the request, estimated high, leaves of the window, and at least the part that
        is kept free.
        """
        window, reserve = self._find_window(request)
        high = self._gauge.estimate(session_id, request.model, estimated).high
        return max(window - high, reserve)

    def _find_window(self, request: ModelRequest) -> tuple[int, int]:
        """The window of a request's model, and the part of it that is kept free for the answer."""
        window = self._rules.window_tokens or find_window(request.model)
        if isinstance(self._provider, HasProfiles):
            said = self._provider.profile(request.model).window
            window = min(window, said) if said else window
        return window, min(request.max_output_tokens, window // _OUTPUT_SHARE)

    def refuse(self, model: str, tokens: int) -> None:
        """Record that a request of about this many tokens was too long for a model."""
        known = self._refused.get(model, tokens)
        self._refused[model] = min(known, tokens * _SURE_PERCENT // 100)

    def estimate(self, session_id: SessionId, model: str, estimated: int) -> int:
        """The likely tokens of a request, based on earlier measurements."""
        return self._gauge.estimate(session_id, model, estimated).likely

    async def measure(
        self, session_id: SessionId, request: ModelRequest, estimated: int, threshold: int
    ) -> int:
        """Return the tokens of a request.

        The provider counts them if the estimate is too close to the threshold to decide.
        """
        reading = self._gauge.estimate(session_id, request.model, estimated)
        is_clear = reading.high <= threshold or reading.low > threshold
        if is_clear or not isinstance(self._provider, CountsTokens):
            return reading.likely
        try:
            counted = await self._provider.count(request)
        except ModelError as error:
            _log.warning("%s did not count a request: %s", request.model, error)
            return reading.likely
        if counted is None:
            return reading.likely
        self._gauge.learn(session_id, request.model, estimated, counted)
        return counted

    def learn(self, session_id: SessionId, model: str, estimated: int, taken: Usage) -> None:
        """Record the usage of a request with this plain estimate."""
        measured = taken.input_tokens + taken.cache_read_tokens + taken.cache_write_tokens
        self._gauge.learn(session_id, model, estimated, measured)
