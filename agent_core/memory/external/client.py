"""The external memory of a deployment: queue, recall, tools and status."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from agent_core.errors import ExternalMemoryUnavailable
from agent_core.ids import PersonId, TurnId
from agent_core.memory.contract import ExternalMemoryTool
from agent_core.memory.external.contact import ContactState, ProviderConnection
from agent_core.memory.external.recall_cache import LABEL, PATIENCE, RecallCache
from agent_core.memory.external.sync_queue import POLL, SyncQueue
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory import external_sync
from agent_core.state.memory.external_sync import Backlog
from agent_core.tools.contract import Declaration, Effect, Tool, ToolContext, ToolResult
from agent_core.transcript import Message, ToolSpec, find_last_fact, make_source


class ExternalMemoryClient:
    """A tool of the provider. It works only in private conversations, for the person who asks."""

    effect: Effect = "read"
    declaration = Declaration(cost="money")

    def __init__(self, tool: ExternalMemoryTool, contact: ProviderConnection) -> None:
        self._tool = tool
        self._provider_name = contact.provider.name
        self._names = contact.names
        self._condition = contact.condition

    @property
    def spec(self) -> ToolSpec:
        """The provider's specification of the tool."""
        return self._tool.spec

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Call the provider. Raises `ExternalMemoryError`."""
        if context.memory_owner is None or context.memory_owner.person_id != context.person_id:
            return ToolResult(text="There is no external memory here.", is_error=True)
        if not self._condition.is_available:
            raise ExternalMemoryUnavailable(
                "the external memory is unavailable; continue without it"
            )
        who = self._names.name_person(context.person_id)
        try:
            async with asyncio.timeout(self._tool.seconds):
                text = await self._tool.run(who, arguments)
        except TimeoutError as error:
            raise ExternalMemoryUnavailable(
                "the external memory took too long; continue without it"
            ) from error
        sources = (make_source("fetched", self._provider_name),)
        return ToolResult(text=text or "It knows nothing about that.", sources=sources)


_LONGEST_LOOK = 60.0
"""The most seconds that `sync` waits for the queue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalMemoryOptions:
    """Limits and timings.

    `tokens` limits the recalled fact. `patience` is the seconds that a turn waits for it, `poll`
    the seconds between polls of the queue.
    """

    tokens: int = 400
    patience: float = PATIENCE
    poll: float = POLL


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalMemoryStatus:
    """The provider's status, to show to people.

    `missing_functions` are those that its server lacks.
    """

    name: str
    state: ContactState
    detail: str
    queued: int
    dead: int
    missing_functions: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncReport:
    """The result of `sync`.

    `revived` counts the retried rows, `reported` the rows delivered since the last `sync`. `report`
    is the status; `oldest_at` is the time of the oldest pending row.
    """

    revived: int
    reported: int
    report: ExternalMemoryStatus
    oldest_at: int | None


class ExternalMemory:
    """The facade of the configured provider. A deployment without one has no such object."""

    def __init__(
        self,
        contact: ProviderConnection,
        database: Database,
        now: Callable[[], int],
        pace: ExternalMemoryOptions,
    ) -> None:
        self._provider = contact.provider
        self._condition = contact.condition
        self._database = database
        self._now = now
        self._recall_cache = RecallCache(contact, tokens=pace.tokens, patience=pace.patience)
        self._queue = SyncQueue(contact, database, self._recall_cache, now=now, poll=pace.poll)
        self.tools: tuple[Tool, ...] = tuple(
            ExternalMemoryClient(tool, contact) for tool in contact.provider.tools
        )
        """Tools for private conversations."""

    async def run(self) -> None:
        """Deliver the queue until cancelled; no turn waits for a delivery."""
        try:
            await self._queue.run()
        finally:
            await self._recall_cache.close()

    async def close(self) -> None:
        """Close all connections."""
        await self._provider.close()

    def enqueue_turn(self, connection: Connection, turn_id: TurnId, person_id: PersonId) -> None:
        """Enqueue the messages of a turn, within the transaction that finalizes it."""
        external_sync.enqueue(
            connection,
            provider=self._provider.name,
            kind="turn",
            key=f"turn:{turn_id}",
            person_id=person_id,
            now=self._now(),
        )

    def wake(self) -> None:
        """Wake the queue, after a commit that enqueued rows."""
        self._queue.wake()

    def prefetch(self, person_id: PersonId) -> None:
        """Start to fetch the recall of a person while their private turn is being prepared."""
        self._recall_cache.prefetch(person_id)

    async def recall(self, person_id: PersonId, shown: Sequence[Message]) -> tuple[str, ...]:
        """Return the recall as a fact line.

        Returns nothing if it is unknown, or if the line repeats the last one shown.
        """
        text = await self._recall_cache.look_up(person_id)
        line = self._recall_cache.write(text) if text else ""
        return (line,) if line and line != find_last_fact(shown, LABEL) else ()

    def forget(self) -> None:
        """Drop cached recalls, after words or people were removed from memory."""
        self._recall_cache.forget()

    async def sync(self) -> SyncReport:
        """Retry failed rows, probe the provider, and deliver what is due.

        Long deliveries continue in the background. Raises `StoreError`.
        """
        name, now = self._provider.name, self._now()
        is_there = await self._queue.call()
        revived = 0
        if is_there:
            revived = await self._database.write(
                "mirror.revive", external_sync.revive, provider=name, now=now
            )
            with suppress(TimeoutError):
                async with asyncio.timeout(_LONGEST_LOOK):
                    await self._queue.look()
        return SyncReport(
            revived=revived,
            reported=self._queue.take_delivered_count(),
            report=await self.report(),
            oldest_at=await self._database.read(external_sync.find_oldest_at, provider=name),
        )

    async def report(self) -> ExternalMemoryStatus:
        """Return the status. Raises `StoreError`."""
        return self.describe(await self._database.read(external_sync.count_all))

    def describe(self, backlogs: Iterable[Backlog]) -> ExternalMemoryStatus:
        """Build the status from backlogs that were already read."""
        mine = [one for one in backlogs if one.provider == self._provider.name]
        return ExternalMemoryStatus(
            name=self._provider.name,
            state=self._condition.state,
            detail=self._condition.detail,
            queued=sum(one.queued for one in mine),
            dead=sum(one.dead for one in mine),
            missing_functions=tuple(sorted(self._provider.missing_functions)),
        )
