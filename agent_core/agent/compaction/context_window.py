"""Keep the requests of one turn within the context window of its model."""

from dataclasses import replace
from typing import Protocol

from agent_core.agent.budget import Budget
from agent_core.agent.compaction.compactor import Compactor, IdleConversation
from agent_core.agent.compaction.requests import (
    CompactionRequest,
    CompactionResult,
    CompactionTarget,
)
from agent_core.agent.compaction.token_meter import ContextBounds
from agent_core.errors import ModelOverflow
from agent_core.models.contract import ModelRequest, Usage
from agent_core.models.images import list_shown
from agent_core.models.token_estimate import estimate_input, estimate_messages
from agent_core.state.conversations.compactions import Compaction
from agent_core.state.conversations.messages import TranscriptPlace
from agent_core.state.people.people import Person
from agent_core.transcript import Message

_REFUSED_PERCENT = 75
"""Percent of the estimated size of a refused request that the next request may have."""
_LONG = 6_000
"""Estimated tokens of messages from which a refusal may mean that they are too long: the windows
of small local models begin near it.
"""
_REGROWTH = 1.1
"""The factor by which a conversation grows before a failed compaction is tried again."""


class RecordedTurn(Protocol):
    """The part of a turn's journal that a compaction needs."""

    @property
    def shelf(self) -> TranscriptPlace:
        """The place of the turn's messages."""

    async def begin(self) -> None:
        """Write the turn to disk, so that a compaction can refer to it. Raises `StoreError`."""


class TurnContextWindow:
    """The loop's `ContextWindow` for one turn."""

    def __init__(
        self,
        compactor: Compactor,
        turn: RecordedTurn,
        payer: Person,
        compaction: Compaction | None = None,
    ) -> None:
        """`compaction` is the present one."""
        shelf = turn.shelf
        self._compactor = compactor
        self._target = CompactionTarget(
            session_id=shelf.session_id,
            owner_id=shelf.person_id,
            payer_id=payer.id,
            turn_id=shelf.turn_id,
        )
        self._cap = payer.context_cap
        self._turn = turn
        self._has_gap = compaction is not None and compaction.left_out_from is not None
        self.has_left_out = (
            self._has_gap and compaction is not None and compaction.turn_id == shelf.turn_id
        )
        """True once this turn left messages out without a summary, if the turn before left out
        none.
        """
        self._may_summarize = True
        """False after a failed call for a summary: a turn waits for at most one such failure."""
        self._is_first = True
        self._is_compacted = False
        """True between a compaction and the request that it was made for."""
        self._bounds: ContextBounds | None = None
        self._estimated = 0
        self._failed_at = 0
        """Tokens of the conversation when a compaction last failed to reach the threshold."""

    async def fit(
        self, request: ModelRequest, budget: Budget, *, is_refused: bool = False
    ) -> tuple[Message, ...] | None:
        """Return shorter messages for a request that is too long or was refused; None if it fits.

        Raises `ModelOverflow` if it can't be made short enough, and `StoreError`.
        """
        meter = self._compactor.meter
        bounds = self._bounds = meter.bounds(request, self._cap)
        self._estimated = estimated = estimate_input(request)
        session_id = self._target.session_id
        is_first, self._is_first = self._is_first, False
        wanted = CompactionRequest(
            reason="near",
            tokens=0,
            estimated=estimated,
            threshold=bounds.threshold,
            limit=bounds.limit,
            shown=list_shown(request.model, request.images.keys(), request.messages),
        )
        if is_refused:
            tokens = meter.estimate(session_id, request.model, estimated)
            below = min(bounds.threshold, tokens * _REFUSED_PERCENT // 100)
            meter.refuse(request.model, tokens)
            wanted = replace(wanted, reason="overflow", tokens=tokens, threshold=below, limit=below)
            return await self._compact(wanted, budget, bounds)
        checked = bounds.economy if is_first else bounds.threshold
        tokens = await meter.measure(session_id, request, estimated, checked)
        wanted = replace(wanted, tokens=tokens)
        shown = await self._save_cost(wanted, budget, bounds) if is_first else None
        if shown or tokens <= bounds.threshold or self._failed_recently(tokens, bounds):
            return shown
        return await self._compact(wanted, budget, bounds)

    async def shorten(self, request: ModelRequest, budget: Budget) -> tuple[Message, ...] | None:
        """Return shorter messages for a request that was refused for no clear reason.

        None if it is short, or can't be shortened. Nothing is learned of the model's window.
        Raises `StoreError`.
        """
        shown = list_shown(request.model, request.images.keys(), request.messages)
        if estimate_messages(request.messages, shown) < _LONG:
            return None
        meter, estimated = self._compactor.meter, estimate_input(request)
        bounds = meter.bounds(request, self._cap)
        tokens = meter.estimate(self._target.session_id, request.model, estimated)
        below = min(bounds.threshold, tokens * _REFUSED_PERCENT // 100)
        wanted = CompactionRequest(
            reason="overflow",
            tokens=tokens,
            estimated=estimated,
            threshold=below,
            limit=below,
            shown=shown,
        )
        result = await self._run(wanted, budget)
        return self._accept(result.compaction, result.messages) if result.compaction else None

    async def _save_cost(
        self, wanted: CompactionRequest, budget: Budget, bounds: ContextBounds
    ) -> tuple[Message, ...] | None:
        """Compact before a turn to save cost, or summarize messages that were left out before.

        Returns None if neither is needed or possible: the request may be sent as it is.
        """
        session_id = self._target.session_id
        if bounds.economy < min(wanted.tokens, bounds.threshold):
            if not self._compactor.is_worthwhile(session_id, wanted.tokens):
                return None
            wanted = replace(wanted, threshold=bounds.economy, keep=bounds.keep)
        elif self._has_gap and wanted.tokens <= bounds.threshold:
            wanted = replace(wanted, fills_gap=True)
        else:
            return None
        result = await self._run(wanted, budget)
        if result.compaction is None:
            return None
        return self._accept(result.compaction, result.messages)

    def limit_output(self, request: ModelRequest) -> ModelRequest:
        """Lower the output limit of a fitted request to what the model's window has left."""
        if self._is_compacted:
            self._estimated, self._is_compacted = estimate_input(request), False
        left = self._compactor.meter.output_left(self._target.session_id, request, self._estimated)
        if request.max_output_tokens <= left:
            return request
        return replace(request, max_output_tokens=left)

    def learn(self, model: str, taken: Usage) -> None:
        """Calibrate the estimates with the usage of the last fitted request, and note the call."""
        self._compactor.meter.learn(self._target.session_id, model, self._estimated, taken)
        if self._bounds and self._turn.shelf.is_searchable:
            self._compactor.note_call(
                IdleConversation(
                    target=replace(self._target, turn_id=None),
                    conversation_id=self._turn.shelf.conversation_id,
                    model=model,
                    tokens=taken.read_tokens,
                    estimated=self._estimated,
                    bounds=self._bounds,
                )
            )

    def _failed_recently(self, tokens: int, bounds: ContextBounds) -> bool:
        """Return True if the request still fits, and a recent compaction gained too little."""
        return tokens <= bounds.limit and tokens < self._failed_at * _REGROWTH

    async def _compact(
        self, wanted: CompactionRequest, budget: Budget, bounds: ContextBounds
    ) -> tuple[Message, ...] | None:
        result = await self._run(wanted, budget)
        if result.compaction is None and wanted.reason == "overflow":
            result = await self._run(wanted, budget)
        if result.compaction is None:
            self._failed_at = wanted.tokens
            if wanted.reason == "near" and wanted.tokens <= bounds.limit:
                return None
            raise ModelOverflow("The conversation is too long and can't be shortened.")
        after = result.compaction.tokens_after
        self._failed_at = after if after > wanted.threshold else 0
        if after > bounds.limit:
            raise ModelOverflow(f"The conversation does not fit into {bounds.limit:,} tokens.")
        return self._accept(result.compaction, result.messages)

    async def _run(self, wanted: CompactionRequest, budget: Budget) -> CompactionResult:
        """Try a compaction and charge it to the turn's budget. Raises `StoreError`."""
        await self._turn.begin()
        wanted = replace(wanted, may_summarize=self._may_summarize)
        result = await self._compactor.compact(self._target, wanted)
        for spent in result.paid:
            budget.spend(spent.read_tokens + spent.output_tokens, spent.micro_dollars)
        self._may_summarize = self._may_summarize and not result.summary_failed
        return result

    def _accept(self, compaction: Compaction, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        """Note a compaction that was made, and return the messages under it."""
        had_gap, self._has_gap = self._has_gap, compaction.left_out_from is not None
        self.has_left_out = self.has_left_out or (self._has_gap and not had_gap)
        self._is_compacted = True
        return messages
