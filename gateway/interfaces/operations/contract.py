"""What an operation is: what it works on, what it is asked with, and what it answers."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import tzlocal

from adapters.contract import ChatAdapter
from agent_core.agent.prompt.prompt_cache import PromptCache
from agent_core.memory import MemoryStore
from agent_core.schedule import JobRules
from agent_core.state.engine.database import Database
from agent_core.state.queues.outbox import OutboxRow
from gateway.config import Settings
from gateway.errors import Declined
from gateway.jobs.resources import make_rules
from gateway.people.data_erase import DataErase
from gateway.people.data_export import DataExport
from gateway.scheduler.skill_curator import SkillServices

Answer = Mapping[str, Any]
"""What JSON can hold."""

_MOST_LISTED = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """What operations on jobs need of the house: its zone, an IANA name, and what it allows."""

    zone: str
    rules: JobRules
    wake: Callable[[], None]
    """Something may be due earlier than was known."""
    load_platforms: Callable[[], Mapping[str, ChatAdapter]]
    """The platforms that are on, by name. Raises `StartError`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationContext:
    """What operations work on: a running house, or a database opened beside it."""

    database: Database
    now: Callable[[], int]
    enqueue: Callable[[Sequence[OutboxRow]], None]
    """Deliver what was written into the outbox, if there is anybody who can."""
    forget_known: Callable[[], None]
    """People, or what they keep, have changed; whoever has that at hand has to read it afresh."""
    memory: MemoryStore
    """What is remembered, in the same order as everybody else's changes of it."""
    exports: DataExport
    erasing: DataErase
    times: Times
    skills: SkillServices
    freezer: PromptCache | None = None
    """Tells what a talk's prompt would be now; None where nobody knows the settings."""


Operation = Callable[[OperationContext, Answer], Awaitable[Answer]]
"""Does one thing. Raises `Declined` with a sentence, and `StoreError`."""


def read_text(asked: Answer, key: str) -> str:
    """A text that has to be there. Raises `Declined`."""
    value = asked.get(key)
    if not isinstance(value, str) or not value.strip():
        raise Declined(f"The {key} is missing.")
    return value


def read_limit(asked: Answer) -> int:
    """How many rows are wanted. Raises `Declined`."""
    limit = asked.get("limit")
    if not isinstance(limit, int) or not 1 <= limit <= _MOST_LISTED:
        raise Declined(f"The limit has to be a number from 1 to {_MOST_LISTED}.")
    return limit


def times_of(
    settings: Settings | None,
    *,
    wake: Callable[[], None],
    load_platforms: Callable[[], Mapping[str, ChatAdapter]],
) -> Times:
    """The times of a house; without settings, as they usually are."""
    own = settings.people.time_zone if settings else None
    return Times(
        zone=own or tzlocal.get_localzone_name(),
        rules=make_rules(settings) if settings else JobRules(),
        wake=wake,
        load_platforms=load_platforms,
    )
