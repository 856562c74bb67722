"""The outbox: dispatches messages in order; live messages, indicators, questions, quiet hours."""

from gateway.outbound.channel import ReservedSlot
from gateway.outbound.composer import (
    CommandFormatter,
    Composer,
    caption_of,
    make_undo_buttons,
    read_command,
    stand_for,
)
from gateway.outbound.dispatcher import DeliveryTimings, OutboxDispatcher
from gateway.outbound.live_message import LiveMessage, SentTexts, cut_broken, leave_out_sent
from gateway.outbound.question_views import choice_of
from gateway.outbound.questions import (
    FOR_OWNER,
    REASON,
    Answerer,
    Outcome,
    Questions,
    Reaction,
    drop,
    make_secret,
)
from gateway.outbound.quiet_hours import make_rescheduler, reschedule

__all__ = [
    "FOR_OWNER",
    "REASON",
    "Answerer",
    "CommandFormatter",
    "Composer",
    "DeliveryTimings",
    "LiveMessage",
    "OutboxDispatcher",
    "Outcome",
    "Questions",
    "Reaction",
    "ReservedSlot",
    "SentTexts",
    "caption_of",
    "choice_of",
    "cut_broken",
    "drop",
    "leave_out_sent",
    "make_rescheduler",
    "make_secret",
    "make_undo_buttons",
    "read_command",
    "reschedule",
    "stand_for",
]
