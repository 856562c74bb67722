"""Has a model sum up what is folded: the cheap one, else the one that talks; bounded in time."""

import asyncio
import logging
from contextlib import aclosing
from dataclasses import dataclass

from agent_core.ceilings.reservations import Ceilings
from agent_core.compaction import telling
from agent_core.errors import ModelCut, ModelError
from agent_core.ids import PersonId
from agent_core.models.billing import bill
from agent_core.models.contract import Model, ModelAnswer, ModelRequest
from agent_core.models.estimate import estimate_messages
from agent_core.state.usage import Spent
from agent_core.transcript import Message, mend_text, user_message

PURPOSE = "compaction"
"""What such calls stand under in `usage`."""
_SECONDS = 90.0
_MOST_PIECES = 8
"""Calls for one summary. Of a longer part of a talk the pieces in the middle are left out."""
_LEFT_OUT = "[a long part of the talk is left out here]"
_TOKENS_A_WORD = 2
"""More than in most languages, so that what is asked for fits."""

_CHARACTERS = 3
"""Of a token, on the careful side; whoever reads little reads the talk in more pieces."""
_LEAST_PIECE = 20_000
_THOUGHT = 1000
"""Tokens that a model may think before it writes."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is to be summed up, in at most so many tokens; `earlier` is the summary before.

    No call is shown more than `room` tokens of it, about. `payer_id` pays; `hint` is what the
    person wants kept above all.
    """

    messages: tuple[Message, ...]
    earlier: str
    tokens: int
    room: int
    payer_id: PersonId
    hint: str = ""


class Summaries:
    """Makes summaries."""

    def __init__(self, *, model: Model, names: tuple[str, ...], ceilings: Ceilings) -> None:
        """`names` are the models to ask, the cheap one first."""
        self._model = model
        self._names = tuple(dict.fromkeys(names))
        self._ceilings = ceilings

    async def give(self, order: Order, paid: list[Spent]) -> str:
        """A summary; what its calls cost is added to `paid`, also where it fails.

        Raises `ModelError`, `CeilingReached`, `StoreError`, and `TimeoutError`.
        """
        most = min(telling.PIECE, max(order.room * _CHARACTERS, _LEAST_PIECE))
        pieces = list(telling.cut(telling.tell(order.messages), most))
        if len(pieces) > _MOST_PIECES:
            half = _MOST_PIECES // 2
            pieces = [*pieces[:half], [_LEFT_OUT, *pieces[-half]], *pieces[1 - half :]]
        told = order.earlier
        async with asyncio.timeout(_SECONDS):
            for piece in pieces:
                told = await self._sum_up(telling.ask(told, piece, order.hint), order, paid)
        return told

    async def _sum_up(self, talk: str, order: Order, paid: list[Spent]) -> str:
        for place, name in enumerate(self._names, start=1):
            try:
                answer = await self._ask(name, talk, order, paid)
            except ModelError as error:
                if place == len(self._names):
                    raise
                _log.warning("%s gave no summary (%s), the next model is asked", name, error)
            else:
                return _bound(answer, order.tokens)
        raise ModelCut("there is no model to ask for a summary")

    async def _ask(self, name: str, talk: str, order: Order, paid: list[Spent]) -> ModelAnswer:
        request = ModelRequest(
            model=name,
            system=telling.instruct(order.tokens // _TOKENS_A_WORD),
            tools=(),
            messages=(user_message(talk),),
            max_output_tokens=order.tokens * 2 + _THOUGHT,
        )
        reserved = await self._ceilings.reserve(order.payer_id, request, is_background=True)
        streamed = 0
        try:
            async with aclosing(self._model.stream(request)) as pieces:
                async for piece in pieces:
                    if isinstance(piece, ModelAnswer):
                        reserved.settle(piece.model, piece.usage)
                        cost = self._ceilings.prices.cost
                        paid.append(bill(piece.model, piece.usage, PURPOSE, cost))
                        if piece.stop not in ("end", "length") or not piece.message.text.strip():
                            raise ModelCut(f"the summary ended with {piece.stop!r}")
                        return piece
                    streamed += len(piece.text)
        finally:
            reserved.close(streamed=streamed)
        raise ModelCut("the model gave no summary")


def _bound(answer: ModelAnswer, tokens: int) -> str:
    """The words of an answer, cut at what a summary may be long."""
    text = mend_text(answer.message.text).strip()
    size = estimate_messages((user_message(text),), ())
    if size <= tokens:
        return text
    return text[: len(text) * tokens // size].rstrip() + " …"
