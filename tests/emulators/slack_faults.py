"""Faults of the emulated Slack, by name."""

from dataclasses import dataclass
from enum import StrEnum


class FaultKind(StrEnum):
    """A kind of fault; its detail is described below it."""

    LOSE = "lose"
    """The call is applied, then the connection breaks."""
    DROP = "drop"
    """Nothing is applied and the connection breaks."""
    ERROR = "error"
    """Nothing is applied; 200 with `ok` false. Detail: code."""
    LIMIT = "limit"
    """Nothing is applied; 429. Detail: retry_after, in whole seconds."""
    SLOW = "slow"
    """The call is applied, and answered later. Detail: seconds."""
    LATE = "late"
    """The connection breaks, and the call is applied afterwards. Detail: seconds."""
    UNWELL = "unwell"
    """Nothing is applied; a page of a server in trouble. Detail: status."""


LOSE = FaultKind.LOSE
DROP = FaultKind.DROP
ERROR = FaultKind.ERROR
LIMIT = FaultKind.LIMIT
SLOW = FaultKind.SLOW
LATE = FaultKind.LATE
UNWELL = FaultKind.UNWELL


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A planned failure of one call."""

    kind: FaultKind
    channel: str | None = None
    """Only calls about this channel fail."""
    code: str = "internal_error"
    retry_after: int = 1
    seconds: float = 1.0
    status: int = 503
