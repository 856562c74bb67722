"""Background review: what a person's finished turns teach, kept only if their own words prove it.

It reads a copy of the conversation, and imports nothing that runs one.
"""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

# mypy: implicit-reexport
if TYPE_CHECKING:
    from agent_core.agent.review.feed import LearnedEntry, list_learned, list_records
    from agent_core.agent.review.gate import LONGEST, Claim, Doubt, Fault, Section, Verdict, judge
    from agent_core.agent.review.profile import ProfileLine, list_profile, name_section
    from agent_core.agent.review.record import (
        HeldClaim,
        Lesson,
        ReviewRecord,
        dump_record,
        load_record,
    )
    from agent_core.agent.review.reviewer import PURPOSE, Reviewer
    from agent_core.agent.review.triggers import EndedTurn, ReviewRules, enqueue_due, is_correction
else:
    __getattr__ = export_lazily(__name__, __file__)
