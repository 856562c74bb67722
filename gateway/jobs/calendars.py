"""Calendars of days off: read when a job is made, and once a day from then on."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta

from agent_core.digest.formatting import SOURCES, own_folder
from agent_core.digest.tools import DigestOptions, open_web
from agent_core.digest.web_sources import list_days_off
from agent_core.errors import ToolArgumentError
from agent_core.ids import JobId, PersonId, RoomId
from agent_core.schedule.job_editor import next_slot_of
from agent_core.schedule.misfires import choose_next_slot
from agent_core.schedule.rules import Calendar, RecurrenceRule, Spans
from agent_core.schedule.triggers import dump_timing, load_timing
from agent_core.schedule.wall_clock import Slot, find_zone
from agent_core.state.engine.database import Connection, Database
from agent_core.state.jobs import jobs, waiting_jobs
from agent_core.state.jobs.jobs import Job
from agent_core.state.people import people, rooms
from agent_core.tools.clock import local_time
from agent_core.tools.readers.faults import SourceFailed
from gateway.jobs.system_jobs import CALENDARS, ensure_system_jobs
from gateway.texts.system_jobs import describe_calendars

_log = logging.getLogger(__name__)

_BEHIND, _DAYS = timedelta(days=31), 731
"""Days of a calendar that are read: those of missed runs, and two years ahead."""
_SECONDS = 30.0
"""Seconds to read one calendar."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calendars:
    """Reads calendars. `zone` is the deployment's, `changed` is called after a slot has moved."""

    database: Database
    digest: DigestOptions
    zone: str
    changed: Callable[[], None]
    now: Callable[[], int]

    async def read(self, at: str, *, person_id: PersonId, room_id: RoomId | None) -> Spans:
        """Read a calendar for a job, and have it read once a day.

        Raises `ToolArgumentError` with a sentence, and `StoreError`.
        """
        try:
            spans = await self._read(at, person_id, room_id)
        except SourceFailed as error:
            reason = str(error).rstrip(".")
            raise ToolArgumentError(f"the calendar can't be read: {reason}") from error
        await self.database.write(
            "works.ensure", ensure_system_jobs, {CALENDARS}, self.zone, self.now()
        )
        return spans

    async def work(self) -> str:
        """Read the calendar of every job again, and report. Raises `StoreError`.

        A calendar that can't be read keeps its last days off.
        """
        known = await self.database.read(_list_calendars)
        failed = 0
        for job, calendar in known:
            assert job.person_id is not None  # noqa: S101 - system jobs have no rule
            try:
                spans = await self._read(calendar.at, job.person_id, job.room_id)
            except SourceFailed as error:
                failed += 1
                _log.warning("the calendar of job %d can't be read: %s", job.id, error)
                continue
            if spans != calendar.spans:
                await self.database.write("jobs.calendar", self._make_change(job.id, spans))
                self.changed()
        return describe_calendars(len(known), failed)

    async def _read(self, at: str, person_id: PersonId, room_id: RoomId | None) -> Spans:
        """Read the days off from an address or from a file. Raises `SourceFailed`, `StoreError`."""
        common = self.digest.home / SOURCES

        def look(connection: Connection) -> tuple[str, str]:
            room = rooms.find_by_id(connection, room_id=room_id) if room_id else None
            person = people.find(connection, person_id=person_id)
            return room.slug if room else "", person.slug if person else ""

        room, person = await self.database.read(look)
        own = own_folder(common, "rooms", room) if room else own_folder(common, "people", person)
        first = local_time(self.now(), self.zone).date() - _BEHIND
        first = first.replace(day=1)  # positions count from the first day of a month
        try:
            async with asyncio.timeout(_SECONDS):
                web = open_web(self.digest)
                return await list_days_off(web, (own, common), at, first, _DAYS)
        except TimeoutError as error:
            raise SourceFailed(f"it took longer than {_SECONDS:g} s") from error

    def _make_change(self, job_id: JobId, spans: Spans) -> Callable[[Connection], None]:
        """Return the transaction that stores days off, and chooses the next slot by them."""

        def work(connection: Connection) -> None:
            now = self.now()
            job = jobs.find(connection, job_id=job_id)
            timing = load_timing(job.timing) if job and job.is_whole else None
            if job is None or not isinstance(timing, RecurrenceRule) or timing.calendar is None:
                return
            timing = replace(timing, calendar=replace(timing.calendar, spans=spans))
            waited = next_slot_of(job)
            slot: Slot | None = None
            if waited:
                slot = choose_next_slot(timing, find_zone(job.zone), waited, now)
            changed = replace(job, timing=dump_timing(timing))
            jobs.change(connection, changed)
            if waited and slot != waited:
                named = (slot.name, slot.at) if slot else None
                jobs.await_slot(connection, job_id=job.id, slot=named, is_over=slot is None)

        return work


def _list_calendars(connection: Connection) -> list[tuple[Job, Calendar]]:
    """List the jobs whose days off come from a calendar."""
    found = []
    for job in waiting_jobs.list_waiting(connection, after=0):
        timing = load_timing(job.timing) if job.is_whole else None
        if isinstance(timing, RecurrenceRule) and timing.calendar:
            found.append((job, timing.calendar))
    return found
