"""Tells a conversation what a person answered to their reminders."""

from agent_core.ids import MessageId, PersonId
from agent_core.state.conversations.sessions import Session
from agent_core.state.engine.database import Database
from agent_core.state.jobs import job_history
from agent_core.transcript import flatten, quote

_TURNS = 100
"""The person's newest turns to look at: an older reminder is no news."""
_LONGEST_TITLE = 80
_LONGEST_ANSWER = 80


async def find_reminder_news(
    database: Database, person_id: PersonId, session: Session | None, after: MessageId
) -> tuple[str, ...]:
    """Return a line for each answer since a session's newest message; none for a new one.

    Raises `StoreError`.
    """
    if session is None:
        return ()
    found = await database.read(
        job_history.list_answers, person_id=person_id, after=after, turns=_TURNS
    )
    return tuple(
        f"Below your reminder {quote(title, _LONGEST_TITLE)} (job {number}) they pressed:"
        f" {flatten(answer, _LONGEST_ANSWER)}"
        for number, title, answer in found
    )
