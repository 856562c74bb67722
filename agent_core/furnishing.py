"""What an agent works with, and how far: its setup, its tools, and what a job makes of them."""

from dataclasses import dataclass, replace
from pathlib import Path

from agent_core.archive.inventory import Inventory
from agent_core.budget import Limits
from agent_core.ceilings.reservations import Ceilings
from agent_core.compaction.folding import Folding
from agent_core.loop.contract import Course
from agent_core.mirror.outside import Outside
from agent_core.schedule.errand import Errand
from agent_core.state.sessions import Conversation
from agent_core.tools.toolbox import Toolbox


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """How this house wants its agent. `cache_ttl` is how long a provider keeps a prompt."""

    home: Path
    course: Course
    limits: Limits
    ceilings: Ceilings
    """What may be spent in a day; shared with all else that calls models."""
    folding: Folding
    """Makes long talks shorter; shared with the command for it."""
    cache_ttl: str
    context_folder: Path | None
    context_files: tuple[str, ...]
    context_limit: int
    outside: Outside | None = None
    """The outside memory, where there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolboxes:
    """What may be used where: a room's box holds no tool that shows private things."""

    private: Toolbox
    room: Toolbox
    inventory: Inventory
    """What there is to be searched with them."""
    private_job: Toolbox | None = None
    room_job: Toolbox | None = None
    """What jobs have instead, where they have more: every talk would pay for it in its prompt."""

    def of(self, conversation: Conversation, errand: Errand | None) -> Toolbox:
        """The box of a conversation; a job may have chosen what it needs of it."""
        if conversation.is_private:
            box = self.private_job or self.private if errand else self.private
        else:
            box = self.room_job or self.room if errand else self.room
        return box.only(errand.tools) if errand and errand.tools else box


def course_of(course: Course, errand: Errand | None) -> Course:
    """How models are called; a job may name one of its own."""
    return replace(course, model=errand.model) if errand and errand.model else course


def limits_of(limits: Limits, errand: Errand | None) -> Limits:
    """What a turn may take; a job may not go beyond its own day either."""
    left = errand.micro_dollars if errand else None
    if left is None:
        return limits
    most = min(limits.micro_dollars, left) if limits.micro_dollars else left
    return replace(limits, micro_dollars=max(most, 1))
