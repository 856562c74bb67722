"""The agent: prompts that stay frozen while that is of use, and turns that begin, go on and end."""

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from agent_core.agent import ActiveTurn, Agent, Setup, Toolboxes
from agent_core.budget import Limits
from agent_core.builtin import private_tools, room_tools
from agent_core.events import Event, TurnEnded
from agent_core.loop.contract import Course
from agent_core.memory.store import MemoryLimits, MemoryStore
from agent_core.models.contract import Usage
from agent_core.state import messages, people, sessions, turns
from agent_core.state.database import Connection, Database
from agent_core.state.people import Person
from agent_core.state.sessions import Conversation
from agent_core.state.turns import Asked
from agent_core.tools.contract import Tool
from agent_core.tools.toolbox import Toolbox
from agent_core.transcript import Message, user_message
from tests.fakes.host import FakeHost
from tests.fakes.model import FakeModel, Play, ask, call, say
from tests.fakes.tool import FakeTool

MINUTE = 60_000
LASTS = 5 * MINUTE
"""How long the setting `5m` takes a prompt for warm."""
PLACE = ("telegram", "chat", None)


@dataclass
class Bench:
    """An agent with everything around it, and one person's private talk."""

    home: Path
    database: Database
    person: Person
    talk: Conversation
    room: Conversation
    model: FakeModel = field(default_factory=FakeModel)
    host: FakeHost = field(default_factory=FakeHost)
    time: int = 1_000_000_000_000
    limits: Limits = field(
        default_factory=lambda: Limits(steps=9, tokens=0, micro_dollars=0, seconds=0)
    )

    def __post_init__(self) -> None:
        self.memory = MemoryStore(self.database, self.home / "memories", MemoryLimits())
        self.agent = self.hire()

    def hire(self, *tools: Tool) -> Agent:
        """An agent as a process that has just started makes it."""
        boxes = Toolboxes(
            private=Toolbox((*private_tools(self.database, self.memory), *tools)),
            room=Toolbox((*room_tools(self.database), *tools)),
        )
        self.agent = Agent(
            setup=Setup(
                home=self.home,
                course=Course(model="fake-1", retries=0),
                limits=self.limits,
                cache_ttl="5m",
                context_folder=self.home,
                context_files=("AGENTS.md",),
                context_limit=1000,
            ),
            database=self.database,
            model=self.model,
            toolboxes=boxes,
            memory=self.memory,
            now=lambda: self.time,
        )
        return self.agent

    async def begin(self, text: str, conversation: Conversation | None = None) -> ActiveTurn:
        prepared = await self.agent.prepare(
            conversation or self.talk, self.person, platform="telegram"
        )
        said = (user_message(text),)
        return await self.database.write(
            "begin",
            lambda c: self.agent.begin(
                c,
                prepared,
                asked=Asked(person_id=prepared.person.id, account_id=None, place=PLACE),
                said=said,
                now=self.time,
            ),
        )

    async def run(self, turn: ActiveTurn) -> TurnEnded:
        events: list[Event] = []
        async with aclosing(self.agent.run(turn, self.host)) as stream:
            events += [event async for event in stream]
        ended = events[-1]
        assert isinstance(ended, TurnEnded)
        return ended

    async def settle(self, turn: ActiveTurn, ended: TurnEnded, told: str = "") -> None:
        ending = (ended.ending, ended.reason)
        await self.database.write(
            "settle",
            lambda c: self.agent.settle(c, turn, ending=ending, told=told, now=self.time),
        )

    async def ask(
        self, text: str, *plays: Play, conversation: Conversation | None = None
    ) -> TurnEnded:
        """One whole turn."""
        self.model.plays += plays or (say("Yes."),)
        turn = await self.begin(text, conversation)
        ended = await self.run(turn)
        await self.settle(turn, ended)
        return ended

    @property
    def system(self) -> str:
        return self.model.requests[-1].system

    @property
    def heard(self) -> list[str]:
        return [message.text for message in self.model.requests[-1].messages]

    async def transcript(self) -> list[Message]:
        def look(connection: Connection) -> Sequence[messages.StoredMessage]:
            session = sessions.find_open(connection, conversation_id=self.talk.id)
            assert session
            return messages.list_session(
                connection, session_id=session.id, person_id=self.person.id
            )

        return [stored.message for stored in await self.database.read(look)]


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    database = await Database.open(tmp_path / "state.db")

    def work(connection: Connection) -> tuple[Person, Conversation, Conversation]:
        ann = people.insert(connection, slug="ann", name="Ann", role="owner", now=0)
        talk = sessions.ensure_conversation(
            connection, key="direct:1", person_id=ann.id, is_direct=True, now=0
        )
        room = sessions.ensure_conversation(
            connection, key="room:1", person_id=ann.id, is_direct=False, now=0
        )
        return ann, talk, room

    ann, talk, room = await database.write("rows", work)
    yield Bench(home=tmp_path, database=database, person=ann, talk=talk, room=room)
    await database.close()


def write_memory(bench: Bench, text: str) -> None:
    folder = bench.home / "memories" / "people" / "ann"
    folder.mkdir(parents=True, exist_ok=True)
    folder.joinpath("MEMORY.md").write_text(text)


async def test_while_the_cache_is_warm_the_prompt_stays_as_it_was(bench: Bench) -> None:
    await bench.ask("one")
    first = bench.system
    bench.home.joinpath("SOUL.md").write_text("You are somebody else.")
    write_memory(bench, "- Ann has a cat\n")
    bench.time += LASTS
    await bench.ask("two")
    assert bench.system == first


async def test_each_use_keeps_the_prompt_warm(bench: Bench) -> None:
    await bench.ask("one")
    first = bench.system
    write_memory(bench, "- Ann has a cat\n")
    for _ in range(4):
        bench.time += LASTS - 1
        await bench.ask("more")
    assert bench.system == first


async def test_after_an_idle_gap_the_prompt_is_taken_afresh(bench: Bench) -> None:
    await bench.ask("one")
    assert "Ann has a cat" not in bench.system
    bench.home.joinpath("SOUL.md").write_text("You are somebody else.")
    bench.home.joinpath("AGENTS.md").write_text("The build is green.")
    write_memory(bench, "- Ann has a cat\n")
    bench.time += LASTS + 1
    await bench.ask("two")
    for words in ("Ann has a cat", "You are somebody else.", "The build is green."):
        assert words in bench.system
    assert bench.heard == ["one", "Yes.", "two"], "the talk goes on all the same"


async def test_a_gap_without_a_change_keeps_the_very_same_prompt(bench: Bench) -> None:
    await bench.ask("one")
    first = bench.system
    bench.time += 100 * LASTS
    await bench.ask("two")
    assert bench.system == first
    rows = await bench.database.read(lambda c: c.execute("SELECT COUNT(*) FROM prompts").fetchone())
    assert rows == (1,)


async def test_a_new_session_takes_the_prompt_afresh_and_starts_empty(bench: Bench) -> None:
    await bench.ask("one")
    write_memory(bench, "- Ann has a cat\n")
    await bench.database.write(
        "new", lambda c: sessions.end(c, conversation_id=bench.talk.id, now=bench.time)
    )
    await bench.ask("two")
    assert "Ann has a cat" in bench.system
    assert bench.heard == ["two"]


async def test_a_change_of_tools_takes_the_prompt_afresh(bench: Bench) -> None:
    await bench.ask("one")
    bench.hire(FakeTool("knit"))
    await bench.ask("two")
    assert [spec.name for spec in bench.model.requests[-1].tools] == ["memory", "recall", "knit"]
    bench.hire()
    await bench.ask("three")
    assert [spec.name for spec in bench.model.requests[-1].tools] == ["memory", "recall"]
    assert bench.heard[::2] == ["one", "two", "three"]


async def test_what_the_memory_tool_learned_waits_for_the_next_prompt(bench: Bench) -> None:
    note = call("memory", '{"action": "add", "target": "memory", "text": "Ann has a cat"}')
    await bench.ask("I have a cat", ask(note), say("Noted."))
    await bench.ask("go on")
    assert "Ann has a cat" not in bench.system
    bench.time += LASTS + 1
    await bench.ask("go on")
    assert "Ann has a cat" in bench.system


async def test_a_room_shows_no_memory_and_has_a_prompt_of_its_own(bench: Bench) -> None:
    write_memory(bench, "- Ann has a cat\n")
    await bench.ask("one")
    assert "Ann has a cat" in bench.system
    await bench.ask("one", conversation=bench.room)
    assert "Ann has a cat" not in bench.system
    assert [spec.name for spec in bench.model.requests[-1].tools] == ["recall"]
    assert bench.heard == ["one"]


async def test_a_process_that_has_just_started_sends_the_same_bytes(bench: Bench) -> None:
    note = call("memory", '{"action": "add", "target": "memory", "text": "Ann has a cat"}')
    await bench.ask("one", ask(note), say("Noted."))
    bench.hire()
    await bench.ask("two")
    first, _, third = bench.model.requests
    assert (third.system, third.tools) == (first.system, first.tools)
    assert third.messages[: len(first.messages)] == first.messages


async def test_a_turn_taken_up_goes_on_with_its_own_prompt(bench: Bench) -> None:
    turn = await bench.begin("tea?")
    bench.host.draining = True
    assert (await bench.run(turn)).ending == "suspended"
    bench.host.draining = False
    first = await bench.database.read(lambda c: turns.find(c, turn_id=turn.id))
    assert first
    bench.home.joinpath("SOUL.md").write_text("You are somebody else.")
    bench.time += 100 * LASTS
    bench.hire()
    again = await bench.agent.resume(first, bench.talk, bench.person)
    bench.model.plays += [say("Green.")]
    ended = await bench.run(again)
    await bench.settle(again, ended)
    assert ended.text == "Green."
    assert "somebody else" not in bench.system


async def test_a_turn_taken_up_has_spent_what_it_spent(bench: Bench) -> None:
    bench.limits = replace(bench.limits, tokens=1000)
    bench.hire()
    heavy = Usage(input_tokens=900, output_tokens=1)
    bench.model.plays += [ask(call("recall", '{"query": "tea"}'), usage=heavy)]
    turn = await bench.begin("tea?")

    async def drain() -> None:
        bench.host.draining = True

    bench.model.plays[0] = [drain, *bench.model.plays[0]]
    assert (await bench.run(turn)).ending == "suspended"
    bench.host.draining = False
    row = await bench.database.read(lambda c: turns.find(c, turn_id=turn.id))
    assert row
    bench.hire()
    again = await bench.agent.resume(row, bench.talk, bench.person)
    bench.model.plays += [ask(call("recall", '{"query": "x"}', "c2"), usage=heavy), say("So far.")]
    ended = await bench.run(again)
    assert (ended.ending, ended.reason) == ("exhausted", "tokens")


async def test_a_turn_that_is_only_left_can_not_be_settled(bench: Bench) -> None:
    turn = await bench.begin("one")
    with pytest.raises(ValueError, match="suspended"):
        await bench.settle(turn, TurnEnded(ending="suspended", text=""))


async def test_what_was_told_stands_in_the_transcript_for_the_next_turn(bench: Bench) -> None:
    turn = await bench.begin("one")
    turn.journal.interrupt()
    await bench.settle(turn, TurnEnded(ending="failed", text="", reason="error"), "It broke.")
    await bench.ask("two")
    assert bench.heard == ["one", "It broke.", "two"]
    assert [message.role for message in await bench.transcript()] == [
        "user",
        "assistant",
        "user",
        "assistant",
    ]
