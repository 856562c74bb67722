"""The command `curator`: what it did, what it proposes, and what a person decides about that."""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from agent_core.errors import SkillBroken, SkillConflict, SkillMissing
from agent_core.execution.subprocesses.spawning import finish
from agent_core.ids import PersonId, TaskId
from agent_core.memory.edits_within_limits import Refusal
from agent_core.schedule.job_editor import JobAlreadyRunning, run_job_now
from agent_core.skills.catalog import SkillCatalog
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
from agent_core.skills.curation.snapshot import restore_snapshot, take_snapshot
from agent_core.skills.curation.tidying import make_edits
from agent_core.skills.intents import write_planned
from agent_core.skills.states import CURATOR
from agent_core.skills.usage import list_records
from agent_core.state.conversations.questions import Choice
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import job_runs, jobs
from agent_core.state.jobs.jobs import Job
from agent_core.state.memory import blocks, ledger, skill_changes, skills
from agent_core.state.memory.ledger import LedgerEntry, Origin
from agent_core.state.queues import curations, tasks
from gateway.commands.memory_scope import MemoryAccess, own_scope
from gateway.commands.registry import Call, Handler, Outcome, Reply
from gateway.outbound.command_buttons import stand_for
from gateway.texts import curator as texts
from gateway.texts.general import OWNER_ONLY
from gateway.texts.memory import UNDO

_MOST_SHOWN = 3
"""Most proposals shown at a time; more would fill a phone's screen."""
_MOST_CHANGES = 15
_ID = re.compile(r"(\d{1,15})-(\d{1,3})")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Waiting:
    """A proposal that waits, who paid for it, and its record."""

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


class CuratorCommands:
    """Shows what the curator does, and makes the changes that a person accepts."""

    def __init__(self, access: MemoryAccess, catalog: SkillCatalog) -> None:
        self._access = access
        self._database = access.database
        self._catalog = catalog

    def handlers(self) -> Mapping[str, Handler]:
        """Return the handlers by command name."""
        return {"curator": self._curator}

    async def _curator(self, call: Call) -> Reply:
        match call.argument.casefold().split():
            case []:
                return await self._show_status(call)
            case ["run"]:
                return Reply(effect=partial(_run, call=call))
            case ["report"]:
                return await self._report(call)
            case ["proposals"]:
                return await self._list(call)
            case ["accept", key]:
                return await self._decide(call, key, "accepted")
            case ["decline", key]:
                return await self._decide(call, key, "declined")
            case ["restore"]:
                return await self._restore(call)
            case _:
                return Reply(text=texts.USAGE())

    async def _show_status(self, call: Call) -> Reply:
        def look(connection: Connection) -> tuple[Job | None, int | None, int]:
            job = _find_job(connection)
            newest = job_runs.list_of_job(connection, job_id=job.id, limit=1) if job else []
            return job, newest[0].ended_at if newest else None, len(_list_waiting(connection, call))

        job, last, count = await self._database.read(look)
        following = job.next_slot[1] if job and job.next_slot else None
        buttons = [
            stand_for("curator run", texts.RUN()),
            stand_for("curator report", texts.SHOW_REPORT()),
        ]
        if count:
            buttons.insert(0, stand_for("curator proposals", texts.SHOW_PROPOSALS()))
        text = texts.describe_status(last, following, count, call.clock)
        return Reply(text=text, buttons=tuple(buttons))

    async def _report(self, call: Call) -> Reply:
        await self._access.open(call, own_scope(call.person))
        limits = self._access.memory.limits

        def look(connection: Connection) -> str:
            entries = list_memory(connection, person_id=call.person.id)
            memory = [
                (
                    sum(one.target == target for one in entries),
                    sum(len(one.text) for one in entries if one.target == target),
                    limits.of(target),
                )
                for target in ("user", "memory")
            ]
            waiting = len(_list_waiting(connection, call))
            if not call.person.is_owner:
                return texts.describe_report((), (), memory, waiting, call.clock)
            states = [one.row.state for one in list_records(connection)]
            return texts.describe_report(
                _list_changes(connection), states, memory, waiting, call.clock
            )

        text = await self._database.read(look)
        return Reply(text=text, buttons=(stand_for("curator", texts.SHOW_STATUS()),))

    async def _list(self, call: Call) -> Reply:
        waiting = await self._database.read(_list_waiting, call)
        if not waiting:
            return Reply(text=texts.NOTHING_WAITS())
        shown = waiting[:_MOST_SHOWN]
        buttons = []
        for number, one in enumerate(shown, 1):
            label = texts.ACCEPT(number=number)
            buttons.append(stand_for(f"curator accept {one.key}", label, "good"))
            buttons.append(stand_for(f"curator decline {one.key}", texts.DECLINE(number=number)))
        text = texts.describe_proposals([one.proposal for one in shown], len(waiting) - len(shown))
        return Reply(text=text, buttons=tuple(buttons))

    async def list_conflicts(self, call: Call) -> Reply:
        """Show the notes of the caller that contradict each other, and let them choose."""
        await self._access.open(call, own_scope(call.person))
        waiting, dates = await self._database.read(_list_conflicts, call)
        if not waiting:
            look = stand_for("curator run", texts.RUN())
            return Reply(text=texts.NO_CONFLICTS(), buttons=(look,))
        buttons = []
        for number, (one, _) in enumerate(waiting, 1):
            newer, both = texts.KEEP_NEWER(number=number), texts.KEEP_BOTH(number=number)
            buttons.append(stand_for(f"curator accept {one.key}", newer, "good"))
            buttons.append(stand_for(f"curator decline {one.key}", both))
        shown = [change for _, change in waiting]
        return Reply(text=texts.list_conflicts(shown, dates, call.clock), buttons=tuple(buttons))

    async def _decide(self, call: Call, key: str, state: ProposalState) -> Reply:
        """Accept or decline one proposal; a repeated press changes nothing more."""
        found = await self._database.read(_find, call, key)
        if found is None:
            return Reply(text=texts.UNKNOWN())
        if found.proposal.state != "open":
            return await self._describe(call, found, found.proposal.state)
        change = found.proposal.change
        if state == "declined":
            await self._note(found, state)
        elif isinstance(change, Merge):
            return await self._merge(call, found, change)
        else:
            state = await self._tidy(call, found, change)
        return await self._describe(call, found, state)

    async def _describe(self, call: Call, waiting: _Waiting, state: ProposalState) -> Reply:
        """Say what became of a proposal, and how to undo the change that it made."""
        more = await self._offer_more(call)
        if state != "accepted":
            return Reply(text=texts.DECIDED[state](), buttons=more)
        if isinstance(waiting.proposal.change, Merge):
            return Reply(text=texts.MERGED_BEFORE(), buttons=more)
        rows = await self._database.read(
            ledger.find_call, person_id=call.person.id, call_key=waiting.call_key
        )
        # Newest first: each undo then finds the list as its change left it.
        numbers = [row.id for row in reversed(rows)]
        undo = (stand_for(f"undo {numbers[0]}", UNDO()),) if len(numbers) == 1 else ()
        return Reply(
            text=texts.describe_tidied([row.change for row in rows], numbers),
            buttons=(*undo, *more),
        )

    async def _offer_more(self, call: Call) -> tuple[Choice, ...]:
        """Make a button for the proposals that still wait, if any do."""
        waiting = await self._database.read(_list_waiting, call)
        return (stand_for("curator proposals", texts.SHOW_PROPOSALS()),) if waiting else ()

    async def _note(self, waiting: _Waiting, state: ProposalState) -> None:
        await self._database.write("curator.decide", _save_state, waiting, state)

    async def _tidy(self, call: Call, waiting: _Waiting, change: Tidying) -> ProposalState:
        """Make an accepted change of the caller's memory. Raises `StoreError` and `OSError`."""
        await self._access.open(call, own_scope(call.person))
        entries = await self._database.read(list_memory, person_id=call.person.id)
        is_kept = not change.kept or any(one.text == change.kept for one in entries)
        state: ProposalState = "outdated"
        if is_kept:
            origin = Origin(
                actor="person",
                now=call.now,
                evidence=waiting.proposal.reason,
                call_key=waiting.call_key,
            )
            made = await self._access.memory.change_all(
                call.person.id, call.person.slug, make_edits(change), origin
            )
            state = "outdated" if isinstance(made, Refusal) else "accepted"
        await self._note(waiting, state)
        return state

    async def _merge(self, call: Call, waiting: _Waiting, change: Merge) -> Reply:
        """Make an accepted merge of skills, after a snapshot."""
        folder = self._catalog.folder
        origin = Origin(actor=CURATOR, now=call.now, call_key=waiting.call_key)

        def work(connection: Connection) -> None:
            if _save_state(connection, waiting, "accepted"):
                apply_merge(connection, self._catalog, waiting.proposal, change, origin)

        try:
            await finish(asyncio.to_thread(take_snapshot, folder, call.now))
            await self._database.write("curator.merge", work)
        except (SkillConflict, SkillBroken, SkillMissing) as error:
            await self._note(waiting, "outdated")
            return Reply(text=texts.describe_refused(str(error)))
        except OSError as error:
            return Reply(text=texts.describe_refused(error.strerror or str(error)))
        await self._database.write("skills.write_planned", write_planned, folder)
        again = stand_for("curator restore", texts.RESTORE())
        more = await self._offer_more(call)
        return Reply(text=texts.describe_merged(change), buttons=(again, *more))

    async def _restore(self, call: Call) -> Reply:
        """Restore the newest snapshot of the skills, for owners."""
        if not call.person.is_owner:
            return Reply(text=OWNER_ONLY())
        folder = self._catalog.folder
        origin = Origin(actor=f"person:{call.person.id}", now=call.now)

        try:
            text = await self._database.write(
                "curator.restore",
                lambda c: texts.describe_restored(restore_snapshot(c, folder, origin)),
            )
        except (SkillConflict, SkillBroken, SkillMissing) as error:
            return Reply(text=texts.describe_refused(str(error)))
        except OSError as error:
            return Reply(text=texts.describe_refused(error.strerror or str(error)))
        await self._database.write("skills.write_planned", write_planned, folder)
        return Reply(text=text)


def _run(connection: Connection, call: Call) -> Outcome:
    """Start the curator for an owner; for others, start a review of their own memory only."""
    if not call.person.is_owner:
        if call.person.learning == "off":
            return texts.LEARNING_OFF(), []
        enqueue_memory_look(connection, person_id=call.person.id, now=call.now)
        return texts.LOOKING(), []
    job = _find_job(connection)
    if job is None:
        return texts.NO_JOB(), []
    try:
        run_job_now(connection, job, call.call_key, call.now)
    except JobAlreadyRunning:
        return texts.RUNS_ALREADY(), []
    return texts.RUNNING(), []


def _find_job(connection: Connection) -> Job | None:
    return next((one for one in jobs.list_system(connection) if one.body == CURATOR), None)


def _list_waiting(connection: Connection, call: Call) -> list[_Waiting]:
    person = call.person
    visible = list_visible(connection, person_id=person.id, is_owner=person.is_owner)
    payers = {stored.task_id: payer for payer, stored in visible}
    return [
        _Waiting(payer=payers[stored.task_id], stored=stored, number=number)
        for stored, number in list_open([stored for _, stored in visible])
    ]


def _list_conflicts(
    connection: Connection, call: Call
) -> tuple[list[tuple[_Waiting, Tidying]], dict[str, int]]:
    """List the contradictions whose notes still stand, and when each note was written."""
    entries = list_memory(connection, person_id=call.person.id)
    dates = {one.text: one.at for one in entries}
    found: list[tuple[_Waiting, Tidying]] = []
    for one in _list_waiting(connection, call):
        change = one.proposal.change
        if not isinstance(change, Tidying) or change.kind != "contradiction":
            continue
        if all(text in dates for text in (*change.removed, change.kept)):
            found.append((one, change))
    return found[:_MOST_SHOWN], dates


def _find(connection: Connection, call: Call, key: str) -> _Waiting | None:
    """Find a proposal that the caller may decide about."""
    match = _ID.fullmatch(key)
    if match is None:
        return None
    task_id, number = TaskId(int(match[1])), int(match[2])
    person = call.person
    for payer, stored in list_visible(connection, person_id=person.id, is_owner=person.is_owner):
        if stored.task_id == task_id and number < len(stored.record.proposals):
            return _Waiting(payer=payer, stored=stored, number=number)
    return None


def _save_state(connection: Connection, waiting: _Waiting, state: ProposalState) -> bool:
    """Store the decision on a proposal; False if somebody has decided meanwhile."""
    task_id = waiting.stored.task_id
    text = curations.find(connection, person_id=waiting.payer, task_id=task_id)
    record = load_record(text) if text else None
    if record is None or record.proposals[waiting.number].state != "open":
        return False
    decided = record.decide(waiting.number, state)
    tasks.save(connection, task_id=task_id, payload=dump_record(decided))
    return True


def _list_changes(connection: Connection) -> list[tuple[str, LedgerEntry]]:
    """List the curator's newest changes of skills with their names, newest first."""
    team = blocks.find_team(connection)
    if team is None:
        return []
    rows = skill_changes.list_by(connection, person_id=team, actor=CURATOR, limit=_MOST_CHANGES)
    names = {one.id: one.name for one in skills.list_all(connection)}
    return [(names[row.change.position], row) for row in rows]
