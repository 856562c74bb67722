"""The provider before its SDK is loaded: it imports the SDK on a thread when it needs it.

The SDK has 3,000 modules, mostly types of services that Talaria does not use. Their import takes
seconds, so it begins once the gateway has started, or with a call before that. Commands that make
no call never load it.
"""

import asyncio
import gc
from collections.abc import AsyncGenerator
from contextlib import aclosing
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, cast
from urllib.parse import quote

import aiohttp

from agent_core.errors import ModelDenied
from agent_core.models.anthropic.translate import PROVIDER
from agent_core.models.contract import ModelAnswer, ModelRequest, TextDelta
from agent_core.models.http import parse_json, read_body
from agent_core.models.profiles import ModelProfile, Profiles
from agent_core.models.settings import AnthropicSettings

if TYPE_CHECKING:
    from agent_core.models.anthropic.client import AnthropicModel

_VERSION = "2026-10-21"
"""The API version of requests for a model's description."""
_DESCRIPTION_SECONDS = 3.0


def create(settings: AnthropicSettings, profiles: Profiles | None = None) -> "LateModel":
    """Create the provider; what it learns of models is noted in `profiles`.

    Raises `ModuleNotFoundError` if the SDK is not installed.
    """
    if find_spec("anthropic") is None:
        raise ModuleNotFoundError("No module named 'anthropic'", name="anthropic")
    return LateModel(settings, profiles or Profiles())


class LateModel:
    """The `Model` for Anthropic, which loads the SDK on `prepare` or with the first call."""

    def __init__(self, settings: AnthropicSettings, profiles: Profiles) -> None:
        self._settings = settings
        self._profiles = profiles
        self._loading: asyncio.Future[AnthropicModel] | None = None
        self._model: AnthropicModel | None = None

    @property
    def provider(self) -> str:
        """The package's name."""
        return PROVIDER

    def profile(self, model: str) -> ModelProfile:
        """Return what is known of a model; see the contract."""
        return self._profiles.find(self._settings.base_url.rstrip("/"), model)

    def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelAnswer, None]:
        """Make the call; see the contract."""
        return self._model.stream(request) if self._model else self._load_and_stream(request)

    async def check(self, model: str) -> None:
        """Request the model's description, which is free; see the contract.

        If there is no description, the SDK is loaded to find out why.
        """
        if self._model is None and await _has_description(self._settings, model):
            return
        await (await self._load()).check(model)

    def prepare(self) -> None:
        """Begin to load the SDK; see the contract."""
        if self._model is None:
            self._begin()

    async def count(self, request: ModelRequest) -> int:
        """Return the input tokens of a request, as the API counts them; see the contract."""
        return await (await self._load()).count(request)

    async def submit(self, request: ModelRequest, mark: str) -> str:
        """Submit a request as a batch; see the contract."""
        return await (await self._load()).submit(request, mark)

    async def find_batch(self, model: str, mark: str, since: int) -> str | None:
        """Find the batch of a request; see the contract."""
        return await (await self._load()).find_batch(model, mark, since)

    async def collect(self, model: str, batch_id: str, mark: str) -> ModelAnswer | None:
        """Return the answer of a batch; see the contract."""
        return await (await self._load()).collect(model, batch_id, mark)

    async def cancel(self, model: str, batch_id: str) -> None:
        """Cancel a batch; see the contract."""
        await (await self._load()).cancel(model, batch_id)

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

    async def _load(self) -> "AnthropicModel":
        """Load the SDK once, for all calls that wait for it. Raises `ModelDenied`."""
        if self._model is None:
            try:
                # If one call is cancelled, the import continues for the others.
                return await asyncio.shield(self._begin())
            except ImportError as error:
                raise ModelDenied(f"Anthropic's SDK can't be imported: {error}") from error
        return self._model

    def _begin(self) -> "asyncio.Future[AnthropicModel]":
        """Begin to load the SDK, unless that is under way; load it again after a failure."""
        if self._loading is None:
            loop = asyncio.get_running_loop()
            self._loading = loop.run_in_executor(None, _connect, self._settings, self._profiles)
            self._loading.add_done_callback(self._keep)
        return self._loading

    def _keep(self, loading: "asyncio.Future[AnthropicModel]") -> None:
        """Keep the loaded model. This also retrieves a failure, so asyncio does not log it.

        Runs a moment after the end. A call in between takes the same end: a second model would
        open connections that nobody closes.
        """
        if loading.cancelled() or loading.exception():
            self._loading = None
        else:
            self._model = loading.result()


def _connect(settings: AnthropicSettings, profiles: Profiles) -> "AnthropicModel":
    module = import_module(f"{__package__}.client")
    gc.freeze()  # a collection in a quiet moment then skips the SDK's objects, which all stay
    return cast("AnthropicModel", module.connect(settings, profiles))


async def _has_description(settings: AnthropicSettings, model: str) -> bool:
    """Return whether the API describes the model to this key."""
    address = f"{settings.base_url.rstrip('/')}/v1/models/{quote(model, safe='')}"
    headers = {"Authorization": f"Bearer {settings.api_key}", "anthropic-version": _VERSION}
    timeout = aiohttp.ClientTimeout(total=_DESCRIPTION_SECONDS)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout, trust_env=True) as session,
            session.get(address, headers=headers) as response,
        ):
            found = parse_json(await read_body(response)) if response.status == 200 else None
            return isinstance(found, dict) and "id" in found
    except (aiohttp.ClientError, OSError, TimeoutError, ValueError):
        return False
