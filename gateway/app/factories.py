"""Factories for the model, the platforms, memory and the agent, as the settings say."""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

from adapters.console.settings import ConsoleSettings
from adapters.contract import ChatAdapter
from adapters.registry import list_declared, make_settings
from agent_core.agent.agent import Agent
from agent_core.agent.compaction.compactor import Compactor
from agent_core.agent.compaction.idle import IdleCompactor
from agent_core.agent.compaction.summaries import Summarizer
from agent_core.agent.compaction.token_meter import ContextRules, TokenMeter
from agent_core.agent.prompt.context_files import ContextFolder
from agent_core.agent.prompt.prompt_cache import PromptCache
from agent_core.agent.prompt.soul_file import ensure_soul
from agent_core.agent.quotas.balance import DailyLimit
from agent_core.agent.quotas.reservations import QuotaRules, Quotas
from agent_core.agent.review.triggers import ReviewRules
from agent_core.errors import (
    ModelDenied,
    ModelError,
    ModelMisplaced,
    ModelUnknown,
    name_installation,
)
from agent_core.memory.archive.conclusions import LocalUserModel, withdraw_fallen
from agent_core.memory.external.client import ExternalMemory, ExternalMemoryOptions
from agent_core.memory.external.contact import ProviderConnection, ProviderHealth, Pseudonyms
from agent_core.memory.shared import SharedMemory
from agent_core.memory.store import MemoryLimits, MemoryStore
from agent_core.models.contract import Model
from agent_core.models.local.queued_model import QUIET, QueuedModel
from agent_core.models.profiles import Profiles
from agent_core.models.router import ModelRouter
from agent_core.models.settings import ANTHROPIC, OPENAI, AnthropicSettings, OpenAISettings
from agent_core.money import count_micro_dollars
from agent_core.skills.catalog import SkillCatalog
from agent_core.skills.tools.directory import SkillDirectory
from agent_core.state.engine.connection import Observer
from agent_core.state.engine.database import Database, now
from agent_core.tools.web.catalog import WebOptions
from gateway.app import plugins
from gateway.app.external_plugins import ExternalPlugins
from gateway.app.settings import Settings
from gateway.app.timings import Timings
from gateway.errors import StartError
from gateway.home import CONSOLE_SOCKET, DATABASE, describe_unwritable, make_home
from gateway.inbound.api_platform import ApiPlatform
from gateway.people.admission import API_PLATFORM, LOCAL_PLATFORM
from gateway.turns.lanes import Lanes

_log = logging.getLogger(__name__)

_MODEL_CHECK = 60.0
"""Seconds to confirm key and model before start-up continues, with the import of an SDK.

A small or busy machine imports for many seconds; a provider gets less, by a limit of its client.
"""


async def open_database(home: Path, observe: Observer | None, timings: Timings) -> Database:
    """Open the home's database, creating it if it is missing.

    Raises `StartError` and `StoreError`.
    """
    make_home(home)
    try:
        await ensure_soul(home)
    except OSError as error:
        raise StartError(describe_unwritable(home, error)) from error
    path, pause = home / DATABASE, timings.store_retry
    return await Database.open(path, observe=observe, retry_pause=pause)


def load_model(
    settings: Settings,
    external: ExternalPlugins,
    profiles: Profiles | None = None,
    quiet: float = QUIET,
) -> Model:
    """Load the providers of all configured models; a plug-in may provide one.

    They note in `profiles` what they learn of models; None if it ends with the process. Background
    calls to a server of this machine wait until nobody has written for `quiet` seconds.

    Raises `StartError` if a provider's SDK is missing, and `ValueError` on an invalid setting.
    """
    model = settings.model
    providers = {
        name: external.load_model(name) or _load_provider(name, settings, profiles)
        for name in model.providers
    }
    if "openai" in providers and settings.is_model_local:
        at_once = model.local_at_once
        providers["openai"] = QueuedModel(providers["openai"], at_once=at_once, quiet=quiet)
    return ModelRouter(providers, default=model.provider)


def _load_provider(name: str, settings: Settings, profiles: Profiles | None) -> Model:
    try:
        return plugins.load_model(name, make_provider_settings(name, settings), profiles)
    except plugins.UnknownPlug as error:
        raise StartError(f"{error} A plug-in that has it must be in plugins.enabled.") from error
    except ModuleNotFoundError as error:
        raise StartError(
            f"The models of {name} need its SDK, which is not installed ({error});"
            f" run {name_installation(name)}"
        ) from error


def make_provider_settings(name: str, settings: Settings) -> object:
    """Return the settings of a provider's own class; None if it has none."""
    secrets, model = settings.secrets, settings.model
    if name == "anthropic":
        return AnthropicSettings(
            api_key=secrets.anthropic_api_key or "",
            base_url=secrets.anthropic_base_url or ANTHROPIC,
            timeout=model.timeout,
            cache_ttl=model.cache_ttl,
        )
    if name == "openai":
        return OpenAISettings(
            api_key=secrets.openai_api_key or "",
            base_url=secrets.openai_base_url or OPENAI,
            timeout=settings.local_timeout if settings.is_model_local else model.timeout,
        )
    return None


async def check_model(model: Model, settings: Settings) -> None:
    """Check key and model name at start; an outage of the provider does not prevent the start."""
    try:
        async with asyncio.timeout(_MODEL_CHECK):
            for name in (settings.model.name, *settings.model.fallbacks):
                await model.check(name)
    except ModelMisplaced as error:
        raise StartError(f"{error} Correct the address of the model server.") from error
    except (ModelUnknown, ModelDenied) as error:
        raise StartError(f"{error} See [model] in config.toml and the key you have set.") from error
    except (ModelError, TimeoutError) as error:
        _log.warning("the model could not be checked; Talaria continues: %s", error)


def make_quotas(settings: Settings, database: Database, zone: str) -> Quotas:
    """Build the daily quotas; `zone` is the deployment's time zone.

    Raises `StartError` if a limit in dollars is set but can't be enforced.
    """
    cost = settings.cost
    _check_limits(settings)
    return Quotas(
        rules=QuotaRules(
            person=DailyLimit(
                money=count_micro_dollars(cost.person_day_usd), tokens=cost.person_day_tokens
            ),
            deployment=DailyLimit(
                money=count_micro_dollars(cost.house_day_usd), tokens=cost.house_day_tokens
            ),
            cheap_from=cost.cheap_from_percent,
            zone=zone,
        ),
        prices=settings.prices,
        database=database,
        now=now,
    )


def _check_limits(settings: Settings) -> None:
    """Refuse explicit limits in dollars if the price of any configured model is unknown.

    Talaria uses the fallback models and the cheap model without asking. People, jobs and named
    agents can choose the other models. So a limit in dollars needs the price of every model.
    """
    unknown = (one for one in settings.model.named if one and not settings.prices.is_known(one))
    model = next(unknown, None)
    if settings.dollar_limits and model:
        raise StartError(
            f"{settings.dollar_limits[0]} is set, but the price of {model} is unknown, so no limit"
            " in dollars can be kept. Set its price in cost.prices, or limit tokens instead."
        )


def make_review_rules(settings: Settings) -> ReviewRules:
    """Build the rules of when a review is due."""
    return ReviewRules(turns=settings.learning.turns, steps=settings.learning.steps)


def make_compactor(
    settings: Settings, database: Database, model: Model, quotas: Quotas
) -> Compactor:
    """Build the compactor of long conversations."""
    names, context = settings.model, settings.context
    rules = ContextRules(
        cap_tokens=context.cap_tokens,
        threshold_percent=context.threshold_percent,
        window_tokens=context.window_tokens,
        compact_tokens=context.compact_tokens,
    )
    return Compactor(
        database=database,
        summarizer=Summarizer(model=model, names=(names.cheap, names.name), quotas=quotas),
        meter=TokenMeter(provider=model, model=names.name, rules=rules),
        now=now,
    )


def make_idle_compactor(
    settings: Settings, compactor: Compactor, quotas: Quotas, lanes: Lanes, agent: Agent
) -> IdleCompactor:
    """Build the compactor of idle conversations."""
    return IdleCompactor(
        compactor=compactor,
        prices=quotas.prices,
        summary_model=settings.model.cheap,
        is_running=lanes.is_running,
        invalidate=agent.invalidate_conversations,
    )


async def load_external_memory(
    settings: Settings,
    database: Database,
    external: ExternalPlugins,
    now: Callable[[], int],
) -> ExternalMemory | None:
    """Load the external memory, if one is configured. Raises `StartError` and `StoreError`."""
    memory, secrets = settings.memory, settings.secrets
    if not memory.provider:
        return None
    options = {"workspace": memory.workspace} | _given(
        api_key=secrets.honcho_api_key, base_url=secrets.honcho_base_url
    )
    try:
        own = external.load_memory(memory.provider)
        provider = own or plugins.load_memory(memory.provider, options)
    except plugins.UnknownPlug as error:
        raise StartError(f"{error} A plug-in that has it must be in plugins.enabled.") from error
    except ModuleNotFoundError as error:
        raise StartError(
            f"memory.provider is {memory.provider}, and its package is not installed ({error});"
            f" run {name_installation(memory.provider)}"
        ) from error
    except ValueError as error:
        raise StartError(str(error)) from error
    contact = ProviderConnection(
        provider=provider,
        names=await Pseudonyms.of(database),
        condition=ProviderHealth(provider.name),
    )
    return ExternalMemory(
        contact, database, now, ExternalMemoryOptions(tokens=memory.provider_tokens)
    )


def make_user_model(settings: Settings, database: Database) -> LocalUserModel | None:
    """Build the user model; None if it is off or an external memory replaces it."""
    is_on = settings.learning.conclusions and not settings.memory.provider
    return LocalUserModel(database) if is_on else None


def make_memory(settings: Settings, database: Database) -> SharedMemory:
    """Build the memory of all people.

    Call it once per process, because one instance keeps all changes in order.
    """
    limits = MemoryLimits(memory=settings.memory.memory_limit, user=settings.memory.user_limit)
    folder = settings.home / "memories"
    return SharedMemory(database, MemoryStore(database, folder, limits, withdraw=withdraw_fallen))


def make_prompt_cache(
    settings: Settings,
    database: Database,
    memory: SharedMemory,
    skills: SkillDirectory,
    now: Callable[[], int],
) -> PromptCache:
    """Build the cache of prompts."""
    return PromptCache(
        home=settings.home,
        cache_ttl=settings.model.cache_ttl,
        files=_find_context(settings),
        skills=skills,
        database=database,
        memory=memory,
        now=now,
    )


def make_second_prompt_cache(
    settings: Settings, database: Database, memory: SharedMemory
) -> PromptCache:
    """Build a second prompt cache, which shows how a prompt would look now."""
    skills = SkillDirectory(
        SkillCatalog(*settings.skill_places), database, settings.skills.prompt_tokens
    )
    return make_prompt_cache(settings, database, memory, skills, now)


def _find_context(settings: Settings) -> ContextFolder | None:
    """Return the working folder whose files are part of prompts; None if none is set."""
    prompt = settings.prompt
    if not prompt.folder:
        return None
    return ContextFolder(
        path=Path(prompt.folder),
        names=prompt.context_files,
        limit=prompt.context_limit,
        is_trusted=prompt.trust_files,
        workspaces=settings.home / "workspaces",
    )


def load_adapters(settings: Settings) -> dict[str, ChatAdapter]:
    """Load the console and every platform that is turned on.

    Raises `StartError`.
    """
    secrets = settings.secrets
    found: dict[str, object] = {
        LOCAL_PLATFORM: ConsoleSettings(socket=settings.home / CONSOLE_SOCKET)
    }
    try:
        for name in secrets.platforms:
            variables = (one.name for one in list_declared()[name].variables)
            given = {variable: secrets.find(variable) for variable in variables}
            found[name] = make_settings(name, settings.find_table(name), given)
    except ValueError as error:
        raise StartError(str(error)) from error
    made = {name: plugins.load_adapter(name, given) for name, given in found.items()}
    return made | ({API_PLATFORM: ApiPlatform()} if settings.http.port else {})


def _given(**options: str | None) -> dict[str, str]:
    return {name: value for name, value in options.items() if value is not None}


def make_web_options(settings: Settings) -> WebOptions:
    """Build the options of the tools that search and fetch."""
    return WebOptions(
        allow_hosts=settings.digest.allow_hosts,
        search=settings.tools.search,
        searxng_url=settings.tools.searxng_url,
        brave_key=settings.secrets.brave_api_key or "",
        tavily_key=settings.secrets.tavily_api_key or "",
        proxy=settings.environ.get("DDGS_PROXY", ""),
    )
