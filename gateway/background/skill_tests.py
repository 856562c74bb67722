"""Run the tests of skills in the background, one replay at a time, and act on their verdicts."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from agent_core.agent.quotas.background import call_in_background
from agent_core.agent.quotas.reservations import Quotas
from agent_core.errors import QuotaExceeded, SkillBroken, SkillConflict, SkillMissing
from agent_core.execution.subprocesses.spawning import finish
from agent_core.ids import ConversationId, TurnId
from agent_core.models.catalog import bill
from agent_core.models.contract import Model, ModelAnswer, ModelRequest
from agent_core.skills.catalog import CatalogEntry
from agent_core.skills.decline import check_uses, roll_back
from agent_core.skills.evaluation.cases import (
    LEAST_CASES,
    EvalCase,
    find_drawn,
    may_test,
    name_drawn,
    read_cases,
)
from agent_core.skills.evaluation.draw import Recorded, draw_cases, load_recorded
from agent_core.skills.evaluation.record import Arm, CaseRun, EvalRecord, dump_record, load_record
from agent_core.skills.evaluation.replay import Replayer, ReplaySandbox
from agent_core.skills.evaluation.verdict import CaseVerdict, judge_runs, wants_judge
from agent_core.skills.intents import write_planned
from agent_core.skills.ledger_sync import note_loaded
from agent_core.state.conversations import usage
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory import blocks, skill_changes, skills
from agent_core.state.memory.ledger import Origin
from agent_core.state.people import people
from agent_core.state.people.people import Person
from agent_core.state.queues import outbox, skill_tests, tasks
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from agent_core.state.queues.tasks import Task
from gateway.background.reviews import find_idle
from gateway.outbound.command_buttons import offer_command
from gateway.outbound.dispatcher import OutboxDispatcher
from gateway.people.owner_notices import Notices, find_direct_chat
from gateway.texts import curator as texts
from gateway.texts.memory import UNDO
from gateway.texts.reader_language import speak_to

PURPOSE = "skill_test"
"""The purpose of the model calls of tests in `usage`."""
ACTOR = "tests"
_WAIT = 3_600_000
"""Milliseconds until a test continues if its person has no quota left for background work."""


LONGEST_REPLAY = 240.0
"""Seconds of one replay: less than one task may take."""
_ENDLESS = "it did not end in time"
_OTHER_TEXT = "the skill has another text by now"


class TaskUnfinished(Exception):
    """A task has more to do, after a wait."""

    def __init__(self, wait: int = 0) -> None:
        """`wait` is in milliseconds."""
        super().__init__()
        self.wait = wait


@dataclass(frozen=True, slots=True, kw_only=True)
class _Offer:
    """A command that a notice offers."""

    command: str
    label: str


def _judge_endless(record: EvalRecord) -> CaseVerdict | None:
    """Judge a skill with which a replay does not end; None while every replay ends.

    If one without it does not end either, the model or the backend is slow, which says nothing.
    """
    endless = [run for run in record.runs if run.why == _ENDLESS]
    ended = {run.case for run in record.runs if run.arm == "without" and run.why != _ENDLESS}
    if any(run.arm == "with" and run.case in ended for run in endless):
        return CaseVerdict(result="failed", reason=_ENDLESS)
    return CaseVerdict(result="void", reason=_ENDLESS) if len(endless) > 1 else None


def _offer_undo(name: str) -> _Offer:
    return _Offer(command=f"undo skill {name}", label=UNDO())


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillTests:
    """Runs the tasks of the kinds `skill_test` and `skill_check`.

    Each call makes one replay and stores it, so that a crash repeats one replay at most.
    `is_running` tells whether a conversation has a turn under way. A replay is stopped after
    `longest` seconds.
    """

    database: Database
    dispatcher: OutboxDispatcher
    notices: Notices
    model: Model
    quotas: Quotas
    sandbox: ReplaySandbox
    is_running: Callable[[ConversationId], bool]
    now: Callable[[], int]
    longest: float = LONGEST_REPLAY

    async def apply(self, task: Task) -> None:
        """Do the next part of a test.

        Raises `TaskUnfinished` and `PersonBusy` while there is more to do, `ModelError`,
        `BackendUnavailable`, `StoreError` and `OSError`.
        """
        record = load_record(task.payload)
        if record.result or await self._is_known(task, record):
            return
        person = await self.database.read(partial(find_idle, task=task, is_running=self.is_running))
        if person is None or (person.learning == "off" and not record.is_asked):
            return
        try:
            entry = await asyncio.to_thread(self.sandbox.catalog.find, record.name)
            if entry.skill is None or entry.place is None:
                raise SkillBroken(entry.fault)
            if record.cases is None:
                record = await self._choose(task, record, entry, person)
            verdict = _judge_endless(record) or judge_runs(record.cases or (), record.runs)
            missing = record.find_next()
            if verdict.result == "open" and missing:
                await self._save(task, await self._run_case(record, entry, person, *missing))
                raise TaskUnfinished
        except QuotaExceeded:
            raise TaskUnfinished(_WAIT) from None
        except (SkillMissing, SkillBroken, SkillConflict) as error:
            verdict = CaseVerdict(result="void", reason=str(error))
        await self._end(task, replace(record, result=verdict.result, reason=verdict.reason), person)

    async def _run_case(
        self, record: EvalRecord, entry: CatalogEntry, person: Person, case_id: str, arm: Arm
    ) -> EvalRecord:
        """Replay a case once more. Raises what `Replayer.run` raises, and `SkillConflict`."""
        case = await self._find_case(entry, case_id)
        recorded = await self._read_turn(case, person)
        replayer = Replayer(self.sandbox, partial(self._ask, person), person.id, person.slug)
        is_compared = arm == "with" and wants_judge(record.runs)
        rival = record.find_rival(case_id) if is_compared else None
        try:
            async with asyncio.timeout(self.longest):
                run = await replayer.run(case, recorded, arm, entry, rival)
        except TimeoutError:
            run = CaseRun(case=case_id, arm=arm, passed=None, why=_ENDLESS)
        return record.add(run)

    async def _is_known(self, task: Task, record: EvalRecord) -> bool:
        """Return whether a text has been tested or is being tested, and nobody asked for a new
        test.
        """
        if record.is_asked or record.cases is not None:
            return False

        def look(connection: Connection) -> bool:
            row = skills.find(connection, name=record.name)
            earlier = row and skill_tests.list_of_text(
                connection, skill_id=row.id, text_row=record.text_row
            )
            found = [load_record(one) for one in earlier or ()]
            return any(
                one.result in ("passed", "failed", "same") or (one.cases and not one.result)
                for one in found
            )

        return await self.database.read(look)

    async def _choose(
        self, task: Task, record: EvalRecord, entry: CatalogEntry, person: Person
    ) -> EvalRecord:
        """Choose the cases: those beside the skill, and further ones that are drawn from turns."""
        assert entry.skill is not None  # noqa: S101 - checked by the caller
        chosen = [case.id for case in await self._read_file(entry)]
        about = f"{entry.name} {entry.skill.description}"

        def look(connection: Connection) -> list[TurnId]:
            row = skills.find(connection, name=entry.name)
            if row is None:
                return []
            return draw_cases(connection, skill_id=row.id, person_id=person.id, about=about)

        if len(chosen) < LEAST_CASES and entry.origin == "home":
            drawn = await self.database.read(look)
            chosen = list(dict.fromkeys((*chosen, *map(name_drawn, drawn))))
        cases = tuple(chosen) if len(chosen) >= LEAST_CASES else ()
        record = replace(record, cases=cases)
        await self._save(task, record)
        return record

    async def _read_file(self, entry: CatalogEntry) -> list[EvalCase]:
        """Read the cases of a skill's file; none if the agent wrote it. Raises `SkillBroken`."""
        assert entry.place is not None  # noqa: S101 - checked by the caller
        folder, name = self.sandbox.catalog.folder, entry.name
        if entry.origin == "home" and not await self.database.read(may_test, folder, name):
            return []
        return await asyncio.to_thread(read_cases, entry.place)

    async def _find_case(self, entry: CatalogEntry, case_id: str) -> EvalCase:
        """Find a case by its id. Raises `SkillConflict` if somebody has removed it."""
        if drawn := find_drawn(case_id):
            return drawn
        cases = await self._read_file(entry)
        found = next((case for case in cases if case.id == case_id), None)
        if found is None:
            raise SkillConflict(f"Case {case_id} of the skill {entry.name} is gone.")
        return found

    async def _read_turn(self, case: EvalCase, person: Person) -> Recorded | None:
        turn_id = case.turn_id
        if turn_id is None:
            return None
        return await self.database.read(load_recorded, turn_id=turn_id, person_id=person.id)

    async def _ask(self, person: Person, request: ModelRequest) -> tuple[ModelAnswer, int]:
        """Make a call that the person pays for, from the share of background work."""
        answer = await call_in_background(self.model, self.quotas, person.id, request)
        spent = bill(answer, PURPOSE)
        work = partial(usage.insert, call=spent, person_id=person.id, turn_id=None, now=self.now())
        await finish(self.database.write("skill_tests.answer", work))
        return answer, spent.micro_dollars or 0

    async def _save(self, task: Task, record: EvalRecord) -> None:
        await self.database.write(
            "skill_tests.save",
            tasks.save,
            task_id=task.id,
            payload=dump_record(record),
        )

    async def _end(self, task: Task, record: EvalRecord, person: Person) -> None:
        """Store the verdict, change the skill's state, and tell the person."""

        def work(connection: Connection) -> list[OutboxRow]:
            write_planned(connection, self.sandbox.catalog.folder)
            hand = Origin(actor="hand", now=self.now(), evidence="found after its test")
            note_loaded(connection, self.sandbox.catalog.folder, record.name, hand)
            over = self._check_text(connection, record)
            tasks.save(connection, task_id=task.id, payload=dump_record(over))
            with speak_to(connection, person.id):
                words, offers = self._act(connection, over)
                return self._tell(connection, person, words, offers) if words else []

        self.dispatcher.enqueue(await self.database.write("skill_tests.end", work))
        await self._write_files()

    async def check(self, task: Task) -> None:
        """Look at the outcomes of a skill's uses after one changed.

        Raises `StoreError` and `OSError`.
        """
        name, now = task.payload, self.now()

        def work(connection: Connection) -> list[OutboxRow]:
            done = check_uses(connection, self.sandbox.catalog, name, Origin(actor=ACTOR, now=now))
            person = people.find(connection, person_id=task.person_id)
            if done is None or person is None:
                return []
            with speak_to(connection, person.id):
                undo = _offer_undo(name) if done.version else None
                rows = self._tell(connection, person, texts.describe_decline(done), undo)
            if not person.is_owner:
                notice = partial(texts.describe_decline, done)
                rows += self.notices.enqueue_for_owners(connection, notice, now)
            return rows

        self.dispatcher.enqueue(await self.database.write("skills.check", work))
        await self._write_files()

    async def _write_files(self) -> None:
        """Write what is recorded. Raises `StoreError`."""
        await self.database.write(
            "skills.write_planned", write_planned, self.sandbox.catalog.folder
        )

    def _check_text(self, connection: Connection, record: EvalRecord) -> EvalRecord:
        """Return the record; it becomes void if the skill has another text by now."""
        row, team = skills.find(connection, name=record.name), blocks.find_team(connection)
        if row is None or team is None or not record.text_row:
            return record
        now = skill_changes.find_version_row(connection, person_id=team, skill_id=row.id)
        if now == record.text_row:
            return record
        return replace(record, result="void", reason=_OTHER_TEXT)

    def _act(self, connection: Connection, record: EvalRecord) -> tuple[str, _Offer | None]:
        """Act on a verdict; return the sentence for the person, "" for nothing to tell."""
        row = skills.find(connection, name=record.name)
        if row is None or row.state not in ("draft", "trial"):
            return "", None
        name, reason = record.name, record.reason
        origin = Origin(actor=ACTOR, now=self.now())
        if record.result == "passed" and row.state == "draft":
            why = f"its test passed: {reason}"
            skill_changes.set_state(connection, name=name, state="trial", why=why, origin=origin)
            return texts.describe_passed(name, record.runs), None
        if record.result in ("failed", "same") and row.state == "draft":
            is_endless = record.reason == _ENDLESS
            return texts.describe_failed(name, record.runs, is_endless=is_endless), None
        if record.result == "failed":
            why = f"its test failed: {reason}"
            _, version = roll_back(connection, self.sandbox.catalog, name, why, origin)
            return texts.describe_rolled_back(name, version, record.runs), _offer_undo(name)
        if record.result == "void" and record.reason != _OTHER_TEXT:
            tests = skill_tests.list_of_text(connection, skill_id=row.id, text_row=record.text_row)
            is_told = [load_record(one).result for one in tests].count("void") > 1
            return ("" if is_told else texts.describe_untested(name, reason)), None
        if record.result == "few" and row.state == "draft" and not record.is_asked:
            tests = skill_tests.list_of_text(connection, skill_id=row.id, text_row=record.text_row)
            if len(tests) == 1:  # a draft is offered once
                try_it = _Offer(command=f"skills try {name}", label=texts.TRY())
                return texts.describe_offer(name), try_it
        return "", None

    def _tell(
        self,
        connection: Connection,
        person: Person,
        words: str,
        offer: _Offer | None = None,
    ) -> list[OutboxRow]:
        """Enqueue a notice to a person, with a button for what they may do about it.

        With learning off, only a test that they asked for and a skill that goes badly come here.
        """
        chat = find_direct_chat(connection, person, self.dispatcher.adapters)
        if chat is None:
            return []
        message = NewOutboxMessage(
            chat=chat,
            body=words,
            person_id=person.id,
            is_silent=person.learning != "tell",
            buttons=offer_command(offer.command, offer.label) if offer else (),
        )
        return [outbox.enqueue(connection, message, now=self.now())]
