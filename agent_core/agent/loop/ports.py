"""What is set aside for a model call before it is made, and what stands for it where nothing is."""

from dataclasses import dataclass
from typing import Protocol

from agent_core.agent.loop.guards import Budget
from agent_core.models.contract import ModelRequest, Usage
from agent_core.transcript import Message


class ContextWindow(Protocol):
    """The room that one turn has for its requests; asked before every call."""

    async def fit(
        self, request: ModelRequest, budget: Budget, *, is_refused: bool = False
    ) -> tuple[Message, ...] | None:
        """What to send of the transcript instead, as it is recorded by now; None for no change.

        `is_refused` says that the provider found the request too long. What it takes to make
        it shorter is spent of `budget`. Raises `ModelOverflow` where that can't be done, and
        what its store raises.
        """

    def learn(self, model: str, taken: Usage) -> None:
        """The request that was asked about last was answered by `model`, and took this."""


class UnboundedWindow:
    """The room of a turn that nobody measures."""

    async def fit(
        self, request: ModelRequest, budget: Budget, *, is_refused: bool = False
    ) -> tuple[Message, ...] | None:
        """Nothing is too long, and what is refused can't be helped."""
        return None

    def learn(self, model: str, taken: Usage) -> None:
        """Nothing is kept."""


class Reservation(Protocol):
    """What is set aside for one model call; settled or closed, always."""

    @property
    def request(self) -> ModelRequest:
        """What to ask: the request that was made, or the same of the cheap model."""

    @property
    def used_cheap_model(self) -> bool:
        """True where the cheap model is asked because a ceiling is near."""

    def finalize(self, model: str, spent: Usage) -> None:
        """The call took this."""

    def close(self, *, streamed: int = 0) -> None:
        """The call is over; `streamed` characters of it came, if it was not settled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unlimited:
    """The reservation of a house without ceilings."""

    request: ModelRequest
    used_cheap_model: bool = False

    def finalize(self, model: str, spent: Usage) -> None:
        """Nothing was set aside."""

    def close(self, *, streamed: int = 0) -> None:
        """Nothing was set aside."""


async def reserve_nothing(request: ModelRequest, *, cheap: str) -> Reservation:
    """Where there are no ceilings, every call is made as it stands."""
    return Unlimited(request=request)


class Reserve(Protocol):
    """Sets aside what a call may take, before it is made."""

    async def __call__(self, request: ModelRequest, *, cheap: str) -> Reservation:
        """May wait for others' calls. Raises `QuotaExceeded` and `StoreError`."""
