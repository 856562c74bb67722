"""The timings of a gateway that tests change."""

from dataclasses import dataclass, field

from gateway.outbound import DeliveryTimings
from gateway.outbound.webhooks import WebhookTimings
from gateway.scheduler import LOOK, WATCH
from gateway.turns import ANSWER_PATIENCE, CRASH_WAIT, START_DELAY, PresenterTimings


@dataclass(frozen=True, slots=True, kw_only=True)
class Timings:
    """Delays and pauses, in seconds where nothing else is said."""

    store_retry: float = 5.0
    """Seconds between two attempts of work that the store refused."""
    delivery: DeliveryTimings = field(default_factory=DeliveryTimings)
    display: PresenterTimings = field(default_factory=PresenterTimings)
    start_delay: float = START_DELAY
    crash_wait: float = CRASH_WAIT
    outage_pace: float = 1.0
    """Factor of the pauses between two tries of a model that does not answer."""
    watch: float = WATCH
    """Seconds between two looks at the folders and feeds that jobs wait for."""
    alerts: float = LOOK
    """Seconds between two looks at what owners have to repair."""
    webhooks: WebhookTimings = field(default_factory=WebhookTimings)
    answer_patience: int = ANSWER_PATIENCE
    """Milliseconds that a turn waits for an answer."""
    task_poll: float = 15.0
    """Seconds between two looks for background tasks; twice as long for a busy person's review."""
