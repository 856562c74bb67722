"""Warms a model server of this machine: at the start, and after background calls."""

from pathlib import Path

from agent_core.agent.prompt.compose import PromptInputs, compose
from agent_core.agent.prompt.prompt_cache import load_tools
from agent_core.agent.prompt.soul_file import ensure_soul
from agent_core.errors import StoreDamaged
from agent_core.models.contract import LoadsModels, Model, ModelRequest
from agent_core.state.conversations import sessions
from agent_core.state.engine.database import Connection, Database


class Warming:
    """Lets the server read what the next message will begin with, while nobody writes.

    It costs nothing but this machine's own time, so no other server is warmed.
    """

    def __init__(self, database: Database, home: Path, model: Model, name: str) -> None:
        """`home` has SOUL.md; `name` is the main model."""
        self._database = database
        self._home = home
        self._model = model
        self._name = name

    async def run(self) -> None:
        """Work until cancelled; ends at once without a server of this machine.

        Raises `OSError` if SOUL.md can't be created, and `StoreError`.
        """
        if isinstance(self._model, LoadsModels):
            await self._model.keep_warm(await self._make_first())

    def forget(self) -> None:
        """Forget the newest conversation, because personal data was removed."""
        if isinstance(self._model, LoadsModels):
            self._model.forget()

    async def _make_first(self) -> ModelRequest:
        """Make a request with the newest rules and tools, or with what any prompt begins with."""

        def work(connection: Connection) -> tuple[str, str]:
            newest = sessions.find_newest_prompt(connection)
            if newest is None:
                return "", ""
            system, tools, _ = sessions.get_prompt(connection, prompt_hash=newest)
            return system, tools

        try:
            system, tools = await self._database.read(work)
        except StoreDamaged:  # reported when its conversation goes on
            system = tools = ""
        return ModelRequest(
            model=self._name,
            system=system or await self._make_beginning(),
            tools=load_tools(tools) if tools else (),
            messages=(),
            max_output_tokens=1,
        )

    async def _make_beginning(self) -> str:
        """Make the system prompt of nobody: who the assistant is, and its rules."""
        soul = await ensure_soul(self._home)
        return compose(PromptInputs(soul=soul, snapshot=None, context=(), platform=""))
