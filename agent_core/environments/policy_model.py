"""A model whose answers a policy gives, one step at a time."""

import asyncio
from collections.abc import AsyncGenerator

from agent_core.models.contract import ModelAnswer, ModelRequest, TextDelta


class PolicyModel:
    """A `Model` that waits for the policy with each request."""

    provider = "policy"

    def __init__(self) -> None:
        self.requests: asyncio.Queue[ModelRequest] = asyncio.Queue()
        """The requests that the policy has not seen yet."""
        self.answers: asyncio.Queue[ModelAnswer] = asyncio.Queue()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelAnswer, None]:
        """Pass the request to the policy, and wait for its answer; see the contract."""
        self.requests.put_nowait(request)
        answer = await self.answers.get()
        if text := answer.message.text:
            yield TextDelta(text=text)
        yield answer

    async def check(self, model: str) -> None:
        """Accept every model."""

    async def close(self) -> None:
        """Do nothing."""
