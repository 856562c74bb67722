"""Rebuild every request of a turn, and prove each by its fingerprint; pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal, get_args

from agent_core.agent.budget import Exhausted
from agent_core.agent.compaction.compacted_view import find_compaction
from agent_core.agent.compaction.compactor import apply_compaction
from agent_core.agent.compaction.left_out import show
from agent_core.agent.loop.guardrails import Guardrails
from agent_core.agent.loop.messages import ask_for_summary
from agent_core.agent.replay.records import TurnRecord
from agent_core.models.contract import ModelRequest
from agent_core.models.fingerprints import Fingerprints
from agent_core.models.images import choose
from agent_core.state.conversations.compactions import Compaction
from agent_core.state.conversations.messages import StoredMessage
from agent_core.state.conversations.usage import ModelCall
from agent_core.transcript import Message

UnprovenReason = Literal["", "not_noted", "prompt_gone", "forgotten", "differs"]
"""The reason why a rebuilt request is unproven: no fingerprint was recorded, the prompt was
deleted or altered since, messages were deleted, or the transcript differs. Empty for a proven one.
"""

_QUESTIONS_AT = 2
"""Places, counted from the end, where a turn may have asked for a summary. The question is recorded
only together with its answer, and a notice to the person may follow.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SentRequest:
    """The contents of a request after the first `end` of the turn's own messages.

    `compaction` applied when the request was made; `shown` are the keys of the images in the
    request, and `shape` is what else shaped its bytes.
    """

    end: int
    compaction: Compaction | None
    messages: tuple[Message, ...]
    shown: tuple[str, ...]
    shape: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuiltCall:
    """A model call. `sent` is None if its request can't be rebuilt."""

    spent: ModelCall
    sent: SentRequest | None
    doubt: UnprovenReason


def rebuild_calls(record: TurnRecord) -> tuple[RebuiltCall, ...]:
    """Rebuild the calls of a turn, in the order in which they were made.

    No row stores a request. Few requests are possible, and the fingerprint tells which one was
    sent.
    """
    proofs = _fingerprint_all(record)
    found = [proofs.get(spent.request_hash or "") for spent in record.calls]
    taken = {sent.end for sent in found if sent}
    free = [sent for sent in _list_likely(record) if sent.end not in taken]
    calls = []
    for spent, sent in zip(record.calls, found, strict=True):
        likely = free.pop(0) if sent is None and free else sent
        calls.append(
            RebuiltCall(spent=spent, sent=likely, doubt="" if sent else _doubt(record, spent))
        )
    # An empty answer is paid for at the turn's end, so rows are not in order.
    return tuple(sorted(calls, key=lambda call: _place(record, call)))


def _place(record: TurnRecord, call: RebuiltCall) -> tuple[int, int]:
    """Sort key of a call: its last message, then its compaction."""
    if call.sent is None:
        return record.own + 1, 0
    return call.sent.end, call.sent.compaction.id if call.sent.compaction else 0


def _doubt(record: TurnRecord, spent: ModelCall) -> UnprovenReason:
    if spent.request_hash is None:
        return "not_noted"
    if record.prompt is None:
        return "prompt_gone"
    return "forgotten" if record.forgotten else "differs"


def _fingerprint_all(record: TurnRecord) -> dict[str, SentRequest]:
    """Every request that this turn may have made, by hash."""
    prompt = record.prompt
    asked = {
        (one.asked_model or one.model, one.output_limit or 0, one.request_shape)
        for one in record.calls
    }
    known = Fingerprints()
    proofs: dict[str, SentRequest] = {}
    for sent, question in _list_possible(record) if prompt else ():
        for model, limit, shape in asked:
            request = ModelRequest(
                model=model,
                system="",
                tools=(),
                messages=sent.messages[: len(sent.messages) - len(question)],
                max_output_tokens=limit,
                images=dict.fromkeys(sent.shown, b""),
                shape=shape,
            )
            assert prompt  # noqa: S101 - nothing is listed without one
            taken = known.take(record.conversation.id, prompt.hash, request, question)
            proofs.setdefault(taken.hash, replace(sent, shape=shape) if shape else sent)
    return proofs


def _list_possible(record: TurnRecord) -> Iterator[tuple[SentRequest, Sequence[Message]]]:
    """List the possible requests of a turn, each with the question that ends it, if any."""
    is_exhausted = record.turn.state == "exhausted"
    asked = [(), *((question,) for question in _list_questions(record))] if is_exhausted else [()]
    for end in range(1, record.own + 1):
        part = _part(record, end)
        questions = asked if end > record.own - _QUESTIONS_AT else asked[:1]
        for compaction, question in product(_list_compactions(part, record.compactions), questions):
            said = (*apply_compaction(part, compaction), *question)
            for messages in dict.fromkeys(show(said, by_stand_in=one) for one in (False, True)):
                chosen = choose(messages)
                there = tuple(key for key in chosen if key in record.images)
                for shown in dict.fromkeys((there, chosen)):
                    sent = SentRequest(
                        end=end, compaction=compaction, messages=messages, shown=shown
                    )
                    yield sent, question


def _list_likely(record: TurnRecord) -> list[SentRequest]:
    """The likely request of each answer in the transcript."""
    likely = []
    for end, stored in enumerate(record.said):
        if end and stored.message.role == "assistant":
            part = _part(record, end)
            compaction = find_compaction(part, record.compactions)
            messages = show(apply_compaction(part, compaction))
            likely.append(
                SentRequest(
                    end=end, compaction=compaction, messages=messages, shown=choose(messages)
                )
            )
    return likely


def _part(record: TurnRecord, end: int) -> Sequence[StoredMessage]:
    return record.transcript[: len(record.transcript) - record.own + end]


def _list_compactions(
    part: Sequence[StoredMessage], compactions: Sequence[Compaction]
) -> Iterator[Compaction | None]:
    """List the compactions that may have applied: those made at the newest message, then the one
    before them.
    """
    newest = part[-1].id
    replayed = [compaction for compaction in compactions if compaction.made_after <= newest]
    while replayed and replayed[-1].made_after == newest:
        yield replayed.pop()
    yield replayed[-1] if replayed else None


def _list_questions(record: TurnRecord) -> Iterator[Message]:
    """The messages that may have asked for the last answer of an exhausted turn."""
    limits: tuple[Exhausted, ...] = get_args(Exhausted)
    yield from (ask_for_summary(limit, "") for limit in limits if limit)
    watcher = Guardrails()
    for stored in record.said:
        # The same call twice in one answer counts once, as it does in the loop.
        calls = {(call.name, call.arguments): call for call in reversed(stored.message.calls)}
        for call in reversed(calls.values()):
            result = record.results.get(call.call_id)
            verdict = watcher.judge(call, result) if result else None
            if verdict and verdict.kind == "stop":
                yield ask_for_summary("", verdict.sentence)
