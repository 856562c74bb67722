"""Live checks of keys and tokens, with one request to their provider."""

import asyncio

from adapters.abilities import Bot, CanIdentify
from adapters.contract import ChatAdapter
from adapters.errors import AdapterError, Unreachable
from agent_core.errors import (
    ModelDenied,
    ModelError,
    ModelMisplaced,
    ModelUnknown,
    ModelUnreachable,
)
from gateway.app import factories
from gateway.app.external_plugins import ExternalPlugins
from gateway.app.settings import Settings
from gateway.errors import StartError

_PATIENCE = 30.0
"""Seconds that a check may take."""
_BASE_URLS = {"anthropic": "anthropic_base_url", "openai": "openai_base_url"}
"""For each provider of Talaria: the secret that names another server."""


def check_model(settings: Settings, name: str = "") -> None:
    """Ask the provider for a model; without a name, for the main one.

    Raises `StartError` if the key or the name is wrong, or if the provider does not answer.
    """
    asyncio.run(_check_model(settings, name or settings.model.name))


async def _check_model(settings: Settings, name: str) -> None:
    model = factories.load_model(settings, ExternalPlugins(settings))
    try:
        async with asyncio.timeout(_PATIENCE):
            await model.check(name)
    except ModelError as error:
        raise StartError(f"{error} {_advise(error, name, settings)}".rstrip()) from error
    except TimeoutError as error:
        text = f"The model gave no answer within {_PATIENCE:g} s. {_advise(error, name, settings)}"
        raise StartError(text.rstrip()) from error
    finally:
        await model.close()


def _advise(error: ModelError | TimeoutError, model: str, settings: Settings) -> str:
    """Return what to do about an error of the main model, and name the setting that may cause it.

    Empty for other models, which may be of another provider.
    """
    if model != settings.model.name:
        return ""
    name = settings.model.provider
    if isinstance(error, ModelDenied):
        return f"Check {name.upper()}_API_KEY." if name in _BASE_URLS else "Check its key."
    if isinstance(error, ModelMisplaced):
        return f"Correct {_BASE_URLS[name].upper()}." if name in _BASE_URLS else ""
    if isinstance(error, ModelUnknown):
        return "Choose another model, with --model or model.name."
    if not isinstance(error, ModelUnreachable | TimeoutError):
        return ""
    if name in _BASE_URLS and getattr(settings.secrets, _BASE_URLS[name]):
        return f"Check that {_BASE_URLS[name].upper()} is right and its server runs."
    return "Check the network, and try again."


def check_platform(settings: Settings, name: str) -> Bot:
    """Sign in to a platform without receiving anything, and return the bot.

    Raises `StartError` if a token is missing or refused, or the platform can't be reached.
    """
    adapters = factories.load_adapters(settings)
    if name not in adapters:
        raise StartError(f"{name.capitalize()} has no token; set {name.upper()}_BOT_TOKEN.")
    return asyncio.run(_identify(adapters[name], name))


async def _identify(adapter: ChatAdapter, name: str) -> Bot:
    if not isinstance(adapter, CanIdentify):
        raise StartError(f"The tokens of {name.capitalize()} can only be checked by a start.")
    try:
        async with asyncio.timeout(_PATIENCE):
            return await adapter.identify()
    except Unreachable as error:
        raise StartError(f"{str(error).rstrip('.')}. Check the network, and try again.") from error
    except AdapterError as error:
        raise StartError(str(error)) from error
    except TimeoutError as error:
        raise StartError(
            f"{name.capitalize()} gave no answer within {_PATIENCE:g} s. Check the network."
        ) from error
