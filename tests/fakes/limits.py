"""A loop's dependencies without limits: every request fits, and no quota is charged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent_core.agent.budget import Budget
from agent_core.agent.loop.contract import Reservation
from agent_core.models.contract import ModelRequest, Usage
from agent_core.transcript import Message

PRICE = 7
"""Micro-dollars of a call to `fake-1`; other models have no known price."""


class UnboundedWindow:
    """Every request fits, and a refused one cannot be shortened."""

    async def fit(
        self, request: ModelRequest, budget: Budget, *, is_refused: bool = False
    ) -> tuple[Message, ...] | None:
        return None

    async def shorten(self, request: ModelRequest, budget: Budget) -> tuple[Message, ...] | None:
        return None

    def limit_output(self, request: ModelRequest) -> ModelRequest:
        return request

    def learn(self, model: str, taken: Usage) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Unlimited:
    """A reservation without quotas."""

    request: ModelRequest
    used_cheap_model: bool = False

    def finalize(self, model: str, spent: Usage) -> int | None:
        return PRICE if model == "fake-1" else None

    def close(self, *, streamed: int = 0) -> None: ...


async def reserve_nothing(request: ModelRequest, *, cheap: str) -> Reservation:
    return Unlimited(request=request)


async def load_no_images(messages: Sequence[Message]) -> Mapping[str, bytes]:
    return {}
