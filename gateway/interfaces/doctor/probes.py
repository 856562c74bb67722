"""Live checks of keys and tokens, with one request to their provider."""

import asyncio

from adapters.abilities import Bot, CanIdentify
from adapters.contract import ChatAdapter
from adapters.errors import AdapterError
from agent_core.errors import ModelError
from gateway.bootstrap import factories
from gateway.bootstrap.external_plugins import ExternalPlugins
from gateway.config import Settings
from gateway.errors import StartError

_PATIENCE = 30.0
"""Seconds that a check may take."""


def check_model(settings: Settings) -> None:
    """Ask the provider for the model.

    Raises `StartError` if the key or the name is wrong, or if the provider does not answer.
    """
    asyncio.run(_check_model(settings))


async def _check_model(settings: Settings) -> None:
    model = factories.load_model(settings, ExternalPlugins(settings))
    try:
        async with asyncio.timeout(_PATIENCE):
            await model.check(settings.model.name)
    except ModelError as error:
        raise StartError(str(error)) from error
    except TimeoutError as error:
        raise StartError(f"The model gave no answer within {_PATIENCE:g} s.") from error
    finally:
        await model.close()


def check_platform(settings: Settings, name: str) -> Bot:
    """Sign in to a platform without receiving anything, and return the bot.

    Raises `StartError` if a token is missing or refused, or the platform can't be reached.
    """
    adapters = factories.load_adapters(settings)
    if name not in adapters:
        raise StartError(f"{name.capitalize()} has no token.")
    return asyncio.run(_identify(adapters[name], name))


async def _identify(adapter: ChatAdapter, name: str) -> Bot:
    if not isinstance(adapter, CanIdentify):
        raise StartError(f"The tokens of {name.capitalize()} can only be checked by a start.")
    try:
        async with asyncio.timeout(_PATIENCE):
            return await adapter.identify()
    except AdapterError as error:
        raise StartError(str(error)) from error
    except TimeoutError as error:
        raise StartError(
            f"{name.capitalize()} gave no answer within {_PATIENCE:g} s. Check the network."
        ) from error
