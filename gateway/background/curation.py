"""Review skills and memories with the cheap model, and propose how to tidy them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from agent_core.agent.quotas.background import call_in_background
from agent_core.agent.quotas.reservations import Quotas
from agent_core.errors import QuotaExceeded
from agent_core.execution.subprocesses.spawning import finish
from agent_core.ids import ConversationId
from agent_core.memory.store import MemoryStore
from agent_core.models.catalog import bill
from agent_core.models.contract import Model, ModelAnswer, ModelRequest
from agent_core.skills.catalog import SkillCatalog
from agent_core.skills.curation.looks import (
    list_known_groups,
    list_memory,
    list_records,
    list_visible,
)
from agent_core.skills.curation.merging import (
    choose_texts,
    hash_texts,
    make_merge_request,
    read_merges,
)
from agent_core.skills.curation.record import (
    CurationProposal,
    CurationRecord,
    Tidying,
    dump_record,
    list_open,
    load_record,
)
from agent_core.skills.curation.tidying import LEAST_ENTRIES, make_tidy_request, read_tidyings
from agent_core.state.conversations import usage
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import people
from agent_core.state.people.people import Person
from agent_core.state.queues import outbox, tasks
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from agent_core.state.queues.tasks import Task
from agent_core.transcript import ToolCallPart
from gateway.background.home_skills import HomeSkills
from gateway.background.model_trust import ModelTrust
from gateway.background.reviews import find_idle
from gateway.background.skill_tests import TaskUnfinished
from gateway.outbound.command_buttons import stand_for
from gateway.outbound.dispatcher import OutboxDispatcher
from gateway.people.owner_notices import find_direct_chat
from gateway.texts import curator as texts
from gateway.texts import system_jobs
from gateway.texts.reader_language import speak_to

PURPOSE = "curation"
"""The purpose of the model calls in `usage`."""
_LEAST_SKILLS = 2
_WAIT = 3_600_000
"""Milliseconds until a look is retried if its person has no quota left for background work."""

Read = Callable[
    [tuple[ToolCallPart, ...], frozenset[frozenset[str]]], tuple[list[CurationProposal], int]
]
"""Reads the proposals of an answer, given the groups that were proposed before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    """A request, the name of what it shows, and how its answer is read."""

    request: ModelRequest
    digest: str
    read: Read


@dataclass(frozen=True, slots=True, kw_only=True)
class Curation:
    """Runs the tasks of the kind `curation`. Each makes one call, and changes nothing itself.

    `name` is the model to call, normally the cheap one.
    """

    database: Database
    dispatcher: OutboxDispatcher
    memory: MemoryStore
    catalog: SkillCatalog
    model: Model
    name: str
    quotas: Quotas
    trust: ModelTrust
    is_running: Callable[[ConversationId], bool]
    now: Callable[[], int]

    async def apply(self, task: Task) -> None:
        """Run one look; a model call that was made before is not paid for again.

        Raises `PersonBusy`, `TaskUnfinished` without a quota, `ModelError`, `StoreError`,
        `SkillBroken`, and `OSError` for an unreadable file.
        """
        record = load_record(task.payload)
        person = await self.database.read(partial(find_idle, task=task, is_running=self.is_running))
        if record.digest or person is None or person.learning == "off":
            return
        if not self.trust.may("skills" if record.subject == "skills" else "reviews"):
            return
        make = self._look_at_skills if record.subject == "skills" else self._look_at_memory
        look = await make(person)
        if look is None:
            return
        earlier = await self.database.read(list_records, person_id=person.id)
        if any(one.record.digest == look.digest for one in earlier):
            return
        try:
            answer = await call_in_background(self.model, self.quotas, person.id, look.request)
        except QuotaExceeded:
            raise TaskUnfinished(_WAIT) from None
        calls = tuple(answer.message.calls) if answer.stop == "tools" else ()
        proposals, refused = look.read(calls, list_known_groups(earlier))
        done = replace(record, digest=look.digest, proposals=tuple(proposals), refused=refused)
        await self._end(task, done, person, answer)

    async def _look_at_skills(self, person: Person) -> _Look | None:
        del person  # the skills are the home's; the person only pays
        texts_by_name = await self.database.read(choose_texts, self.catalog)
        if len(texts_by_name) < _LEAST_SKILLS:
            return None
        return _Look(
            request=make_merge_request(self.name, texts_by_name),
            digest=hash_texts(texts_by_name.values()),
            read=lambda calls, known: read_merges(calls, texts_by_name, self.catalog, known),
        )

    async def _look_at_memory(self, person: Person) -> _Look | None:
        await self.memory.snapshot(person.id, person.slug, self.now())
        entries = await self.database.read(list_memory, person_id=person.id)
        if len(entries) < LEAST_ENTRIES:
            return None
        limits = {one: self.memory.limits.of(one) for one in ("user", "memory")}
        return _Look(
            request=make_tidy_request(self.name, entries, limits),
            digest=hash_texts([one.text for one in entries]),
            read=lambda calls, known: read_tidyings(calls, entries, known),
        )

    async def _end(
        self, task: Task, record: CurationRecord, person: Person, answer: ModelAnswer
    ) -> None:
        """Store what was proposed with its cost, and tell the person."""
        spent = bill(answer, PURPOSE)

        def work(connection: Connection) -> list[OutboxRow]:
            tasks.save(connection, task_id=task.id, payload=dump_record(record))
            usage.insert(connection, spent, person_id=person.id, turn_id=None, now=self.now())
            return self._tell(connection, person, record.proposals)

        self.dispatcher.enqueue(await finish(self.database.write("curation.end", work)))

    def _tell(
        self, connection: Connection, person: Person, proposals: Sequence[CurationProposal]
    ) -> list[OutboxRow]:
        """Tell about proposals in one message, once; notes that contradict each other go first."""
        chat = find_direct_chat(connection, person, self.dispatcher.adapters)
        if chat is None or not proposals:
            return []
        conflicts = sum(_is_conflict(one) for one in proposals)
        others = len(proposals) - conflicts
        with speak_to(connection, person.id):
            sentences = [texts.CONFLICTS(conflicts)] if conflicts else []
            sentences += [texts.TIDY_UP(others)] if others else []
            show = stand_for("memory conflicts", texts.SHOW_CONFLICTS())
            tidy = stand_for("curator proposals", texts.SHOW_PROPOSALS())
            message = NewOutboxMessage(
                chat=chat,
                body="\n\n".join(sentences),
                person_id=person.id,
                is_silent=person.learning != "tell",
                buttons=(*([show] if conflicts else []), *([tidy] if others else [])),
            )
        return [outbox.enqueue(connection, message, now=self.now())]


def _is_conflict(proposal: CurationProposal) -> bool:
    return isinstance(proposal.change, Tidying) and proposal.change.kind == "contradiction"


async def describe_plan(database: Database, skills: HomeSkills, now: int) -> list[str]:
    """Say what the curator would do, and show the proposals about skills that wait.

    Raises `SkillBroken` if the folder is unreadable, and `StoreError`.
    """
    planned = await skills.plan(now)
    looks = await database.read(_describe_looks, skills.catalog)
    return [*system_jobs.describe_plan(planned), *looks]


def _describe_looks(connection: Connection, catalog: SkillCatalog) -> list[str]:
    owner = people.find_owner(connection)
    visible = list_visible(connection, person_id=owner.id, is_owner=True) if owner else []
    records = [stored for _, stored in visible if stored.record.subject == "skills"]
    waiting = [stored.record.proposals[number] for stored, number in list_open(records)]
    count = len(choose_texts(connection, catalog))
    lines = [texts.describe_looked_at(count)] if count >= _LEAST_SKILLS else []
    if waiting:
        lines += ["", *texts.describe_proposals(waiting, 0, is_whole=True).splitlines()]
    return lines
