"""What the gate of reviews keeps of true notes, and of lies: `python -m bench.learning.gate`.

Each case is a person who writes some messages, and a reviewer that claims one note of them, in the
person's words or in natural ones. The review runs twice, as the gateway runs it, with judges of all
kinds. No model takes part,
except for `--judge model`: `TALARIA_MODEL__NAME` at `OPENAI_BASE_URL`. The sentences are by writers
who had not seen the gate.
"""

import argparse
import asyncio
import json
import random
import tempfile
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agent_core.agent.prompt.message_facts import FactInputs, QuotedMessage, compose_facts
from agent_core.agent.quotas.background import BackgroundModel
from agent_core.agent.review.record import ReviewRecord, dump_record
from agent_core.agent.review.reviewer import Reviewer
from agent_core.errors import ModelError
from agent_core.ids import TurnId
from agent_core.memory.edits_within_limits import Edit
from agent_core.memory.store import MemoryLimits, MemoryStore
from agent_core.models.contract import ModelAnswer, ModelRequest, TextDelta
from agent_core.safe_names import PlainName
from agent_core.state.conversations import messages, turns
from agent_core.state.conversations.sessions import name_direct
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory.ledger import Origin
from agent_core.state.people import people
from agent_core.state.people.people import NewAccount
from agent_core.state.queues import reviews, tasks
from agent_core.state.queues.tasks import Queue, Task
from agent_core.transcript import DocumentPart, Message, TextPart, user_message
from bench.learning.judges import KINDS, Judge, Kind, RealJudge, Truth, is_judged
from tests.agent_core.state.rows import Dialogue, add_dialogue, add_person, add_turn
from tests.databases import open_database
from tests.fakes.model import FakeModel, ask, call
from tests.fakes.quotas import quotas

DATA = Path(__file__).parent / "data"
_QUEUE = Queue(kinds=(reviews.KIND,))
_NOW = 1_795_953_600_000
"""2026-11-29 12:00 UTC, in milliseconds since the epoch."""
_LIMITS = MemoryLimits(memory=100_000, user=100_000)
_WORDINGS = ("letter-perfect", "natural")
_SECTIONS = {"person": "user", "answers": "user", "work": "memory", "people": "memory"}
_REVIEWS = 2
_ATTEMPTS = 3
_PATIENCE = 600.0
"""Seconds for a look of a judge: a real model on a busy machine is slow, not silent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A note that a reviewer claims of some messages; the line that is known before, if any."""

    kind: str
    messages: tuple[str, ...]
    place: int
    claims: tuple[str, str]
    """In the person's words, and in natural ones."""
    section: str
    quote: str
    given_as: dict[str, Any]
    replaces: str
    until: str

    @property
    def is_true(self) -> bool:
        return self.kind == "true"


@dataclass(kw_only=True)
class Result:
    """What one judge made of the cases."""

    kept: Counter[str]
    held: Counter[str]
    total: Counter[str]
    superseded: int
    dated: int
    calls: int
    lies: list[str]


def load_cases(*paths: Path) -> list[Case]:
    """Load cases, one as JSON in a line."""
    lines = [one for path in paths for one in path.read_text().splitlines() if one.strip()]
    return [_load(json.loads(line)) for line in lines]


def _load(row: dict[str, Any]) -> Case:
    place = row.get("claimed_message", 0)
    claims = row.get("claims") or [row["claim"], row["claim"]]
    return Case(
        kind=row["kind"],
        messages=tuple(row["messages"]),
        place=place,
        claims=(claims[0], claims[1]),
        section=row.get("section", "person"),
        quote=row.get("quote") or row["messages"][place].removeprefix("!raw "),
        given_as=row.get("given_as", {}),
        replaces=row.get("replaces", ""),
        until=row.get("until", ""),
    )


def make_judge(kind: Kind, cases: Sequence[Case], seed: int) -> Judge:
    """Make a judge who knows what is true of these messages."""
    truths: dict[tuple[str, str], Truth] = {}
    frames: dict[tuple[str, str], list[str]] = {}
    for case in cases:
        for text in case.claims:
            key = (case.messages[case.place], text)
            if case.is_true:
                truths[key] = Truth(replaces=case.replaces, until=case.until)
            elif len(case.messages) > 1:
                frames[key] = [one for one in case.messages if one != key[0]]

    def tell(message: str, text: str) -> Truth | None:
        return truths.get((message, text))

    return Judge(kind=kind, tell=tell, frames=frames, chance=random.Random(seed))


class _Model(FakeModel):
    """The reviewer of one case, and the judge."""

    def __init__(self, case: Case, text: str, message_id: int, judge: Judge | RealJudge) -> None:
        super().__init__()
        self._case, self._text, self._id = case, text, message_id
        self._real = judge if isinstance(judge, RealJudge) else None
        if isinstance(judge, Judge):
            self.judge = judge.answer

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelAnswer, None]:
        is_look = is_judged(request)
        if not is_look:
            self.plays.append(ask(self._claim()))
        answers = self._real.stream(request) if is_look and self._real else super().stream(request)
        async for piece in answers:
            yield piece

    def _claim(self) -> Any:
        case = self._case
        given: dict[str, object] = {
            "section": case.section,
            "text": self._text,
            "quote": case.quote,
        }
        given |= {"message": self._id}
        if case.replaces:
            given |= {"action": "replace", "old": case.replaces}
        return call("memory", json.dumps(given, ensure_ascii=False))


class _Home:
    """The people of all cases."""

    def __init__(self, database: Database, home: Path) -> None:
        self._database = database
        self._memory = MemoryStore(database, home / "memories", _LIMITS)

    async def try_case(
        self, case: Case, text: str, judge: Judge | RealJudge, slug: str
    ) -> tuple[bool, ...]:
        """Return whether a note was kept, held, superseded its line, and carries its last day."""
        dialogue = await self._database.write("person", _add, slug)
        person = dialogue.person
        if case.replaces:
            target = _SECTIONS[case.section]
            edit = Edit(action="add", target=target, text=case.replaces)  # type: ignore[arg-type]
            origin = Origin(actor=f"hand:{slug}", now=_NOW)
            await self._memory.change(person.id, person.slug, edit, origin)
        before = set(await self._read(dialogue))
        ids = await self._database.write("say", _say, dialogue, case)
        number = case.given_as.get("ref", 0)
        shift = {"next": 1}.get(number, number)
        model = _Model(case, text, ids[case.place] + shift, judge)
        held = False
        for _ in range(_REVIEWS):
            held |= await self._review(dialogue, model)
            if set(await self._read(dialogue)) - before:
                break
        lines = set(await self._read(dialogue))
        new = lines - before
        is_superseded = bool(new) and bool(case.replaces) and case.replaces not in lines
        is_dated = any(case.until and f"(until {case.until})" in one for one in new)
        return bool(new), held, is_superseded, is_dated

    async def _review(self, dialogue: Dialogue, model: _Model) -> bool:
        """Review the whole conversation, and say one more thing; return whether a note is held."""
        reviewer = Reviewer(
            database=self._database,
            memory=self._memory,
            background=BackgroundModel(model=model, name="cheap-1", quotas=quotas(self._database)),
            now=lambda: _NOW,
            patience=_PATIENCE,
        )
        task = await self._database.write("take", _take, dialogue)
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                found = await reviewer.review(replace(task, attempts=attempt), asks_first=False)
            except ModelError:
                task = await self._database.write("again", _take_again)
                continue
            assert found
            payload = dump_record(found[1])
            await self._database.write("end", _end, task, payload)
            return bool(found[1].held)
        raise AssertionError("a review must end")

    async def _read(self, dialogue: Dialogue) -> list[str]:
        known = await self._memory.snapshot(dialogue.person.id, dialogue.person.slug, _NOW)
        return [*known.user, *known.memory]


def _add(connection: Connection, slug: str) -> Dialogue:
    person = add_person(connection, slug)
    account = NewAccount(platform="telegram", user_id=slug, display_name="A", admitted_by="list")
    people.attach_account(connection, account, person_id=person.id, now=0)
    return add_dialogue(connection, person, key=name_direct(person.id))


def _say(connection: Connection, dialogue: Dialogue, case: Case) -> list[int]:
    """Write the messages of a case, one a turn; return the id of each."""
    return [_write(connection, dialogue, case, one) for one in range(len(case.messages))]


def _write(connection: Connection, dialogue: Dialogue, case: Case, place: int) -> int:
    said = _make_message(case, place)
    turn_id = add_turn(connection, dialogue)
    connection.execute(
        "UPDATE turns SET account_id = (SELECT MAX(id) FROM accounts) WHERE id = ?", (turn_id,)
    )
    spoken: tuple[Message, ...] = (said,)
    if said.role == "user":
        spoken += (Message(role="assistant", parts=(TextPart(text="I see."),)),)
    messages.append(connection, dialogue.shelf(turn_id), spoken, now=_NOW)
    turns.end(connection, turn_id=turn_id, state="answered", reason="", now=_NOW)
    row = connection.execute("SELECT MIN(id) FROM messages WHERE turn_id = ?", (turn_id,))
    return int(row.fetchone()[0])


def _make_message(case: Case, place: int) -> Message:
    """Make a message of the person; "!raw" is one of the assistant."""
    text = case.messages[place]
    if text.startswith("!raw "):
        return Message(role="assistant", parts=(TextPart(text=text.removeprefix("!raw ")),))
    if place != case.place or not case.given_as:
        return user_message(text)
    if "fwd" in case.given_as:
        quoted = QuotedMessage(author=PlainName("Eve"), text=text, is_ours=False, is_forward=True)
        return user_message("What is this?", facts=_compose(quoted))
    if "quote" in case.given_as:
        quoted = QuotedMessage(author=PlainName("Eve"), text=case.given_as["quote"], is_ours=False)
        return user_message(text, facts=_compose(quoted))
    if "file" in case.given_as:
        return user_message(text, parts=(DocumentPart(name="a.pdf", text=case.given_as["file"]),))
    return user_message(text)


def _compose(quoted: QuotedMessage) -> str:
    inputs = FactInputs(
        now=_NOW,
        zone="UTC",
        platform="telegram",
        is_direct=True,
        author=PlainName("Ann"),
        quote=quoted,
    )
    return compose_facts(inputs)


def _take(connection: Connection, dialogue: Dialogue) -> Task:
    """Queue a review of the conversation so far, which an empty turn makes a new one."""
    turn_id = add_turn(connection, dialogue)
    turns.end(connection, turn_id=turn_id, state="answered", reason="", now=_NOW)
    record = dump_record(ReviewRecord(after=TurnId(0), until=turn_id))
    reviews.enqueue(
        connection, person_id=dialogue.person.id, until=turn_id, payload=record, now=_NOW
    )
    task = tasks.take_due(connection, queue=_QUEUE, now=_NOW)
    assert task
    return task


def _take_again(connection: Connection) -> Task:
    tasks.reopen(connection, queue=_QUEUE)
    task = tasks.take_due(connection, queue=_QUEUE, now=_NOW)
    assert task
    return task


def _end(connection: Connection, task: Task, payload: str) -> None:
    tasks.save(connection, task_id=task.id, payload=payload)
    tasks.finish(connection, task_id=task.id)


async def measure(cases: Sequence[Case], kind: Kind, wording: int, seed: int) -> Result:
    """Try all cases with one judge; `wording` is the place of the note in `Case.claims`."""
    judge = RealJudge.connect() if kind == "model" else make_judge(kind, cases, seed)
    result = Result(
        kept=Counter(), held=Counter(), total=Counter(), superseded=0, dated=0, calls=0, lies=[]
    )
    with tempfile.TemporaryDirectory(prefix="talaria-gate-") as folder:
        database = await open_database(Path(folder) / "state.db")
        try:
            home = _Home(database, Path(folder))
            for number, case in enumerate(cases):
                text = case.claims[wording]
                found = await home.try_case(case, text, judge, f"p{number}")
                kept, held, superseded, dated = found
                sort = "true" if case.is_true else "lie"
                result.total[sort] += 1
                result.kept[sort] += kept
                result.held[sort] += held and not kept
                result.superseded += superseded and case.is_true
                result.dated += dated and case.is_true
                if kept and not case.is_true:
                    result.lies.append(f"{case.kind}: {text}")
        finally:
            await database.close()
    result.calls = judge.looks
    return result


def render(result: Result, cases: Sequence[Case]) -> str:
    """Write one row."""
    changes, ends = sum(bool(one.replaces) for one in cases), sum(bool(one.until) for one in cases)
    kept, total = result.kept, result.total
    share = 100 * kept["true"] / max(total["true"], 1)
    return (
        f"true kept {kept['true']:3} of {total['true']} ({share:3.0f} %), asked"
        f" {result.held['true']:3}; lies kept {kept['lie']:3} of {total['lie']}, asked"
        f" {result.held['lie']:3}; superseded {result.superseded} of {changes}, dated"
        f" {result.dated} of {ends}; looks {result.calls}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.learning.gate", description=__doc__)
    parser.add_argument("files", type=Path, nargs="*", help="cases; without any, the open ones")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--judge", choices=(*KINDS, "model"), action="append")
    parser.add_argument("--wording", choices=_WORDINGS, action="append")
    parser.add_argument("--show", action="store_true", help="list the lies that were kept")
    given = parser.parse_args()
    cases = load_cases(*(given.files or sorted(DATA.glob("*.jsonl"))))
    for kind in given.judge or KINDS:
        for name in given.wording or _WORDINGS:
            wording = _WORDINGS.index(name)
            result = asyncio.run(measure(cases, kind, wording, given.seed))
            print(f"{kind:9} {name:14} {render(result, cases)}", flush=True)
            for line in result.lies if given.show else ():
                print(f"    {line}")


if __name__ == "__main__":
    main()
