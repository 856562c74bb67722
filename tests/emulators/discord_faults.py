"""Faults of the emulated Discord, and the calls they apply to."""

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """How a call fails."""

    LOSE = "lose"
    """The call is applied, then the connection breaks."""
    DROP = "drop"
    """Nothing is applied and the connection breaks."""
    ERROR = "error"
    """Nothing is applied; `status` with `code` and `message`, or a page of HTML without a code."""
    LIMIT = "limit"
    """Nothing is applied; 429 with `retry_after` (seconds), for everything if `is_global`."""
    SLOW = "slow"
    """The call is applied at once and answered after `seconds`."""


LOSE, DROP, ERROR, LIMIT, SLOW = Kind.LOSE, Kind.DROP, Kind.ERROR, Kind.LIMIT, Kind.SLOW

SEND = "POST /channels/*/messages"
EDIT = "PATCH /channels/*/messages/*"
DELETE = "DELETE /channels/*/messages/*"
HISTORY = "GET /channels/*/messages"
TYPING = "POST /channels/*/typing"
REACT = "PUT /channels/*/messages/*/reactions/*/@me"
OPEN_DM = "POST /users/@me/channels"
CALLBACK = "POST /interactions/*/*/callback"
FOLLOW_UP = "POST /webhooks/*/*"
SYNC = "PUT /applications/*/commands"
ANY = "*"
"""Names of the routes for `DiscordEmulator.fail`; a `*` stands for one piece of a path."""


@dataclass(kw_only=True)
class Fault:
    """One planned failure; `times` counts down."""

    kind: Kind
    route: str
    times: int = 1
    status: int = 500
    code: int | None = None
    message: str = "Internal Server Error"
    retry_after: float = 0.05
    is_global: bool = False
    seconds: float = 0.0

    def matches(self, method: str, path: str) -> bool:
        """Return whether this call is meant; the path starts after the version."""
        if self.route == ANY:
            return True
        wanted_method, _, wanted_path = self.route.partition(" ")
        wanted, given = wanted_path.split("/"), path.split("/")
        return (
            wanted_method in (method, "*")
            and len(wanted) == len(given)
            and all(
                piece == "*" or piece.startswith("{") or piece == real
                for piece, real in zip(wanted, given, strict=True)
            )
        )


class PlannedFaults:
    """The remaining planned faults."""

    def __init__(self) -> None:
        self._planned: list[Fault] = []

    def plan(self, fault: Fault) -> None:
        """Let the next matching calls fail."""
        self._planned.append(fault)

    def clear(self) -> None:
        """Drop the remaining faults."""
        self._planned.clear()

    def take(self, method: str, path: str) -> Fault | None:
        """Return and use up the fault of this call."""
        for fault in self._planned:
            if fault.matches(method, path):
                fault.times -= 1
                if fault.times <= 0:
                    self._planned.remove(fault)
                return fault
        return None
