"""Questions whether a tool may make a call, and the answers to them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from agent_core.chats import Chat
from agent_core.ids import CallId, PersonId, SessionId
from agent_core.state.conversations import approvals
from agent_core.state.conversations.approvals import NewApproval
from agent_core.state.conversations.questions import Choice, NewQuestion, Question, QuestionKind
from agent_core.state.engine.database import Connection
from agent_core.state.people import audit, people
from agent_core.state.people.audit import AuditEntry
from agent_core.state.people.people import Person
from agent_core.tools.policy.approval_requests import USE_WITHIN, ApprovalRequest
from gateway.outbound.question_views import choice_of
from gateway.outbound.questions import FOR_OWNER, Answerer, AnswerOutcome, make_secret
from gateway.texts import approvals as texts
from gateway.texts import general
from gateway.texts.reader_language import speak_to

ALLOWED = frozenset(("once", "session", "always"))
"""The keys of the answers that allow a call."""
WHY = "why"
"""The key of a refusal whose reason follows as a message."""
_REASON_WAITS = 600_000
"""Milliseconds during which a person's next message counts as the reason for their no."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """The call that a stored question is bound to. `person_id` made it."""

    digest: str
    tool: str
    person_id: PersonId
    session_id: SessionId | None
    shapes: tuple[str, ...]
    is_tainted: bool
    is_for_owner: bool


def _dump_bound(request: ApprovalRequest) -> str:
    """Encode what a question about a request is bound to."""
    fields = {
        "digest": request.digest,
        "tool": request.tool,
        "person": request.person_id,
        "session": request.session_id,
        "shapes": request.shapes,
        "tainted": request.is_tainted,
        FOR_OWNER: request.is_for_owner,
    }
    return json.dumps(fields, ensure_ascii=False)


def load_bound(question: Question) -> Bound | None:
    """Decode what a question is bound to; None for one that was redacted."""
    if question.kind != "call" or not question.payload:
        return None
    fields = json.loads(question.payload)
    return Bound(
        digest=fields["digest"],
        tool=fields["tool"],
        person_id=fields["person"],
        session_id=fields["session"],
        shapes=tuple(fields["shapes"]),
        is_tainted=fields["tainted"],
        is_for_owner=fields[FOR_OWNER],
    )


def make_call_question(
    connection: Connection,
    request: ApprovalRequest,
    whom: tuple[PersonId, Chat],
    expires_at: int,
) -> NewQuestion:
    """Make the question for a request; `whom` are the person asked and their chat."""
    asker = people.find(connection, person_id=request.person_id)
    with speak_to(connection, whom[0]):
        return NewQuestion(
            person_id=whom[0],
            kind="call",
            text=texts.ask_for_call(request, asker.name if asker else ""),
            choices=_list_choices(request),
            secret=make_secret(),
            chat=whom[1],
            expires_at=expires_at,
            turn_id=request.turn_id,
            call_id=request.call_id,
            payload=_dump_bound(request),
        )


def _list_choices(request: ApprovalRequest) -> tuple[Choice, ...]:
    """List the answers; an action without a shape can be allowed only once."""
    choices = [Choice(key="once", label=texts.ONCE(), style="good")]
    if request.shapes and request.session_id is not None:
        choices.append(Choice(key="session", label=texts.SESSION()))
    if request.shapes and (request.is_walled or not request.is_tainted):
        choices.append(Choice(key="always", label=texts.ALWAYS()))
    return (
        *choices,
        Choice(key="no", label=texts.NO(), style="danger"),
        Choice(key=WHY, label=texts.NO_AND_WHY(), style="danger"),
    )


def name_reason(call_id: CallId) -> CallId:
    """Return the id under which the reason for a refusal is asked."""
    return CallId(f"{call_id}:{WHY}")


def make_call_answerers() -> Mapping[QuestionKind, Answerer]:
    """Return the handlers of answers by question kind."""
    return {"call": _answer, "reason": _hear_reason}


def _answer(
    connection: Connection, question: Question, key: str, person: Person, now: int
) -> AnswerOutcome:
    """Store what an answer allows, in the transaction of the answer."""
    bound = load_bound(question)
    choice = choice_of(question, key)
    if bound is None or choice is None:
        return AnswerOutcome(words=general.QUESTION_OVER())
    if bound.is_for_owner and not person.is_owner:
        return AnswerOutcome(words=general.OWNER_ONLY(), stays_open=True)
    record_decision(connection, bound, key, f"person:{person.id}", now)
    if key in ALLOWED:
        _allow(connection, bound, key, person, now)
    said = general.describe_choice(choice.label, person.name)
    if key != WHY:
        return AnswerOutcome(words=said, says_more=False)
    reason = NewQuestion(
        person_id=person.id,
        kind="reason",
        text=texts.TELL_WHY(),
        choices=(),
        secret=make_secret(),
        chat=question.chat,
        expires_at=now + _REASON_WAITS,
        turn_id=question.turn_id,
        call_id=name_reason(question.call_id) if question.call_id else None,
        payload=question.payload,
    )
    return AnswerOutcome(words=said, says_more=False, asks=(reason,))


def _allow(connection: Connection, bound: Bound, key: str, person: Person, now: int) -> None:
    once = NewApproval(
        person_id=bound.person_id,
        decided_by=person.id,
        scope="once",
        subject=bound.digest,
        expires_at=now + USE_WITHIN,
    )
    approvals.insert(connection, once, now=now)
    for shape in bound.shapes if key != "once" else ():
        wider = NewApproval(
            person_id=bound.person_id,
            decided_by=person.id,
            scope="session" if key == "session" else "always",
            subject=shape,
            session_id=bound.session_id if key == "session" else None,
            holds_tainted=key == "session" and bound.is_tainted,
        )
        approvals.insert(connection, wider, now=now)


def record_decision(
    connection: Connection, call: Bound | ApprovalRequest, decision: str, actor: str, now: int
) -> None:
    """Record a decision about a call in the audit; `actor` is the one who made it."""
    audit.record(
        connection,
        AuditEntry(
            person_id=call.person_id,
            actor=actor,
            action=f"approval.{decision}",
            detail=json.dumps([call.tool, call.digest, *call.shapes], ensure_ascii=False),
            created_at=now,
        ),
    )


def _hear_reason(_: Connection, __: Question, ___: str, ____: Person, _____: int) -> AnswerOutcome:
    return AnswerOutcome(words=texts.NOTED(), says_more=False)
