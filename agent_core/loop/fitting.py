"""Who keeps a turn's requests within what a model can read; and nobody, where there is no need."""

from typing import Protocol

from agent_core.budget import Budget
from agent_core.models.contract import ModelRequest, Usage
from agent_core.transcript import Message


class Space(Protocol):
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


class Boundless:
    """The room of a turn that nobody measures."""

    async def fit(
        self, request: ModelRequest, budget: Budget, *, is_refused: bool = False
    ) -> tuple[Message, ...] | None:
        """Nothing is too long, and what is refused can't be helped."""
        return None

    def learn(self, model: str, taken: Usage) -> None:
        """Nothing is kept."""
