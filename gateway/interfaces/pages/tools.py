"""Tools: what the assistant can do for the person, with a switch for each."""

from starlette.responses import Response

from agent_core.state.people import people
from agent_core.transcript import ToolSpec
from gateway.interfaces.api.responses import read_form
from gateway.interfaces.pages.views import Fields, Look
from gateway.operations.tools import switch_tool
from gateway.operations.tools_types import SwitchTool
from gateway.texts import tools as texts

_MOST_BYTES = 4_000
Row = tuple[str, str, bool]
"""A tool's name, what it is for, and whether it is on."""


async def show(look: Look) -> Fields:
    """List Talaria's own tools, and below them those of each MCP server."""
    box, database = look.gateway.toolboxes.private, look.gateway.database
    fresh = await database.read(people.find, person_id=look.person.id)
    off = fresh.tools_off if fresh else ()
    foreign = [one.spec for one in await box.list_foreign(look.person.id)]
    groups: dict[str, list[Row]] = {texts.TOOLS(): [_describe(one, off) for one in box.all_specs]}
    for spec in foreign:
        title = texts.OF_SERVER(name=spec.name.partition("__")[0])
        groups.setdefault(title, []).append(_describe(spec, off))
    known = {*box.names, *(one.name for one in foreign)}
    if gone := [(name, name, False) for name in off if name not in known]:
        groups[texts.GONE()] = gone
    return {"groups": groups, "o": texts}


async def switch(look: Look) -> Response:
    """Switch a tool on or off. Raises `Declined`."""
    form = await read_form(look.request, _MOST_BYTES)
    name, is_on = form.get("tool", [""])[0], form.get("on") == ["yes"]
    asked = SwitchTool(slug=look.person.slug, tool=name, is_on=is_on)
    done = await switch_tool(look.context, asked)
    box = look.gateway.toolboxes.private
    specs = [*box.all_specs, *(one.spec for one in await box.list_foreign(look.person.id))]
    purpose = texts.find_purpose(done.tool, specs)
    said = (texts.SWITCHED_ON if is_on else texts.SWITCHED_OFF)(purpose=purpose)
    return look.redirect("/tools", note=said)


def _describe(spec: ToolSpec, off: tuple[str, ...]) -> Row:
    purpose = texts.name_purpose(spec)
    return spec.name, purpose[:1].upper() + purpose[1:], spec.name not in off
