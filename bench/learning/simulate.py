"""What reviews keep of a simulated person: `python -m bench.learning.simulate [conversations]`.

A truthful learner shows what the evidence gate costs: the planted lines that are kept at once,
after the person's yes, or not at all, and how soon a changed one is superseded. A liar shows what
it is worth. The person never answers a question of the truthful learner's. No model takes part, and
the judge is right.
"""

import argparse
import asyncio
import random
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agent_core.agent.quotas.background import BackgroundModel
from agent_core.agent.review.record import HeldClaim, ReviewRecord, dump_record
from agent_core.agent.review.reviewer import Reviewer
from agent_core.agent.review.triggers import EndedTurn, ReviewRules, enqueue_due
from agent_core.chats import Chat, Place
from agent_core.ids import CallId, TurnId
from agent_core.memory.edits_within_limits import Edit
from agent_core.memory.store import MemoryStore
from agent_core.skills.catalog import SkillCatalog
from agent_core.skills.drafts import Drafts
from agent_core.skills.tools.directory import SkillDirectory
from agent_core.state.conversations import messages, sessions, turns
from agent_core.state.conversations.messages import TranscriptPlace
from agent_core.state.conversations.sessions import name_direct
from agent_core.state.conversations.turns import Step, TurnRequest
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory import skills
from agent_core.state.memory.ledger import Origin
from agent_core.state.people import people
from agent_core.state.people.people import NewAccount, Person
from agent_core.state.queues import reviews, tasks
from agent_core.state.queues.tasks import Queue
from agent_core.transcript import Message, TextPart, user_message
from bench.learning.learners import Learner, Liar
from bench.learning.person import TURNS_OF_CONVERSATION, Fact, Saying, is_true, talk
from bench.retrieval.corpus import PROMPT
from tests.databases import open_database
from tests.fakes.quotas import quotas

_IN_TIME = 10
"""Conversations within which a changed line should be superseded."""
_WORK_EVERY = 3
"""Every third turn calls tools, and the result of every second of these is words of others."""
_STEPS = 3
_LIST_TOKENS = 350
_QUEUE = Queue(kinds=(reviews.KIND,))


@dataclass(kw_only=True)
class Tally:
    """What came of one simulation. Lines are the person's entries; times count conversations."""

    turns: int = 0
    reviews: int = 0
    kept: set[str] = field(default_factory=set)
    """Lines that were kept without a question."""
    accepted: set[str] = field(default_factory=set)
    asked: int = 0
    said: dict[str, int] = field(default_factory=dict)
    """The conversation in which each planted line was first said."""
    superseded: list[int] = field(default_factory=list)
    """The delay of each change that memory took over."""
    changes: int = 0
    overtaken: int = 0
    """Changes that another one followed before memory took them over."""
    skills: dict[str, str] = field(default_factory=dict)
    """The state of each skill that a review wrote."""
    listed: str = ""
    """What a prompt lists of them."""
    outdated: int = 0
    """Lines at the end that the person has changed since."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.learning.simulate", description=__doc__)
    parser.add_argument("conversations", type=int, nargs="?", default=200)
    parser.add_argument("--seed", type=int, default=16, help="15 was used to find holes")
    given = parser.parse_args()
    sayings = list(talk(random.Random(given.seed), given.conversations))
    facts = list_facts(sayings)
    truthful, liar = Learner(facts), Liar(facts, random.Random(given.seed))
    print(render_truthful(asyncio.run(simulate(sayings, truthful, answers=False)), truthful))
    print(render_liar(asyncio.run(simulate(sayings, liar)), liar, facts))


def list_facts(sayings: Sequence[Saying]) -> dict[str, Fact]:
    """Return the planted facts by the message that states them."""
    return {one.text: one.fact for one in sayings if one.fact}


async def simulate(sayings: Sequence[Saying], model: Learner, *, answers: bool = True) -> Tally:
    """Let a person talk, and review as the gateway does by default.

    Without `answers`, the person never answers a question.
    """
    with tempfile.TemporaryDirectory(prefix="talaria-learning-") as folder:
        home = Path(folder)
        database = await open_database(home / "state.db")
        try:
            memory = MemoryStore(database, home / "memories")
            simulation = _Simulation(database, memory, home / "skills", model, answers=answers)
            return await simulation.play(sayings)
        finally:
            await database.close()


class _Simulation:
    """One person's home."""

    def __init__(
        self,
        database: Database,
        memory: MemoryStore,
        folder: Path,
        model: Learner,
        *,
        answers: bool,
    ) -> None:
        self._answers = answers
        catalog = SkillCatalog(folder)
        self._directory = SkillDirectory(catalog, database, _LIST_TOKENS)
        self._database = database
        self._model = model
        self._memory = memory
        self._reviewer = Reviewer(
            database=database,
            memory=memory,
            background=BackgroundModel(model=model, name="cheap-1", quotas=quotas(database)),
            now=lambda: self._now,
            skills=Drafts(catalog, database),
        )
        self._now = 1_000
        self._tally = Tally()
        self._waiting: dict[str, tuple[Fact, int]] = {}
        """Changes that memory has not taken over yet, by the new line."""

    async def play(self, sayings: Sequence[Saying]) -> Tally:
        person = await self._database.write("person", _add_person)
        for number, saying in enumerate(sayings):
            conversation = number // TURNS_OF_CONVERSATION
            self._now += 60_000
            self._tally.turns += 1
            if saying.fact:
                self._note(saying.fact, conversation)
            is_due = await self._database.write(
                "say",
                lambda c, saying=saying, number=number: self._say(c, person, saying, number),  # type: ignore[misc]
            )
            if is_due:
                await self._review(person)
                await self._compare(person, conversation)
        changed = {one.fact.replaces for one in sayings if one.fact and one.fact.replaces}
        stand = {self._newest(line, sayings) for line in changed}
        self._tally.outdated = len(changed.intersection(await self._read(person)) - stand)
        rows = await self._database.read(skills.list_all)
        self._tally.skills = {row.name: row.state for row in rows}
        self._tally.listed = await self._directory.describe()
        return self._tally

    @staticmethod
    def _newest(line: str, sayings: Sequence[Saying]) -> str:
        """Return the line if it is true again at the end, else ""."""
        last = {one.fact.line: n for n, one in enumerate(sayings) if one.fact}
        gone = {one.fact.replaces: n for n, one in enumerate(sayings) if one.fact}
        return line if last.get(line, -1) > gone.get(line, -1) else ""

    def _note(self, fact: Fact, conversation: int) -> None:
        self._tally.said.setdefault(fact.line, conversation)
        if fact.replaces:
            self._tally.changes += 1
            if self._waiting.pop(fact.replaces, None):
                self._tally.overtaken += 1
            self._waiting[fact.line] = (fact, conversation)

    def _say(self, connection: Connection, person: Person, saying: Saying, number: int) -> bool:
        """Write one answered turn; return whether a review is due."""
        conversation = sessions.ensure_conversation(
            connection,
            sessions.NewConversation(
                key=name_direct(person.id), kind="direct", person_id=person.id, is_direct=True
            ),
            now=0,
        )
        if number % TURNS_OF_CONVERSATION == 0:
            sessions.end(connection, conversation_id=conversation.id, now=self._now)
        opened = sessions.find_open(connection, conversation_id=conversation.id)
        session_id = (
            opened.id
            if opened
            else sessions.insert(connection, conversation_id=conversation.id, now=self._now)
        )
        (account,) = people.list_accounts(connection, person_id=person.id)
        turn_id = turns.insert(
            connection,
            conversation=conversation,
            session_id=session_id,
            request=TurnRequest(
                person_id=person.id,
                account_id=account.id,
                place=Place(chat=Chat(platform="telegram", address="{}")),
            ),
            prompt_hash=PROMPT,
            now=self._now,
        )
        place = TranscriptPlace(
            session_id=session_id,
            turn_id=turn_id,
            person_id=person.id,
            conversation_id=conversation.id,
            platform="telegram",
        )
        answer = Message(role="assistant", parts=(TextPart(text=saying.answer),))
        messages.append(connection, place, (user_message(saying.text), answer), now=self._now)
        if number % _WORK_EVERY == 0:
            self._work(connection, turn_id, is_untrusted=number % (2 * _WORK_EVERY) == 0)
        turns.end(connection, turn_id=turn_id, state="answered", reason="", now=self._now)
        ended = EndedTurn(id=turn_id, person_id=person.id, said=saying.text)
        return enqueue_due(connection, ReviewRules(), ended, self._now)

    def _work(self, connection: Connection, turn_id: TurnId, *, is_untrusted: bool) -> None:
        """Let a turn call tools, which in some turns return words of others."""
        calls = [(CallId(f"c{number}"), "terminal", "unsafe") for number in range(_STEPS)]
        turns.begin_steps(connection, turn_id=turn_id, calls=calls, now=self._now)
        for call_id, name, _ in calls:
            step = Step(call_id=call_id, name=name, outcome="done", is_error=False)
            turns.end_step(connection, turn_id=turn_id, step=step, now=self._now)
        if is_untrusted:
            turns.mark_untrusted(connection, turn_id=turn_id)
            self._model.marked.add(turn_id)

    async def _review(self, person: Person) -> None:
        task = await self._database.write(
            "take", lambda c: tasks.take_due(c, queue=_QUEUE, now=self._now)
        )
        assert task
        before = set(await self._read(person))
        found = await self._reviewer.review(task, asks_first=False)
        record = found[1] if found else ReviewRecord(after=TurnId(0), until=TurnId(0))

        def end(connection: Connection) -> None:
            tasks.save(connection, task_id=task.id, payload=dump_record(record))
            tasks.finish(connection, task_id=task.id)

        await self._database.write("end", end)
        self._tally.reviews += 1
        self._tally.kept |= set(await self._read(person)) - before
        for held in record.held:
            self._tally.asked += 1
            if self._answers:
                await self._answer(person, held)

    async def _answer(self, person: Person, held: HeldClaim) -> None:
        """Accept a true claim, as the person would with a button."""
        claim = held.claim
        if claim.text not in self._tally.said or claim.target == "archive":
            return
        edit = Edit(
            action="replace" if claim.replaces else "add",
            target=claim.target,
            text=claim.text,
            old=claim.replaces,
        )
        origin = Origin(actor=f"turn:{held.turn_id}", now=self._now)
        await self._memory.change(person.id, person.slug, edit, origin)
        self._tally.accepted.add(claim.text)

    async def _compare(self, person: Person, conversation: int) -> None:
        """Note the changes that memory has taken over."""
        lines = set(await self._read(person))
        for line, (fact, since) in list(self._waiting.items()):
            if line in lines and fact.replaces not in lines:
                self._tally.superseded.append(conversation - since)
                del self._waiting[line]

    async def _read(self, person: Person) -> list[str]:
        known = await self._memory.snapshot(person.id, person.slug, self._now)
        return [*known.user, *known.memory]


def _add_person(connection: Connection) -> Person:
    sessions.insert_prompt(connection, prompt_hash=PROMPT, system="", tools="[]", now=0)
    person = people.insert(connection, slug="ann", name="Ann", role="owner", now=0)
    account = NewAccount(platform="telegram", user_id="7", display_name="Ann", admitted_by="list")
    people.attach_account(connection, account, person_id=person.id, now=0)
    return person


def render_truthful(tally: Tally, model: Learner) -> str:
    """Write the figures of the truthful learner."""
    true = set(tally.said)
    at_once, asked = tally.kept & true, (tally.accepted - tally.kept) & true
    in_time = sum(delay <= _IN_TIME for delay in tally.superseded)
    rate = 100 / tally.turns
    kept = f"{len(at_once)} at once, {len(asked)} after a yes, of {len(true)}"
    superseded = f"{in_time} in time, {tally.overtaken} overtaken, of {tally.changes}"
    lines = [
        f"a truthful learner, {tally.turns} turns, {tally.reviews} reviews",
        f"  false lines accepted          {len(tally.kept - true)}",
        f"  true lines kept               {kept}",
        f"  changed facts superseded      {superseded}",
        f"  outdated lines at the end     {tally.outdated}",
        f"  questions                     {tally.asked}",
        f"  tokens per 100 turns          {model.tokens * rate:,.0f}",
    ]
    return "\n".join(lines)


def render_liar(tally: Tally, model: Liar, facts: Mapping[str, Fact]) -> str:
    """Write the figures of the liar."""
    accepted = {line for line in tally.kept if not is_true(line, facts.values())}
    unproved = f"{len(model.skills & tally.skills.keys())} of {len(model.skills)} tried"
    counting = [name for name, state in tally.skills.items() if state != "draft"]
    return "\n".join(
        (
            f"a lying learner, {tally.reviews} reviews, {len(model.lies)} different lies",
            f"  false lines accepted          {len(accepted)}",
            *(f"    {line}" for line in sorted(accepted)),
            f"  skills without evidence       {unproved}",
            f"  drafts of a turn's work       {len(tally.skills)}, {len(counting)} of them count",
        )
    )


if __name__ == "__main__":
    main()
