"""Model calls that nobody waits for, within the quotas of who pays."""

from contextlib import aclosing
from dataclasses import dataclass

from agent_core.agent.quotas.reservations import Quotas
from agent_core.errors import ModelInterrupted
from agent_core.ids import PersonId
from agent_core.models import Model, ModelAnswer, ModelRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundModel:
    """The model that background work calls, normally the cheap one, and the quotas it stays in."""

    model: Model
    name: str
    quotas: Quotas


async def call_in_background(
    model: Model, quotas: Quotas, person_id: PersonId, request: ModelRequest
) -> ModelAnswer:
    """Make one call without showing it, within the quotas of who pays.

    Raises `ModelError`, `QuotaExceeded` and `StoreError`.
    """
    reserved = await quotas.reserve(person_id, request, is_background=True)
    streamed = 0
    try:
        async with aclosing(model.stream(request)) as pieces:
            async for piece in pieces:
                if isinstance(piece, ModelAnswer):
                    reserved.finalize(piece.model, piece.usage)
                    return piece
                streamed += len(piece.text)
    finally:
        reserved.close(streamed=streamed)
    raise ModelInterrupted("the stream ended before the answer did")
