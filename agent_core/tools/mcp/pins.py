"""The tools that an owner has accepted, by the hashes of their descriptions."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from agent_core.state.conversations import approvals
from agent_core.state.engine import meta
from agent_core.state.engine.database import Connection
from agent_core.tools.mcp.contract import Listing
from agent_core.tools.mcp.listing import combine, name_tool, place_of
from agent_core.tools.policy import read_shape

_KEY = "mcp:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pins:
    """The accepted tools of a server with their hashes; owners know of the `noticed` ones."""

    accepted: Mapping[str, str] = field(default_factory=dict)
    noticed: str = ""


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
    return Pins(accepted=found["accepted"], noticed=found["noticed"])


def accept_tools(connection: Connection, server: str, digests: Mapping[str, str]) -> None:
    """Accept tools with these hashes; tools accepted earlier stay accepted.

    Standing approvals of a tool that is new or has changed end: they were given to another one.
    """
    pins = read_pins(connection, server)
    renewed = {
        name_tool(server, name) for name in digests if pins.accepted.get(name) != digests[name]
    }
    approvals.revoke_shapes(connection, is_wanted=lambda shape: read_shape(shape)[0] in renewed)
    _write(connection, server, Pins(accepted={**pins.accepted, **digests}, noticed=pins.noticed))


def note_listing(connection: Connection, server: str, listing: Listing) -> bool:
    """Note that owners learn of these tools; return whether they need a notice."""
    pins = read_pins(connection, server)
    if judge(listing, pins).is_complete:
        return False
    digest = combine(list_digests(listing))
    if digest == pins.noticed:
        return False
    _write(connection, server, Pins(accepted=pins.accepted, noticed=digest))
    return True


def forget_server(connection: Connection, server: str) -> None:
    """Forget the accepted tools of a server, and the standing approvals of its calls."""
    place = place_of(server)
    approvals.revoke_shapes(connection, is_wanted=lambda shape: read_shape(shape)[1] == place)
    meta.drop(connection, key=_KEY + server)


def judge(listing: Listing, pins: Pins) -> Judged:
    """Sort the tools of a server by their pins."""
    sound = {tool.name: tool.digest for tool in listing.tools if not tool.fault}
    pinned = {name: pins.accepted.get(name) for name in sound}
    return Judged(
        usable=tuple(name for name in sound if pinned[name] == sound[name]),
        fresh=tuple(name for name in sound if pinned[name] is None),
        changed=tuple(name for name in sound if pinned[name] not in (None, sound[name])),
        faulty=tuple(tool.name for tool in listing.tools if tool.fault),
    )


def list_digests(listing: Listing) -> dict[str, str]:
    """Return the hashes of the tools that can be accepted, by name."""
    return {tool.name: tool.digest for tool in listing.tools if not tool.fault}


def _write(connection: Connection, server: str, pins: Pins) -> None:
    value = json.dumps({"accepted": dict(pins.accepted), "noticed": pins.noticed})
    meta.put(connection, key=_KEY + server, value=value)
