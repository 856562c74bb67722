"""What is known of a turn that is played again, and how far it has come."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from agent_core.budget import Budget, Limits
from agent_core.compaction.view import find_fold, show_under
from agent_core.host import Steer
from agent_core.loop.reserving import Reservation, Unlimited
from agent_core.models.contract import ModelAnswer, ModelRequest, Usage
from agent_core.models.images import choose
from agent_core.replay.answers import list_answers, speaks_for_loop
from agent_core.replay.rebuilding import Call
from agent_core.replay.records import TurnRecord
from agent_core.state.folds import Fold
from agent_core.transcript import Message, Part, TextPart

_ENDLESS = 1_000_000
_LATE = 1e9


class RecordEnds(Exception):
    """The turn was cut off here: no answer and no result is recorded for what comes next."""


class Script:
    """What is known of the turn, and how far it has been played."""

    def __init__(self, record: TurnRecord, calls: Sequence[Call]) -> None:
        self._record = record
        self._calls = calls
        self._answers = list_answers(record, calls)
        self._said = [stored.message for stored in record.said]
        self.recorded = _count_opening(self._said)
        self._fold = self._find_first_fold()
        self.opening = self._view()
        self._is_summed_up = _is_summed_up(record, calls)
        self.made: list[ModelRequest] = []
        self.has_spoken = False
        """True while an answer was given that stands in the transcript and is not recorded."""

    def answer(self, request: ModelRequest) -> ModelAnswer:
        """What the model gave. Raises `RecordEnds`."""
        number = len(self.made)
        self.made.append(request)
        if number >= len(self._answers):
            raise RecordEnds
        answer = self._answers[number]
        self.has_spoken = bool(answer.message.parts)
        return answer

    async def show(self, messages: Sequence[Message]) -> Mapping[str, bytes]:
        """The pictures that were shown; their bytes are not needed to know them by."""
        number = min(len(self.made), len(self._calls) - 1)
        sent = self._calls[number].sent if self._calls else None
        return {key: b"" for key in choose(messages) if sent is None or key in sent.shown}

    def fit(self) -> tuple[Message, ...] | None:
        """The transcript under the fold of the next call; None if that is shown already."""
        number = len(self.made)
        sent = self._calls[number].sent if number < len(self._calls) else None
        if sent is None or sent.fold == self._fold:
            return None
        self._fold = sent.fold
        return self._view()

    def _view(self) -> tuple[Message, ...]:
        end = len(self._record.transcript) - self._record.own + self.recorded
        return show_under(self._record.transcript[:end], self._fold)

    def _find_first_fold(self) -> Fold | None:
        """The fold that counted when the turn began."""
        sent = self._calls[0].sent if self._calls else None
        fold = sent.fold if sent else None
        if fold is None or fold.made_after < self._record.said[0].id:
            return fold
        before = self._record.transcript[: -self._record.own]
        return find_fold(before, self._record.folds)

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
