"""Names what ended a turn, as its last event says it; pure."""

from agent_core.errors import (
    CeilingReached,
    ModelBusy,
    ModelCut,
    ModelDenied,
    ModelError,
    ModelOverflow,
    ModelUnknown,
)
from agent_core.events import Shut
from agent_core.models.contract import StopReason

_FAILURES: tuple[tuple[type[ModelError], str], ...] = (
    (ModelBusy, "model_busy"),
    (ModelCut, "model_cut"),
    (ModelOverflow, "overflow"),
    (ModelUnknown, "model_unknown"),
    (ModelDenied, "model_denied"),
    (ModelError, "model_rejected"),
)
FLAWS: dict[StopReason, str] = {"length": "length", "unknown": "unknown_stop"}
"""Why an answer may not be whole, as an ending's reason."""


def name_failure(error: ModelError) -> str:
    """What a model call ended in, as an ending's reason."""
    return next(word for kind, word in _FAILURES if isinstance(error, kind))


def describe_shut(reached: CeilingReached) -> Shut:
    """The ceiling that has no room for a turn any more."""
    return Shut(
        whose=reached.whose,
        unit=reached.unit,
        limit=reached.limit,
        opens_at=reached.opens_at,
    )
