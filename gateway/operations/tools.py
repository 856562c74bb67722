"""Operations on tools: list them, and switch one off or on, for a person or a room."""

import re
from collections.abc import Mapping

from agent_core.ids import PersonId
from agent_core.state.engine.database import Connection
from agent_core.state.people import people
from gateway.errors import Declined, Mistaken, find_nearest
from gateway.operations.contract import Operation, OperationContext, find_person, note_deed
from gateway.operations.people_types import Nothing
from gateway.operations.tools_types import (
    ListedTools,
    PersonsTools,
    SwitchedTool,
    SwitchTool,
    ToolOffer,
)
from gateway.operations.wire import typed
from gateway.texts import tools as texts

_FOREIGN = re.compile(r"[A-Za-z0-9_-]+__[A-Za-z0-9_-]+")
"""The form of the name of an MCP server's tool, which can be switched off while its server is away.
"""
_MOST_NAMES = 200
"""Most tools that a person or a room can have switched off."""
_LONGEST_NAME = 64


def read_off(connection: Connection, holder: PersonId) -> tuple[str, ...]:
    """Return the tools that are off for a person or a room."""
    found = people.find(connection, person_id=holder)
    return found.tools_off if found else ()


def switch(
    connection: Connection, holder: PersonId, offer: ToolOffer, name: str, *, is_on: bool
) -> tuple[str, ...]:
    """Switch a tool of a person or a room, and return those that are off now. Raises `Declined`."""
    off = read_off(connection, holder)
    is_foreign = offer.has_servers and _FOREIGN.fullmatch(name)
    if name not in (*offer.names, *off) and not is_foreign:
        nearest = find_nearest(name, offer.names)
        shown, names = name[:_LONGEST_NAME], ", ".join(sorted(offer.names))
        sentence = texts.NEAREST if nearest else texts.UNKNOWN
        raise Mistaken(sentence(name=shown, nearest=nearest or "", names=names))
    after = {*off} - {name} if is_on else {*off, name}
    if len(after) > _MOST_NAMES:
        raise Declined(texts.TOO_MANY())
    people.switch_tools_off(connection, person_id=holder, names=after)
    return tuple(sorted(after))


async def list_tools(context: OperationContext, _: Nothing) -> ListedTools:
    """List Talaria's own tools, and those that each person has switched off."""
    everybody = await context.database.read(people.list_all)
    return ListedTools(
        tools=tuple(sorted(context.tools.names)),
        people=tuple(PersonsTools(folder=one.slug, off=tuple(one.tools_off)) for one in everybody),
    )


async def switch_tool(context: OperationContext, asked: SwitchTool) -> SwitchedTool:
    """Switch a tool in a person's direct conversations. Raises `Declined`."""

    def work(connection: Connection) -> str:
        person = find_person(connection, asked.slug)
        before = read_off(connection, person.id)
        after = switch(connection, person.id, context.tools, asked.tool, is_on=asked.is_on)
        if {*before} != {*after}:
            words = ("on", "off") if asked.is_on else ("off", "on")
            redo, undo = (f"tools {word} {asked.tool}" for word in words)
            purpose = texts.find_purpose(asked.tool)
            said = texts.SWITCHED_ON if asked.is_on else texts.SWITCHED_OFF
            note_deed(context, connection, undo=undo, redo=redo, did=said(purpose=purpose))
        return person.slug

    folder = await context.database.write("tools.switch", work)
    context.forget_known()
    return SwitchedTool(tool=asked.tool, folder=folder)


OPERATIONS: Mapping[str, Operation] = {
    "tools.list": typed(list_tools),
    "tools.switch": typed(switch_tool),
}
"""The operations, by their names on the control socket."""
