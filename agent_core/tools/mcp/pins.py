"""The tools that an owner has accepted, by the hashes of their descriptions."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from agent_core.state.conversations import approvals
from agent_core.state.engine import meta
from agent_core.state.engine.database import Connection
from agent_core.state.people import mcp_accounts
from agent_core.tools.mcp.contract import ForeignTool, Listing
from agent_core.tools.mcp.listing import combine, name_tool, place_of
from agent_core.tools.policy.shapes import read_shape

_KEY = "mcp:"


_MOST_VARIANTS = 64
"""Accepted hashes of one tool, and tool lists that owners know of; the oldest are dropped."""

ToolState = Literal["usable", "fresh", "changed", "faulty"]
"""State of a tool: accepted as it is, never accepted, changed since then, or unusable."""
Digests = Mapping[str, Sequence[str]]
"""The hashes of tools by name. A tool has several where it differs among people's accounts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pins:
    """The accepted tools of a server with their hashes; owners know of the `noticed` lists."""

    accepted: Digests = field(default_factory=dict)
    noticed: Sequence[str] = ()

    def judge(self, tool: ForeignTool) -> ToolState:
        """Return whether a tool can be used, or what it lacks."""
        if tool.fault:
            return "faulty"
        if tool.name not in self.accepted:
            return "fresh"
        return "usable" if tool.digest in self.accepted[tool.name] else "changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The tools of a server by their acceptance; a changed tool was accepted earlier."""

    usable: tuple[str, ...]
    fresh: tuple[str, ...]
    changed: tuple[str, ...]
    faulty: tuple[str, ...]

    @property
    def is_complete(self) -> bool:
        """True if no tool waits for an owner's decision."""
        return not (self.fresh or self.changed)


def read_pins(connection: Connection, server: str) -> Pins:
    """Return a server's pins; empty if nobody has accepted any of its tools."""
    text = meta.get(connection, key=_KEY + server)
    if text is None:
        return Pins()
    found = json.loads(text)
    accepted = {name: _read_many(value) for name, value in found["accepted"].items()}
    return Pins(accepted=accepted, noticed=_read_many(found["noticed"]))


def _read_many(value: str | list[str]) -> tuple[str, ...]:
    """Read what was a single text when a server had one account."""
    return tuple(value) if isinstance(value, list) else tuple(filter(None, (value,)))


def accept_tools(
    connection: Connection, server: str, digests: Digests, *, adds: bool = False
) -> None:
    """Accept tools with these hashes; tools accepted earlier stay accepted.

    With `adds`, earlier hashes of a tool stay accepted, too, because people's accounts may see
    different ones. Standing approvals of a tool that is new or has changed end: they were given to
    another one.
    """
    pins = read_pins(connection, server)
    renewed = {
        name_tool(server, name)
        for name, found in digests.items()
        if not set(found) <= set(pins.accepted.get(name, ()))
    }
    approvals.revoke_shapes(connection, is_wanted=lambda shape: read_shape(shape)[0] in renewed)
    kept = pins.accepted if adds else {}
    accepted = {
        name: tuple(dict.fromkeys((*kept.get(name, ()), *found)))[-_MOST_VARIANTS:]
        for name, found in digests.items()
    }
    _write(connection, server, Pins(accepted={**pins.accepted, **accepted}, noticed=pins.noticed))


def set_accepted(connection: Connection, server: str, accepted: Digests) -> None:
    """Let exactly these hashes be accepted, as before a change.

    Standing approvals of a tool with other hashes end: they were given to another one.
    """
    pins = read_pins(connection, server)
    names = {*pins.accepted, *accepted}
    other = {one for one in names if {*pins.accepted.get(one, ())} != {*accepted.get(one, ())}}
    ended = {name_tool(server, name) for name in other}
    approvals.revoke_shapes(connection, is_wanted=lambda shape: read_shape(shape)[0] in ended)
    _write(connection, server, Pins(accepted=accepted, noticed=pins.noticed))


def note_listing(connection: Connection, server: str, listing: Listing) -> bool:
    """Note that owners learn of these tools; return whether they need a notice."""
    pins = read_pins(connection, server)
    if judge(listing, pins).is_complete:
        return False
    digest = combine(list_digests(listing))
    if digest in pins.noticed:
        return False
    noticed = (*pins.noticed, digest)[-_MOST_VARIANTS:]
    _write(connection, server, Pins(accepted=pins.accepted, noticed=noticed))
    return True


def forget_server(connection: Connection, server: str) -> None:
    """Forget the accepted tools of a server, the approvals of its calls, and people's accounts."""
    place = place_of(server)
    mcp_accounts.delete_of_server(connection, server=server)
    approvals.revoke_shapes(connection, is_wanted=lambda shape: read_shape(shape)[1] == place)
    meta.drop(connection, key=_KEY + server)


def judge(listing: Listing, pins: Pins) -> Judged:
    """Sort the tools of a server by their pins."""
    sorted_out: dict[ToolState, list[str]] = {name: [] for name in get_args(ToolState)}
    for tool in listing.tools:
        sorted_out[pins.judge(tool)].append(tool.name)
    return Judged(**{state: tuple(names) for state, names in sorted_out.items()})


def list_usable(listing: Listing, pins: Pins) -> list[ForeignTool]:
    """List the tools that an owner accepted as they are."""
    return [tool for tool in listing.tools if pins.judge(tool) == "usable"]


def list_digests(listing: Listing) -> dict[str, list[str]]:
    """Return the hashes of the tools that can be accepted, by name."""
    found: dict[str, list[str]] = {}
    for tool in listing.tools:
        if not tool.fault:
            found.setdefault(tool.name, []).append(tool.digest)
    return found


def _write(connection: Connection, server: str, pins: Pins) -> None:
    accepted = {name: list(digests) for name, digests in pins.accepted.items()}
    value = json.dumps({"accepted": accepted, "noticed": list(pins.noticed)})
    meta.put(connection, key=_KEY + server, value=value)
