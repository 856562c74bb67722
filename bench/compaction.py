"""Cost and memory of a long conversation, by the length at which it is compacted.

    python -m bench.compaction [--turns 301] [--thresholds 0,16000,24000] [--keeps 30]

A conversation is scripted: facts are planted among filler. Nothing but the model is made up: the
requests are rendered as they are sent, and the emulator accounts for the provider's cache.
Cost is counted in plain input tokens: 0.1 for a token read from the cache, 1.25 for one written.
"""

import argparse
import asyncio
import json
import random
import re
import tempfile
import zlib
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agent_core.agent.budget import Budget, Limits
from agent_core.agent.compaction.compactor import Compactor, apply_compaction
from agent_core.agent.compaction.context_window import TurnContextWindow
from agent_core.agent.compaction.summaries import Summarizer
from agent_core.agent.compaction.token_meter import ContextRules, TokenMeter
from agent_core.agent.quotas.balance import DailyLimit
from agent_core.agent.quotas.reservations import QuotaRules, Quotas
from agent_core.ids import CallId, TurnId
from agent_core.memory.recall.recall_tool import RecallTool
from agent_core.models.anthropic.translate import render_request
from agent_core.models.catalog import Prices
from agent_core.models.contract import ModelAnswer, ModelRequest, TextDelta, Usage
from agent_core.state.conversations import messages
from agent_core.state.conversations.messages import TranscriptPlace
from agent_core.state.engine.database import Connection, Database
from agent_core.tools.contract import ToolContext
from agent_core.transcript import Message, TextPart, ToolSpec, user_message
from tests.agent_core.state import rows
from tests.emulators.anthropic_cache import PrefixCache, measure

MAIN, CHEAP = "claude-sonnet-5-5", "claude-haiku-5-5"
CHARACTERS = 1400
"""Tokens of a message; a turn with its answer has about 700."""
FACTS = 60
SYSTEM = "You are a kind assistant with a good memory. " * 143
TOOLS = (ToolSpec(name="recall", description="Search. " * 450, schema='{"type":"object"}'),)
"""With `SYSTEM`, as long as the prompt of a plain hello (2,513 tokens, `bench.tokens`)."""
TURN_SECONDS = 40.0
_READ, _WRITE = 0.1, 1.25

_THINGS = (
    *("boiler", "printer", "garden shed", "blue bicycle", "kitchen oven", "guest room", "tent"),
    *("family car", "coffee machine", "attic window", "old piano", "rowing boat", "solar panel"),
    *("front door", "cellar freezer", "sewing machine", "wall clock", "fish tank", "awning"),
)
_TRAITS = {
    "serial number": "the number on the nameplate",
    "delivery date": "the day when it arrived",
    "inspection code": "the code from the last check",
    "spare key label": "the tag of the second key",
    "warranty contact": "the person to call when it breaks",
    "paint shade": "the colour it was painted in",
    "storage place": "the spot where it is kept",
    "repair invoice": "the bill for fixing it",
    "insurance number": "the policy that covers it",
    "next service week": "the time of the coming maintenance",
}
"""A trait's name when it is stated, and in every second question."""
_FORMS = (
    "By the way, the {trait} of the {thing} is {value}.",
    "I wrote down {value} as the {trait} for our {thing}.",
    "About the {thing}: its {trait} turned out to be {value}, as the letter says.",
    "{value}, that was the {trait} they gave me for the {thing} yesterday.",
)
_LETTERS = "bdfgklmnp"
_SYLLABLES = [consonant + vowel for consonant in _LETTERS for vowel in "aeo"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A value that is stated once, and asked for at the end."""

    question: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """The texts of person and assistant by turn, and their facts."""

    turns: Sequence[tuple[str, str]]
    facts: Sequence[Fact]


def script(seed: int, turns: int) -> Conversation:
    """Return a conversation, the same for the same seed."""
    chance = random.Random(seed)
    words = ["".join(chance.choices(_SYLLABLES, k=chance.randint(1, 4))) for _ in range(3000)]
    weights = [1 / (place + 3) for place in range(len(words))]

    def fill() -> list[str]:
        sentences: list[str] = []
        while sum(map(len, sentences)) < CHARACTERS:
            said = chance.choices(
                [*words, *_THINGS, *_TRAITS],
                [*weights, *[0.001] * (len(_THINGS) + len(_TRAITS))],
                k=12,
            )
            sentences.append(" ".join(said).capitalize() + ".")
        return sentences

    said = [(fill(), fill()) for _ in range(turns)]
    pairs = [(thing, trait) for thing in _THINGS for trait in _TRAITS]
    facts = []
    for number, (thing, trait) in enumerate(chance.sample(pairs, FACTS)):
        value = f"{chance.choice(_SYLLABLES).upper()}-{chance.randrange(10_000, 99_999)}"
        place = said[number * turns // FACTS][chance.choice((0, 0, 1))]
        form = chance.choice(_FORMS)
        place.insert(
            chance.randrange(len(place)), form.format(thing=thing, trait=trait, value=value)
        )
        asked = _TRAITS[trait] if number % 2 else f"the {trait}"
        facts.append(Fact(question=f"What is {asked}, of the {thing}?", value=value))
    return Conversation(
        turns=[(" ".join(asked), " ".join(answered)) for asked, answered in said], facts=facts
    )


@dataclass
class Account:
    """Tokens of all calls' input, in plain input tokens, and the number of calls."""

    turns: float = 0.0
    summaries: float = 0.0
    written: int = 0
    """Tokens of all summaries, charged as output."""
    calls: int = 0
    longest: int = 0


@dataclass
class AccountedModel:
    """A model that counts every call like the provider, and writes summaries."""

    provider = "anthropic"
    is_blank: bool
    """True if summaries say nothing, so that only recall finds what was replaced."""
    account: Account = field(default_factory=Account)
    now: float = 0.0

    def __post_init__(self) -> None:
        self._cache = PrefixCache(lambda: self.now)

    def charge(self, request: ModelRequest) -> tuple[Usage, float]:
        """Return a request's usage, and its cost in plain input tokens."""
        given = self._cache.account(measure(json.loads(render_request(request))))
        usage = Usage(
            input_tokens=given["input_tokens"],
            cache_read_tokens=given["cache_read_input_tokens"],
            cache_write_tokens=given["cache_creation_input_tokens"],
            output_tokens=1,
        )
        self.account.longest = max(self.account.longest, usage.read_tokens)
        read, written = usage.cache_read_tokens * _READ, usage.cache_write_tokens * _WRITE
        return usage, usage.input_tokens + read + written

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelAnswer, None]:
        """Return a summary; see `_summarize`."""
        usage, cost = self.charge(request)
        self.account.summaries += cost
        self.account.calls += 1
        text = "They spoke of many things." if self.is_blank else _summarize(request)
        self.account.written += len(text) // 4
        message = Message(role="assistant", parts=(TextPart(text=text),))
        yield ModelAnswer(message=message, stop="end", usage=usage, model=request.model)

    async def check(self, model: str) -> None:
        """Accept any name."""

    async def close(self) -> None:
        """Do nothing."""


def _summarize(request: ModelRequest) -> str:
    """Keep sentences with numbers, as the instructions want, but forget some of them.

    Every fifth new sentence is lost, and every thirtieth of the earlier summary, each time it is
    written again. Where the rest does not fit, the oldest goes.
    """
    kept: list[str] = []
    for line in request.messages[-1].text.splitlines():
        speaker, _, quoted = line.partition(": ")
        if speaker not in ("person", "assistant", "earlier summary"):
            continue
        loss = 30 if speaker == "earlier summary" else 5
        for sentence in re.findall(r"[^.]*\d[^.]*\.", quoted.strip('"')):
            chance = zlib.crc32(f"{sentence}{len(request.messages[-1].text)}".encode())
            if chance % loss:
                kept.append(sentence.strip())
    room = (request.max_output_tokens - 1000) // 2 * 4
    while sum(map(len, kept)) + len(kept) > room:
        del kept[0]
    return "\n".join(kept)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The cost of a conversation, and the shares of its facts that were seen and found."""

    account: Account
    seen: float
    found: float

    @property
    def cost(self) -> float:
        """The input of all calls in plain input tokens, as if one model made them all."""
        return self.account.turns + self.account.summaries


@dataclass(frozen=True, slots=True, kw_only=True)
class _RecordedTurn:
    shelf: TranscriptPlace

    async def begin(self) -> None:
        """Do nothing: the turn is stored already."""


async def play(conversation: Conversation, rules: ContextRules, *, is_blank: bool) -> Outcome:
    """Run a conversation without pauses."""
    model = AccountedModel(is_blank=is_blank)
    with tempfile.TemporaryDirectory(prefix="talaria-compaction-") as folder:
        database = await Database.open(Path(folder) / "state.db")
        try:
            dialogue = await database.write("bench.open", _open)
            compactor = _make_compactor(database, model, rules)
            for number, (asked, answered) in enumerate(conversation.turns):
                model.now += TURN_SECONDS
                await _take_turn(database, dialogue, compactor, model, (number, asked, answered))
            return await _ask(database, dialogue, compactor, model, conversation)
        finally:
            await database.close()


def _open(connection: Connection) -> rows.Dialogue:
    return rows.add_dialogue(connection, rows.add_person(connection))


def _make_compactor(database: Database, model: AccountedModel, rules: ContextRules) -> Compactor:
    free = DailyLimit(money=0, tokens=0)
    quotas = Quotas(
        rules=QuotaRules(person=free, deployment=free, cheap_from=80, zone="UTC"),
        prices=Prices(),
        database=database,
        now=lambda: 1_000,
    )
    return Compactor(
        database=database,
        summarizer=Summarizer(model=model, names=(CHEAP, MAIN), quotas=quotas),
        meter=TokenMeter(provider=model, model=MAIN, rules=rules),
        now=lambda: 1_000,
    )


async def _take_turn(
    database: Database,
    dialogue: rows.Dialogue,
    compactor: Compactor,
    model: AccountedModel,
    turn: tuple[int, str, str],
) -> None:
    number, asked, answered = turn
    facts = f"<facts>\nNow: Sunday, 2026-11-22, turn {number}, Europe/Berlin\n</facts>"

    def begin(connection: Connection) -> TurnId:
        turn_id = rows.add_turn(connection, dialogue)
        said = [user_message(asked, facts=facts)]
        messages.append(connection, dialogue.shelf(turn_id), said, now=number)
        return turn_id

    turn_id = await database.write("bench.begin", begin)
    shelf = dialogue.shelf(turn_id)
    person_id, session_id = dialogue.person.id, dialogue.session_id
    present = await compactor.find(session_id, person_id)
    stored = await database.read(
        lambda c: messages.list_session(c, session_id=session_id, person_id=person_id)
    )
    window = TurnContextWindow(compactor, _RecordedTurn(shelf=shelf), dialogue.person, present)
    request = _request(apply_compaction(stored, present))
    fitted = await window.fit(request, _budget())
    request = window.limit_output(_request(fitted) if fitted else request)
    usage, cost = model.charge(request)
    window.learn(MAIN, usage)
    model.account.turns += cost
    answer = Message(role="assistant", parts=(TextPart(text=answered),))
    await database.write("bench.end", lambda c: messages.append(c, shelf, [answer], now=number))


def _budget() -> Budget:
    limits = Limits(steps=9, tokens=0, micro_dollars=0, seconds=0)
    return Budget(limits, started=0.0, clock=lambda: 0.0)


def _request(shown: tuple[Message, ...]) -> ModelRequest:
    return ModelRequest(
        model=MAIN, system=SYSTEM, tools=TOOLS, messages=shown, max_output_tokens=8000
    )


async def _ask(
    database: Database,
    dialogue: rows.Dialogue,
    compactor: Compactor,
    model: AccountedModel,
    conversation: Conversation,
) -> Outcome:
    """Look every fact up in the prompt, and in what the search tool returns for the question."""
    session_id, person_id = dialogue.session_id, dialogue.person.id
    present = await compactor.find(session_id, person_id)
    stored = await database.read(
        lambda c: messages.list_session(c, session_id=session_id, person_id=person_id)
    )
    shown = "\n".join(
        part.text
        for message in apply_compaction(stored, present)
        for part in message.parts
        if isinstance(part, TextPart)
    )
    tool = RecallTool(database)
    context = ToolContext(
        person_id=person_id,
        owner_id=person_id,
        memory_owner=None,
        conversation_id=dialogue.conversation.id,
        scope=dialogue.conversation.scope,
        turn_id=TurnId(0),
        call_id=CallId("c"),
        now=1_000_000,
        evidence="",
    )
    seen = found = 0
    for fact in conversation.facts:
        is_seen = fact.value in shown
        answer = await tool.run({"query": fact.question}, context)
        seen += is_seen
        found += is_seen or fact.value in answer.text
    count = len(conversation.facts)
    return Outcome(account=model.account, seen=seen / count, found=found / count)


def main() -> None:
    """Print one table: the conversations used to choose, and those held out."""
    parser = argparse.ArgumentParser(prog="python -m bench.compaction", description=__doc__)
    parser.add_argument("--turns", type=int, default=301)
    parser.add_argument("--thresholds", default="0,16000,20000,24000,32000,48000")
    parser.add_argument("--keeps", default="30")
    parser.add_argument("--conversations", type=int, default=4)
    parser.add_argument("--blank", action="store_true", help="summaries that say nothing")
    given = parser.parse_args()
    asyncio.run(_measure(given))


async def _measure(given: argparse.Namespace) -> None:
    print("threshold keep | half       | cost, M | summaries, M | calls | seen | found | longest")
    for threshold in map(int, given.thresholds.split(",")):
        for keep in map(int, given.keeps.split(",")) if threshold else (0,):
            rules = ContextRules(
                cap_tokens=120_000,
                threshold_percent=80,
                compact_tokens=threshold,
                **({"keep_percent": keep} if threshold else {}),
            )
            for half, parity in (("chosen on", 0), ("held out", 1)):
                outcomes = [
                    await play(script(seed, given.turns), rules, is_blank=given.blank)
                    for seed in range(given.conversations)
                    if seed % 2 == parity
                ]
                _print(f"{threshold:>9,} {keep:>3}%", half, outcomes)


def _print(name: str, half: str, outcomes: Sequence[Outcome]) -> None:
    count = len(outcomes)
    cost = sum(one.cost for one in outcomes) / count / 1e6
    summaries = sum(one.account.summaries for one in outcomes) / count / 1e6
    calls = sum(one.account.calls for one in outcomes) / count
    seen = sum(one.seen for one in outcomes) / count
    found = sum(one.found for one in outcomes) / count
    longest = max(one.account.longest for one in outcomes)
    print(
        f"{name} | {half:10} | {cost:7.3f} | {summaries:12.3f} | {calls:5.1f} | {seen:4.0%} |"
        f" {found:5.0%} | {longest:,}",
        flush=True,
    )


if __name__ == "__main__":
    main()
