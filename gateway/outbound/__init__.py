"""The outbox: dispatches messages in order; live messages, indicators, questions, quiet hours."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

# mypy: implicit-reexport
if TYPE_CHECKING:
    from gateway.outbound.buttons import caption_of, make_undo_buttons, read_command, stand_for
    from gateway.outbound.channel import CommandFormatter, Composer, ReservedSlot
    from gateway.outbound.dispatcher import DeliveryTimings, OutboxDispatcher
    from gateway.outbound.event_feed import Cursor, Event, EventFeed, find_now, read_cursor
    from gateway.outbound.live_message import LiveMessage
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
else:
    __getattr__ = export_lazily(__name__, __file__)
