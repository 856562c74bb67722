"""Connections: the person's accounts at MCP servers; for owners, the servers and their tools."""

from typing import Any

from starlette.responses import Response

from agent_core.state.engine.database import Connection
from gateway.interfaces.api.responses import read_form
from gateway.interfaces.pages.views import Fields, Look, Missing
from gateway.operations import connections as operations
from gateway.operations.connections import Author
from gateway.operations.contract import note_deed
from gateway.texts import connections as texts
from gateway.texts import forms, mcp
from gateway.texts.tools import TOOLS

_PLACE = "/connections"
_MOST_BYTES = 32_000


async def show(look: Look) -> Fields:
    """List the servers to which the person can connect; an owner sees all of them below."""
    return await _describe(look, {"link": look.flash.get("link")})


async def connect(look: Look) -> Response:
    """Make a link to sign in, which only this page shows. Raises `Declined`."""
    sign_ins = look.gateway.mcp.sign_ins
    link = await operations.begin(sign_ins, look.person.id, _name(look))
    return look.redirect(f"{_PLACE}#sign-in", link=link)


async def finish(look: Look) -> Response:
    """Complete a sign-in with the address that the person reached."""
    form = await read_form(look.request, _MOST_BYTES)
    address = form.get("address", [""])[0].strip()
    if not address:
        said = forms.MISSING()
    else:
        outcome = await look.gateway.mcp.sign_ins.finish(look.person.id, address)
        said = texts.describe_outcome(outcome)
        if outcome.taken == "taken":
            return look.redirect(_PLACE, note=said)
    fields = await _describe(look, {"typed": address, "faults": {"address": said}})
    return look.reject("connections.html", **fields)


async def end(look: Look) -> Response:
    """End the person's sign-in at a server. Raises `Declined`."""
    await operations.end(look.gateway.mcp.sign_ins, _name(look), _name_author(look))
    return look.redirect(_PLACE, note=texts.ENDED(name=_name(look)))


async def accept(look: Look) -> Response:
    """Accept the tools that the page showed to an owner. Raises `Missing` and `Declined`."""
    _check_owner(look)
    form = await read_form(look.request, _MOST_BYTES)
    token = form.get("token", [""])[0]

    def work(connection: Connection) -> None:
        servers, author = look.gateway.mcp, _name_author(look)
        deed = operations.accept(connection, servers, _name(look), token, author)
        note_deed(look.context, connection, undo=deed.undo, redo=deed.redo, did=deed.did)

    await look.gateway.database.write("mcp.accept", work)
    return look.redirect(_PLACE, note=mcp.ACCEPTED(name=_name(look)))


async def retry(look: Look) -> Response:
    """Connect at once to a server that waits. Raises `Missing` and `Mistaken`."""
    _check_owner(look)
    operations.retry(look.gateway.mcp, _name(look))
    return look.redirect(_PLACE, note=mcp.RETRYING(name=_name(look)))


async def _describe(look: Look, given: dict[str, Any]) -> dict[str, Any]:
    reports = await look.gateway.mcp.report() if look.viewer.is_owner else []
    return {
        "connections": await look.gateway.mcp.sign_ins.list_of(look.person.id),
        "servers": [(one, mcp.describe_tools(one)) for one in reports],
        "link": None,
        "typed": "",
        "faults": {},
        "n": texts,
        "m": mcp,
        "tools": TOOLS,
        **given,
    }


def _name(look: Look) -> str:
    return str(look.request.path_params["server"])


def _name_author(look: Look) -> Author:
    return Author(
        person_id=look.person.id, actor=f"person:{look.person.id}", now=look.gateway.now()
    )


def _check_owner(look: Look) -> None:
    if not look.viewer.is_owner:
        raise Missing
