"""A provider that talks to its emulator."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from agent_core.errors import ModelError
from agent_core.models.contract import Model, ModelAnswer, ModelRequest
from agent_core.transcript import Message
from tests.agent_core.models import calls
from tests.agent_core.models.providers import Provider


@dataclass(frozen=True)
class Rig:
    """One provider, the model that it gives, and the emulator behind it."""

    provider: Provider
    model: Model
    api: Any

    def request(self, *messages: Message | str, **options: Any) -> ModelRequest:
        """A request for a model that the emulator knows; see `calls.ask`."""
        return calls.ask(*messages, **{"model": self.provider.model, **options})

    async def ask(self, *messages: Message | str, **options: Any) -> tuple[str, ModelAnswer]:
        """Return the text as it streamed, and the whole answer."""
        return await calls.complete(self.model, self.request(*messages, **options))

    async def refused(self, *messages: Message | str, **options: Any) -> ModelError:
        """Return the error that the call raises."""
        with pytest.raises(ModelError) as caught:
            await self.ask(*messages, **options)
        return caught.value


@asynccontextmanager
async def connected(provider: Provider, api: Any, **options: Any) -> AsyncIterator[Rig]:
    """The provider with these settings, on a running emulator."""
    model = provider.create(api, **options)
    yield Rig(provider, model, api)
    await model.close()
