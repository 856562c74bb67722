"""Warms a model server of this machine: at the start, and after background calls."""

from agent_core.agent.prompt.prompt_cache import load_tools
from agent_core.errors import StoreDamaged
from agent_core.models.contract import LoadsModels, Model, ModelRequest
from agent_core.state.conversations import sessions
from agent_core.state.engine.database import Connection, Database


class Warming:
    """Lets the server read what the next message will begin with, while nobody writes.

    It costs nothing but this machine's own time, so no other server is warmed.
    """

    def __init__(self, database: Database, model: Model, name: str) -> None:
        """`name` is the main model."""
        self._database = database
        self._model = model
        self._name = name

    async def run(self) -> None:
        """Work until cancelled; ends at once without a server of this machine.

        Raises `StoreError`.
        """
        if isinstance(self._model, LoadsModels):
            await self._model.keep_warm(await self._make_first())

    def forget(self) -> None:
        """Forget the newest conversation, because personal data was removed."""
        if isinstance(self._model, LoadsModels):
            self._model.forget()

    async def _make_first(self) -> ModelRequest:
        """Make a request with the newest rules and tools; an empty one at least loads the model."""

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
            system=system,
            tools=load_tools(tools) if tools else (),
            messages=(),
            max_output_tokens=1,
        )
