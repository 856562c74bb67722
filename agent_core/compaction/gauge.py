"""How long a request is in tokens: learned from what the calls before it took; no I/O."""

from collections import OrderedDict
from dataclasses import dataclass

from agent_core.ids import SessionId

_MOST_SESSIONS = 4096
_LEAST_RATIO, _MOST_RATIO = 0.4, 4.0
"""Of tokens to their estimate. What lies outside was not counted over the whole request: some
servers tell nothing, or leave out what they read from a cache."""
_UNKNOWN_RATIO = 1.2
_UNKNOWN_SPREAD = 0.5
_KNOWN_SPREAD = 0.2
_GROWTH_SPREAD = 0.4
"""By how much an estimate may be off: of everything, where nothing or only other talks of the
model were measured; of what came since, where this talk was."""
_NEW_SHARE = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Tokens of a request: how many it likely has, at least and at most."""

    low: int
    likely: int
    high: int


@dataclass(frozen=True, slots=True)
class _Mark:
    model: str
    estimated: int
    measured: int


class Gauge:
    """What was measured last, by model and by session. Forgotten with the process."""

    def __init__(self) -> None:
        self._ratios: dict[str, float] = {}
        self._marks: OrderedDict[SessionId, _Mark] = OrderedDict()

    def read(self, session_id: SessionId, model: str, estimated: int) -> Reading:
        """How long a request of so many estimated tokens is."""
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
        return Reading(
            low=int(max(likely - spread, 0.0)), likely=int(likely), high=int(likely + spread)
        )

    def learn(self, session_id: SessionId, model: str, estimated: int, measured: int) -> None:
        """A request of so many estimated tokens had `measured` tokens."""
        if not estimated or not _LEAST_RATIO <= measured / estimated <= _MOST_RATIO:
            return
        seen = measured / estimated
        known = self._ratios.get(model, seen)
        self._ratios[model] = known + (seen - known) * _NEW_SHARE
        self._marks[session_id] = _Mark(model, estimated, measured)
        self._marks.move_to_end(session_id)
        if len(self._marks) > _MOST_SESSIONS:
            self._marks.popitem(last=False)
