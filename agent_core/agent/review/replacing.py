"""Find the note that a claim would replace, as it is now."""

from agent_core.agent.review.claim_check import Claim
from agent_core.ids import PersonId
from agent_core.memory.edits_within_limits import Edit, Refusal, plan
from agent_core.memory.sync import MemoryList, find_list
from agent_core.state.engine.database import Connection

_UNLIMITED = 10**9


def find_replaced(connection: Connection, *, person_id: PersonId, claim: Claim) -> str:
    """Return the whole note that a claim would replace.

    Returns "" if the claim replaces nothing, or if no note, or more than one, fits any more: it
    then only adds. Raises `StoreDamaged`.
    """
    if not claim.replaces or claim.target == "archive":
        return ""
    where = MemoryList(person_id=person_id, target=claim.target, limit=_UNLIMITED)
    edit = Edit(action="remove", target=claim.target, old=claim.replaces)
    planned = plan(find_list(connection, where), edit, _UNLIMITED)
    return "" if isinstance(planned, Refusal) else planned[0].before or ""
