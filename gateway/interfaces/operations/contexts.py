"""The services of operations: those of a running gateway, or new ones for a home without one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import tzlocal

from agent_core import digest, memory, schedule, skills
from agent_core.tools import mcp
from gateway import config, jobs, people, scheduler
from gateway.errors import SettingsError
from gateway.interfaces import operations
from gateway.interfaces.operations.contract import SchedulingContext
from gateway.outbound import webhooks

if TYPE_CHECKING:
    from agent_core.agent.prompt import PromptCache
    from agent_core.memory import MemoryStore
    from agent_core.schedule import CalendarReader
    from agent_core.state.engine.database import Database
    from agent_core.state.queues.outbox import OutboxRow
    from gateway.bootstrap.lifecycle import Gateway
    from gateway.config import Settings
    from gateway.outbound.webhooks import WebhookRules
    from gateway.people import DataErase, DataExport
    from gateway.scheduler import SkillServices


def open_context(gateway: "Gateway", *, actor: str = "house") -> "RunningContext":
    """Return the services of an operation; `actor` is recorded as the author of its changes."""
    return RunningContext(gateway, actor)


class RunningContext:
    """The services of a running gateway."""

    def __init__(self, gateway: "Gateway", actor: str) -> None:
        self.actor = actor
        self.database = gateway.database
        self.now = gateway.now
        self.enqueue = gateway.dispatcher.enqueue
        self.forget_known = gateway.router.forget_known
        self.wake_webhooks = gateway.webhooks.wake
        self.memory = gateway.memory.store
        self.exports = gateway.exports
        self.erasing = gateway.data_requests.erasing
        self.calendars = gateway.scheduling.calendars
        self.skills = gateway.scheduling.skills
        self.pages = gateway.settings.http.pages
        self.webhooks = _limit_webhooks(gateway.settings)
        self._gateway = gateway

    @property
    def prompt_cache(self) -> "PromptCache":
        """A second prompt cache beside the agent's own."""
        gateway = self._gateway
        return operations.make_prompt_cache(gateway.settings, self.database, gateway.memory)

    @property
    def scheduling(self) -> SchedulingContext:
        """The time zone, the limits and the addresses of the gateway's jobs."""
        settings = self._gateway.settings
        return SchedulingContext(
            zone=find_zone_of(settings),
            rules=jobs.make_rules(settings),
            wake=self._gateway.scheduling.wake,
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

    def enqueue(self, _: "Sequence[OutboxRow]") -> None:
        """Leave the rows in the outbox; the next gateway delivers them."""

    def forget_known(self) -> None:
        """Do nothing: this process caches nothing."""

    def wake_webhooks(self) -> None:
        """Do nothing: the next gateway sends waiting events when it starts."""

    @cached_property
    def _settings(self) -> "Settings | None":
        return self.load_settings() if self.load_settings else None

    @cached_property
    def memory(self) -> "MemoryStore":
        """The memory store."""
        folder = self.home / config.MEMORIES
        return memory.MemoryStore(self.database, folder, withdraw=memory.withdraw_fallen)

    @cached_property
    def exports(self) -> "DataExport":
        """The data export. It can write archives, but not send them."""
        return people.DataExport(self.database, self.home, adapters={}, now=self.now)

    @cached_property
    def erasing(self) -> "DataErase":
        """Erasure."""
        return people.DataErase(
            self.database,
            self.memory,
            self.home,
            now=self.now,
            renew=self.forget_known,
            end_sign_ins=self._end_sign_ins,
        )

    async def _end_sign_ins(self) -> None:
        environ = self._settings.environ if self._settings else {}
        try:
            servers = config.read_mcp_servers(self.home, environ)
        except SettingsError:
            servers = []  # tokens are deleted, and revoked at public servers only
        await mcp.clear_tokens(self.database, config.locate_mcp_tokens(self.home), servers)

    @cached_property
    def skills(self) -> "SkillServices":
        """The skills in the settings' folders; without settings, only the home's skills."""
        found = self._settings
        catalog = (
            skills.SkillCatalog(*found.skill_places)
            if found
            else skills.SkillCatalog(self.home / config.SKILLS)
        )
        rules = found.skills if found else config.SkillSettings()
        return scheduler.make_skill_services(catalog, rules, self.database)

    @cached_property
    def pages(self) -> str:
        """The address of the console's pages; "" without settings."""
        return self._settings.http.pages if self._settings else ""

    @cached_property
    def webhooks(self) -> "WebhookRules":
        """The limits of webhooks; the default limits without settings."""
        return _limit_webhooks(self._settings) if self._settings else webhooks.WebhookRules()

    @cached_property
    def prompt_cache(self) -> "PromptCache | None":
        """The current prompts; None without settings."""
        found = self._settings
        return operations.make_prompt_cache(found, self.database, None) if found else None

    @cached_property
    def scheduling(self) -> SchedulingContext:
        """The scheduling context; the default one without settings."""
        found = self._settings
        return SchedulingContext(
            zone=find_zone_of(found),
            rules=jobs.make_rules(found) if found else schedule.JobRules(),
            wake=_wait_for_start,
            load_platforms=lambda: operations.load_platforms(found),
            hooks=found.http.hooks if found else "",
        )

    @cached_property
    def calendars(self) -> "CalendarReader":
        """Reads calendars, as far as the settings allow."""
        found = self._settings
        zone = find_zone_of(found)
        options = digest.DigestOptions(
            home=self.home,
            zone=zone,
            github_url="",
            github_token="",
            allow_hosts=found.digest.allow_hosts if found else (),
        )
        return scheduler.Calendars(
            database=self.database, digest=options, zone=zone, changed=_wait_for_start, now=self.now
        )


def find_zone_of(settings: "Settings | None") -> str:
    """Return the IANA time zone of people who have not set one."""
    own = settings.people.time_zone if settings else None
    return own or tzlocal.get_localzone_name()


def _limit_webhooks(settings: "Settings") -> "WebhookRules":
    table = settings.webhooks
    return webhooks.WebhookRules(allow_hosts=table.allow_hosts, per_person=table.per_person)


def _wait_for_start() -> None:
    """Do nothing: the next gateway looks for due jobs when it starts."""
