"""The progress of a long search, removal or export."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Stage = Literal["search", "delete", "pack"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The messages that a stage has been through, of all that it will go through."""

    stage: Stage
    done: int
    total: int


Report = Callable[[Progress], None]
"""Takes the newest progress. Called on any thread, so it returns at once."""


def report_to_nobody(_: Progress) -> None:
    """Report to nobody."""
