"""Live checks of keys and tokens, with one request to their provider."""

import asyncio
from collections.abc import Callable

from adapters.abilities import Bot, CanIdentify, CanLink
from adapters.contract import ChatAdapter
from adapters.errors import AdapterError, NoProgram, NotLinked, Unreachable
from adapters.registry import list_declared
from agent_core.errors import (
    ModelDenied,
    ModelError,
    ModelMisplaced,
    ModelUnknown,
    ModelUnreachable,
)
from agent_core.models import listing
from agent_core.models.catalog import is_everyday
from agent_core.models.settings import AnthropicSettings, OpenAISettings
from gateway.app import factories
from gateway.app.external_plugins import ExternalPlugins
from gateway.app.settings import Settings
from gateway.errors import StartError

_PATIENCE = 30.0
"""Seconds that a check may take."""
_MOST_NAMES = 8
"""Models of a provider that are named; OpenAI has some eighty."""
_BASE_URLS = {"anthropic": "anthropic_base_url", "openai": "openai_base_url"}
"""For each provider of Talaria: the secret that names another server."""


class MustLink(StartError):
    """The platform is there, but the account has to be linked first."""


class NoToken(StartError):
    """Another thing than a token is wrong, so no setup repairs it; the text says what to do."""


class NoSuchModel(StartError):
    """The provider takes the key, but has no model of that name."""


def check_model(settings: Settings, name: str = "") -> None:
    """Ask the provider for a model; without a name, for the main one.

    Raises `NoSuchModel`, or another `StartError` if the key is wrong or the provider is silent.
    """
    asyncio.run(_check_model(settings, name or settings.model.name))


async def _check_model(settings: Settings, name: str) -> None:
    model = factories.load_model(settings, ExternalPlugins(settings))
    try:
        async with asyncio.timeout(_PATIENCE):
            await model.check(name)
    except ModelError as error:
        kind = NoSuchModel if isinstance(error, ModelUnknown) else StartError
        raise kind(f"{error} {_advise(error, name, settings)}".rstrip()) from error
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


def list_models(settings: Settings) -> tuple[str, ...]:
    """Return the newest models that answer chats; empty if the provider does not list them."""
    made = factories.make_provider_settings(settings.model.provider, settings)
    if not isinstance(made, AnthropicSettings | OpenAISettings):
        return ()
    names = asyncio.run(listing.list_models(made))
    if len(names) > _MOST_NAMES:
        names = tuple(one for one in names if is_everyday(one))
    return names[:_MOST_NAMES]


def check_platform(settings: Settings, name: str) -> Bot:
    """Sign in to a platform without receiving anything, and return the bot.

    Raises `StartError` if a token is missing or refused, and `NoToken` if something else is wrong.
    """
    adapters, title = factories.load_adapters(settings), list_declared()[name].title
    if name not in adapters:
        raise StartError(f"{title} has no token; set {list_declared()[name].variables[0].name}.")
    return asyncio.run(_identify(adapters[name], title))


def link_platform(settings: Settings, name: str, show: Callable[[str], None]) -> None:
    """Link an account by a code that `show` takes. Raises `StartError`."""
    adapter = factories.load_adapters(settings)[name]
    if isinstance(adapter, CanLink):
        try:
            asyncio.run(adapter.link(show))
        except AdapterError as error:
            raise StartError(str(error)) from error


async def _identify(adapter: ChatAdapter, title: str) -> Bot:
    if not isinstance(adapter, CanIdentify):
        raise StartError(f"The tokens of {title} can only be checked by a start.")
    try:
        async with asyncio.timeout(_PATIENCE):
            return await adapter.identify()
    except NotLinked as error:
        raise MustLink(str(error)) from error
    except NoProgram as error:
        raise NoToken(str(error)) from error
    except Unreachable as error:
        raise NoToken(f"{str(error).rstrip('.')}. Check the network, and try again.") from error
    except AdapterError as error:
        raise StartError(str(error)) from error
    except TimeoutError as error:
        raise NoToken(
            f"{title} gave no answer within {_PATIENCE:g} s. Check the network."
        ) from error
