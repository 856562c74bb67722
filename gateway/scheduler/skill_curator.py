"""The curator of the home's skills: what it would do, and does, about those nobody uses."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from agent_core.errors import SkillBroken, SkillMissing, StoreDamaged
from agent_core.skills import ledger_sync
from agent_core.skills.catalog import SkillCatalog
from agent_core.skills.curator import (
    CuratorReport,
    CuratorRules,
    CuratorView,
    Step,
    hash_fault,
    plan_steps,
)
from agent_core.skills.usage import UsageFile
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory import skills
from agent_core.state.memory.ledger import Origin
from agent_core.state.queues.outbox import OutboxRow
from gateway.config import SKILLS, SkillSettings
from gateway.people.owners import Notices
from gateway.texts import system_jobs

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillServices:
    """The skills of a house, what is known of their use, and the curator's rules."""

    database: Database
    shelf: SkillCatalog
    usage: UsageFile
    rules: CuratorRules


def make_skill_services(home: Path, settings: SkillSettings, database: Database) -> SkillServices:
    """The skills of a home."""
    folder = home / SKILLS
    rules = CuratorRules(stale_days=settings.stale_days, archive_days=settings.archive_days)
    return SkillServices(
        database=database,
        shelf=SkillCatalog(folder),
        usage=UsageFile(database, folder),
        rules=rules,
    )


async def plan_round(room: SkillServices, now: int) -> CuratorReport:
    """What the curator would do, without doing it. Raises `SkillBroken`, `StoreError`."""
    return (await room.database.read(lambda connection: _look(connection, room, now)))[1]


def compare(connection: Connection, room: SkillServices, now: int, evidence: str) -> CuratorReport:
    """Write down what was done to skills by hand, or before a crash; `evidence` says where that
    was found. Raises `SkillBroken` if their folder can't be read.
    """
    view, found = _look(connection, room, now)
    found = replace(found, steps=[step for step in found.steps if step.kind in ledger_sync.FOUND])
    if found.has_folder:
        origin = Origin(actor="hand", now=now, evidence=evidence)
        ledger_sync.note_found(connection, view, found.steps, origin)
    return found


async def sync_at_start(room: SkillServices, now: int) -> None:
    """Compare the skills with the ledger before anything uses them.

    Where that can't be done a warning says so. Raises `StoreError`.
    """
    try:
        found = await room.database.write(
            "skills.compare", lambda c: compare(c, room, now, "found so at the start")
        )
    except (SkillBroken, StoreDamaged) as error:
        _log.warning("the skills can't be compared with what they were: %s", error)
        return
    if found.steps:
        _log.info("skills were changed by hand: %s", system_jobs.describe_round(found))


def _look(
    connection: Connection, room: SkillServices, now: int
) -> tuple[CuratorView, CuratorReport]:
    view = ledger_sync.inspect_skills(connection, room.shelf)
    has_folder = room.shelf.is_there()
    steps = plan_steps(view, room.rules, now) if has_folder else ()
    return view, CuratorReport(count=len(view.own), has_folder=has_folder, steps=steps)


class Curator:
    """Looks the home's skills over; tells owners of broken ones, once of each fault."""

    def __init__(
        self,
        room: SkillServices,
        notices: Notices,
        *,
        enqueue: Callable[[Sequence[OutboxRow]], None],
        now: Callable[[], int],
    ) -> None:
        self._room = room
        self._notices = notices
        self._enqueue = enqueue
        self._now = now

    async def work(self) -> str:
        """Do what is to be done, and say what that was.

        Raises `SkillBroken`, `StoreError`, and `OSError` if the file of uses can't be written.
        """
        now = self._now()

        def work(connection: Connection) -> tuple[CuratorReport, list[OutboxRow]]:
            view, found = _look(connection, self._room, now)
            if not found.has_folder:
                return found, []
            hand = Origin(actor="hand", now=now, evidence="found so by the curator")
            ledger_sync.note_found(connection, view, found.steps, hand)
            done = self._move(connection, found, now)
            for step in done.steps:
                _write_down(connection, step)
            faults = [step.fault for step in done.steps if step.kind == "tell"]
            words = system_jobs.describe_broken(faults) if faults else ""
            return done, self._notices.enqueue_for_owners(connection, words, now) if words else []

        done, owed = await self._room.database.write("skills.curate", work)
        self._enqueue(owed)
        await self._room.usage.write()
        return system_jobs.describe_round(done)

    def _move(self, connection: Connection, found: CuratorReport, now: int) -> CuratorReport:
        """Put away what is to be; what can't be moved stays, and is tried again next time."""
        steps: list[Step] = []
        stuck: list[tuple[str, str]] = []
        for step in found.steps:
            if step.kind != "archive":
                steps.append(step)
                continue
            why = Origin(actor="curator", now=now, evidence=f"not used for {step.days} days")
            folder = self._room.shelf.folder
            try:
                kept = ledger_sync.archive_skill(connection, folder, step.name, why)
            except SkillMissing:
                continue  # somebody was faster
            except OSError as error:
                stuck.append((step.name, error.strerror or str(error)))
            else:
                steps.append(replace(step, kept=kept))
        return replace(found, steps=steps, stuck=stuck)


def _write_down(connection: Connection, step: Step) -> None:
    """What is told and called; what was found and moved is written down already."""
    match step.kind:
        case "tell":
            skills.note_told(connection, name=step.name, fault=hash_fault(step.fault))
        case "mended":
            skills.note_told(connection, name=step.name, fault="")
        case "stale":
            skills.set_state(connection, name=step.name, state="stale")
        case "fresh":
            skills.set_state(connection, name=step.name, state="active")
