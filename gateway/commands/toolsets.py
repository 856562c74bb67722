"""The command about tools: list those of a conversation, and switch them off or on."""

from collections.abc import Mapping, Sequence

from agent_core.agent.named.folder import AgentFolder, load_agent
from agent_core.agent.toolboxes import Toolboxes
from agent_core.errors import AgentBroken
from agent_core.state.conversations.questions import Choice
from agent_core.state.engine.database import Connection, Database
from agent_core.tools.toolbox import Toolbox
from agent_core.transcript import flatten
from gateway.commands.registry import Call, Handler, Outcome, Reply
from gateway.operations import tools as operations
from gateway.operations.tools_types import ToolOffer
from gateway.outbound.command_buttons import stand_for
from gateway.texts import agents as agent_texts
from gateway.texts import tools as texts

_LONGEST_LABEL = 50
"""Characters of what a tool is for, on its button."""


class ToolCommands:
    """Lists and switches the tools of a person, or those of a group or channel."""

    def __init__(self, database: Database, toolboxes: Toolboxes, agents: AgentFolder) -> None:
        self._database = database
        self._toolboxes = toolboxes
        self._agents = agents

    def handlers(self) -> Mapping[str, Handler]:
        """Return the handlers by command name."""
        return {"tools": self._tools}

    async def _tools(self, call: Call) -> Reply:
        try:
            agent = await load_agent(self._agents, call.conversation, None)
        except AgentBroken as error:
            return Reply(text=agent_texts.describe_fault(error))
        box = self._toolboxes.select(call.conversation, None, agent)
        match call.argument.split():
            case []:
                off = await self._database.read(operations.read_off, call.owner_id)
                buttons = _make_buttons(box, off, call)
                return Reply(text=_describe(box, off, buttons), buttons=buttons)
            case ["on" | "off" as wanted, name]:
                return await self._switch(call, box, name, is_on=wanted == "on")
            case _:
                return Reply(text=texts.USAGE())

    async def _switch(self, call: Call, box: Toolbox, name: str, *, is_on: bool) -> Reply:
        if not call.may_choose:
            return Reply(text=texts.ONLY_OWNER())
        offer = ToolOffer(names=box.names, has_servers=box.has_sources)

        def effect(connection: Connection) -> Outcome:
            before = operations.read_off(connection, call.owner_id)
            after = operations.switch(connection, call.owner_id, offer, name, is_on=is_on)
            if call.room:
                switched = f"{name} {'on' if is_on else 'off'}"
                call.record(connection, "room.tools", switched, call.room.person_id)
            words = ("on", "off") if is_on else ("off", "on")
            purpose = texts.find_purpose(name, box.all_specs)
            did = (texts.SWITCHED_ON if is_on else texts.SWITCHED_OFF)(purpose=purpose)
            if {*before} != {*after}:
                redo, undo = (f"tools {word} {name}" for word in words)
                call.note_deed(connection, redo, undo, did)
            else:
                call.note_fixed(connection, did)
            return did, ()

        off = await self._database.read(operations.read_off, call.owner_id)
        shown = {*off} - {name} if is_on else {*off, name}
        return Reply(effect=effect, buttons=_make_buttons(box, sorted(shown), call))


def _describe(box: Toolbox, off: Sequence[str], buttons: Sequence[Choice]) -> str:
    return texts.describe_tools(
        box.all_specs, off, has_servers=box.has_sources, has_buttons=bool(buttons)
    )


def _make_buttons(box: Toolbox, off: Sequence[str], call: Call) -> tuple[Choice, ...]:
    """Make a button for each tool that its caller may switch."""
    if not call.may_choose:
        return ()
    buttons = []
    for name in box.names:
        is_off = name in off
        try:
            purpose = flatten(texts.find_purpose(name, box.all_specs), _LONGEST_LABEL)
            label = f"{'✗' if is_off else '✓'} {purpose}"
            buttons.append(stand_for(f"tools {'on' if is_off else 'off'} {name}", label))
        except ValueError:  # a plug-in's name that does not fit into a key; it can be typed
            continue
    return tuple(buttons)
