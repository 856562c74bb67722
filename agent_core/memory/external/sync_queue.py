"""The delivery queue to an external memory.

It works in the background, retries, and keeps the changes of one person in order.
"""

import asyncio
import json
import logging
from collections.abc import Callable
from functools import partial
from typing import assert_never

from agent_core.errors import (
    ExternalMemoryBroken,
    ExternalMemoryError,
    ExternalMemoryRefused,
    ExternalMemoryUnavailable,
    ExternalMemoryUnsupported,
    StoreDamaged,
    StoreError,
)
from agent_core.ids import PersonId, SessionId, TurnId
from agent_core.memory.contract import Exchange, ExternalMessage, MemorySnapshot
from agent_core.memory.external.contact import ProviderConnection
from agent_core.memory.external.recall_cache import RecallCache
from agent_core.memory.sync import MemoryList, find_list
from agent_core.state.engine import meta
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory import external_sync
from agent_core.state.memory.external_sync import SyncItem
from agent_core.state.memory.ledger import LISTS

_log = logging.getLogger(__name__)

POLL = 2.0
"""Seconds between polls of the queue; new work wakes it earlier."""
_STORE_PAUSE = 5.0
_LONGEST = 60.0
"""Seconds until one delivery times out."""
_AT_ONCE = 200
_MOST_ATTEMPTS = 8
_PAUSE = 2_000
"""Milliseconds until the first retry after a provider error, doubled each time."""


class SyncQueue:
    """Delivers the rows of one provider."""

    def __init__(
        self,
        contact: ProviderConnection,
        database: Database,
        recall_cache: RecallCache,
        *,
        now: Callable[[], int],
        poll: float = POLL,
    ) -> None:
        self._provider = contact.provider
        self._names = contact.names
        self._condition = contact.condition
        self._database = database
        self._recall_cache = recall_cache
        self._now = now
        self._poll = poll
        self._wake_event = asyncio.Event()
        self._asked: list[asyncio.Future[None]] = []
        self._reported = 0

    def take_delivered_count(self) -> int:
        """Return the number of deliveries since the last call."""
        reported, self._reported = self._reported, 0
        return reported

    async def look(self) -> None:
        """Attempt all rows that are due, and wait until that is done; `run` must be active."""
        asked = asyncio.get_running_loop().create_future()
        self._asked.append(asked)
        self._wake_event.set()
        await asked

    def wake(self) -> None:
        """Wake the queue, after a commit that enqueued rows."""
        self._wake_event.set()

    async def run(self) -> None:
        """Deliver until cancelled."""
        while True:
            self._wake_event.clear()
            asked, self._asked = self._asked, []
            try:
                await self._enqueue_changed()
                pause = await self._deliver_due()
            except StoreError as error:
                _log.error("the external memory queue waits for the store: %s", error)
                pause = _STORE_PAUSE
            for one in asked:
                if not one.done():
                    one.set_result(None)
            try:
                async with asyncio.timeout(pause):
                    await self._wake_event.wait()
            except TimeoutError:
                continue

    async def _enqueue_changed(self) -> None:
        """Enqueue the memory of everyone whose ledger has grown. Raises `StoreError`.

        The read position is saved together with the new rows.
        """
        key = f"mirror.ledger:{self._provider.name}"
        now = self._now()

        def look(connection: Connection) -> tuple[str | None, int]:
            return meta.get(connection, key=key), external_sync.find_newest_change(connection)

        def work(connection: Connection) -> None:
            if read is not None:
                for person_id in external_sync.list_changed(
                    connection, after=int(read), upto=newest
                ):
                    external_sync.enqueue_memory(
                        connection, provider=self._provider.name, person_id=person_id, now=now
                    )
            meta.put(connection, key=key, value=str(newest))

        read, newest = await self._database.read(look)
        if read is None or int(read) < newest:
            await self._database.write("mirror.changes", work)

    async def _deliver_due(self) -> float:
        """Deliver due rows; returns the seconds until the next poll. Raises `StoreError`."""
        while True:
            if not self._condition.is_available and not await self._start():
                return self._condition.pause
            rows = await self._database.read(
                partial(external_sync.list_queued, provider=self._provider.name, limit=_AT_ONCE)
            )
            held: set[PersonId] = set()
            reported = 0
            for row in rows:
                if row.person_id in held:
                    continue  # deliveries of one person stay in order
                if row.due_at <= self._now() and await self._deliver(row):
                    reported += 1
                else:
                    held.add(row.person_id)
                if not self._condition.is_available:
                    break
            if self._condition.is_available and not reported:
                return self._poll

    async def _start(self) -> bool:
        """Probe the provider if its backoff is over."""
        return not self._condition.pause and await self.call()

    async def call(self) -> bool:
        """Probe the provider."""
        try:
            async with asyncio.timeout(_LONGEST):
                await self._provider.start()
        except (ExternalMemoryError, TimeoutError) as error:
            self._condition.mark_unavailable(error)
            return False
        self._condition.mark_available()
        return True

    async def _deliver(self, row: SyncItem) -> bool:
        """Deliver one row; returns False if it must wait. Raises `StoreError`."""
        is_queued = await self._database.write(
            "mirror.begin", partial(external_sync.begin, item_id=row.id)
        )
        if not is_queued:
            return True  # the row was removed meanwhile
        try:
            async with asyncio.timeout(_LONGEST):
                payload = await self._send(row)
        except (ExternalMemoryUnavailable, TimeoutError) as error:
            self._condition.mark_unavailable(error)
            return False
        except ExternalMemoryBroken as error:
            return await self._handle_broken(row, error)
        except (ExternalMemoryRefused, ExternalMemoryUnsupported, StoreDamaged) as error:
            await self._park(row, str(error))
            return True
        await self._database.write("mirror.finish", partial(self._finish, row=row, payload=payload))
        self._reported += 1
        return True

    async def _send(self, row: SyncItem) -> str | None:
        """Send one row; returns the payload to keep, or None. Raises `ExternalMemoryError`."""
        match row.kind:
            case "turn":
                exchange = await self._database.read(partial(self._read_turn, row=row))
                if exchange:
                    await self._provider.add_exchange(exchange)
                    self._recall_cache.ask(row.person_id)
                return None
            case "memory":
                notes = await self._database.read(partial(self._read_memory, row=row))
                kept = await self._provider.sync_entries(notes)
                self._recall_cache.forget()
                return json.dumps(dict(kept))
            case "erase":
                await self._erase(row)
                self._recall_cache.forget()
                return "{}"
        assert_never(row.kind)

    async def _erase(self, row: SyncItem) -> None:
        what, *numbers = row.key.split(":")
        if what == "session":
            session_id, dropped = map(int, numbers)
            await self._provider.delete_session(
                self._names.name_session(SessionId(session_id), dropped)
            )
        else:
            await self._provider.delete_person(self._names.name_person(row.person_id))

    def _read_turn(self, connection: Connection, row: SyncItem) -> Exchange | None:
        """Read the messages of a turn; None if none are left."""
        turn_id = TurnId(int(row.key.partition(":")[2]))
        turn = external_sync.find_turn(connection, turn_id=turn_id)
        said = external_sync.list_said(connection, turn_id=turn_id)
        if turn is None or not said:
            return None
        dropped = external_sync.count_dropped(
            connection, provider=self._provider.name, session_id=turn.session_id
        )
        return Exchange(
            who=self._names.name_person(row.person_id),
            session_id=self._names.name_session(turn.session_id, dropped),
            said=tuple(
                ExternalMessage(
                    key=f"message-{number}", is_ours=role == "assistant", text=text, at=at
                )
                for number, role, text, at in said
            ),
            is_repeat=row.attempts > 0,
        )

    def _read_memory(self, connection: Connection, row: SyncItem) -> MemorySnapshot:
        """Read the present memory of a person. Raises `StoreDamaged`."""
        memory_lists = [
            MemoryList(person_id=row.person_id, target=target, limit=0) for target in LISTS
        ]
        texts = [
            text for memory_list in memory_lists for text in find_list(connection, memory_list)
        ]
        return MemorySnapshot(
            who=self._names.name_person(row.person_id),
            entries={self._names.name_entry(text): text for text in texts},
            kept=json.loads(row.payload),
            is_repeat=row.attempts > 0,
        )

    def _finish(self, connection: Connection, row: SyncItem, payload: str | None) -> None:
        if payload is not None:
            external_sync.finish(connection, item_id=row.id, payload=payload)
            return
        if not external_sync.drop(connection, item_id=row.id):
            return  # the person was erased meanwhile
        # One row per person must stay: an erasure finds by it that the provider has data.
        external_sync.ensure_memory(
            connection, provider=self._provider.name, person_id=row.person_id, now=self._now()
        )

    async def _handle_broken(self, row: SyncItem, error: ExternalMemoryBroken) -> bool:
        """Postpone or set aside a row on which the provider failed. Raises `StoreError`.

        First, it probes the provider, to find out whether the row or the whole provider is at
        fault.
        """
        if not await self.call():
            return False
        if row.attempts + 1 >= _MOST_ATTEMPTS:
            await self._park(row, str(error))
            return True
        due_at = self._now() + _PAUSE * 2**row.attempts
        await self._database.write(
            "mirror.postpone",
            partial(external_sync.postpone, item_id=row.id, due_at=due_at, reason=str(error)),
        )
        return False

    async def _park(self, row: SyncItem, reason: str) -> None:
        _log.warning(
            "can't deliver %s to the external memory %s, so it is set aside: %s",
            row.key,
            self._provider.name,
            reason,
        )
        await self._database.write(
            "mirror.park",
            partial(external_sync.park, item_id=row.id, reason=reason, now=self._now()),
        )
