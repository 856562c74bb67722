"""The record of a review: its input, the model's answer, and the result."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

from agent_core.agent.quotas.background import Ticket
from agent_core.agent.review.claim_check import Claim
from agent_core.agent.review.merging import ShownLine
from agent_core.ids import CallId, MessageId, TurnId
from agent_core.transcript import ToolCallPart


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """A change that a review proposes: a note, or a patch of a skill, or a new one.

    `skill` is "" for a note, and `old` for a new skill. `traces` show the two times that something
    went wrong, or the one turn with the work.
    """

    skill: str
    old: str
    text: str
    traces: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldClaim:
    """A claim that waits for the person, with its doubt and the turn that it comes from."""

    number: int
    claim: Claim
    doubt: str
    turn_id: TurnId
    lesson: Lesson | None = None
    """The lesson that the claim stands for; both have the same text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewRecord:
    """The review of the turns after `after` up to `until`, and its result so far.

    `calls` is None until the model has answered, so that no answer is paid for twice. `kept` are
    rows of the ledger, `refused` counts faults, and `is_over` is true when the review has finished.
    """

    after: TurnId
    until: TurnId
    calls: tuple[ToolCallPart, ...] | None = None
    judged: tuple[ToolCallPart, ...] | None = None
    """The judge's first look at the claims; None until then, empty if there was no answer."""
    rejudged: tuple[ToolCallPart, ...] | None = None
    """Its second look at the claims that the first one left open; as `judged`."""
    rivals: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    """The entries that the judge saw beside each claim, by the claim's number."""
    shown: tuple[ShownLine, ...] = ()
    """The lines of memory that the review may merge, by their number from 1."""
    weighed: tuple[ToolCallPart, ...] | None = None
    """The judge's first look at the merges; as `judged`."""
    reweighed: tuple[ToolCallPart, ...] | None = None
    drawn: tuple[ToolCallPart, ...] | None = None
    """The answer to the request for conclusions; None until then."""
    reflected: tuple[ToolCallPart, ...] | None = None
    """The answer to the request about what went wrong twice; None until then."""
    kept: tuple[int, ...] = ()
    merged: tuple[int, ...] = ()
    """The rows that wrote a line in the place of several."""
    ended: tuple[int, ...] = ()
    """The rows that moved lines to the archive because their last day had passed."""
    held: tuple[HeldClaim, ...] = ()
    refused: Mapping[str, int] = field(default_factory=dict)
    ticket: Ticket | None = None
    """The call that a running batch answers, if any."""
    is_over: bool = False
    is_reported: bool = True
    """False until a summary reports the review."""


def dump_record(record: ReviewRecord) -> str:
    """Encode a record as JSON text. Drops the model's answers once the review is over."""
    return json.dumps(
        {
            "after": record.after,
            "until": record.until,
            "calls": None if record.is_over else _dump_calls(record.calls),
            "judged": None if record.is_over else _dump_calls(record.judged),
            "rejudged": None if record.is_over else _dump_calls(record.rejudged),
            "rivals": {} if record.is_over else record.rivals,
            "shown": [] if record.is_over else record.shown,
            "weighed": None if record.is_over else _dump_calls(record.weighed),
            "reweighed": None if record.is_over else _dump_calls(record.reweighed),
            "drawn": None if record.is_over else _dump_calls(record.drawn),
            "reflected": None if record.is_over else _dump_calls(record.reflected),
            "kept": record.kept,
            "merged": record.merged,
            "ended": record.ended,
            "held": [_dump_held(one) for one in record.held],
            "refused": record.refused,
            "ticket": None if record.is_over or not record.ticket else asdict(record.ticket),
            "is_over": record.is_over,
            "is_reported": record.is_reported,
        },
        ensure_ascii=False,
    )


def load_record(text: str) -> ReviewRecord:
    """Decode a record. Raises `ValueError`, `KeyError` or `TypeError` for anything else."""
    found = json.loads(text)
    return ReviewRecord(
        after=TurnId(found["after"]),
        until=TurnId(found["until"]),
        calls=_load_calls(found["calls"]),
        judged=_load_calls(found.get("judged")),
        rejudged=_load_calls(found.get("rejudged")),
        rivals={int(key): tuple(texts) for key, texts in found.get("rivals", {}).items()},
        shown=tuple((target, text) for target, text in found.get("shown", ())),
        weighed=_load_calls(found.get("weighed")),
        reweighed=_load_calls(found.get("reweighed")),
        drawn=_load_calls(found.get("drawn")),
        reflected=_load_calls(found.get("reflected")),
        kept=tuple(found["kept"]),
        merged=tuple(found.get("merged", ())),
        ended=tuple(found.get("ended", ())),
        held=tuple(_load_held(one) for one in found["held"]),
        refused=dict(found["refused"]),
        ticket=Ticket(**found["ticket"]) if found.get("ticket") else None,
        is_over=found["is_over"],
        is_reported=found.get("is_reported", True),
    )


def _dump_calls(calls: Sequence[ToolCallPart] | None) -> list[list[str]] | None:
    return None if calls is None else [[call.name, call.arguments] for call in calls]


def _load_calls(calls: Sequence[tuple[str, str]] | None) -> tuple[ToolCallPart, ...] | None:
    return None if calls is None else tuple(_load_call(*one) for one in calls)


def _load_call(name: str, arguments: str) -> ToolCallPart:
    return ToolCallPart(call_id=CallId(""), name=name, arguments=arguments)


def _dump_held(held: HeldClaim) -> list[object]:
    claim = held.claim
    return [
        *(held.number, held.doubt, held.turn_id, claim.target, claim.text, claim.quote),
        *(claim.message_id, claim.replaces, claim.section),
        held.lesson and [held.lesson.skill, held.lesson.old, *held.lesson.traces],
    ]


def _load_held(fields: list[object]) -> HeldClaim:
    number, doubt, turn_id, target, text, quoted, message_id, replaces, *more = fields
    section, lesson = [*more, None, None][:2]
    return HeldClaim(
        number=int(str(number)),
        doubt=str(doubt),
        turn_id=TurnId(int(str(turn_id))),
        claim=Claim(
            target=target,  # type: ignore[arg-type] # written by `_dump_held`
            text=str(text),
            quote=str(quoted),
            message_id=None if message_id is None else MessageId(int(str(message_id))),
            replaces=str(replaces),
            section=section,  # type: ignore[arg-type]
        ),
        lesson=_load_lesson(str(text), lesson) if isinstance(lesson, list) else None,
    )


def _load_lesson(text: str, fields: list[str]) -> Lesson:
    skill, old, *traces = fields
    return Lesson(skill=skill, old=old, text=text, traces=tuple(traces))
