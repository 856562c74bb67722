"""Background review: keep what a person's finished turns teach, if the person's words prove it.

A review reads a copy of the conversation, and imports nothing that runs a conversation.
"""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from agent_core.agent.review.feed import LearnedEntry as LearnedEntry
    from agent_core.agent.review.feed import list_learned as list_learned
    from agent_core.agent.review.feed import list_records as list_records
    from agent_core.agent.review.gate import LONGEST as LONGEST
    from agent_core.agent.review.gate import Claim as Claim
    from agent_core.agent.review.gate import Doubt as Doubt
    from agent_core.agent.review.gate import Fault as Fault
    from agent_core.agent.review.gate import Section as Section
    from agent_core.agent.review.gate import Verdict as Verdict
    from agent_core.agent.review.gate import judge as judge
    from agent_core.agent.review.profile import ProfileLine as ProfileLine
    from agent_core.agent.review.profile import list_profile as list_profile
    from agent_core.agent.review.profile import name_section as name_section
    from agent_core.agent.review.record import HeldClaim as HeldClaim
    from agent_core.agent.review.record import Lesson as Lesson
    from agent_core.agent.review.record import ReviewRecord as ReviewRecord
    from agent_core.agent.review.record import dump_record as dump_record
    from agent_core.agent.review.record import load_record as load_record
    from agent_core.agent.review.replacing import find_replaced as find_replaced
    from agent_core.agent.review.reviewer import PURPOSE as PURPOSE
    from agent_core.agent.review.reviewer import Reviewer as Reviewer
    from agent_core.agent.review.triggers import EndedTurn as EndedTurn
    from agent_core.agent.review.triggers import ReviewRules as ReviewRules
    from agent_core.agent.review.triggers import enqueue_due as enqueue_due
    from agent_core.agent.review.triggers import enqueue_now as enqueue_now
    from agent_core.agent.review.triggers import is_correction as is_correction
else:
    __getattr__ = export_lazily(__name__, __file__)
