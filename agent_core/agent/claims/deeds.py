"""Read from the calls of a turn which of them have changed something."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from agent_core.state.conversations.turns import Step
from agent_core.tools.toolbox import Toolbox
from agent_core.transcript import UNSHOWN, Receipt

Kind = Literal["job", "memory", "setting", "message", "any"]
"""What a change is about; `any` is a change that may be about everything, such as a command."""

_KINDS: Mapping[str, Kind] = {
    "remind": "job",
    "schedule_job": "job",
    "manage_jobs": "job",
    "memory": "memory",
    "archive": "memory",
    "settings": "setting",
    "send_message": "message",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed:
    """A call that has changed something."""

    kind: Kind
    receipts: tuple[Receipt, ...]


def read_deed(
    name: str, receipts: tuple[Receipt, ...], toolbox: Toolbox, *, is_error: bool
) -> Deed | None:
    """Return what a call has changed; None for a call that failed or only read.

    A tool that writes no receipts counts by its effect: a command may have changed anything.
    """
    if is_error:
        return None
    shown = receipts or (() if toolbox.has_receipts(name) else (UNSHOWN,))
    return Deed(kind=_KINDS.get(name, "any"), receipts=shown) if shown else None


def read_deeds(steps: Iterable[Step], toolbox: Toolbox) -> tuple[Deed, ...]:
    """Return what the recorded calls of a turn have changed."""
    ended = (step for step in steps if step.outcome is not None)
    deeds = (read_deed(s.name, s.receipts, toolbox, is_error=s.is_error) for s in ended)
    return tuple(deed for deed in deeds if deed)


def list_receipts(deeds: Sequence[Deed]) -> tuple[Receipt, ...]:
    """List the receipts of deeds in their order."""
    return tuple(receipt for deed in deeds for receipt in deed.receipts)
