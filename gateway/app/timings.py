"""The timings of a gateway, which tests can change."""

from dataclasses import dataclass, field

from agent_core.models.local.queued_model import QUIET
from gateway.background.alerts import LOOK
from gateway.background.disappearing import POLL as DISAPPEARING
from gateway.background.silence import POLL
from gateway.background.skill_tests import LONGEST_REPLAY
from gateway.jobs.watches import WATCH
from gateway.outbound.progress_lines import FIRST_PROGRESS
from gateway.outbound.timings import DeliveryTimings
from gateway.outbound.webhooks.dispatcher import WebhookTimings
from gateway.turns.beginning import START_DELAY
from gateway.turns.crash_backoff import CRASH_WAIT
from gateway.turns.presenter import PresenterTimings
from gateway.turns.user_prompts import ANSWER_PATIENCE


@dataclass(frozen=True, slots=True, kw_only=True)
class Timings:
    """Delays and pauses, in seconds unless stated otherwise."""

    store_retry: float = 5.0
    """Seconds before work that the store refused is tried again."""
    delivery: DeliveryTimings = field(default_factory=DeliveryTimings)
    display: PresenterTimings = field(default_factory=PresenterTimings)
    start_delay: float = START_DELAY
    crash_wait: float = CRASH_WAIT
    first_progress: float = FIRST_PROGRESS
    """Seconds until a long search, removal or export shows how far it is."""
    outage_pace: float = 1.0
    """Factor that scales the pauses between retries of a model that does not answer."""
    watch: float = WATCH
    """Seconds between two checks of the folders and feeds that jobs wait for."""
    alerts: float = LOOK
    """Seconds between two checks for faults that owners have to repair."""
    webhooks: WebhookTimings = field(default_factory=WebhookTimings)
    answer_patience: int = ANSWER_PATIENCE
    """Milliseconds that a turn waits for a person's answer."""
    replay: float = LONGEST_REPLAY
    """Seconds of one replay of a skill's test."""
    quiet: float = QUIET
    """Seconds since a person's request after which a model server of this machine gets background
    calls.
    """
    disappearing: float = DISAPPEARING
    """Seconds between two looks for messages that their chat has deleted."""
    silence: float = POLL
    """Seconds between two looks for people who fell silent with words to review."""
    task_poll: float = 15.0
    """Seconds between two checks for background tasks. A busy person's review waits twice as long.
    """
