"""Builds the agent turn of a job run: its person, conversation, chat and limits."""

import json
from collections.abc import Callable, Iterator
from functools import partial

from agent_core.agent.named.folder import AgentFolder
from agent_core.errors import AgentBroken, SkillBroken, SkillMissing, StoreDamaged
from agent_core.schedule.descriptions import show_moment
from agent_core.schedule.resources import JobTurn
from agent_core.schedule.wall_clock import find_zone
from agent_core.skills.catalog import SkillCatalog
from agent_core.skills.ledger_sync import note_loaded
from agent_core.state.conversations import sessions
from agent_core.state.engine.database import Connection
from agent_core.state.jobs.job_runs import Run
from agent_core.state.jobs.jobs import Job
from agent_core.state.memory import skills
from agent_core.state.memory.ledger import Origin
from agent_core.state.people import people
from agent_core.state.people.people import Person
from agent_core.state.queues import inbox
from agent_core.state.queues.inbox import InboxRow
from agent_core.transcript import ATTACHED_END, SKILLED, STARTED, escape, quote
from gateway.job_turns import find_left, make_job_turn
from gateway.jobs.conversations import UnknownRoom, find_room, name_job_conversation
from gateway.jobs.notifier import Notifier
from gateway.jobs.outcomes import SILENCE
from gateway.jobs.recipients import add_chat_app
from gateway.queued_message import QueuedMessage, make_unwritten
from gateway.texts import job_results
from gateway.texts.agents import describe_fault

PLATFORM = "schedule"
"""Platform of job events in the inbox."""


class RunRefused(Exception):
    """A run can't begin; `say` returns the reason, in the reader's language."""

    def __init__(self, say: Callable[[], str]) -> None:
        super().__init__()
        self.say = say


class JobLimitReached(RunRefused):
    """The job has reached its daily limit."""


class AgentRuns:
    """Builds the turns of job runs, within the transactions that begin them."""

    def __init__(
        self,
        *,
        notifier: Notifier,
        catalog: SkillCatalog,
        agents: AgentFolder,
        find_unpriced: Callable[[str], str],
    ) -> None:
        """`find_unpriced` returns which of the models that answer for one has no price, or ""."""
        self._notifier = notifier
        self._catalog = catalog
        self._agents = agents
        self._find_unpriced = find_unpriced

    def start(self, connection: Connection, job: Job, run: Run, now: int) -> QueuedMessage:
        """Store the event that starts a run's turn, once per attempt. Raises `RunRefused`.

        A job that does not see its earlier runs starts a new session.
        """
        person = _owner_of(connection, job)
        pending = self._compose(connection, job, run, person, now)
        if not job.options.is_aware:
            sessions.end(connection, conversation_id=pending.conversation.id, now=now)
        payload = json.dumps({"run": run.id})
        # Before 2026-11-22 a run could get the number of a deleted one.
        inbox.drop_used(connection, platform=PLATFORM, event_id=_event_of(run))
        inbox.store(connection, platform=PLATFORM, events=[(_event_of(run), payload)], now=now)
        return _with_event(connection, pending, run)

    def resume(self, connection: Connection, job: Job, run: Run, now: int) -> QueuedMessage | None:
        """Return the turn of a run that was stored but not begun; None if it was begun.

        An earlier process may have crashed during this run, so the attempt is recorded first.
        Raises `RunRefused`.
        """
        row = _find_event(connection, run)
        if row is None:
            return None
        person = _owner_of(connection, job)
        pending = self._compose(connection, job, run, person, now)
        pending.is_repeat = True
        return _with_event(connection, pending, run)

    def _compose(
        self, connection: Connection, job: Job, run: Run, person: Person, now: int
    ) -> QueuedMessage:
        chats = self._notifier.find_open(connection, person, add_chat_app(job.targets), now)
        if not chats:
            raise RunRefused(job_results.NO_TARGET)
        self._check_models(job)
        try:
            room_id = find_room(connection, job, chats)
        except UnknownRoom:
            raise RunRefused(job_results.NO_ROOM) from None
        accounts = people.list_accounts(connection, person_id=person.id)
        return QueuedMessage(
            inbox_ids=(),
            platform=chats[0].platform,
            message=make_unwritten(person, accounts, chats[0], job.body, now),
            person=person,
            conversation=sessions.ensure_conversation(
                connection,
                sessions.NewConversation(
                    key=name_job_conversation(job, room_id),
                    kind="job",
                    person_id=person.id,
                    is_direct=room_id is None,
                    room_id=room_id,
                ),
                now=now,
            ),
            room_id=room_id,
            starts_own_turn=True,
            job_turn=_make_job_turn(connection, job, run, now),
            note="\n".join((_describe(job, run), *self._describe_skills(connection, job, now))),
        )

    def _check_models(self, job: Job) -> None:
        """Raise `RunRefused` if the job's agent can't be used, or the price of a model is unknown.

        The agent's files and the configuration may change at any time, so each run looks.
        """
        options = job.options
        try:
            agent = self._agents.find(options.agent) if options.agent else None
        except AgentBroken as error:
            raise RunRefused(partial(describe_fault, error)) from error
        model = options.model or (agent.model if agent else "")
        if options.day_micro_dollars and (unpriced := self._find_unpriced(model)):
            raise RunRefused(partial(job_results.NO_PRICE, model=unpriced))

    def _describe_skills(self, connection: Connection, job: Job, now: int) -> Iterator[str]:
        """Yield the instructions of the skills that the job names. Raises `RunRefused`.

        They are not the person's words, so they don't count as evidence, and search ignores them.
        Skills that do not come with Talaria count as words of others. A skill edited since its last
        use is recorded in the ledger now.
        """
        found = Origin(actor="hand", now=now, evidence=f"found when job {job.id} loaded it")
        for name in job.options.skills:
            try:
                note_loaded(connection, self._catalog.folder, name, found)
                skill = self._catalog.load(name)
                if name in skills.list_drafts(connection):
                    raise SkillBroken(f"the skill {name} is a draft that no test has proved yet")
            except (SkillMissing, SkillBroken, StoreDamaged) as error:
                say = partial(job_results.describe_skill_fault, name, str(error))
                raise RunRefused(say) from error
            begin = f"Do it as the skill `{name}` says"
            if not self._catalog.is_bundled(name):
                begin = f"{SKILLED}{quote(name, len(name))}"
            yield f"{begin}:\n{escape(skill.body)}"


def _make_job_turn(connection: Connection, job: Job, run: Run, now: int) -> JobTurn:
    """Return the permissions and limits of a run's turn. Raises `JobLimitReached`."""
    left = find_left(connection, job, now)
    if left is not None and left <= 0:
        raise JobLimitReached(partial(job_results.describe_limit, job.options.day_micro_dollars))
    return make_job_turn(job, run, left)


def _owner_of(connection: Connection, job: Job) -> Person:
    person = people.find(connection, person_id=job.person_id) if job.person_id else None
    if person is None:
        raise RunRefused(job_results.NO_OWNER)
    return person


def _describe(job: Job, run: Run) -> str:
    """Tell the model that a schedule or an event started this turn, and that nobody is waiting."""
    due = show_moment(run.slot_at, find_zone(job.zone))
    missed = f"; missed before that: {run.missed}" if run.missed else ""
    start = f"Started by an event: job {job.id}" if run.is_event else f"Scheduled: job {job.id}"
    told = f"\n{STARTED}\n{_quote(run.input)}"
    return (
        f"{start}, due {due} ({job.zone}){missed}. Nobody is there now: ask"
        " nothing, do it and answer with what is to be sent. If there is nothing to tell, answer"
        f" {SILENCE}{told if run.input else ''}"
    )


def _quote(text: str) -> str:
    """Mark the text of an event as untrusted."""
    return f'<attached-file name="event">\n{escape(text)}\n{ATTACHED_END}'


def _event_of(run: Run) -> str:
    return f"run:{run.id}:{run.attempts}"


def _find_event(connection: Connection, run: Run) -> InboxRow | None:
    return inbox.find_event(connection, platform=PLATFORM, event_id=_event_of(run))


def _with_event(connection: Connection, pending: QueuedMessage, run: Run) -> QueuedMessage:
    row = _find_event(connection, run)
    assert row is not None  # noqa: S101 - it was stored, or found, just now
    pending.inbox_ids = (row.id,)
    return pending
