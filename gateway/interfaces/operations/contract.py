"""The contract of operations: their context, arguments and answers."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import tzlocal

from adapters.contract import ChatAdapter
from agent_core.agent.prompt import PromptCache
from agent_core.memory import MemoryStore
from agent_core.schedule import CalendarReader, JobRules
from agent_core.state.engine.database import Database
from agent_core.state.queues.outbox import OutboxRow
from gateway.config import Settings
from gateway.errors import Declined
from gateway.jobs import make_rules
from gateway.outbound.webhooks import WebhookRules
from gateway.people import DataErase, DataExport
from gateway.scheduler import SkillServices

Answer = Mapping[str, Any]
"""Values that JSON can hold."""

_MOST_LISTED = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulingContext:
    """The scheduling context: the deployment's zone, an IANA name, and the limits of jobs."""

    zone: str
    rules: JobRules
    calendars: CalendarReader
    wake: Callable[[], None]
    """Called after a write that may make a job due earlier."""
    load_platforms: Callable[[], Mapping[str, ChatAdapter]]
    """Returns the enabled platforms by name. Raises `StartError`."""
    hooks: str
    """The address of webhooks, to which a secret is added; "" without an HTTP server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationContext:
    """The services of operations: a running gateway's, or those of a database opened for one."""

    database: Database
    now: Callable[[], int]
    enqueue: Callable[[Sequence[OutboxRow]], None]
    """Delivers new outbox rows, if a gateway runs."""
    forget_known: Callable[[], None]
    """Drops caches after people or their memory have changed."""
    memory: MemoryStore
    """The memory store; it serialises all changes."""
    exports: DataExport
    erasing: DataErase
    scheduling: SchedulingContext
    skills: SkillServices
    webhooks: WebhookRules
    wake_webhooks: Callable[[], None]
    """Called after a write that gives webhooks something to send."""
    prompt_cache: PromptCache | None = None
    """Builds a conversation's current prompt; None without settings."""
    actor: str = "house"
    """Who did what an operation changes: `house` for the command line, `person` for themselves."""


Operation = Callable[[OperationContext, Answer], Awaitable[Answer]]
"""Performs one operation. Raises `Declined` with a sentence, and `StoreError`."""


def read_text(asked: Answer, key: str) -> str:
    """Return a required text. Raises `Declined`."""
    value = asked.get(key)
    if not isinstance(value, str) or not value.strip():
        raise Declined(f"The {key} is missing.")
    return value


def read_limit(asked: Answer) -> int:
    """Return the number of rows asked for. Raises `Declined`."""
    limit = asked.get("limit")
    if not isinstance(limit, int) or not 1 <= limit <= _MOST_LISTED:
        raise Declined(f"The limit must be a number from 1 to {_MOST_LISTED}.")
    return limit


def find_zone_of(settings: Settings | None) -> str:
    """Return the time zone of people who have not set one, an IANA name."""
    own = settings.people.time_zone if settings else None
    return own or tzlocal.get_localzone_name()


def webhook_rules(settings: Settings | None) -> WebhookRules:
    """Return the limits of webhooks; without settings, the default ones."""
    if settings is None:
        return WebhookRules()
    table = settings.webhooks
    return WebhookRules(allow_hosts=table.allow_hosts, per_person=table.per_person)


def scheduling_context(
    settings: Settings | None,
    *,
    calendars: CalendarReader,
    wake: Callable[[], None],
    load_platforms: Callable[[], Mapping[str, ChatAdapter]],
) -> SchedulingContext:
    """Return the scheduling context; without settings, the default one."""
    return SchedulingContext(
        zone=find_zone_of(settings),
        rules=make_rules(settings) if settings else JobRules(),
        calendars=calendars,
        wake=wake,
        load_platforms=load_platforms,
        hooks=settings.http.hooks if settings else "",
    )
