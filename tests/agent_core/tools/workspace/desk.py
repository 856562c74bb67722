"""A toolbox with the tools of a workspace, as one person's turn has it."""

import json
from collections.abc import Sequence
from pathlib import Path

from agent_core.execution.contract import Backend
from agent_core.ids import CallId, ConversationId, PersonId, TurnId
from agent_core.state.engine.database import Database
from agent_core.tools.contract import MemoryOwner, ToolContext, ToolResult
from agent_core.tools.policy.policy import Policy
from agent_core.tools.policy.protected import Protected
from agent_core.tools.policy.verdicts import Rule
from agent_core.tools.secret_scan import SecretMask
from agent_core.tools.toolbox import Toolbox
from agent_core.tools.workspace.background import BackgroundCommands, BackgroundLimits
from agent_core.tools.workspace.catalog import make_workspace_tools
from agent_core.tools.workspace.versions import FileVersions
from agent_core.transcript import ToolCallPart

SECRET = "sk-ant-abcdefghijklmnopqrstuv"
MOST_BACKGROUND = 2


class Desk:
    """A toolbox with the tools of a workspace, and the folder that they work in."""

    def __init__(
        self,
        database: Database,
        folder: Path,
        backend: Backend,
        *,
        seconds: float = 600,
        rules: Sequence[Rule] = (),
        versions: FileVersions | None = None,
    ) -> None:
        self.database = database
        self.backend = backend
        self.place = folder / "workspaces" / "anna"
        self.now = 0
        self.turn = 1
        limits = BackgroundLimits(most=MOST_BACKGROUND, seconds=seconds)
        self.background = BackgroundCommands(database, backend, limits, lambda: self.now)
        self.tools = make_workspace_tools(
            backend, self.background, command_seconds=30, versions=versions
        )
        protected = Protected(home=str(folder), user_home="")
        policy = Policy(database, rules=rules, protected=protected) if rules else None
        self._toolbox = Toolbox(self.tools, mask=SecretMask((SECRET,)), policy=policy)
        self._calls = 0

    def context(
        self, conversation: int = 1, person: int = 1, *, is_in_room: bool = False
    ) -> ToolContext:
        self._calls += 1
        owner = MemoryOwner(person_id=PersonId(person), slug="anna")
        return ToolContext(
            person_id=PersonId(person),
            owner_id=PersonId(person),
            memory_owner=None if is_in_room else owner,
            conversation_id=ConversationId(conversation),
            scope="s1",
            turn_id=TurnId(self.turn),
            call_id=CallId(f"toolu_{self._calls:04}"),
            now=self.now,
            evidence="",
        )

    async def use(
        self,
        name: str,
        *,
        conversation: int = 1,
        person: int = 1,
        is_in_room: bool = False,
        **arguments: object,
    ) -> ToolResult:
        context = self.context(conversation, person, is_in_room=is_in_room)
        call = ToolCallPart(call_id=context.call_id, name=name, arguments=json.dumps(arguments))
        return await self._toolbox.run(call, context)

    async def say(self, name: str, **arguments: object) -> str:
        return (await self.use(name, **arguments)).text  # type: ignore[arg-type]
