"""The outbox: dispatches messages in order; live messages, indicators, questions, quiet hours."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from gateway.outbound.buttons import caption_of as caption_of
    from gateway.outbound.buttons import make_undo_button as make_undo_button
    from gateway.outbound.buttons import make_undo_buttons as make_undo_buttons
    from gateway.outbound.buttons import (
        make_undo_buttons_of_call as make_undo_buttons_of_call,
    )
    from gateway.outbound.buttons import offer_command as offer_command
    from gateway.outbound.buttons import read_command as read_command
    from gateway.outbound.buttons import stand_for as stand_for
    from gateway.outbound.channel import CommandFormatter as CommandFormatter
    from gateway.outbound.channel import Composer as Composer
    from gateway.outbound.channel import ReservedSlot as ReservedSlot
    from gateway.outbound.dispatcher import OutboxDispatcher as OutboxDispatcher
    from gateway.outbound.event_feed import EventFeed as EventFeed
    from gateway.outbound.event_feed import find_now as find_now
    from gateway.outbound.event_feed import read_cursor as read_cursor
    from gateway.outbound.live_message import LiveMessage as LiveMessage
    from gateway.outbound.progress_lines import FIRST_PROGRESS as FIRST_PROGRESS
    from gateway.outbound.progress_lines import ProgressLines as ProgressLines
    from gateway.outbound.question_views import choice_of as choice_of
    from gateway.outbound.questions import FOR_OWNER as FOR_OWNER
    from gateway.outbound.questions import REASON as REASON
    from gateway.outbound.questions import Answerer as Answerer
    from gateway.outbound.questions import Outcome as Outcome
    from gateway.outbound.questions import Questions as Questions
    from gateway.outbound.questions import Reaction as Reaction
    from gateway.outbound.questions import drop as drop
    from gateway.outbound.questions import make_secret as make_secret
    from gateway.outbound.quiet_hours import make_rescheduler as make_rescheduler
    from gateway.outbound.quiet_hours import reschedule as reschedule
    from gateway.outbound.timings import DeliveryTimings as DeliveryTimings
else:
    __getattr__ = export_lazily(__name__, __file__)
