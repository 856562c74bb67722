"""A provider whose SDK is imported with the first call, on a thread."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from importlib import import_module
from types import ModuleType

from agent_core.models.contract import CountsTokens, Model, ModelAnswer, ModelRequest, TextDelta


class LateModel:
    """The `Model` of a package whose client module imports a large SDK."""

    def __init__(self, provider: str, module: str, make: Callable[[ModuleType], Model]) -> None:
        """`make` builds the provider from `module`, once that is imported."""
        self._provider = provider
        self._module = module
        self._make = make
        self._model: Model | None = None

    @property
    def provider(self) -> str:
        """The package's name."""
        return self._provider

    def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelAnswer, None]:
        """Make the call; see the contract."""
        return self._model.stream(request) if self._model else self._load_and_stream(request)

    async def check(self, model: str) -> None:
        """Verify key and model with the provider; see the contract."""
        loaded = await self._load()
        await loaded.check(model)

    async def count(self, request: ModelRequest) -> int | None:
        """The input tokens of a request, if the provider counts them; see the contract."""
        loaded = await self._load()
        return await loaded.count(request) if isinstance(loaded, CountsTokens) else None

    async def close(self) -> None:
        """Close connections, if there are any."""
        if self._model:
            await self._model.close()

    async def _load_and_stream(
        self, request: ModelRequest
    ) -> AsyncGenerator[TextDelta | ModelAnswer, None]:
        loaded = await self._load()
        async with aclosing(loaded.stream(request)) as pieces:
            async for piece in pieces:
                yield piece

    async def _load(self) -> Model:
        if self._model is None:
            module = await asyncio.to_thread(import_module, self._module)
            # Several calls may have waited for the import; the first one builds the provider.
            self._model = self._model or self._make(module)
        return self._model
