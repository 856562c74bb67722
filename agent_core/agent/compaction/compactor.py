"""Makes a talk shorter for its next calls: plans, has it summed up, and writes down the fold."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Collection, Coroutine, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from agent_core.agent.compaction.compacted_view import apply_compaction, show
from agent_core.agent.compaction.plan import CompactionPlan, Planner, TokenBudget
from agent_core.agent.compaction.summaries import Summarizer, SummaryRequest
from agent_core.agent.compaction.token_meter import TokenMeter
from agent_core.errors import ModelError, QuotaExceeded
from agent_core.ids import MessageId, PersonId, PromptHash, SessionId, TurnId
from agent_core.models.catalog import estimate_input, estimate_messages
from agent_core.models.contract import ModelRequest
from agent_core.state.conversations import compactions, messages, sessions, usage
from agent_core.state.conversations.compactions import Compaction, FoldReason, NewCompaction
from agent_core.state.conversations.messages import StoredMessage
from agent_core.state.conversations.usage import Spent
from agent_core.state.engine.database import Connection, Database
from agent_core.transcript import Message

_TARGET_PERCENT, _ROOF_PERCENT = 50, 90
"""Of the threshold: what a fold aims at, and what has to do."""
_MOST_SUMMARY = 2_500
_SUMMARY_SHARE = 8
"""A summary takes an eighth of what there is, or should be, and no more tokens than that."""
_BLOCK = 100
"""Tokens of the block around a summary."""
_LEAST_GAIN = 0.03
_MOST_SESSIONS = 4096

T = TypeVar("T")

_log = logging.getLogger(__name__)

_Ground = tuple[int, int, int]

Pinned = Callable[[Sequence[StoredMessage]], Collection[MessageId]]
"""Which messages of a transcript are never folded, whatever they are."""


def pin_nothing(stored: Sequence[StoredMessage]) -> Collection[MessageId]:
    """Nothing is kept besides the first request and the newest turns."""
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionTarget:
    """The session that is made shorter, whose it is, who pays, and the turn that runs in it."""

    session_id: SessionId
    owner_id: PersonId
    payer_id: PersonId
    turn_id: TurnId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionRequest:
    """Why a request has to become shorter, and how much of it there is.

    `tokens` is how long it is, `estimated` the same by the plain estimate, and `threshold`
    what it should be below. `shown` are the keys of pictures in it.
    """

    reason: FoldReason
    tokens: int
    estimated: int
    threshold: int
    shown: Collection[str] = ()
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionResult:
    """The fold that now counts, what calls see under it, and what making it took."""

    compaction: Compaction
    messages: tuple[Message, ...]
    paid: tuple[Spent, ...]


class Compactor:
    """Folds the talks of a house."""

    def __init__(
        self,
        *,
        database: Database,
        summaries: Summarizer,
        meter: TokenMeter,
        now: Callable[[], int],
        pinned: Pinned = pin_nothing,
    ) -> None:
        self._database = database
        self._summaries = summaries
        self.meter = meter
        self._now = now
        self._pinned = pinned
        self._newest: OrderedDict[SessionId, Compaction | None] = OrderedDict()

    async def find(self, session_id: SessionId, owner_id: PersonId) -> Compaction | None:
        """The fold that counts for a session's next call. Raises `StoreError`."""
        if session_id in self._newest:
            return self._newest[session_id]
        found = await self._database.read(
            lambda c: compactions.find_newest(c, session_id=session_id, person_id=owner_id)
        )
        if session_id in self._newest:  # one was made while this was read
            return self._newest[session_id]
        self.note(session_id, found)
        return found

    def note(self, session_id: SessionId, compaction: Compaction | None) -> None:
        """This is the fold that counts for a session; None for one that is new."""
        self._newest[session_id] = compaction
        self._newest.move_to_end(session_id)
        if len(self._newest) > _MOST_SESSIONS:
            self._newest.popitem(last=False)

    def forget(self) -> None:
        """Something was done to talks from outside: folds are read anew."""
        self._newest.clear()

    async def compact(
        self, talk: CompactionTarget, need: CompactionRequest
    ) -> CompactionResult | None:
        """Fold as much as is needed; None where nothing is gained, and then nothing changes.

        Where no summary is to be had, outputs of tools are shortened, if that gains anything.
        Raises `StoreError`.
        """
        stored, former, ground = await self._database.read(lambda c: _look(c, talk))
        sizes = _Sizes(need, apply_compaction(stored, former))
        planner = Planner(
            stored,
            former,
            sizes.room(),
            turn_id=talk.turn_id,
            pinned=self._pinned(stored),
        )
        plan = planner.choose_largest() if need.reason == "asked" else planner.choose()
        summary = former.summary if former else ""
        paid: list[Spent] = []
        if plan and plan.told:
            told = await self._sum_up(plan, summary, talk, need, paid)
            plan, summary = (plan, told) if told else (planner.shorten_only(), summary)
        made = self._draw_up(plan, summary, stored, talk, sizes) if plan else None
        compaction = await see_through(self._write(talk, made, ground, paid))
        if compaction is None:
            return None
        _log.info(
            "session %d: %d tokens became %d (%s)",
            talk.session_id,
            compaction.tokens_before,
            compaction.tokens_after,
            compaction.reason,
        )
        return CompactionResult(
            compaction=compaction, messages=show(stored, compaction), paid=tuple(paid)
        )

    async def compact_now(
        self, talk: CompactionTarget, prompt_hash: PromptHash | None, hint: str
    ) -> CompactionResult | None:
        """Fold all but the newest turns of a talk in which nothing runs, because somebody asked;
        `hint` is what they want kept. None where nothing is gained. Raises `StoreError`.
        """

        def look(connection: Connection) -> tuple[str, tuple[Message, ...]]:
            stored, compaction, _ = _look(connection, talk)
            prompt = prompt_hash and sessions.get_prompt(connection, prompt_hash=prompt_hash)
            return "".join(prompt[:2]) if prompt else "", apply_compaction(stored, compaction)

        system, shown = await self._database.read(look)
        request = ModelRequest(
            model=self.meter.model, system=system, tools=(), messages=shown, max_output_tokens=0
        )
        estimated = estimate_input(request)
        need = CompactionRequest(
            reason="asked",
            tokens=self.meter.estimate(talk.session_id, request.model, estimated),
            estimated=estimated,
            threshold=self.meter.bounds(request, None).threshold,
            hint=hint,
        )
        return await self.compact(talk, need) if shown else None

    async def _sum_up(
        self,
        plan: CompactionPlan,
        earlier: str,
        talk: CompactionTarget,
        need: CompactionRequest,
        paid: list[Spent],
    ) -> str:
        """What a plan folds, in words; empty where no model gives any."""
        order = SummaryRequest(
            messages=tuple(one.message for one in plan.told),
            earlier=earlier,
            tokens=_summary_tokens(need),
            room=need.threshold,
            payer_id=talk.payer_id,
            hint=need.hint,
        )
        try:
            return await self._summaries.give(order, paid)
        except (ModelError, QuotaExceeded, TimeoutError) as error:
            _log.warning("session %d is not summed up: %r", talk.session_id, error)
            return ""

    def _draw_up(
        self,
        plan: CompactionPlan,
        summary: str,
        stored: list[StoredMessage],
        talk: CompactionTarget,
        sizes: "_Sizes",
    ) -> NewCompaction | None:
        """The fold of a plan; None if it gains too little to be worth it."""
        compaction = NewCompaction(
            turn_id=talk.turn_id,
            made_after=stored[-1].id,
            shortened_to=plan.shortened_to,
            summarized_to=plan.summarized_to,
            kept=plan.kept,
            summary=summary,
            reason=sizes.need.reason,
            tokens_before=sizes.need.tokens,
            tokens_after=0,
            created_at=self._now(),
        )
        after = sizes.of(show(stored, compaction))
        if after > sizes.need.tokens * (1 - _LEAST_GAIN):
            return None
        return replace(compaction, tokens_after=after)

    async def _write(
        self,
        talk: CompactionTarget,
        made: NewCompaction | None,
        ground: _Ground,
        paid: list[Spent],
    ) -> Compaction | None:
        """Write down a fold, unless its talk went on meanwhile, and what making it cost."""
        if made is None and not paid:
            return None
        now = self._now()

        def work(connection: Connection) -> Compaction | None:
            for spent in paid:
                usage.insert(
                    connection, spent, person_id=talk.payer_id, turn_id=talk.turn_id, now=now
                )
            if made is None:
                return None
            if compactions.sum_up_ground(connection, session_id=talk.session_id) != ground:
                return None
            if talk.turn_id is None:  # a turn that is being prepared is prepared anew then
                compactions.drop_prompt(connection, session_id=talk.session_id)
            return compactions.insert(
                connection, made, session_id=talk.session_id, person_id=talk.owner_id
            )

        compaction = await self._database.write("folds.make", work)
        if compaction:
            self.note(talk.session_id, compaction)
        return compaction


async def see_through(work: Coroutine[object, object, T]) -> T:
    """Await `work` to its end even if the caller is cancelled meanwhile: what is on disk and
    what is known of it never differ.
    """
    task = asyncio.create_task(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        if not task.cancelled():
            task.exception()  # taken note of; the cancellation goes on all the same
        raise


class _Sizes:
    """Tokens of what is shown, learned from how long the whole request is."""

    def __init__(self, need: CompactionRequest, shown_now: Sequence[Message]) -> None:
        self.need = need
        self._scale = need.tokens / max(need.estimated, 1)
        talk = self._scale * estimate_messages(shown_now, need.shown)
        self._fixed = max(need.tokens - talk, 0.0)

    def of(self, shown: Sequence[Message]) -> int:
        """The whole request with these messages instead."""
        return int(self._fixed + self._scale * estimate_messages(shown, self.need.shown))

    def room(self) -> TokenBudget:
        """What a plan has to keep to."""
        return TokenBudget(
            fixed=self._fixed,
            scale=self._scale,
            target=self.need.threshold * _TARGET_PERCENT / 100,
            roof=self.need.threshold * _ROOF_PERCENT / 100,
            summary=self._scale * (_summary_tokens(self.need) + _BLOCK),
            shown=self.need.shown,
        )


def _summary_tokens(need: CompactionRequest) -> int:
    return min(_MOST_SUMMARY, min(need.threshold, need.tokens) // _SUMMARY_SHARE)


def _look(
    connection: Connection, talk: CompactionTarget
) -> tuple[list[StoredMessage], Compaction | None, _Ground]:
    session_id, person_id = talk.session_id, talk.owner_id
    return (
        messages.list_session(connection, session_id=session_id, person_id=person_id),
        compactions.find_newest(connection, session_id=session_id, person_id=person_id),
        compactions.sum_up_ground(connection, session_id=session_id),
    )
