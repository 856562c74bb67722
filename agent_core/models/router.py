"""Choose models, and route each request to the provider in its model's name."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace

from agent_core.errors import ModelRejected
from agent_core.models.contract import (
    Batches,
    CountsTokens,
    HasProfiles,
    LoadsModels,
    Model,
    ModelAnswer,
    ModelRequest,
    Prepares,
    TextDelta,
)
from agent_core.models.profiles import ModelProfile

PROVIDERS = ("anthropic", "openai", "scripted")
"""The names of the provider packages, which may be prefixes of a model's name."""


def split_name(name: str) -> tuple[str, str]:
    """Split `openai:gpt-5` into provider and model.

    For a name without a provider, such as `llama3:latest`, the provider is "".
    """
    provider, colon, model = name.partition(":")
    return (provider, model) if colon and provider in PROVIDERS and model else ("", name)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPolicy:
    """The models to call.

    `fallbacks` answer while `model` can't, `cheap` when a quota is nearly exhausted. `patience` is
    how long a turn waits while no model answers, in seconds; None if it never waits.
    """

    model: str
    fallbacks: tuple[str, ...] = ()
    cheap: str = ""
    patience: float | None = 1800.0
    max_output_tokens: int = 8000


class ModelRouter:
    """The `Model` over several providers.

    Requests carry the configured name, with or without a provider. A provider sees only names
    without a provider. So it recognizes raw parts as its own by provider and model.
    """

    def __init__(self, providers: Mapping[str, Model], *, default: str) -> None:
        """`default` is the provider for names without a provider."""
        self._providers = dict(providers)
        self._default = default

    @property
    def provider(self) -> str:
        """The name of the default provider's package."""
        return self._default

    def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelAnswer, None]:
        """Make the call; see the contract."""
        provider, model = self._find(request.model)
        if model != request.model:
            request = replace(request, model=model)
        return provider.stream(request)

    async def check(self, model: str) -> None:
        """Verify key and model with the provider; see the contract."""
        provider, plain = self._find(model)
        await provider.check(plain)

    def prepare(self) -> None:
        """Begin to load the code for calls of the default provider; see the contract."""
        provider = self._providers[self._default]
        if isinstance(provider, Prepares):
            provider.prepare()

    def profile(self, model: str) -> ModelProfile:
        """Return what is known of a model; nothing is of a provider without profiles."""
        provider, plain = self._find(model)
        if not isinstance(provider, HasProfiles):
            return ModelProfile(server="", model=plain)
        return provider.profile(plain)

    def is_loaded(self, model: str) -> bool:
        """Return whether a model has answered already; see the contract."""
        provider, plain = self._find(model)
        return not isinstance(provider, LoadsModels) or provider.is_loaded(plain)

    async def keep_warm(self, first: ModelRequest | None) -> None:
        """Let the server of the default provider read the newest conversation; see the contract."""
        provider = self._providers[self._default]
        if isinstance(provider, LoadsModels):
            if first:
                first = replace(first, model=split_name(first.model)[1])
            await provider.keep_warm(first)

    def forget(self) -> None:
        """Forget the newest conversations; see the contract."""
        for provider in self._providers.values():
            if isinstance(provider, LoadsModels):
                provider.forget()

    async def count(self, request: ModelRequest) -> int | None:
        """Return the input tokens of a request, if its provider counts them; see the contract."""
        provider, model = self._find(request.model)
        if not isinstance(provider, CountsTokens):
            return None
        return await provider.count(replace(request, model=model))

    async def submit(self, request: ModelRequest, mark: str) -> str | None:
        """Submit a request, if its provider supports batches; see the contract."""
        provider, model = self._find(request.model)
        if not isinstance(provider, Batches):
            return None
        return await provider.submit(replace(request, model=model), mark)

    async def find_batch(self, model: str, mark: str, since: int) -> str | None:
        """Find the batch of a request; see the contract."""
        provider, plain = self._find(model)
        if not isinstance(provider, Batches):
            return None
        return await provider.find_batch(plain, mark, since)

    async def collect(self, model: str, batch_id: str, mark: str) -> ModelAnswer | None:
        """Return the answer of a batch; see the contract."""
        provider, plain = self._find(model)
        if not isinstance(provider, Batches):
            raise ModelRejected(f"{plain} no longer takes batches.")
        return await provider.collect(plain, batch_id, mark)

    async def cancel(self, model: str, batch_id: str) -> None:
        """Cancel a batch; see the contract."""
        provider, plain = self._find(model)
        if isinstance(provider, Batches):
            await provider.cancel(plain, batch_id)

    async def close(self) -> None:
        """Close the connections of every provider."""
        async with AsyncExitStack() as stack:  # closes the others, too, if one fails
            for provider in self._providers.values():
                stack.push_async_callback(provider.close)

    def _find(self, name: str) -> tuple[Model, str]:
        provider, model = split_name(name)
        return self._providers[provider or self._default], model
