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
from agent_core.skills.changes import write_planned
from agent_core.skills.decline import check_uses, roll_back
from agent_core.skills.evaluation.cases import LEAST_CASES, EvalCase, add_cases, read_cases
from agent_core.skills.evaluation.draw import Recorded, draw_cases, load_recorded
from agent_core.skills.evaluation.record import EvalRecord, dump_record, load_record
from agent_core.skills.evaluation.replay import Replayer, ReplaySandbox
from agent_core.skills.evaluation.verdict import CaseVerdict, judge_runs
from agent_core.skills.ledger_sync import note_loaded
from agent_core.skills.usage import UsageFile
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
from gateway.outbound.dispatcher import OutboxDispatcher
from gateway.people.owner_notices import Notices, find_direct_chat
from gateway.texts import curator as texts
from gateway.texts.reader_language import speak_to

PURPOSE = "skill_test"
"""The purpose of the model calls of tests in `usage`."""
ACTOR = "tests"
_WAIT = 3_600_000
"""Milliseconds until a test continues if its person has no quota left for background work."""


class TaskUnfinished(Exception):
    """A task has more to do, after a wait."""

    def __init__(self, wait: int = 0) -> None:
        """`wait` is in milliseconds."""
        super().__init__()
        self.wait = wait


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillTests:
    """Runs the tasks of the kinds `skill_test` and `skill_check`.

    Each call makes one replay and stores it, so that a crash repeats one replay at most.
    `is_running` tells whether a conversation has a turn under way.
    """

    database: Database
    dispatcher: OutboxDispatcher
    notices: Notices
    usage: UsageFile
    model: Model
    quotas: Quotas
    sandbox: ReplaySandbox
    is_running: Callable[[ConversationId], bool]
    now: Callable[[], int]

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
            if missing := record.find_next():
                case_id, arm = missing
                case = await self._find_case(entry, case_id)
                recorded = await self._read_turn(case, person)
                replayer = Replayer(
                    self.sandbox, partial(self._ask, person), person.id, person.slug
                )
                run = await replayer.run(case, recorded, arm, entry)
                await self._save(task, replace(record, runs=(*record.runs, run)))
                raise TaskUnfinished
        except QuotaExceeded:
            raise TaskUnfinished(_WAIT) from None
        except (SkillMissing, SkillBroken, SkillConflict) as error:
            verdict = CaseVerdict(result="void", reason=str(error))
        else:
            verdict = judge_runs(record.runs)
        await self._end(task, replace(record, result=verdict.result, reason=verdict.reason), person)

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
                one.result in ("passed", "failed") or (one.cases and not one.result)
                for one in found
            )

        return await self.database.read(look)

    async def _choose(
        self, task: Task, record: EvalRecord, entry: CatalogEntry, person: Person
    ) -> EvalRecord:
        """Choose the cases: those beside the skill, and further ones that are drawn from turns."""
        assert entry.place is not None  # noqa: S101 - checked by the caller
        assert entry.skill is not None  # noqa: S101
        known = await asyncio.to_thread(read_cases, entry.place)
        about = f"{entry.name} {entry.skill.description}"

        def look(connection: Connection) -> list[TurnId]:
            row = skills.find(connection, name=entry.name)
            if row is None:
                return []
            return draw_cases(connection, skill_id=row.id, person_id=person.id, about=about)

        if len(known) < LEAST_CASES and entry.origin == "home":
            drawn = await self.database.read(look)
            if len(known) + len(drawn) >= LEAST_CASES:
                await asyncio.to_thread(add_cases, entry.place, entry.name, drawn)
                known = await asyncio.to_thread(read_cases, entry.place)
        chosen = replace(record, cases=tuple(case.id for case in known))
        if len(known) < LEAST_CASES:
            chosen = replace(chosen, cases=())
        await self._save(task, chosen)
        return chosen

    async def _find_case(self, entry: CatalogEntry, case_id: str) -> EvalCase:
        """Find a case by its id. Raises `SkillConflict` if somebody has removed it."""
        assert entry.place is not None  # noqa: S101 - checked by the caller
        cases = await asyncio.to_thread(read_cases, entry.place)
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
                words = self._act(connection, over)
                return self._tell(connection, person, words) if words else []

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
                rows = self._tell(connection, person, texts.describe_decline(done))
            if not person.is_owner:
                notice = partial(texts.describe_decline, done)
                rows += self.notices.enqueue_for_owners(connection, notice, now)
            return rows

        self.dispatcher.enqueue(await self.database.write("skills.check", work))
        await self._write_files()

    async def _write_files(self) -> None:
        """Write what is recorded. Raises `StoreError` and `OSError`."""
        await self.database.write(
            "skills.write_planned", write_planned, self.sandbox.catalog.folder
        )
        await self.usage.write()

    def _check_text(self, connection: Connection, record: EvalRecord) -> EvalRecord:
        """Return the record; it becomes void if the skill has another text by now."""
        row, team = skills.find(connection, name=record.name), blocks.find_team(connection)
        if row is None or team is None or not record.text_row:
            return record
        now = skill_changes.find_text_row(connection, person_id=team, skill_id=row.id)
        if now == record.text_row:
            return record
        return replace(record, result="void", reason="the skill has another text by now")

    def _act(self, connection: Connection, record: EvalRecord) -> str:
        """Act on a verdict; return the sentence for the person, "" for nothing to tell."""
        row = skills.find(connection, name=record.name)
        if row is None or row.state not in ("draft", "trial"):
            return ""
        name, reason = record.name, record.reason
        origin = Origin(actor=ACTOR, now=self.now())
        if record.result == "passed" and row.state == "draft":
            why = f"its test passed: {reason}"
            skill_changes.set_state(connection, name=name, state="trial", why=why, origin=origin)
            return texts.describe_passed(name, record.runs)
        if record.result == "failed" and row.state == "draft":
            return texts.describe_failed(name, record.runs)
        if record.result == "failed":
            why = f"its test failed: {reason}"
            entry, version = roll_back(connection, self.sandbox.catalog, name, why, origin)
            return texts.describe_rolled_back(name, version, record.runs, entry.id)
        return ""

    def _tell(self, connection: Connection, person: Person, words: str) -> list[OutboxRow]:
        """Enqueue a notice to a person.

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
        )
        return [outbox.enqueue(connection, message, now=self.now())]
