"""An agent with everything around it, and the conversations of one person."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from agent_core.agent.agent import Agent
from agent_core.agent.budget import Limits
from agent_core.agent.caches import SessionCache
from agent_core.agent.named.folder import AgentFolder
from agent_core.agent.named.mail import AgentMail
from agent_core.agent.named.teams import TeamFolder
from agent_core.agent.new_turn import NewTurn, insert_turn
from agent_core.agent.prompt.context_files import ContextFolder
from agent_core.agent.prompt.prompt_cache import PromptCache
from agent_core.agent.toolboxes import Toolboxes
from agent_core.agent.toolset import private_tools, room_tools
from agent_core.agent.turn import ActiveTurn
from agent_core.chats import Chat, Place
from agent_core.events import Event, TurnEnded
from agent_core.ids import RoomId
from agent_core.memory.approval import Approval
from agent_core.memory.archive.inventory import Inventory
from agent_core.memory.memory_tool import MemoryTool
from agent_core.memory.shared import SharedMemory
from agent_core.memory.store import MemoryLimits, MemoryStore
from agent_core.models.router import ModelPolicy
from agent_core.state.conversations import messages, sessions
from agent_core.state.conversations.sessions import Conversation
from agent_core.state.conversations.turns import TurnRequest
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people.people import Person
from agent_core.state.people.rooms import Room
from agent_core.tools.contract import Tool
from agent_core.tools.toolbox import Toolbox
from agent_core.transcript import Message, user_message
from tests.agent_core.agent.named.agent_folders import make_message_tool
from tests.fakes.compactor import compactor
from tests.fakes.host import FakeHost
from tests.fakes.model import FakeModel, Play, say
from tests.fakes.quotas import quotas

MINUTE = 60_000
LASTS = 5 * MINUTE
"""How long the setting `5m` takes a prompt for warm."""
PLACE = Place(chat=Chat(platform="telegram", address="chat"))


@dataclass
class Bench:
    """An agent with everything around it, and one person's private talk."""

    home: Path
    database: Database
    person: Person
    dialogue: Conversation
    room: Conversation
    shared: Conversation
    den: Room
    model: FakeModel = field(default_factory=FakeModel)
    host: FakeHost = field(default_factory=FakeHost)
    time: int = 1_000_000_000_000
    trusts_files: bool = False
    cap: int = 120_000
    """Most tokens of a request."""
    limits: Limits = field(
        default_factory=lambda: Limits(steps=9, tokens=0, micro_dollars=0, seconds=0)
    )

    def __post_init__(self) -> None:
        self.memory = MemoryStore(self.database, self.home / "memories", MemoryLimits())
        self.agent = self.hire()

    def hire(self, *tools: Tool, helper: tuple[Tool, ...] = ()) -> Agent:
        """An agent as a process that has just started makes it; `helper` are helpers' tools."""
        shared, approval = SharedMemory(self.database, self.memory), Approval(self.database)
        self.blocks, agents = shared, AgentFolder(self.home)
        TeamFolder(self.home, agents)
        inventory = Inventory(self.database)
        boxes = Toolboxes(
            private=Toolbox(
                (*private_tools(self.database, shared, approval, inventory, None), *tools)
            ),
            room=Toolbox((*room_tools(self.database, shared, approval, inventory), *tools)),
            inventory=inventory,
            helper=Toolbox(helper),
            asked=Toolbox(
                (*helper, make_message_tool(self.home), MemoryTool(shared, Approval(self.database)))
            ),
        )
        files = ContextFolder(
            path=self.home, names=("AGENTS.md",), limit=1000, is_trusted=self.trusts_files
        )
        self.agent = Agent(
            database=self.database,
            model=self.model,
            policy=ModelPolicy(model="fake-1"),
            limits=self.limits,
            quotas=quotas(self.database),
            toolboxes=boxes,
            prompts=PromptCache(
                home=self.home,
                cache_ttl="5m",
                files=files,
                database=self.database,
                memory=shared,
                now=lambda: self.time,
            ),
            sessions=SessionCache(self.database),
            compactor=compactor(self.database, self.model, cap=self.cap),
            agents=agents,
            agent_mail=AgentMail(self.database, lambda: self.time),
            now=lambda: self.time,
        )
        return self.agent

    async def begin(
        self,
        text: str,
        conversation: Conversation | None = None,
        *,
        person: Person | None = None,
        room_id: RoomId | None = None,
    ) -> ActiveTurn:
        asker = person or self.person
        prepared = await self.agent.prepare(
            conversation or self.dialogue, asker, platform="telegram", room_id=room_id
        )
        new = NewTurn(prepared=prepared, said=(user_message(text),), now=self.time)
        turn = self.agent.create_turn(prepared, new.said)
        asked = TurnRequest(person_id=asker.id, account_id=None, place=PLACE)
        turn.journal.begin_with(partial(insert_turn, new=new, asked=asked))
        await turn.journal.begin()
        return turn

    async def run(self, turn: ActiveTurn) -> TurnEnded:
        async def emit(event: Event) -> None: ...

        return await self.agent.run(turn, self.host, emit)

    async def finalize(self, turn: ActiveTurn, ended: TurnEnded, notice: str = "") -> None:
        ending = (ended.ending, ended.reason, ended.detail)
        await self.database.write(
            "settle",
            lambda c: self.agent.finalize(c, turn, ending=ending, notice=notice, now=self.time),
        )

    async def ask(
        self,
        text: str,
        *plays: Play,
        conversation: Conversation | None = None,
        person: Person | None = None,
        room_id: RoomId | None = None,
    ) -> TurnEnded:
        """One whole turn."""
        self.model.plays += plays or (say("Yes."),)
        turn = await self.begin(text, conversation, person=person, room_id=room_id)
        ended = await self.run(turn)
        await self.finalize(turn, ended)
        return ended

    @property
    def system(self) -> str:
        return self.model.requests[-1].system

    @property
    def heard(self) -> list[str]:
        return [message.text for message in self.model.requests[-1].messages]

    async def transcript(self) -> list[Message]:
        def look(connection: Connection) -> Sequence[messages.StoredMessage]:
            session = sessions.find_open(connection, conversation_id=self.dialogue.id)
            assert session
            return messages.list_session(
                connection, session_id=session.id, person_id=self.person.id
            )

        return [stored.message for stored in await self.database.read(look)]
