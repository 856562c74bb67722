"""Keeps the requests of one turn within their bounds, at its beginning and between its steps."""

from collections.abc import Awaitable, Callable

from agent_core.agent.compaction.compactor import CompactionRequest, CompactionTarget, Compactor
from agent_core.agent.compaction.token_meter import ContextBounds
from agent_core.agent.loop.guards import Budget
from agent_core.errors import ModelOverflow
from agent_core.models.contract import ModelRequest, Usage
from agent_core.models.limits import estimate_input
from agent_core.state.conversations.messages import Shelf
from agent_core.state.people.people import Person
from agent_core.transcript import Message

_REFUSED_PERCENT = 75
"""Of the estimated length of a request that was refused for its length: what the next may be."""
_REGROWTH = 1.1
"""By how much a talk has to grow before a fold that failed is tried again."""


class TurnContextWindow:
    """The room of one turn; what the loop asks for as `Space`."""

    def __init__(
        self,
        folding: Compactor,
        shelf: Shelf,
        payer: Person,
        begin: Callable[[], Awaitable[None]],
    ) -> None:
        """`shelf` is where the turn's messages go; `begin` writes down the turn, so that what
        is folded is on disk.
        """
        self._folding = folding
        self._talk = CompactionTarget(
            session_id=shelf.session_id,
            owner_id=shelf.person_id,
            payer_id=payer.id,
            turn_id=shelf.turn_id,
        )
        self._cap = payer.context_cap
        self._begin = begin
        self._estimated = 0
        self._vain = 0
        """How long the talk was when folding did not bring it below the threshold."""

    async def fit(
        self, request: ModelRequest, budget: Budget, *, is_refused: bool = False
    ) -> tuple[Message, ...] | None:
        """What of the transcript to send instead, because the request is too long, or was
        refused for it; None where it may be made as it is.

        Raises `ModelOverflow` where it can't be made short enough, and `StoreError`.
        """
        measures = self._folding.measures
        bounds = measures.bounds(request, self._cap)
        self._estimated = estimated = estimate_input(request)
        session_id = self._talk.session_id
        if is_refused:
            tokens = measures.estimate(session_id, request.model, estimated)
            below = min(bounds.threshold, tokens * _REFUSED_PERCENT // 100)
            measures.refuse(request.model, tokens)
        else:
            tokens = await measures.measure(session_id, request, estimated, bounds.threshold)
            below = bounds.threshold
            if tokens <= below or self._was_in_vain(tokens, bounds):
                return None
        need = CompactionRequest(
            reason="overflow" if is_refused else "near",
            tokens=tokens,
            estimated=estimated,
            threshold=below,
            shown=request.images.keys(),
        )
        return await self._fold(need, budget, bounds)

    def learn(self, model: str, taken: Usage) -> None:
        """The request that was measured last was made by a model, and took this."""
        self._folding.measures.learn(self._talk.session_id, model, self._estimated, taken)

    def _was_in_vain(self, tokens: int, bounds: ContextBounds) -> bool:
        """True if there is still room, and folding was of no use a moment ago."""
        return tokens <= bounds.limit and tokens < self._vain * _REGROWTH

    async def _fold(
        self, need: CompactionRequest, budget: Budget, bounds: ContextBounds
    ) -> tuple[Message, ...] | None:
        await self._begin()
        folded = await self._folding.fold(self._talk, need)
        if folded is None and need.reason == "overflow":
            folded = await self._folding.fold(self._talk, need)
        if folded is None:
            self._vain = need.tokens
            if need.reason == "near" and need.tokens <= bounds.limit:
                return None
            raise ModelOverflow("The talk is too long, and can't be made shorter.")
        for spent in folded.paid:
            tokens = spent.input_tokens + spent.cache_read_tokens + spent.cache_write_tokens
            budget.spend(tokens + spent.output_tokens, spent.micro_dollars)
        after = folded.fold.tokens_after
        self._vain = after if after > need.threshold else 0
        if after > bounds.limit:
            raise ModelOverflow(f"The talk does not fit into {bounds.limit:,} tokens.")
        return folded.messages
