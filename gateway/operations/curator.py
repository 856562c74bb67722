"""Operations on the curator: run it, show its plan and report, decide, and restore the skills."""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from agent_core.errors import SkillBroken, SkillConflict, SkillMissing
from agent_core.execution.subprocesses.spawning import finish
from agent_core.ids import PersonId, TaskId
from agent_core.memory.edits_within_limits import Refusal
from agent_core.schedule.job_editor import JobAlreadyRunning, run_job_now
from agent_core.skills.curation.looks import enqueue_memory_look, list_memory, list_visible
from agent_core.skills.curation.merging import apply_merge
from agent_core.skills.curation.record import (
    CurationProposal,
    Merge,
    ProposalState,
    StoredRecord,
    Tidying,
    dump_record,
    list_open,
    load_record,
)
from agent_core.skills.curation.snapshot import RestoredSnapshot, restore_snapshot, take_snapshot
from agent_core.skills.curation.tidying import make_edits
from agent_core.skills.intents import write_planned
from agent_core.skills.states import CURATOR
from agent_core.skills.usage import list_records
from agent_core.state.engine.database import Connection, Database
from agent_core.state.jobs import job_runs, jobs
from agent_core.state.jobs.jobs import Job
from agent_core.state.memory import ledger
from agent_core.state.memory.ledger import LedgerEntry, Origin
from agent_core.state.people.people import Person
from agent_core.state.queues import curations, tasks
from gateway.background.curation import describe_plan
from gateway.errors import Declined, Mistaken
from gateway.operations.contract import Operation, OperationContext, find_person
from gateway.operations.curator_types import (
    CuratorPlan,
    CuratorReport,
    DecidedProposal,
    DecideProposal,
    ListProposals,
    ListSize,
    ProposalList,
    RestoredSkills,
    RestoreSkills,
    RunCurator,
    ShowPlan,
    ShowReport,
    SkillCounts,
    StartedRun,
    WaitingProposal,
)
from gateway.operations.wire import typed
from gateway.texts import curator as texts
from gateway.texts.general import OWNER_ONLY

if TYPE_CHECKING:
    from agent_core.memory.store import MemoryStore
    from agent_core.skills.catalog import SkillCatalog

_ID = re.compile(r"(\d{1,15})-(\d{1,3})")
_LISTS: tuple[Literal["user", "memory"], ...] = ("user", "memory")


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A proposal, who paid for it, and its record."""

    payer: PersonId
    stored: StoredRecord
    number: int

    @property
    def key(self) -> str:
        """The proposal's name in commands; it stays when other proposals are decided."""
        return f"{self.stored.task_id}-{self.number}"

    @property
    def call_key(self) -> str:
        """The ledger's key for the change that the proposal makes."""
        return f"curation:{self.key}"

    @property
    def proposal(self) -> CurationProposal:
        """The proposal itself."""
        return self.stored.record.proposals[self.number]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Says what became of a proposal, just now or, if it is not `is_new`, before.

    `rows` are the changes of memory, newest first: each undo then finds the list as its change left
    it.
    """

    proposal: CurationProposal
    state: ProposalState
    rows: tuple[LedgerEntry, ...] = ()
    is_new: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class CuratorDesk:
    """Decides about proposals, and reports; the slash command and the operations share it."""

    database: Database
    memory: "MemoryStore"
    catalog: "SkillCatalog"

    async def decide(self, person: Person, key: str, now: int, *, accepts: bool) -> Decision:
        """Accept or decline a proposal; a repeated decision changes nothing more.

        Raises `Mistaken`, `Declined` with the reason if a merge can't be made, `StoreError` and
        `OSError`.
        """
        found = await self.database.read(_find, person, key)
        if found is None:
            raise Mistaken(texts.UNKNOWN())
        proposal, state = found.proposal, found.proposal.state
        is_new = state == "open"
        if is_new and not accepts:
            state = "declined"
            await self._note(found, state)
        elif is_new and isinstance(proposal.change, Merge):
            state = "accepted"
            await self._merge(found, proposal.change, now)
        elif is_new and isinstance(proposal.change, Tidying):
            state = await self._tidy(person, found, proposal.change, now)
        rows = await self.database.read(
            ledger.find_call, person_id=person.id, call_key=found.call_key
        )
        return Decision(proposal=proposal, state=state, rows=tuple(reversed(rows)), is_new=is_new)

    async def restore(self, actor: str, now: int) -> RestoredSnapshot:
        """Restore the newest snapshot of the skills. Raises `Declined`."""
        folder, origin = self.catalog.folder, Origin(actor=actor, now=now)
        try:
            done = await self.database.write(
                "curator.restore", lambda c: restore_snapshot(c, folder, origin)
            )
        except (SkillConflict, SkillBroken, SkillMissing) as error:
            raise Declined(texts.describe_refused(str(error))) from error
        except OSError as error:
            raise Declined(texts.describe_refused(error.strerror or str(error))) from error
        await self.database.write("skills.write_planned", write_planned, folder)
        return done

    async def report(self, person: Person, now: int) -> CuratorReport:
        """Report how tidy a person's memory is, and to owners on the skills."""
        await self.memory.snapshot(person.id, person.slug, now)
        limits = self.memory.limits

        def look(connection: Connection) -> CuratorReport:
            entries = list_memory(connection, person_id=person.id)
            job = find_job(connection)
            newest = job_runs.list_of_job(connection, job_id=job.id, limit=1) if job else []
            sizes = [[len(one.text) for one in entries if one.target == name] for name in _LISTS]
            return CuratorReport(
                last=newest[0].ended_at if newest else None,
                following=job.next_slot[1] if job and job.next_slot else None,
                waiting=len(list_waiting(connection, person)),
                lists=tuple(
                    ListSize(
                        list=name, notes=len(size), characters=sum(size), limit=limits.of(name)
                    )
                    for name, size in zip(_LISTS, sizes, strict=True)
                ),
                skills=_count_skills(connection) if person.is_owner else None,
            )

        return await self.database.read(look)

    async def _note(self, waiting: Waiting, state: ProposalState) -> None:
        await self.database.write("curator.decide", _save_state, waiting, state)

    async def _tidy(
        self, person: Person, waiting: Waiting, change: Tidying, now: int
    ) -> ProposalState:
        """Make an accepted change of the person's memory. Raises `StoreError` and `OSError`."""
        await self.memory.snapshot(person.id, person.slug, now)
        entries = await self.database.read(list_memory, person_id=person.id)
        is_kept = not change.kept or any(one.text == change.kept for one in entries)
        state: ProposalState = "outdated"
        if is_kept:
            origin = Origin(
                actor="person",
                now=now,
                evidence=waiting.proposal.reason,
                call_key=waiting.call_key,
            )
            made = await self.memory.change_all(person.id, person.slug, make_edits(change), origin)
            state = "outdated" if isinstance(made, Refusal) else "accepted"
        await self._note(waiting, state)
        return state

    async def _merge(self, waiting: Waiting, change: Merge, now: int) -> None:
        """Make an accepted merge of skills, after a snapshot. Raises `Declined`."""
        folder = self.catalog.folder
        origin = Origin(actor=CURATOR, now=now, call_key=waiting.call_key)

        def work(connection: Connection) -> None:
            if _save_state(connection, waiting, "accepted"):
                apply_merge(connection, self.catalog, waiting.proposal, change, origin)

        try:
            await finish(asyncio.to_thread(take_snapshot, folder, now))
            await self.database.write("curator.merge", work)
        except (SkillConflict, SkillBroken, SkillMissing) as error:
            await self._note(waiting, "outdated")
            raise Declined(texts.describe_refused(str(error))) from error
        except OSError as error:
            raise Declined(texts.describe_refused(error.strerror or str(error))) from error
        await self.database.write("skills.write_planned", write_planned, folder)


def start(connection: Connection, person: Person | None, call_key: str, now: int) -> StartedRun:
    """Start the curator for an owner or the command line (None); for others, look at their memory.

    Raises `Declined`.
    """
    if person is not None and not person.is_owner:
        if person.learning == "off":
            raise Declined(texts.LEARNING_OFF())
        enqueue_memory_look(connection, person_id=person.id, now=now)
        return StartedRun(scope="own_memory", job=None)
    job = find_job(connection)
    if job is None:
        raise Declined(texts.NO_JOB() if person else texts.NO_JOB_YET())
    try:
        run_job_now(connection, job, call_key, now)
    except JobAlreadyRunning as error:
        raise Declined(texts.RUNS_ALREADY()) from error
    return StartedRun(scope="everything", job=job.id)


def find_job(connection: Connection) -> Job | None:
    """Return the curator's job, which the first start of the gateway makes."""
    return next((one for one in jobs.list_system(connection) if one.body == CURATOR), None)


def list_waiting(connection: Connection, person: Person) -> list[Waiting]:
    """List the proposals that a person may decide about, oldest first."""
    visible = list_visible(connection, person_id=person.id, is_owner=person.is_owner)
    payers = {stored.task_id: payer for payer, stored in visible}
    return [
        Waiting(payer=payers[stored.task_id], stored=stored, number=number)
        for stored, number in list_open([stored for _, stored in visible])
    ]


async def run(context: OperationContext, asked: RunCurator) -> StartedRun:
    """Tidy up now: everything for an owner, their own memory for a member. Raises `Declined`."""
    now = context.now()

    def work(connection: Connection) -> StartedRun:
        person = find_person(connection, asked.person) if asked.person else None
        return start(connection, person, f"desk:{now}", now)

    started = await context.database.write("curator.run", work)
    context.scheduling.wake()
    return started


async def plan(context: OperationContext, _: ShowPlan) -> CuratorPlan:
    """Say what the curator would do, without changing anything. Raises `Declined`."""
    try:
        lines = await describe_plan(context.database, context.skills, context.now())
    except SkillBroken as error:
        raise Declined(str(error)) from error
    return CuratorPlan(lines=tuple(lines))


async def restore(context: OperationContext, asked: RestoreSkills) -> RestoredSkills:
    """Restore the newest snapshot of the skills. Raises `Declined`."""
    actor = "house"
    if asked.by:
        person = await context.database.read(find_person, asked.by)
        if not person.is_owner:
            raise Declined(OWNER_ONLY())
        actor = f"person:{person.id}"
    done = await _open(context).restore(actor, context.now())
    return RestoredSkills(snapshot=done.name, restored=done.restored, archived=done.archived)


async def list_proposals(context: OperationContext, asked: ListProposals) -> ProposalList:
    """List the proposals that wait for a person. Raises `Mistaken`."""

    def look(connection: Connection) -> ProposalList:
        waiting = list_waiting(connection, find_person(connection, asked.person))
        return ProposalList(proposals=tuple(map(_describe, waiting)))

    return await context.database.read(look)


async def decide(context: OperationContext, asked: DecideProposal) -> DecidedProposal:
    """Accept or decline a proposal. Raises `Declined`, `Mistaken` and `OSError`."""
    person = await context.database.read(find_person, asked.person)
    desk = _open(context)
    made = await desk.decide(person, asked.key, context.now(), accepts=asked.accepts)
    return DecidedProposal(state=made.state, rows=tuple(row.id for row in made.rows))


async def report(context: OperationContext, asked: ShowReport) -> CuratorReport:
    """Report how tidy the memory of a person is. Raises `Mistaken`."""
    person = await context.database.read(find_person, asked.person)
    return await _open(context).report(person, context.now())


def _open(context: OperationContext) -> CuratorDesk:
    return CuratorDesk(
        database=context.database, memory=context.memory, catalog=context.skills.catalog
    )


def _describe(waiting: Waiting) -> WaitingProposal:
    change, reason = waiting.proposal.change, waiting.proposal.reason
    if isinstance(change, Merge):
        return WaitingProposal(
            key=waiting.key,
            kind="merge",
            reason=reason,
            removed=tuple(one for one in change.before if one != change.into),
            text=change.text,
            into=change.into,
        )
    return WaitingProposal(
        key=waiting.key,
        kind=change.kind,
        reason=reason,
        removed=change.removed,
        text=change.text,
        kept=change.kept,
    )


def _count_skills(connection: Connection) -> SkillCounts | None:
    states = [one.row.state for one in list_records(connection)]
    if not states:
        return None
    return SkillCounts(
        active=states.count("active"),
        trial=states.count("trial"),
        draft=states.count("draft"),
        stale=states.count("stale"),
        archived=states.count("archived"),
    )


def _find(connection: Connection, person: Person, key: str) -> Waiting | None:
    """Find a proposal that the person may decide about."""
    match = _ID.fullmatch(key)
    if match is None:
        return None
    task_id, number = TaskId(int(match[1])), int(match[2])
    for payer, stored in list_visible(connection, person_id=person.id, is_owner=person.is_owner):
        if stored.task_id == task_id and number < len(stored.record.proposals):
            return Waiting(payer=payer, stored=stored, number=number)
    return None


def _save_state(connection: Connection, waiting: Waiting, state: ProposalState) -> bool:
    """Store the decision on a proposal; False if somebody has decided meanwhile."""
    task_id = waiting.stored.task_id
    text = curations.find(connection, person_id=waiting.payer, task_id=task_id)
    record = load_record(text) if text else None
    if record is None or record.proposals[waiting.number].state != "open":
        return False
    decided = record.decide(waiting.number, state)
    tasks.save(connection, task_id=task_id, payload=dump_record(decided))
    return True


OPERATIONS: Mapping[str, Operation] = {
    "curator.run": typed(run),
    "curator.plan": typed(plan),
    "curator.restore": typed(restore),
    "curator.proposals": typed(list_proposals),
    "curator.decide": typed(decide),
    "curator.report": typed(report),
}
"""The operations, by their names on the control socket."""
