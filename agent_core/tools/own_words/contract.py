"""The contract of own words: what a person just said, and what a call needs of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

if TYPE_CHECKING:
    from agent_core.tools.contract import ToolContext

WishKind = Literal[
    "remind",
    "keep",
    "correct",
    "forget",
    "cancel",
    "pause",
    "resume",
    "run",
    "move",
    "set",
    "other",
]
"""What a person asks for: a reminder; a note kept, corrected or forgotten; a job cancelled, paused,
resumed, run now or moved; a setting; `other`: what own words prove no call of, such as a booking.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A sentence that a person typed or spoke. `plain` lacks what stands in quotation marks."""

    plain: str
    whole: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnWords:
    """The sentences of the person's present messages; none if nothing is surely theirs."""

    sentences: tuple[Said, ...] = ()

    @property
    def whole(self) -> str:
        """Join all sentences, one a line."""
        return "\n".join(one.whole for one in self.sentences)


NO_WORDS = OwnWords()


@dataclass(frozen=True, slots=True, kw_only=True)
class Essentials:
    """Lists what own words must say so that a call may run after words of others.

    `text` is what the call would store or send: each word of it must be theirs, or stand in
    `known`, their entry that it replaces. `target` is the thing that it changes: the wish must name
    it, and none of the `others` as well. `is_said` tells whether a sentence says everything else,
    such as the time.
    """

    kind: WishKind
    text: str = ""
    known: str = ""
    target: str = ""
    others: Sequence[str] = ()
    is_said: Callable[[str], bool] = lambda sentence: True


@runtime_checkable
class StatesEssentials(Protocol):
    """A tool whose calls a person's own words can prove."""

    async def list_essentials(
        self, arguments: "Mapping[str, object]", context: "ToolContext"
    ) -> Essentials | None:
        """Return what own words must say for a call; None if no words are enough.

        Raises `ToolArgumentError`, `CoreError` and what the preview raises.
        """
