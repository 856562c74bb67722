"""The timings of a gateway that tests change."""

from dataclasses import dataclass, field

from gateway.outbound.dispatcher import DeliveryTimings
from gateway.turns import crash_backoff, handle, user_prompts
from gateway.turns.presenter import PresenterTimings


@dataclass(frozen=True, slots=True, kw_only=True)
class Timings:
    """Delays and pauses, in seconds where nothing else is said."""

    store_retry: float = 5.0
    """Between two attempts of work that the store refused."""
    delivery: DeliveryTimings = field(default_factory=DeliveryTimings)
    display: PresenterTimings = field(default_factory=PresenterTimings)
    start_delay: float = handle.START_DELAY
    crash_wait: float = crash_backoff.FIRST_WAIT
    answer_patience: int = user_prompts.PATIENCE
    """Milliseconds that a turn waits for an answer."""
