"""Review what a person said since the last review, and keep what their words prove."""

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from agent_core.agent.quotas.reservations import Quotas, call_in_background
from agent_core.agent.review.gate import Claim, judge
from agent_core.agent.review.material import MOST_MESSAGES, make_request, read_claims
from agent_core.agent.review.record import HeldClaim, ReviewRecord, dump_record, load_record
from agent_core.errors import QuotaExceeded
from agent_core.ids import MessageId, PersonId
from agent_core.memory import (
    ArchiveContent,
    Edit,
    MemoryStore,
    Refusal,
    insert_entry,
    load_change_index,
)
from agent_core.models import Model, bill
from agent_core.state.conversations import usage
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory import ledger
from agent_core.state.memory.ledger import Origin
from agent_core.state.people import people
from agent_core.state.people.people import Person
from agent_core.state.queues import reviews
from agent_core.state.queues.reviews import Said
from agent_core.state.queues.tasks import Task

_log = logging.getLogger(__name__)

PURPOSE = "review"
"""The purpose of a review's model call in `usage`."""
_TAG = "learned"
"""The tag of archived claims."""
_UNREADABLE = "unreadable"
_FULL = "full"
_HAND = ("hand", "person", "house", "link")
"""The actors of changes that a person made; see `ledger.Origin`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """The entries of a person's memory as (list, text), and those that a person wrote."""

    entries: tuple[tuple[str, str], ...]
    fixed: tuple[str, ...]

    def list_texts(self) -> list[str]:
        return [text for _, text in self.entries]


class Reviewer:
    """Runs reviews. Each makes one call of the cheap model, and repeats no finished part of it."""

    def __init__(
        self,
        *,
        database: Database,
        memory: MemoryStore,
        model: Model,
        name: str,
        quotas: Quotas,
        now: Callable[[], int],
    ) -> None:
        """`name` is the model to call, normally the cheap one."""
        self._database = database
        self._memory = memory
        self._model = model
        self._name = name
        self._quotas = quotas
        self._now = now

    async def review(self, task: Task, *, asks_first: bool) -> tuple[Person, ReviewRecord] | None:
        """Run a review up to its last write, which the caller makes with its notice.

        Returns None if nothing is left to do. With `asks_first`, everything waits for the person.
        Raises `ModelError` and `StoreError`, and `OSError` if a memory file is unreadable.
        """
        record = load_record(task.payload)
        person = await self._database.read(lambda c: people.find(c, person_id=task.person_id))
        if record.is_over or person is None:
            return None
        said = await self._database.read(
            lambda c: reviews.list_said(
                c,
                person_id=task.person_id,
                after=record.after,
                until=record.until,
                limit=MOST_MESSAGES,
            )
        )
        if record.calls is None:
            record = await self._ask(task, record, said, person)
        if record.is_over:
            return person, record
        return person, await self._keep(task, record, said, person, asks_first=asks_first)

    async def _ask(
        self, task: Task, record: ReviewRecord, said: Sequence[Said], person: Person
    ) -> ReviewRecord:
        """Ask the model, and store its answer together with its cost."""
        if not any(one.is_own for one in said):
            return replace(record, calls=(), is_over=True)
        known = await self._read_known(person)
        request = make_request(self._name, said, known.entries)
        try:
            answer = await call_in_background(self._model, self._quotas, person.id, request)
        except QuotaExceeded as error:
            _log.info("review %d is left out: %s", task.id, error)
            return replace(record, calls=(), is_over=True)
        calls = answer.message.calls if answer.stop == "tools" else ()
        asked = replace(record, calls=tuple(calls))
        spent = bill(answer.model, answer.usage, PURPOSE, self._quotas.prices.cost)

        def work(connection: Connection) -> None:
            reviews.save(connection, task_id=task.id, payload=dump_record(asked))
            usage.insert(connection, spent, person_id=person.id, turn_id=None, now=self._now())

        await self._database.write("reviews.answer", work)
        return asked

    async def _keep(
        self,
        task: Task,
        record: ReviewRecord,
        said: Sequence[Said],
        person: Person,
        *,
        asks_first: bool,
    ) -> ReviewRecord:
        """Judge every claim, and write those that are proved."""
        claims, unreadable = read_claims(record.calls or ())
        own = {one.id: one.text for one in said if one.is_own}
        turn_of = {one.id: one.turn_id for one in said}
        refused = Counter({_UNREADABLE: unreadable} if unreadable else {})
        kept: list[int] = []
        held: list[HeldClaim] = []
        for number, claim in enumerate(claims):
            key = f"review:{task.id}:{number}"
            known = await self._read_known(person)
            if done := await self._find_done(person.id, key):
                kept.append(done)
                continue
            verdict = judge(claim, own, known.list_texts(), known.fixed)
            if verdict.fault:
                refused[verdict.fault] += 1
            elif verdict.doubt or asks_first:
                turn_id = turn_of.get(claim.message_id or MessageId(0), record.until)
                doubt = verdict.doubt or "asked"
                held.append(HeldClaim(number=number, claim=claim, doubt=doubt, turn_id=turn_id))
            elif (row := await self._write(task, person, claim, key)) is None:
                refused[_FULL] += 1
            else:
                kept.append(row)
        return replace(
            record, kept=tuple(kept), held=tuple(held), refused=dict(refused), is_over=True
        )

    async def _find_done(self, person_id: PersonId, key: str) -> int | None:
        found = await self._database.read(
            lambda c: ledger.find_call(c, person_id=person_id, call_key=key)
        )
        return found[-1].id if found else None

    async def _write(self, task: Task, person: Person, claim: Claim, key: str) -> int | None:
        """Write one claim, and return its row of the ledger; None if the list has no room."""
        assert claim.message_id is not None  # noqa: S101 - the gate refuses such claims
        origin = Origin(
            actor=f"review:{task.id}",
            now=self._now(),
            evidence=claim.quote,
            call_key=key,
            message_ids=(claim.message_id,),
        )
        if claim.target == "archive":
            content = ArchiveContent(text=claim.text, tags=(_TAG,))
            await self._database.write(
                "reviews.note",
                lambda c: insert_entry(c, person_id=person.id, content=content, origin=origin),
            )
            return await self._find_done(person.id, key)
        edit = Edit(
            action="replace" if claim.replaces else "add",
            target=claim.target,
            text=claim.text,
            old=claim.replaces,
        )
        outcome = await self._memory.change(person.id, person.slug, edit, origin)
        return None if isinstance(outcome, Refusal) else outcome.rows[-1].id

    async def _read_known(self, person: Person) -> _Known:
        """Read the memory as it is now, after taking in changes made by hand."""
        await self._memory.snapshot(person.id, person.slug, self._now())

        def look(connection: Connection) -> _Known:
            index = load_change_index(connection, person_id=person.id)
            present = [
                (target, tracked)
                for target, history in index.histories.items()
                for tracked in history.current
                if tracked.words is not None
            ]
            return _Known(
                entries=tuple((target, tracked.words or "") for target, tracked in present),
                fixed=tuple(
                    tracked.words or ""
                    for _, tracked in present
                    if tracked.made_by and tracked.made_by.origin.actor.partition(":")[0] in _HAND
                ),
            )

        return await self._database.read(look)
