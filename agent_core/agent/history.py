"""Keep the messages that a session shows, and the facts that all of its messages told."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from agent_core.agent.prompt.message_facts import find_sources
from agent_core.agent.prompt.visibility import Reported, read_reported
from agent_core.ids import MessageId
from agent_core.state.conversations.compactions import Compaction
from agent_core.state.conversations.messages import START, StoredMessage
from agent_core.transcript import ImagePart, Part, RawPart, ToolCallPart, UntrustedSource

_MOST_SOURCES = 100
_MESSAGE_BYTES = 500
"""Bytes that a message takes besides its text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """The facts that a session's messages told up to `last`, also those no longer shown."""

    last: MessageId = START
    sources: tuple[UntrustedSource, ...] = ()
    """The untrusted sources, oldest first; of hundreds, the newest."""
    reported: Reported = field(default_factory=dict)

    def extend(self, added: Sequence[StoredMessage]) -> "Told":
        """Add messages, oldest first; those that are known already count once."""
        fresh = [stored for stored in added if stored.id > self.last]
        if not fresh:
            return self
        sources = tuple(dict.fromkeys((*self.sources, *find_sources(one.message for one in fresh))))
        reported = self.reported
        for one in fresh:
            reported = read_reported((one.message,), reported, one.turn_id)
        return Told(
            last=added[-1].id,
            sources=sources[-_MOST_SOURCES:],
            reported=reported,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """A session up to its newest message.

    `messages` are those after `summarized_to`, and the older ones that a compaction keeps.
    """

    messages: tuple[StoredMessage, ...] = ()
    summarized_to: MessageId = START
    told: Told = field(default_factory=Told)
    weight: int = 0
    """The approximate bytes of `messages`."""

    @property
    def newest(self) -> MessageId:
        """The session's last message; `START` if it has none."""
        return self.messages[-1].id if self.messages else START

    def extend(self, added: Sequence[StoredMessage]) -> "History":
        """Add the messages that follow."""
        return replace(
            self,
            messages=(*self.messages, *added),
            told=self.told.extend(added),
            weight=self.weight + weigh(added),
        )

    def under(self, compaction: Compaction | None) -> "History":
        """Leave out what a compaction replaces."""
        if compaction is None or compaction.summarized_to <= self.summarized_to:
            return self
        kept, end = {*compaction.kept}, compaction.summarized_to
        messages = tuple(one for one in self.messages if one.id > end or one.id in kept)
        return replace(self, messages=messages, summarized_to=end, weight=weigh(messages))


def weigh(messages: Iterable[StoredMessage]) -> int:
    """Return the approximate bytes that messages take in memory."""
    return sum(
        _MESSAGE_BYTES + sum(len(_content(part)) for part in stored.message.parts)
        for stored in messages
    )


def _content(part: Part) -> str:
    if isinstance(part, ToolCallPart):
        return part.arguments
    if isinstance(part, ImagePart):
        return part.file_key
    return part.payload if isinstance(part, RawPart) else part.text
