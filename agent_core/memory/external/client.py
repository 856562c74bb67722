"""The one outside memory of a house: what is owed to it, what is heard from it, how it fares."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from agent_core.errors import ExternalMemoryUnavailable
from agent_core.ids import PersonId, TurnId
from agent_core.memory.contract import ExternalMemoryTool
from agent_core.memory.external.contact import ProviderConnection, State
from agent_core.memory.external.recall_cache import PATIENCE, RecallCache, find_last_recall
from agent_core.memory.external.sync_queue import POLL, SyncQueue
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory import external_sync
from agent_core.state.memory.external_sync import Backlog
from agent_core.tools.contract import Effect, Tool, ToolContext, ToolResult
from agent_core.transcript import Message, ToolSpec


class ExternalMemoryClient:
    """One tool. It speaks of the person who asks, in talks that are theirs alone."""

    effect: Effect = "read"
    is_cheap = False

    def __init__(self, tool: ExternalMemoryTool, contact: ProviderConnection) -> None:
        self._tool = tool
        self._names = contact.names
        self._condition = contact.condition

    @property
    def spec(self) -> ToolSpec:
        """How the provider presents it."""
        return self._tool.spec

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Ask it. Raises `ExternalMemoryError`."""
        if context.memory_owner is None or context.memory_owner.person_id != context.person_id:
            return ToolResult(text="There is no outside memory here.", is_error=True)
        if not self._condition.is_available:
            raise ExternalMemoryUnavailable(
                "the outside memory can't be reached now; go on without it"
            )
        who = self._names.name_person(context.person_id)
        try:
            async with asyncio.timeout(self._tool.seconds):
                text = await self._tool.run(who, arguments)
        except TimeoutError as error:
            raise ExternalMemoryUnavailable(
                "the outside memory took too long; go on without it"
            ) from error
        return ToolResult(text=text or "It knows nothing about that.")


_LONGEST_LOOK = 60.0
"""Seconds that a look waits for what is due to be told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalMemoryOptions:
    """How it is dealt with: tokens of a line of facts, seconds that a turn waits for it, and
    seconds between looks at what is owed.
    """

    tokens: int = 400
    patience: float = PATIENCE
    poll: float = POLL


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalMemoryStatus:
    """How it fares, for people to read. `missing_functions` are functions that its server does not have."""

    name: str
    state: State
    detail: str
    owed: int
    dead: int
    missing_functions: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncReport:
    """What came of a look at it: what was taken up again of what had been given up, what was told
    since the look before, how it fares, and since when the oldest of what it is owed is so.
    """

    revived: int
    told: int
    report: ExternalMemoryStatus
    oldest_at: int | None


class ExternalMemory:
    """Whoever has no outside memory has none of this, and pays nothing for it."""

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
        self._telling = SyncQueue(contact, database, self._recall_cache, now=now, poll=pace.poll)
        self.tools: tuple[Tool, ...] = tuple(
            ExternalMemoryClient(tool, contact) for tool in contact.provider.tools
        )
        """For talks that nobody else reads."""

    async def run(self) -> None:
        """Tell what is owed until cancelled. Nothing else in the house waits for this."""
        try:
            await self._telling.run()
        finally:
            await self._recall_cache.close()

    async def close(self) -> None:
        """Let go of connections."""
        await self._provider.close()

    def enqueue_turn(self, connection: Connection, turn_id: TurnId, person_id: PersonId) -> None:
        """What was said in a turn is to be told; within the transaction that settles it."""
        external_sync.enqueue(
            connection,
            provider=self._provider.name,
            kind="turn",
            key=f"turn:{turn_id}",
            person_id=person_id,
            now=self._now(),
        )

    def ring(self) -> None:
        """Something is owed; to be said once that is written."""
        self._telling.ring()

    def expect(self, person_id: PersonId) -> None:
        """A turn of somebody is being prepared, in a talk that is theirs alone."""
        self._recall_cache.expect(person_id)

    async def recall(self, person_id: PersonId, shown: Iterable[Message]) -> tuple[str, ...]:
        """The line for the facts of a turn; none if there is nothing that the talk, as calls
        see it, was not told last.
        """
        text = await self._recall_cache.look_up(person_id)
        line = self._recall_cache.write(text) if text else ""
        return (line,) if line and line != find_last_recall(shown) else ()

    def forget(self) -> None:
        """Words or people are gone: nothing that was heard before is used any more."""
        self._recall_cache.forget()

    async def sync(self) -> SyncReport:
        """Take up again what was given up, see whether it answers, and tell what is due.

        What takes longer than a moment goes on by itself. Raises `StoreError`.
        """
        name, now = self._provider.name, self._now()
        is_there = await self._telling.call()
        revived = 0
        if is_there:
            revived = await self._database.write(
                "mirror.revive", lambda c: external_sync.revive(c, provider=name, now=now)
            )
            with suppress(TimeoutError):
                async with asyncio.timeout(_LONGEST_LOOK):
                    await self._telling.look()
        return SyncReport(
            revived=revived,
            told=self._telling.take_count(),
            report=await self.report(),
            oldest_at=await self._database.read(
                lambda c: external_sync.find_oldest_at(c, provider=name)
            ),
        )

    async def report(self) -> ExternalMemoryStatus:
        """How it fares. Raises `StoreError`."""
        return self.describe(await self._database.read(external_sync.count_all))

    def describe(self, backlogs: Iterable[Backlog]) -> ExternalMemoryStatus:
        """How it fares, where it is known what is owed."""
        mine = [one for one in backlogs if one.provider == self._provider.name]
        return ExternalMemoryStatus(
            name=self._provider.name,
            state=self._condition.state,
            detail=self._condition.detail,
            owed=sum(one.owed for one in mine),
            dead=sum(one.dead for one in mine),
            missing_functions=tuple(sorted(self._provider.missing_functions)),
        )
