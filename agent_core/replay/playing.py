"""Plays a turn again: the loop itself, over what is recorded; writes nothing."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace

from agent_core.budget import Budget, Limits
from agent_core.host import Steer
from agent_core.ids import CallId
from agent_core.loop.contract import Assignment, Course, Equipment
from agent_core.loop.reserving import Reservation, Unlimited
from agent_core.loop.turn import Loop
from agent_core.models.contract import ModelAnswer, ModelRequest, TextDelta, Usage
from agent_core.models.fingerprint import Fingerprints
from agent_core.models.images import choose
from agent_core.prompt.frozen import FrozenPrompt
from agent_core.replay.answers import list_answers, speaks_for_loop
from agent_core.replay.rebuilding import Call
from agent_core.replay.records import TurnRecord
from agent_core.tools.contract import Effect, ToolContext, ToolResult
from agent_core.transcript import Message, Part, TextPart, ToolCallPart

_ENDLESS = 1_000_000
_LATE = 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A request that the loop made when the turn was played again."""

    request: ModelRequest
    hash: str


async def play(record: TurnRecord, calls: Sequence[Call], prompt: FrozenPrompt) -> list[Made]:
    """The requests that the loop makes of the same words, answers and results.

    It ends where the record does: one request more than there are answers is made by a turn
    that broke off. `prompt` is the turn's own, or another.
    """
    script = _Script(record, calls)
    equipment = Equipment(
        model=_Voice(script),
        course=Course(model="recorded", retries=0),
        toolbox=_Results(record.results),
        price=lambda model, usage: script.price(),
        now=lambda: record.turn.started_at,
        show=script.show,
        reserve=script.reserve,
    )
    loop = Loop(equipment, journal=_Journal(script), host=_Person(script), budget=script.budget())
    assignment = Assignment(
        system=prompt.system,
        tools=prompt.tools,
        messages=script.opening,
        outcomes={},
        begun=frozenset(),
        person_id=record.turn.person_id,
        owner_id=record.conversation.person_id,
        keeper=None,
        conversation_id=record.conversation.id,
        scope=record.conversation.scope,
        turn_id=record.turn.id,
        evidence="",
        own=script.recorded,
        prompt_hash=prompt.hash,
    )
    with suppress(_RecordEnds):
        async with aclosing(loop.run(assignment)) as events:
            async for _ in events:
                pass
    known = Fingerprints()
    return [
        Made(request=one, hash=known.take(record.conversation.id, prompt.hash, one).hash)
        for one in script.made
    ]


class _RecordEnds(Exception):
    """The turn was cut off here: no answer and no result is recorded for what comes next."""


class _Script:
    """What is known of the turn, and how far it has been played."""

    def __init__(self, record: TurnRecord, calls: Sequence[Call]) -> None:
        self._record = record
        self._calls = calls
        self._answers = list_answers(record, calls)
        self._said = [stored.message for stored in record.said]
        before = record.transcript[: len(record.transcript) - record.own]
        self.recorded = _count_opening(self._said)
        self.opening = (*(one.message for one in before), *self._said[: self.recorded])
        self._is_summed_up = _is_summed_up(record, calls)
        self.made: list[ModelRequest] = []
        self.has_spoken = False
        """True while an answer was given that stands in the transcript and is not recorded."""

    def answer(self, request: ModelRequest) -> ModelAnswer:
        """What the model gave. Raises `_RecordEnds`."""
        number = len(self.made)
        self.made.append(request)
        if number >= len(self._answers):
            raise _RecordEnds
        answer = self._answers[number]
        self.has_spoken = bool(answer.message.parts)
        return answer

    async def show(self, messages: Sequence[Message]) -> Mapping[str, bytes]:
        """The pictures that were shown; their bytes are not needed to know them by."""
        number = min(len(self.made), len(self._calls) - 1)
        sent = self._calls[number].sent if self._calls else None
        return {key: b"" for key in choose(messages) if sent is None or key in sent.shown}

    async def reserve(self, request: ModelRequest, *, cheap: str) -> Reservation:
        """The model that was asked then: a fallback and a near ceiling chose another."""
        number = len(self.made)
        if number >= len(self._calls):
            return Unlimited(request=request)
        spent = self._calls[number].spent
        asked = replace(
            request,
            model=spent.asked_model or spent.model,
            max_output_tokens=spent.output_limit or 0,
        )
        return Unlimited(request=asked)

    def take_steers(self) -> list[Steer]:
        """What the person said next, if it is their turn to speak."""
        place = self.recorded + (1 if self.has_spoken else 0)
        while place < len(self._said) and (
            self._said[place].role == "tool" or speaks_for_loop(self._said[place])
        ):
            place += 1
        steers = []
        for message in self._said[place:]:
            if message.role != "user" or speaks_for_loop(message):
                break
            steers.append(_steer(message))
        return steers

    @property
    def _is_spent(self) -> bool:
        """True once the turn's limit was reached then: what is left is to sum up."""
        return self._is_summed_up and len(self.made) >= len(self._calls) - 1

    def price(self) -> int:
        """Of the call that was made last: all that the turn may cost, if it was reached then."""
        return 1 if self._is_spent else 0

    def budget(self) -> Budget:
        """Limits that are reached when the turn reached its own."""
        reason = self._record.turn.reason if self._is_summed_up else ""
        limits = Limits(
            steps=max(1, len(self._calls) - 1) if reason == "steps" else _ENDLESS,
            tokens=1 if reason == "tokens" else 0,
            micro_dollars=1 if reason == "money" else 0,
            seconds=1.0 if reason == "time" else 0,
        )
        return Budget(limits, started=0.0, clock=lambda: _LATE if self._is_spent else 0.0)

    def usage(self) -> Usage:
        """The tokens of the call that was made last, as `price`."""
        return Usage(output_tokens=self.price())


class _Voice:
    """The model, as it answered."""

    provider = "replay"

    def __init__(self, script: _Script) -> None:
        self._script = script

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelAnswer, None]:
        """Give the recorded answer. Raises `_RecordEnds`."""
        answer = self._script.answer(request)
        yield replace(answer, usage=self._script.usage())

    async def check(self, model: str) -> None:
        """There is nothing to ask."""

    async def close(self) -> None:
        """There is nothing to let go of."""


class _Results:
    """The tools, as they answered."""

    def __init__(self, results: Mapping[CallId, ToolResult]) -> None:
        self._results = results

    def effect(self, name: str) -> Effect:
        """Nothing is done."""
        return "read"

    def is_cheap(self, name: str) -> bool:
        """Steps are counted by the record."""
        return False

    def waits_for_person(self, name: str) -> bool:
        """Nobody is asked."""
        return False

    async def run(
        self,
        call: ToolCallPart,
        context: ToolContext,
        begin: Callable[[], Awaitable[None]] | None = None,
    ) -> ToolResult:
        """The recorded result. Raises `_RecordEnds`."""
        if call.call_id not in self._results:
            raise _RecordEnds
        return self._results[call.call_id]


class _Journal:
    """Counts what of the transcript has been played; writes nothing."""

    def __init__(self, script: _Script) -> None:
        self._script = script

    async def record_answer(self, answer: ModelAnswer) -> None:
        """It stands in the transcript."""
        self._script.recorded += 1
        self._script.has_spoken = False

    async def record_begin(self, call: ToolCallPart) -> None:
        """Nothing begins."""

    async def record_result(self, call: ToolCallPart, result: ToolResult) -> None:
        """It comes from the record."""

    async def record_input(self, added: Sequence[Message], steers: Sequence[Steer]) -> None:
        """It stands in the transcript."""
        self._script.recorded += len(added)

    def conclude(self, added: Sequence[Message], answers: Sequence[ModelAnswer]) -> None:
        """Nothing is settled."""


class _Person:
    """Whoever wrote meanwhile, as they wrote."""

    def __init__(self, script: _Script) -> None:
        self._script = script

    def take_steers(self) -> Sequence[Steer]:
        """What they wrote next."""
        return self._script.take_steers()

    def is_draining(self) -> bool:
        """A turn is played to its end."""
        return False


def _is_summed_up(record: TurnRecord, calls: Sequence[Call]) -> bool:
    """True if the turn's last call asked for a summary, because a limit was reached."""
    sent = calls[-1].sent if calls and record.turn.state == "exhausted" else None
    return sent is not None and speaks_for_loop(sent.messages[-1])


def _count_opening(said: Sequence[Message]) -> int:
    """How many messages there were before the first call."""
    later = (
        place
        for place, message in enumerate(said)
        if message.role != "user" or (place and speaks_for_loop(message))
    )
    return next(later, len(said))


def _steer(message: Message) -> Steer:
    """What a person wrote, out of the message that was made of it."""
    facts, words, parts = "", "", list[Part](message.parts)
    if isinstance(parts[0], TextPart) and parts[0].is_fact:
        facts, parts = parts[0].text, parts[1:]
    if parts and isinstance(parts[0], TextPart) and not parts[0].is_fact:
        words, parts = parts[0].text, parts[1:]
    return Steer(inbox_ids=(), facts=facts, text=words, parts=tuple(parts))
