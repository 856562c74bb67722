"""Operations on proposed changes: decide about one that waits, bring a dismissed one back."""

import hashlib
from dataclasses import dataclass

from agent_core.agent.review.replacing import find_replaced
from agent_core.chats import Chat
from agent_core.ids import PersonId, QuestionId
from agent_core.state.conversations import questions
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people.people import Person
from agent_core.state.queues.outbox import OutboxRow
from gateway.errors import Declined
from gateway.outbound.questions import PROPOSAL_LASTS, Questions
from gateway.texts import approvals
from gateway.texts import pages as texts
from gateway.turns.proposals import ACCEPT, list_held, list_refused, take_held


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A choice about a note that waits.

    `number` holds the numbers of the review and of the claim, `seen` the digest of the note that
    goes, as the person was shown it.
    """

    number: tuple[int, int]
    choice: str
    seen: str


async def decide(
    database: Database,
    asking: Questions,
    person: Person,
    decision: Decision,
    chat: Chat,
    now: int,
) -> bool:
    """Accept or dismiss a note that waits; False if it doesn't wait any more.

    Raises `Declined` if another note would go than the person was shown, or if it is decided.
    """
    number, choice = decision.number, decision.choice

    def work(connection: Connection) -> QuestionId | None:
        waiting = ((task_id, one) for task_id, one in list_held(connection, person.id))
        held = next((one for task_id, one in waiting if (task_id, one.number) == number), None)
        if held is None:
            return None
        replaced = find_replaced(connection, person_id=person.id, claim=held.claim)
        if choice == ACCEPT and replaced and decision.seen != digest(replaced):
            raise Declined(approvals.CHANGED_SINCE())
        question = take_held(connection, person.id, number, chat, now)
        return questions.ask(connection, question, now=now).id if question else None

    asked = await database.write("memory.held", work)
    if asked is None:
        return False
    if not await asking.decide(person, asked, choice):
        raise Declined(texts.QUESTION_CLOSED())
    return True


def digest(replaced: str) -> str:
    """Identify the note that a person was shown as the one that goes."""
    return hashlib.sha256(replaced.encode()).hexdigest()[:16]


def bring_back(
    connection: Connection,
    asking: Questions,
    person_id: PersonId,
    number: int,
    chat: Chat | None,
    now: int,
) -> list[OutboxRow] | None:
    """Let a change that was not accepted wait for an answer again; None if there is none.

    It is asked in `chat`; without one it waits on the console's pages.
    """
    for question in list_refused(connection, person_id):
        if question.id == number:
            end = now + PROPOSAL_LASTS
            return asking.reopen(connection, question, chat=chat, expires_at=end, now=now)
    return None
