"""Keeps the requests of one turn within their bounds, at its beginning and between its steps."""

from collections.abc import Awaitable, Callable

from agent_core.budget import Budget
from agent_core.compaction.folding import Folded, Folding, Need, Talk
from agent_core.compaction.measuring import Bounds
from agent_core.errors import ModelOverflow
from agent_core.models.contract import ModelRequest, Usage
from agent_core.models.estimate import estimate_input
from agent_core.state.folds import Fold
from agent_core.transcript import Message

_MOST_PASSES = 2
_REFUSED_PERCENT = 75
"""Of the estimated length of a request that was refused for its length: what the next may be."""
_REGROWTH = 1.1
"""By how much a talk has to grow before a fold that failed is tried again."""


class TurnSpace:
    """The room of one turn; what the loop asks for as `Space`."""

    def __init__(
        self,
        folding: Folding,
        talk: Talk,
        *,
        cap: int | None,
        fold: Fold | None,
        begin: Callable[[], Awaitable[None]],
    ) -> None:
        """`cap` is the person's own, `fold` the one that counts now; `begin` writes down the
        turn, so that what is folded is on disk.
        """
        self._folding = folding
        self._talk = talk
        self._cap = cap
        self._begin = begin
        self._estimated = 0
        self._failed_at = 0.0
        self.fold = fold
        """The fold that counts for the talk's next call."""
        self.is_unsure = False
        """True while a fold is being made: it may stand on disk and not in `fold`."""

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
        else:
            tokens = await measures.measure(session_id, request, estimated, bounds.threshold)
            below = bounds.threshold
            if tokens <= below or self._was_in_vain(tokens, bounds):
                return None
        need = Need(
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

    def _was_in_vain(self, tokens: int, bounds: Bounds) -> bool:
        """True if there is still room, and folding brought nothing a moment ago."""
        return tokens <= bounds.limit and tokens < self._failed_at * _REGROWTH

    async def _fold(self, need: Need, budget: Budget, bounds: Bounds) -> tuple[Message, ...] | None:
        await self._begin()
        self.is_unsure = True
        folded: Folded | None = None
        for _ in range(_MOST_PASSES):
            folded = await self._folding.fold(self._talk, need)
            if folded:
                break
        self.is_unsure = False
        if folded is None:
            self._failed_at = float(need.tokens)
            if need.reason == "near" and need.tokens <= bounds.limit:
                return None
            raise ModelOverflow("The talk is too long, and can't be made shorter.")
        self.fold = folded.fold
        for spent in folded.paid:
            tokens = spent.input_tokens + spent.cache_read_tokens + spent.cache_write_tokens
            budget.spend(tokens + spent.output_tokens, spent.micro_dollars)
        if folded.fold.tokens_after > bounds.limit:
            raise ModelOverflow(f"The talk does not fit into {bounds.limit:,} tokens.")
        return folded.messages
