"""The services of operations: those of a running gateway, or new ones for a home without one.

Each service is imported when an operation first uses it: a list reads the database, and waits for
neither the agent nor the settings.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import tzlocal

from gateway.errors import SettingsError, StartError
from gateway.home import MEMORIES, SKILLS
from gateway.operations.contract import CalledModel, PreferenceContext, SchedulingContext

if TYPE_CHECKING:
    from adapters.contract import ChatAdapter
    from agent_core.agent.id_allocator import IdAllocator
    from agent_core.agent.named.editor import AgentEditor
    from agent_core.agent.prompt.prompt_cache import PromptCache
    from agent_core.memory.store import MemoryStore
    from agent_core.models.contract import Model, ModelAnswer
    from agent_core.models.profiles import Profiles
    from agent_core.schedule.almanac import CalendarReader
    from agent_core.state.engine.database import Connection, Database
    from agent_core.state.people.deeds import Doer
    from agent_core.state.people.people import Account
    from agent_core.state.queues.outbox import OutboxRow
    from gateway.app.gateway import Gateway
    from gateway.app.settings import Settings
    from gateway.background.home_skills import HomeSkills
    from gateway.operations.tools_types import ToolOffer
    from gateway.outbound.webhooks.rules import WebhookRules
    from gateway.people.data_erase import DataErase
    from gateway.people.data_export import DataExport
    from gateway.people.data_forget import DataForget
    from gateway.people.data_requests import DataRequest
    from gateway.people.merging import AccountMerging


def open_context(gateway: "Gateway", doer: "Doer | None" = None) -> "RunningContext":
    """Return the services of an operation; its changes are those of a `doer`, or the gateway's."""
    return RunningContext(gateway, doer)


class RunningContext:
    """The services of a running gateway."""

    def __init__(self, gateway: "Gateway", doer: "Doer | None") -> None:
        self.actor = "person" if doer else "house"
        self.doer = doer
        self.database = gateway.database
        self.now = gateway.now
        self.enqueue = gateway.dispatcher.enqueue
        self.forget_known = gateway.forget_known
        self.wake_webhooks = gateway.webhooks.wake
        self.memory = gateway.memory.store
        self.agents = gateway.agent_editor
        self.load_ids = gateway.load_ids
        self.exports = gateway.exports
        self.erasing = gateway.data_requests.erasing
        self.forgetting = gateway.forgetting
        self.put_request = gateway.request_queue.put
        self.merging = gateway.merging
        self.is_admitted = gateway.identity.is_admitted
        self.calendars = gateway.calendars
        self.skills = gateway.home_skills
        self.pages = gateway.settings.http.pages
        self.webhooks = _limit_webhooks(gateway.settings)
        self.preferences = _list_choices(gateway.settings)
        self._gateway = gateway

    async def open_profiles(self) -> "Profiles":
        """The profiles that the gateway's providers use."""
        return self._gateway.profiles

    @asynccontextmanager
    async def call_models(self, profiles: "Profiles") -> "AsyncIterator[CalledModel]":
        """The gateway's own models, which take their turn with people."""
        del profiles  # they have them
        yield _describe_models(self._gateway.model, self._gateway.settings)

    @property
    def prompt_cache(self) -> "PromptCache":
        """A second prompt cache beside the agent's own."""
        from gateway.app import factories

        gateway = self._gateway
        return factories.make_second_prompt_cache(gateway.settings, self.database, gateway.memory)

    @property
    def tools(self) -> "ToolOffer":
        """The tools of direct conversations, with those of plug-ins."""
        from gateway.operations.tools_types import ToolOffer

        box = self._gateway.toolboxes.private
        return ToolOffer(names=box.names, has_servers=box.has_sources)

    @property
    def scheduling(self) -> SchedulingContext:
        """The time zones, the limits and the addresses of the gateway's jobs."""
        from gateway.app.job_rules import make_rules

        settings = self._gateway.settings
        return SchedulingContext(
            zone_of=self._gateway.zone_of,
            rules=make_rules(settings),
            wake=self._gateway.wake_jobs,
            load_platforms=lambda: self._gateway.platforms.adapters,
            hooks=settings.http.hooks,
        )


@dataclass(frozen=True)
class HomeContext:
    """The services of a home without a gateway. Each is made when an operation first uses it."""

    home: Path
    database: "Database"
    now: Callable[[], int]
    load_settings: "Callable[[], Settings] | None"
    actor: str = "house"
    doer: None = None

    def enqueue(self, _: "Sequence[OutboxRow]") -> None:
        """Leave the rows in the outbox; the next gateway delivers them."""

    def forget_known(self) -> None:
        """Do nothing: this process caches nothing."""

    def wake_webhooks(self) -> None:
        """Do nothing: the next gateway sends waiting events when it starts."""

    async def open_profiles(self) -> "Profiles":
        """The profiles that are stored."""
        from agent_core.models.profiles import Profiles

        profiles = Profiles(self.now)
        await profiles.open(self.database)
        return profiles

    @asynccontextmanager
    async def call_models(self, profiles: "Profiles") -> "AsyncIterator[CalledModel]":
        """The models of the settings."""
        from gateway.app import factories
        from gateway.app.external_plugins import ExternalPlugins

        settings = self._settings
        if settings is None:
            raise StartError("No settings are loaded.")
        model = factories.load_model(settings, ExternalPlugins(settings), profiles)
        try:
            yield _describe_models(model, settings)
        finally:
            await model.close()

    @cached_property
    def _settings(self) -> "Settings | None":
        return self.load_settings() if self.load_settings else None

    @cached_property
    def agents(self) -> "AgentEditor":
        """The named agents and teams. Raises `StartError`."""
        from gateway.app.agent_folders import make_editor, open_agent_folder

        if self._settings is None:
            raise StartError("No settings are loaded.")
        folder = open_agent_folder(self._settings)
        return make_editor(self.home, self.database, folder, self.now, self.load_ids)

    @cached_property
    def load_ids(self) -> "Callable[[], Awaitable[IdAllocator]]":
        """Returns the allocator of ids for turns and sessions. Raises `StoreError`."""
        from agent_core.agent.caches import SessionCache

        return SessionCache(self.database).id_allocator

    @cached_property
    def memory(self) -> "MemoryStore":
        """The memory store."""
        from agent_core.memory.archive.conclusions import withdraw_fallen
        from agent_core.memory.store import MemoryStore

        folder = self.home / MEMORIES
        return MemoryStore(self.database, folder, withdraw=withdraw_fallen)

    @cached_property
    def exports(self) -> "DataExport":
        """The data export. It can write archives, but not send them."""
        from gateway.people.data_export import DataExport

        return DataExport(self.database, self.home, adapters={}, now=self.now)

    @cached_property
    def erasing(self) -> "DataErase":
        """Erasure."""
        from gateway.people.data_erase import DataErase

        return DataErase(
            self.database,
            self.memory,
            self.home,
            now=self.now,
            renew=self.forget_known,
            end_sign_ins=self._end_sign_ins,
        )

    @cached_property
    def forgetting(self) -> "DataForget":
        """Removal of words."""
        from gateway.people.data_forget import DataForget

        return DataForget(self.database, self.memory, self.home, now=self.now)

    def put_request(self, connection: "Connection", request: "DataRequest", occasion: str) -> None:
        """Store a request; the next gateway carries it out."""
        from gateway.people.data_requests import store_request

        store_request(connection, request, occasion)

    @cached_property
    def merging(self) -> "AccountMerging":
        """Linking and unlinking of accounts."""
        from gateway.people.merging import AccountMerging

        return AccountMerging(self.memory)

    def is_admitted(self, account: "Account") -> bool:
        """Whether the settings or a code let the account in; without settings, only a code does."""
        from gateway.people.onboarding import Access

        allowed = self._settings.access.allow if self._settings else ()
        is_listed = account.admitted_by == "list"
        return not is_listed or Access(allowed).allows(account.platform, account.user_id)

    async def _end_sign_ins(self) -> None:
        from agent_core.tools.mcp.sign_ins import clear_tokens
        from gateway.app.mcp_file import locate_mcp_tokens, read_mcp_servers

        environ = self._settings.environ if self._settings else {}
        try:
            servers = read_mcp_servers(self.home, environ)
        except SettingsError:
            servers = []  # tokens are deleted, and revoked at public servers only
        await clear_tokens(self.database, locate_mcp_tokens(self.home), servers)

    @cached_property
    def skills(self) -> "HomeSkills":
        """The skills in the settings' folders; without settings, only the home's skills."""
        from agent_core.skills.catalog import SkillCatalog
        from gateway.app.named_backends import list_used
        from gateway.app.tables import SkillSettings
        from gateway.background.home_skills import HomeSkills
        from gateway.commands.catalog import OWN_NAMES

        found = self._settings
        places = found.skill_places if found else (self.home / SKILLS, [], None)
        backends = list_used(found.tools) if found else None
        catalog = SkillCatalog(*places, taken=OWN_NAMES, backends=backends)
        settings = found.skills if found else SkillSettings()
        return HomeSkills(database=self.database, catalog=catalog, settings=settings)

    @cached_property
    def tools(self) -> "ToolOffer":
        """The built-in tools; those of servers may join when a gateway runs."""
        from agent_core.tools.selection.built_in import BUILT_IN
        from gateway.operations.tools_types import ToolOffer

        return ToolOffer(names=tuple(BUILT_IN), has_servers=True)

    @cached_property
    def pages(self) -> str:
        """The address of the console's pages; "" without settings."""
        return self._settings.http.pages if self._settings else ""

    @cached_property
    def webhooks(self) -> "WebhookRules":
        """The limits of webhooks; the default limits without settings."""
        from gateway.outbound.webhooks.rules import WebhookRules

        return _limit_webhooks(self._settings) if self._settings else WebhookRules()

    @cached_property
    def preferences(self) -> PreferenceContext:
        """The models and the speech of the settings; neither without settings."""
        found = self._settings
        return _list_choices(found) if found else PreferenceContext(models=(), can_speak=False)

    @cached_property
    def prompt_cache(self) -> "PromptCache | None":
        """The current prompts; None without settings."""
        from gateway.app import factories

        found = self._settings
        if found is None:
            return None
        memory = factories.make_memory(found, self.database)
        return factories.make_second_prompt_cache(found, self.database, memory)

    @cached_property
    def scheduling(self) -> SchedulingContext:
        """The scheduling context; the default one without settings."""
        from agent_core.schedule.job_editor import JobRules
        from gateway.app.job_rules import make_rules

        found = self._settings
        return SchedulingContext(
            zone_of=lambda person: person.time_zone or _find_zone(found),
            rules=make_rules(found) if found else JobRules(),
            wake=_wait_for_start,
            load_platforms=self._load_platforms,
            hooks=found.http.hooks if found else "",
        )

    def _load_platforms(self) -> "Mapping[str, ChatAdapter]":
        from gateway.app import factories

        return factories.load_adapters(self._settings) if self._settings else {}

    @cached_property
    def calendars(self) -> "CalendarReader":
        """Reads calendars, as far as the settings allow."""
        from agent_core.digest.tools import DigestOptions
        from gateway.jobs.calendars import Calendars

        found = self._settings
        zone = _find_zone(found)
        options = DigestOptions(
            home=self.home,
            zone=zone,
            github_url="",
            github_token="",
            allow_hosts=found.digest.allow_hosts if found else (),
        )
        return Calendars(
            database=self.database, digest=options, zone=zone, changed=_wait_for_start, now=self.now
        )


def _find_zone(settings: "Settings | None") -> str:
    """Return the IANA time zone of people who have not set one."""
    return settings.zone if settings else tzlocal.get_localzone_name()


def _limit_webhooks(settings: "Settings") -> "WebhookRules":
    from gateway.outbound.webhooks.rules import WebhookRules

    table = settings.webhooks
    return WebhookRules(allow_hosts=table.allow_hosts, per_person=table.per_person)


def _list_choices(settings: "Settings") -> PreferenceContext:
    can_speak = bool(settings.media.speaking)
    return PreferenceContext(models=settings.model.named, can_speak=can_speak)


def _wait_for_start() -> None:
    """Do nothing: the next gateway looks for due jobs when it starts."""


def _describe_models(model: "Model", settings: "Settings") -> CalledModel:
    def price(answer: "ModelAnswer") -> "ModelAnswer":
        cost = settings.prices.cost(answer.model, answer.usage)
        return replace(answer, micro_dollars=cost)

    return CalledModel(model=model, name=settings.model.name, price=price)
