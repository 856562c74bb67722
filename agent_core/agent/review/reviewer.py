"""Review what a person said since the last review, and keep what their words prove."""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from agent_core.agent.quotas.background import BackgroundModel, Ticket, Tickets
from agent_core.agent.review.claim_check import (
    LONGEST,
    Claim,
    find_basis,
    find_fault,
    find_flaw_of_patch,
)
from agent_core.agent.review.conclusions import (
    choose_premises,
    make_conclusion_request,
    read_guesses,
)
from agent_core.agent.review.decision import Decision, choose_second, decide, find_rivals
from agent_core.agent.review.declined import Decline, check_declined
from agent_core.agent.review.judgement import (
    Case,
    Look,
    make_judge_request,
    read_opinions,
)
from agent_core.agent.review.material import MOST_MESSAGES, make_request, read_claims
from agent_core.agent.review.merging import (
    ShownLine,
    choose_agreed,
    is_nearly_full,
    make_merge_look,
    read_merges,
)
from agent_core.agent.review.plain_words import is_plain
from agent_core.agent.review.profile import name_section
from agent_core.agent.review.record import HeldClaim, ReviewRecord, dump_record, load_record
from agent_core.agent.review.reflection import (
    Pair,
    find_pair,
    make_reflection_request,
    read_lesson,
)
from agent_core.agent.review.room import Room
from agent_core.agent.review.work_lessons import NOTHING, WORK, ShownWork, find_turn, find_work
from agent_core.agent.review.work_lessons import read_lesson as read_lesson_of_work
from agent_core.errors import ModelError, QuotaExceeded
from agent_core.execution.subprocesses.spawning import finish
from agent_core.ids import MessageId, PersonId, TurnId
from agent_core.memory.archive.conclusions import (
    MOST_STANDING,
    LocalUserModel,
    insert_conclusion,
    list_conclusions,
    list_premises,
)
from agent_core.memory.archive.entries import ArchiveContent
from agent_core.memory.archive.writes import insert_entry
from agent_core.memory.edits_within_limits import Edit, Refusal
from agent_core.memory.line_dates import add_end, date_words, has_ended
from agent_core.memory.store import MemoryStore
from agent_core.models.catalog import bill
from agent_core.models.contract import ModelRequest
from agent_core.state.conversations import usage
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory import ledger
from agent_core.state.memory.ledger import LISTS, MemoryTarget, Origin
from agent_core.state.people import people
from agent_core.state.people.people import Person
from agent_core.state.queues import reviews, tasks
from agent_core.state.queues.reviews import Said
from agent_core.state.queues.tasks import Task
from agent_core.tools.clock import local_time
from agent_core.transcript import ToolCallPart

if TYPE_CHECKING:
    from agent_core.skills.drafts import Drafts

_log = logging.getLogger(__name__)

PURPOSE = "review"
"""The purpose of a review's model call in `usage`."""
_TAG = "learned"
"""The tag of archived claims."""
_MOST_ATTEMPTS = 2
"""Attempts of a review after which it goes on without a judge that gives no answer."""
_MOST_REVIEWS = 200
"""Earlier reviews whose turns are searched for a first failure."""
TWICE = "twice"
"""The doubt of a lesson: the same thing went wrong twice."""
_UNREADABLE = "unreadable"
_FULL = "full"
_FORGOTTEN = "forgotten"
ReviewStep = Literal["calls", "judged", "rejudged", "weighed", "reweighed", "reflected", "drawn"]
"""A call of a review, by the field of its record that holds the answer."""
_SKILL = "skill"


@dataclass(slots=True, kw_only=True)
class Reviewer:
    """Runs reviews. A repeated review skips its finished calls."""

    database: Database
    memory: MemoryStore
    background: BackgroundModel
    now: Callable[[], int]
    skills: "Drafts | None" = None
    """If set, reviews also ask what the turns teach about their work."""
    may_write: Callable[[], bool] = lambda: True
    """Returns whether the model may write skills now."""
    patience: float = 120.0
    """Seconds that a judge's look may take."""

    async def review(
        self, task: Task, *, asks_first: bool, user_model: LocalUserModel | None = None
    ) -> tuple[Person, ReviewRecord] | None:
        """Run a review except its last write, which the caller makes together with its notice.

        Returns None if nothing is left to do. With `asks_first`, everything that it would keep
        waits for the person. With a `user_model`, a review that kept something also draws
        conclusions. Raises `AnswerPending` while a batch answers: run it again later. Also raises
        `ModelError`, `QuotaExceeded` and `StoreError`, and `OSError` for an unreadable file.
        """
        record = load_record(task.payload)
        person = await self.database.read(people.find, person_id=task.person_id)
        if record.is_over or person is None:
            return None
        if record.calls is None:
            record = await self._ask(
                task, record, await self._read_said(task, record), person, may_merge=not asks_first
            )
        if record.is_over:
            return person, record
        record, pair = await self._reflect(task, record, person)
        # Read the messages again: the person may have deleted some while the model answered.
        said = await self._read_said(task, record)
        record = await self._judge(task, record, said, person)
        record = await self._weigh(task, record, person)
        said = await self._read_said(task, record)
        record = await self._make_room(record, said, person, asks_first=asks_first)
        kept = await self._keep(record, said, person, asks_first=asks_first)
        if user_model and kept.kept and not await self._is_withdrawn(person, record):
            await self._conclude(task, record, person)
            user_model.forget(person.id)
        kept = await self._keep_work(kept, record, person, asks_first=asks_first)
        return person, kept if pair is None else await self._hold_lesson(kept, pair, person)

    async def _read_said(self, task: Task, record: ReviewRecord) -> list[Said]:
        return await self.database.read(
            reviews.list_said,
            person_id=task.person_id,
            after=record.after,
            until=record.until,
            limit=MOST_MESSAGES,
        )

    async def _ask(
        self,
        task: Task,
        record: ReviewRecord,
        said: Sequence[Said],
        person: Person,
        *,
        may_merge: bool,
    ) -> ReviewRecord:
        """Ask the model what to keep, and if a list is nearly full, which lines to merge."""
        if not any(one.is_own for one in said):
            return replace(record, calls=(), is_over=True)
        known = await self._read_known(person)
        is_full = any(self._is_nearly_full(known, target) for target in LISTS)
        shown = known if may_merge and is_full else []
        request = make_request(
            self.background.name,
            said,
            known,
            await self._find_work(record, person),
            limits=self.memory.limits,
            may_merge=bool(shown),
        )
        record = replace(record, shown=tuple(shown))
        return await self._call(task, person, request, record, "calls")

    async def _call(
        self,
        task: Task,
        person: Person,
        request: ModelRequest,
        record: ReviewRecord,
        step: ReviewStep,
    ) -> ReviewRecord:
        """Call the model, and store its answer together with its cost."""
        known = record.ticket if record.ticket and record.ticket.step == step else None

        async def save(ticket: Ticket) -> None:
            payload = dump_record(replace(record, ticket=ticket))
            await self.database.write(
                "reviews.ticket", tasks.save, task_id=task.id, payload=payload
            )

        tickets = Tickets(step=step, known=known, save=save)
        answer = await self.background.ask(person.id, request, tickets, self.now())
        calls = tuple(answer.message.calls) if answer.stop == "tools" else ()
        asked = _note(replace(record, ticket=None), step, calls)
        spent = bill(answer, PURPOSE)

        def work(connection: Connection) -> None:
            tasks.save(connection, task_id=task.id, payload=dump_record(asked))
            usage.insert(connection, spent, person_id=person.id, turn_id=None, now=self.now())

        await finish(self.database.write("reviews.answer", work))
        return asked

    async def _reflect(
        self, task: Task, record: ReviewRecord, person: Person
    ) -> tuple[ReviewRecord, Pair | None]:
        """Ask about what went wrong for the second time, if anything did."""
        pair = await self.database.read(_find_pair, person, record)
        if pair is None or record.reflected is not None:
            return record, pair
        request = make_reflection_request(self.background.name, pair)
        return await self._call(task, person, request, record, "reflected"), pair

    async def _hold_lesson(self, record: ReviewRecord, pair: Pair, person: Person) -> ReviewRecord:
        """Add the lesson of a pair to the claims that wait for the person."""
        known = [text for _, text in await self._read_known(person)]
        lesson = read_lesson(record.reflected or (), pair, known)
        if lesson is None or await self._is_withdrawn(person, record):
            return record
        if pair != await self.database.read(_find_pair, person, record):
            return record  # the person deleted words of it while the model answered
        held = HeldClaim(
            number=len(record.calls or ()),
            claim=Claim(target="memory", text=lesson.text, quote="", message_id=None),
            doubt=TWICE,
            turn_id=pair.second.turn_id,
            lesson=lesson,
        )
        return replace(record, held=(*record.held, held))

    async def _find_work(self, record: ReviewRecord, person: Person) -> ShownWork:
        """Find the work to ask about, as far as it still exists."""
        writer = self.skills
        if writer is None or not self.may_write():
            return NOTHING
        return await self.database.read(
            lambda c: find_work(
                c,
                person_id=person.id,
                after=record.after,
                until=record.until,
                own=writer.list_own(c) if person.is_owner else None,
            )
        )

    async def _keep_work(
        self, kept: ReviewRecord, asked: ReviewRecord, person: Person, *, asks_first: bool
    ) -> ReviewRecord:
        """Write the draft that an answer asks for, or hold its lesson for the person."""
        work = await self._find_work(kept, person)
        known = [text for _, text in await self._read_known(person)]
        lesson = read_lesson_of_work(asked.calls or (), work, known)
        if lesson is None or self.skills is None or await self._is_withdrawn(person, kept):
            return kept
        turn_id = find_turn(lesson, work)
        if lesson.skill and not lesson.old and not asks_first:
            actor = f"review:{person.id}:{kept.until}"
            origin = Origin(
                actor=actor,
                now=self.now(),
                evidence=f"the work of turn {turn_id}",
                call_key=f"{actor}:w",
            )
            row = await self.skills.create(lesson.skill, lesson.text, origin)
            if row is None:
                return replace(kept, refused={**kept.refused, _SKILL: 1})
            return replace(kept, kept=(*kept.kept, row))
        held = HeldClaim(
            number=len(asked.calls or ()) + 1,  # after the number used by `_hold_lesson`
            claim=Claim(target="memory", text=lesson.text, quote="", message_id=None),
            doubt=WORK,
            turn_id=turn_id,
            lesson=lesson,
        )
        return replace(kept, held=(*kept.held, held))

    async def _conclude(self, task: Task, record: ReviewRecord, person: Person) -> None:
        """Ask what follows from the entries, and store the answers as guesses."""
        entries = await self.database.read(list_premises, person_id=person.id)
        standing = await self.database.read(list_conclusions, person_id=person.id)
        premises = choose_premises(entries)
        drawn = [one.text for one in standing]
        if record.drawn is None:
            request = make_conclusion_request(self.background.name, premises, drawn)
            record = await self._call(task, person, request, record, "drawn")
        known = [*drawn, *(one.text for one in entries)]
        origin = Origin(actor=f"review:{person.id}:{record.until}", now=self.now())
        guesses = read_guesses(record.drawn or (), premises, known)
        for guess in guesses[: max(0, MOST_STANDING - len(standing))]:
            await self.database.write(
                "reviews.conclude",
                lambda c, guess=guess: insert_conclusion(  # type: ignore[misc]
                    c,
                    person_id=person.id,
                    text=guess.text,
                    confidence=guess.confidence,
                    premises=guess.premises,
                    origin=replace(origin, call_key=f"{origin.actor}:c{guess.number}"),
                ),
            )

    async def _judge(
        self, task: Task, record: ReviewRecord, said: Sequence[Said], person: Person
    ) -> ReviewRecord:
        """Let the judge look at the claims, and again at those that are still open."""
        if record.judged is None:
            known = await self._read_known(person)
            cases = _find_cases(record, said, known)
            if not cases:
                return record
            record = replace(record, rivals={one.number: one.rivals for one in cases})
            record = await self._look(task, record, said, person, cases)
        cases = _find_cases(record, said)
        first = read_opinions(record.judged or (), cases, "state")
        plain = {one.number: is_plain(one.claim, said) for one in cases}
        open_ones = choose_second(plain, first)
        left = [one for one in cases if one.number in open_ones]
        if record.rejudged is not None or not left or not record.judged:
            return record
        return await self._look(task, record, said, person, left)

    async def _look(
        self,
        task: Task,
        record: ReviewRecord,
        said: Sequence[Said],
        person: Person,
        cases: Sequence[Case],
    ) -> ReviewRecord:
        """Make one look at claims."""
        step: ReviewStep = "judged" if record.judged is None else "rejudged"
        zone = person.time_zone or "UTC"
        look = _find_look(record, cases) if step == "rejudged" else "state"
        request = make_judge_request(self.background.name, said, cases, look, zone)
        return await self._call_judge(task, person, request, record, step)

    async def _weigh(self, task: Task, record: ReviewRecord, person: Person) -> ReviewRecord:
        """Let the judge look at the merges, and again at those that it agrees to."""
        left = read_merges(record.calls or (), record.shown)
        if left and record.weighed is None:
            request = make_merge_look(self.background.name, left, "state")
            record = await self._call_judge(task, person, request, record, "weighed")
        left = choose_agreed(left, record.weighed or (), "state")
        if left and record.reweighed is None:
            request = make_merge_look(self.background.name, left, "object")
            record = await self._call_judge(task, person, request, record, "reweighed")
        return record

    async def _make_room(
        self, record: ReviewRecord, said: Sequence[Said], person: Person, *, asks_first: bool
    ) -> ReviewRecord:
        """Archive what has ended in lists that are nearly full, and make the proved merges.

        A line that a claim is about stays as it is.
        """
        actor = f"review:{person.id}:{record.until}"
        if asks_first or await self._is_withdrawn(person, record):
            return record
        room = Room(database=self.database, memory=self.memory, now=self.now)
        lines = await self._read_known(person)
        ended: list[int] = []
        for target in LISTS:
            own = [text for name, text in lines if name == target]
            ended += await room.clear_ended(person, target, own, actor)
        cases = _find_cases(record, said)
        named = {one.replaces for one in _decide_all(record, cases, said).values()}
        named |= {one.claim.replaces for one in cases}
        merged = []
        agreed = choose_agreed(
            read_merges(record.calls or (), record.shown), record.weighed or (), "state"
        )
        for merge in choose_agreed(agreed, record.reweighed or (), "object"):
            if named.isdisjoint(merge.lines) and (row := await room.merge(person, merge, actor)):
                merged.append(row)
        return replace(record, ended=tuple(ended), merged=tuple(merged))

    def _is_nearly_full(self, lines: Sequence[ShownLine], target: MemoryTarget) -> bool:
        """Return whether a list has little room left when what has ended is gone."""
        today = local_time(self.now(), "UTC").date()
        own = [text for name, text in lines if name == target and not has_ended(text, today)]
        return is_nearly_full(own, self.memory.limits.of(target))

    async def _call_judge(
        self,
        task: Task,
        person: Person,
        request: ModelRequest,
        record: ReviewRecord,
        step: ReviewStep,
    ) -> ReviewRecord:
        """Call the judge. One that gives no answer in time, twice, is done without."""
        try:
            async with asyncio.timeout(self.patience):
                return await self._call(task, person, request, record, step)
        except (ModelError, QuotaExceeded, TimeoutError) as error:
            if task.attempts < _MOST_ATTEMPTS:
                raise
            _log.warning("no judge answers, so words alone prove claims: %s", error)
            return _note(replace(record, ticket=None), step, ())

    async def _keep(
        self, record: ReviewRecord, said: Sequence[Said], person: Person, *, asks_first: bool
    ) -> ReviewRecord:
        """Decide about every claim, and write the proved ones."""
        claims, unreadable = read_claims(record.calls or ())
        cases = {one.number: one for one in _find_cases(record, said)}
        turn_of = {one.id: one.turn_id for one in said}
        refused = Counter({_UNREADABLE: unreadable} if unreadable else {})
        kept: list[int] = []
        held: list[HeldClaim] = []
        decisions = _decide_all(record, list(cases.values()), said)
        has_gaps = await self.database.read(
            reviews.has_forgotten, person_id=person.id, after=record.after, until=record.until
        )
        for number, given in enumerate(claims):
            key = name_section(f"review:{person.id}:{record.until}:{number}", given.section)
            if await self._is_withdrawn(person, record):
                break  # the person was erased, or deleted these words
            known = [text for _, text in await self._read_known(person)]
            if done := await self._find_done(person.id, key):
                kept.append(done)
                continue
            case = cases.get(number)
            decision = decisions[number] if case else Decision(fault="unproved")
            claim = _word(case.claim, decision, said, person) if case else given
            if claim.replaces not in known and decision.doubt is None:
                claim = replace(claim, replaces="")  # it was no entry, or is none any more
            fault = find_fault(given, known) or decision.fault or find_flaw_of_patch(claim.text)
            doubt = "unsure" if len(claim.text) > LONGEST else decision.doubt
            declined = None if fault else await self._check(person, claim)
            if fault:
                refused[fault] += 1
            elif declined == "dismissed" or (declined == "waiting" and (doubt or asks_first)):
                refused[declined] += 1
            elif doubt and has_gaps:
                refused[_FORGOTTEN] += 1  # it may repeat words that the person deleted
            elif doubt or declined in ("undone", "again") or asks_first:
                turn_id = turn_of.get(claim.message_id or MessageId(0), record.until)
                why = doubt or declined or "asked"
                held.append(HeldClaim(number=number, claim=claim, doubt=why, turn_id=turn_id))
            elif (row := await self._write(person, claim, key)) is None:
                refused[_FULL] += 1
            else:
                kept.append(row)
        return replace(
            record, kept=tuple(kept), held=tuple(held), refused=dict(refused), is_over=True
        )

    async def _check(self, person: Person, claim: Claim) -> Decline | None:
        return await self.database.write(
            "reviews.declined", lambda c: check_declined(c, person_id=person.id, claim=claim)
        )

    async def _is_withdrawn(self, person: Person, record: ReviewRecord) -> bool:
        return not await self.database.read(reviews.exists, person_id=person.id, until=record.until)

    async def _find_done(self, person_id: PersonId, key: str) -> int | None:
        found = await self.database.read(ledger.find_call, person_id=person_id, call_key=key)
        return found[-1].id if found else None

    async def _write(self, person: Person, claim: Claim, key: str) -> int | None:
        """Write one claim, and return its row of the ledger; None if it can't be written.

        A full list makes room. What is longer than the list goes to the archive.
        """
        assert claim.message_id is not None  # noqa: S101 - the gate refuses such claims
        origin = Origin(
            actor=key.rpartition(":")[0],
            now=self.now(),
            evidence=claim.quote,
            call_key=key,
            message_ids=(claim.message_id,),
        )
        if claim.target == "archive":
            content = ArchiveContent(text=claim.text, tags=(_TAG,))
            await self.database.write(
                "reviews.note",
                insert_entry,
                person_id=person.id,
                content=content,
                origin=origin,
            )
            return await self._find_done(person.id, key)
        edit = Edit(
            action="replace" if claim.replaces else "add",
            target=claim.target,
            text=claim.text,
            old=claim.replaces,
        )
        outcome = await self.memory.change(person.id, person.slug, edit, origin)
        if not isinstance(outcome, Refusal):
            return outcome.rows[-1].id
        if outcome.fault != "full":
            return None
        room = Room(database=self.database, memory=self.memory, now=self.now)
        row = await room.write(person, edit, origin, outcome)
        return row.id if row else await self._write(person, replace(claim, target="archive"), key)

    async def _read_known(self, person: Person) -> list[ShownLine]:
        """Record changes made by hand, then list the memory as (list, entry)."""
        known = await self.memory.snapshot(person.id, person.slug, self.now())
        return [
            *(("user", entry) for entry in known.user),
            *(("memory", entry) for entry in known.memory),
        ]


def _find_cases(
    record: ReviewRecord, said: Sequence[Said], known: Sequence[ShownLine] = ()
) -> list[Case]:
    """Return the claims that rest on words of the person, and that nothing else forbids.

    Without those of the record, they may replace `known` entries, and earlier claims: a person may
    change their mind twice between two reviews.
    """
    own = {one.id: one.text for one in said if one.is_own}
    found: list[Case] = []
    for number, given in enumerate(read_claims(record.calls or ())[0]):
        claim = find_basis(given, own)
        if claim is None or find_fault(given, [text for _, text in known]):
            continue
        entries = [text for target, text in known if target == claim.target]
        entries += [one.claim.text for one in found if one.claim.target == claim.target]
        rivals = record.rivals.get(number) if record.rivals else find_rivals(claim, entries)
        rivals = rivals or ()
        found.append(Case(number=number, claim=claim, rivals=rivals))
    return found


def _find_look(record: ReviewRecord, cases: Sequence[Case]) -> Look:
    """Return how the second look asks: for objections, unless the first one gave no answer."""
    return "object" if read_opinions(record.judged or (), cases, "state") else "state"


def _decide_all(
    record: ReviewRecord, cases: Sequence[Case], said: Sequence[Said]
) -> dict[int, Decision]:
    """Decide about the claims, by number."""
    first = read_opinions(record.judged or (), cases, "state")
    plain = {one.number: is_plain(one.claim, said) for one in cases}
    numbers = choose_second(plain, first)
    again = [one for one in cases if one.number in numbers]
    look: Look = "object" if first else "state"
    second = read_opinions(record.rejudged or (), again, look) or {}
    return {
        one.number: decide(
            one.claim, plain[one.number], (first or {}).get(one.number), second.get(one.number)
        )
        for one in cases
    }


def _word(claim: Claim, decision: Decision, said: Sequence[Said], person: Person) -> Claim:
    """Return a claim as it is written: with its dates, and the entry that it replaces."""
    text = claim.text
    if decision.is_quoted:
        at = next(one.created_at for one in said if one.id == claim.message_id)
        text = date_words(claim.quote, local_time(at, person.time_zone or "UTC").date())
    wanted = claim.replaces if decision.doubt == "replace" else decision.replaces
    return replace(claim, text=add_end(text, decision.until), replaces=wanted)


def _note(record: ReviewRecord, step: ReviewStep, calls: tuple[ToolCallPart, ...]) -> ReviewRecord:
    match step:
        case "calls":
            return replace(record, calls=calls)
        case "judged":
            return replace(record, judged=calls)
        case "rejudged":
            return replace(record, rejudged=calls)
        case "weighed":
            return replace(record, weighed=calls)
        case "reweighed":
            return replace(record, reweighed=calls)
        case "reflected":
            return replace(record, reflected=calls)
        case "drawn":
            return replace(record, drawn=calls)


def _find_pair(connection: Connection, person: Person, record: ReviewRecord) -> Pair | None:
    """Find a failure that happened for the second time in the turns of a review.

    Everyone uses the skills, so only an owner is asked to patch one.
    """
    payloads = tasks.list_finished(
        connection, kind=reviews.KIND, person_id=person.id, limit=_MOST_REVIEWS
    )
    spans = [(one.after, one.until) for one in (load_record(text) for _, text in payloads)]

    def is_new(turn_id: TurnId) -> bool:
        return record.after < turn_id <= record.until

    pair = find_pair(
        connection,
        person_id=person.id,
        until=max([record.until, *(until for _, until in spans)]),
        is_new=is_new,
        is_read=lambda turn_id: (
            is_new(turn_id) or any(after < turn_id <= until for after, until in spans)
        ),
    )
    return pair if pair is None or person.is_owner else replace(pair, skills={})
