"""Watch the gateway, and tell its owners once of each thing that they have to repair."""

import asyncio
import logging
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from functools import partial

from agent_core.errors import StoreError
from agent_core.events import ModelFault
from agent_core.state.conversations import usage
from agent_core.state.engine import meta
from agent_core.state.engine.database import Connection, Database
from agent_core.state.queues import incidents
from agent_core.state.queues.incidents import Details, Incident
from agent_core.state.queues.outbox import OutboxRow
from agent_core.tools.clock import ReaderClock
from gateway.background.alert_conditions import (
    Condition,
    Gauge,
    Measured,
    find_conditions,
)
from gateway.people.owner_notices import Notices
from gateway.texts.health import describe_alert

_log = logging.getLogger(__name__)

LOOK = 30.0
"""Seconds between two looks."""
_LONGEST_GATHERING = 5 * 60_000
"""Milliseconds after which owners hear of an incident, although further ones keep coming."""
_TOLD = "alerts_told"
"""Key in `meta` of the time of the newest alert."""


class AlertWatch:
    """Looks for faults, and writes the alerts."""

    def __init__(
        self,
        database: Database,
        notices: Notices,
        gauge: Gauge,
        *,
        models: Collection[str],
        enqueue: Callable[[Sequence[OutboxRow]], None],
        zone: str,
        now: Callable[[], int],
        pause: int,
        look: float = LOOK,
    ) -> None:
        """`models` are the configured ones.

        `pause` is the least time between two alerts in milliseconds, `look` in seconds.
        """
        self._database = database
        self._notices = notices
        self._gauge = gauge
        self._models = models
        self._enqueue = enqueue
        self._zone = zone
        self._now = now
        self._pause = pause
        self._look = look
        self._due = asyncio.Event()

    async def note_fault(self, fault: ModelFault) -> None:
        """Note that only an owner can make a model usable again. Raises `StoreError`."""
        now = self._now()

        def work(connection: Connection) -> None:
            after = usage.find_newest(connection)
            details: Details = {"reason": fault.reason, "detail": fault.detail, "after": after}
            incidents.begin(connection, kind="model", subject=fault.model, details=details, now=now)

        await self._database.write("alerts.fault", work)
        self._due.set()

    async def run(self) -> None:
        """Watch until cancelled."""
        while True:
            self._due.clear()
            try:
                await self.look()
            except (StoreError, OSError) as error:
                _log.error("alerts can't be made: %s", error)
            with suppress(TimeoutError):
                async with asyncio.timeout(self._look):
                    await self._due.wait()

    async def look(self) -> None:
        """Compare the present faults with the reported ones. Raises `StoreError` and `OSError`."""
        measured = await self._gauge.measure()
        now = self._now()
        record = partial(self._record, measured=measured, now=now)
        if await self._database.read(partial(self._is_idle, measured=measured, now=now)):
            return
        self._enqueue(await self._database.write("alerts.look", record))

    def _is_idle(self, connection: Connection, measured: Measured, now: int) -> bool:
        """Return whether a look changes nothing."""
        known = incidents.list_all(connection)
        if any(one.told_at is None or one.ended_at for one in known):
            return False
        found = find_conditions(connection, measured, self._models, now)
        return {(one.kind, one.subject) for one in found} == {
            (one.kind, one.subject) for one in known
        }

    def _record(self, connection: Connection, measured: Measured, now: int) -> list[OutboxRow]:
        """Record the incidents that began and ended; report them once no further one begins."""
        conditions = find_conditions(connection, measured, self._models, now)
        found: dict[tuple[str, str], Condition] = {
            (one.kind, one.subject): one for one in conditions
        }
        known = {(one.kind, one.subject): one for one in incidents.list_all(connection)}
        is_news = False
        for key, one in found.items():
            if key not in known or known[key].ended_at:
                is_news = True
                incidents.begin(
                    connection, kind=one.kind, subject=one.subject, details=one.details, now=now
                )
        for key, old in known.items():
            if key not in found and old.ended_at is None:
                is_news = True
                incidents.end(connection, kind=old.kind, subject=old.subject, now=now)
        current = incidents.list_all(connection)
        if not self._is_time(connection, current, is_news=is_news, now=now):
            return []
        meta.put(connection, key=_TOLD, value=str(now))
        incidents.mark_told(connection, now=now)
        return self._tell(connection, current, measured, now)

    def _is_time(
        self, connection: Connection, current: Sequence[Incident], *, is_news: bool, now: int
    ) -> bool:
        """Return whether there is something to report, and it may be reported now."""
        waiting = [one.ended_at or one.since for one in current if one.ended_at or not one.told_at]
        if not waiting or (is_news and now - min(waiting) < _LONGEST_GATHERING):
            return False
        told = meta.get(connection, key=_TOLD)
        # The machine's clock may have been set back since.
        return told is None or not 0 <= now - int(told) < self._pause

    def _tell(
        self, connection: Connection, current: Sequence[Incident], measured: Measured, now: int
    ) -> list[OutboxRow]:
        over = [one for one in current if one.ended_at]
        is_all_well = len(over) == len(current)
        new = [one for one in current if one.told_at is None]
        clock = ReaderClock(zone=self._zone, now=now)
        notice = partial(describe_alert, new, over, is_all_well=is_all_well, clock=clock)
        _log.warning("alert: %s", notice())
        return self._notices.enqueue_for_owners(connection, notice, now, through=measured.connected)
