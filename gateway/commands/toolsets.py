"""The command about tools: list those of a conversation, and switch them off or on."""

import re
from collections.abc import Mapping, Sequence

from agent_core.agent.named.folder import AgentFolder, load_agent
from agent_core.agent.toolboxes import Toolboxes
from agent_core.errors import AgentBroken
from agent_core.state.conversations.questions import Choice
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import people
from agent_core.tools.toolbox import Toolbox
from gateway.commands.registry import Call, Handler, Outcome, Reply
from gateway.errors import find_nearest
from gateway.outbound.command_buttons import stand_for
from gateway.texts import agents as agent_texts
from gateway.texts import tools as texts

_FOREIGN = re.compile(r"[A-Za-z0-9_-]+__[A-Za-z0-9_-]+")
"""The form of the name of an MCP server's tool, which can be switched off while its server is away.
"""
_MOST_NAMES = 200
"""Most tools that a person, group or channel can have switched off."""


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
                off = await self._database.read(_read_off, call)
                return Reply(text=_describe(box, off), buttons=_make_buttons(box, off, call))
            case ["on" | "off" as wanted, name]:
                return await self._switch(call, box, name, is_on=wanted == "on")
            case _:
                return Reply(text=texts.USAGE())

    async def _switch(self, call: Call, box: Toolbox, name: str, *, is_on: bool) -> Reply:
        if not call.may_choose:
            return Reply(text=texts.ONLY_OWNER())
        off = await self._database.read(_read_off, call)
        if name not in (*box.names, *off) and not (box.has_sources and _FOREIGN.fullmatch(name)):
            nearest = find_nearest(name, box.names)
            sentence = texts.NEAREST if nearest else texts.UNKNOWN
            return Reply(text=sentence(name=name[:64], nearest=nearest or ""))

        def effect(connection: Connection) -> Outcome:
            before = set(_read_off(connection, call))
            after = before - {name} if is_on else before | {name}
            if len(after) > _MOST_NAMES:
                return texts.TOO_MANY(), ()
            people.switch_tools_off(connection, person_id=call.owner_id, names=after)
            if call.room:
                switched = f"{name} {'on' if is_on else 'off'}"
                call.record(connection, "room.tools", switched, call.room.person_id)
            return (texts.SWITCHED_ON if is_on else texts.SWITCHED_OFF)(name=name), ()

        after = set(off) - {name} if is_on else {*off, name}
        return Reply(effect=effect, buttons=_make_buttons(box, sorted(after), call))


def _read_off(connection: Connection, call: Call) -> tuple[str, ...]:
    found = people.find(connection, person_id=call.owner_id)
    return found.tools_off if found else ()


def _describe(box: Toolbox, off: Sequence[str]) -> str:
    return texts.describe_tools(box.all_specs, off, has_servers=box.has_sources)


def _make_buttons(box: Toolbox, off: Sequence[str], call: Call) -> tuple[Choice, ...]:
    """Make a button for each tool that its caller may switch."""
    if not call.may_choose:
        return ()
    buttons = []
    for name in box.names:
        is_off = name in off
        try:
            label = f"{'✗' if is_off else '✓'} {name}"
            buttons.append(stand_for(f"tools {'on' if is_off else 'off'} {name}", label))
        except ValueError:  # a plug-in's name that does not fit into a key; it can be typed
            continue
    return tuple(buttons)
