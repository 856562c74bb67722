"""A talk in a real database, a model that sums it up as planned, and the room of its turn."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from agent_core.agent.budget import Budget, Limits
from agent_core.agent.compaction.compactor import Compactor
from agent_core.agent.compaction.context_window import TurnContextWindow
from agent_core.agent.compaction.requests import CompactionTarget
from agent_core.ids import TurnId
from agent_core.models.contract import ModelRequest, Usage
from agent_core.models.token_estimate import estimate_input
from agent_core.state.conversations import compactions, messages
from agent_core.state.conversations.compactions import Compaction
from agent_core.state.conversations.messages import StoredMessage, TranscriptPlace
from agent_core.state.engine.database import Connection, Database
from agent_core.transcript import Message, ToolSpec
from tests.agent_core.agent.compaction.dialogues import Script
from tests.agent_core.agent.compaction.seeing import view
from tests.agent_core.state import rows
from tests.fakes.compactor import compactor
from tests.fakes.model import FakeModel

CAP = 8_000
THRESHOLD = 6_400
SYSTEM = "be kind"
TOOLS = (ToolSpec(name="look", description="looks", schema='{"type":"object"}'),)


@dataclass(frozen=True)
class _RecordedTurn:
    shelf: TranscriptPlace
    begin: Callable[[], Awaitable[None]]


@dataclass
class Rig:
    """One session; `grow` adds a script's messages to it, a turn a number."""

    database: Database
    model: FakeModel
    compactor: Compactor = field(init=False)
    dialogue: rows.Dialogue = field(init=False)
    turns: dict[int, TurnId] = field(default_factory=dict)
    begun: int = 0
    clock: int = 0

    def __post_init__(self) -> None:
        self.compactor = compactor(self.database, self.model, cap=CAP)

    async def open(self, cap: int | None = None) -> "Rig":
        def work(connection: Connection) -> rows.Dialogue:
            person = rows.add_person(connection)
            connection.execute("UPDATE people SET context_cap = ?", (cap,))
            return rows.add_dialogue(connection, person)

        self.dialogue = await self.database.write("rig.open", work)
        return self

    async def grow(self, script: Script) -> None:
        def work(connection: Connection) -> None:
            for stored in script.stored:
                if stored.turn_id not in self.turns:
                    self.turns[stored.turn_id] = rows.add_turn(connection, self.dialogue)
                shelf = self.dialogue.shelf(self.turns[stored.turn_id])
                messages.append(connection, shelf, [stored.message], now=1)

        await self.database.write("rig.grow", work)

    async def begin(self) -> None:
        self.begun += 1

    def window(self, turn: int, compaction: Compaction | None = None) -> TurnContextWindow:
        recorded = _RecordedTurn(self.dialogue.shelf(self.turns[turn]), self.begin)
        return TurnContextWindow(self.compactor, recorded, self.dialogue.person, compaction)

    def dialogue_between_turns(self) -> CompactionTarget:
        person_id = self.dialogue.person.id
        return CompactionTarget(
            session_id=self.dialogue.session_id, owner_id=person_id, payer_id=person_id
        )

    async def stored(self) -> list[StoredMessage]:
        session_id, person_id = self.dialogue.session_id, self.dialogue.person.id
        return await self.database.read(
            lambda c: messages.list_session(c, session_id=session_id, person_id=person_id)
        )

    async def compactions(self) -> list[Compaction]:
        session_id, person_id = self.dialogue.session_id, self.dialogue.person.id
        return await self.database.read(
            lambda c: compactions.list_of_session(c, session_id=session_id, person_id=person_id)
        )

    async def shown(self) -> tuple[Message, ...]:
        """The transcript as the next call sees it."""
        return view(await self.stored(), await self.compactions())

    async def request(self, *extra: Message, images: Sequence[str] = ()) -> ModelRequest:
        """The next call of the model that thinks."""
        return ModelRequest(
            model="fake-1",
            system=SYSTEM,
            tools=TOOLS,
            messages=(*await self.shown(), *extra),
            max_output_tokens=1000,
            images=dict.fromkeys(images, b""),
        )

    async def spent(self) -> list[tuple[str, str, int | None]]:
        """Purpose, model and turn of every row of usage."""
        return await self.database.read(
            lambda c: c.execute("SELECT purpose, model, turn_id FROM usage ORDER BY id").fetchall()
        )


def budget() -> Budget:
    limits = Limits(steps=9, tokens=1_000_000, micro_dollars=0, seconds=0)
    return Budget(limits, started=0.0, clock=lambda: 0.0)


def long_dialogue(turns: int, *, words: int = 1600, output: int = 0) -> Script:
    """Turns of about so many characters each of question and answer, the last one running."""
    script = Script()
    for number in range(1, turns + 1):
        script.says(f"question {number} " + "q" * words)
        if output:
            script.acts("o" * output)
        if number < turns:
            script.answers(f"answer {number} " + "a" * words)
    return script


def exact(request: ModelRequest) -> Usage:
    """What a call would take if every estimate were exact."""
    return Usage(input_tokens=estimate_input(request), output_tokens=1)
