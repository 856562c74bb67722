"""What the core asks of whoever runs it while a turn is under way."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from agent_core.ids import InboxId
from agent_core.transcript import Part


@dataclass(frozen=True, slots=True, kw_only=True)
class Steer:
    """A message that the person wrote while the turn was running.

    `inbox_ids` names the events it came in: the message itself and any edits of it. `parts`
    came along with the words.
    """

    inbox_ids: tuple[InboxId, ...]
    facts: str
    text: str
    parts: tuple[Part, ...] = ()


class Host(Protocol):
    """The side of the hall that a running turn can see. Neither method blocks."""

    def take_steers(self) -> Sequence[Steer]:
        """Messages written since the last call; they are the turn's from now on."""

    def is_draining(self) -> bool:
        """True once the process wants to end: the turn stops at the next step boundary."""
