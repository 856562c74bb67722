"""Requests for approval that differ in one field each."""

from agent_core.ids import CallId, ConversationId, PersonId, TurnId
from agent_core.state.engine.database import Connection
from agent_core.state.people import people
from agent_core.tools.policy.approval_requests import ApprovalRequest
from agent_core.tools.policy.contract import Action

ANA, BEN = PersonId(1), PersonId(2)


def make_request(number: int) -> ApprovalRequest:
    """One of some requests that differ in one field each."""
    targets = ("a", "a", "b", "b")
    action = Action(kind="send", target=targets[number % 4], place="x", is_outward=True)
    return ApprovalRequest(
        person_id=(ANA, BEN)[number % 2],
        conversation_id=ConversationId(1),
        turn_id=TurnId(1 + number // 4),
        call_id=CallId("c"),
        tool="post",
        arguments="{}",
        actions=(action,),
        asked=(action,),
        shown="a",
    )


REQUESTS = [make_request(number) for number in range(8)]


def make_people(connection: Connection) -> None:
    for name, person_id in (("ana", ANA), ("ben", BEN)):
        person = people.insert(connection, slug=name, name=name, role="member", now=1)
        assert person.id == person_id
