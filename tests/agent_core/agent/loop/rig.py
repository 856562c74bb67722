"""A loop with everything around it faked, and the transcript it starts from."""

from collections.abc import Mapping, Sequence

from agent_core.agent.budget import Budget, Limits
from agent_core.agent.claims.check import ClaimCheck
from agent_core.agent.loop.contract import ContextWindow, Reserve
from agent_core.agent.loop.loop import Loop
from agent_core.agent.prompt.prompt_cache import FrozenPrompt
from agent_core.agent.prompt.visibility import PromptContext
from agent_core.agent.turn import Turn
from agent_core.events import Emit, Event, TextGrew, TextReset, TurnEnded
from agent_core.ids import CallId, ConversationId, PersonId, PromptHash, TurnId
from agent_core.models.fingerprints import Fingerprints
from agent_core.models.router import ModelPolicy
from agent_core.state.conversations.sessions import Conversation
from agent_core.state.people.people import Person
from agent_core.tools.contract import MemoryOwner, Tool, ToolResult
from agent_core.tools.toolbox import Toolbox
from agent_core.transcript import Message, TextPart, ToolResultPart, user_message
from tests.fakes.host import FakeHost
from tests.fakes.journal import FakeJournal
from tests.fakes.limits import UnboundedWindow, load_no_images, reserve_nothing
from tests.fakes.model import FakeModel, Play

HELLO = user_message("hello", facts="<facts>\nNow: noon\n</facts>")
ADA = Person(id=PersonId(1), slug="ada", name="Ada", role="owner", time_zone=None)
TALK = Conversation(
    id=ConversationId(2), key="direct:1", kind="direct", person_id=ADA.id, scope="p1"
)


class Left(Exception):
    """The watcher of a turn is gone."""


class Rig:
    """One turn with its surroundings; `run` runs it to its end."""

    def __init__(
        self,
        *plays: Play,
        tools: Sequence[Tool] = (),
        policy: ModelPolicy | None = None,
        steps: int = 20,
        tokens: int = 0,
        micro_dollars: int = 0,
        seconds: float = 0,
    ) -> None:
        self.model = FakeModel(*plays)
        self.toolbox = Toolbox(tools, timeout=5)
        self.journal = FakeJournal()
        self.host = FakeHost()
        self.host.pass_time = self._pass
        self.time = 0.0
        self.offset = 0
        """Milliseconds by which the clock of the wall has jumped."""
        limits = Limits(steps=steps, tokens=tokens, micro_dollars=micro_dollars, seconds=seconds)
        self.budget = Budget(limits, started=0.0, clock=lambda: self.time)
        self.waiting_since: int | None = None
        self.faulty: set[str] = set()
        self.policy = policy or ModelPolicy(model="fake-1")
        self.load_images = load_no_images
        self.reserve: Reserve = reserve_nothing
        self.window: ContextWindow = UnboundedWindow()

    @property
    def pauses(self) -> list[float]:
        """The pauses of the host, in seconds."""
        return self.host.pauses

    def _pass(self, seconds: float) -> None:
        self.time += seconds

    def loop(self, turn: Turn, emit: Emit) -> Loop:
        return Loop(
            turn,
            model=self.model,
            policy=self.policy,
            toolbox=self.toolbox,
            journal=self.journal,
            window=self.window,
            host=self.host,
            budget=self.budget,
            emit=emit,
            now=lambda: 1_000 + self.offset + int(self.time * 1000),
            load_images=self.load_images,
            reserve=self.reserve,
            fingerprints=Fingerprints(),
            faulty=self.faulty,
            claims=ClaimCheck(reads_wishes=True),
        )

    def turn(
        self,
        messages: Sequence[Message] = (HELLO,),
        *,
        own: int = 0,
        outcomes: Mapping[CallId, ToolResult] | None = None,
        begun: Sequence[str] = (),
    ) -> Turn:
        return Turn(
            id=TurnId(3),
            context=PromptContext(conversation=TALK, person=ADA, room=None, platform="telegram"),
            memory_owner=MemoryOwner(person_id=ADA.id, slug=ADA.slug),
            prompt=FrozenPrompt(hash=PromptHash(""), system="be kind", tools=self.toolbox.specs),
            messages=tuple(messages),
            own_count=own,
            results=outcomes or {},
            started=frozenset(CallId(call_id) for call_id in begun),
            waiting_since=self.waiting_since,
        )

    async def run(
        self,
        messages: Sequence[Message] = (HELLO,),
        *,
        own: int = 0,
        outcomes: Mapping[CallId, ToolResult] | None = None,
        begun: Sequence[str] = (),
    ) -> list[Event | TurnEnded]:
        """All events of the turn, and how it ended."""
        self.journal.open = {call.call_id for call in messages[-1].calls}
        self.journal.results = dict(outcomes or {})
        return await self.play(self.turn(messages, own=own, outcomes=outcomes, begun=begun))

    async def play(self, turn: Turn) -> list[Event | TurnEnded]:
        """All events of a turn, and how it ended."""
        events: list[Event | TurnEnded] = []

        async def emit(event: Event) -> None:
            events.append(event)

        ended = await self.loop(turn, emit).run()
        return [*events, ended]

    async def end(self, messages: Sequence[Message] = (HELLO,)) -> TurnEnded:
        """How the turn ended."""
        event = (await self.run(messages))[-1]
        assert isinstance(event, TurnEnded)
        return event


def shown(events: Sequence[Event | TurnEnded]) -> str:
    """What a watcher has on display in the end."""
    text = ""
    for event in events:
        if isinstance(event, TextReset):
            assert text, "nothing was on display to be taken back"
            text = ""
        elif isinstance(event, TextGrew):
            text += event.delta
    return text


def result_texts(message: Message) -> list[str]:
    """The texts of a tool message, in order."""
    assert message.role == "tool"
    return [part.text for part in message.parts if isinstance(part, ToolResultPart)]


def fact_of(message: Message) -> str:
    """The one fact that a message of ours consists of."""
    (part,) = message.parts
    assert isinstance(part, TextPart)
    assert part.is_fact
    assert message.role == "user"
    return part.text
