"""Channels of which messages may have been missed, and what waits until they were read; pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from adapters.discord.receive import Context, pack
from adapters.discord.words import id_in
from adapters.ids import EventId
from adapters.messages import RawEvent
from adapters.untrusted import Json, words_in

HeardKind = Literal["message", "edit", "interaction", "mark"]

NOISE = 50
"""Messages of others behind which a channel's mark is moved on, so that they are not read
again after every start; fewer cost less than a row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """Something that came from Discord and is to be stored."""

    kind: HeardKind
    channel: str
    data: Json
    context: Context


class Backlog:
    """Knows which channels are behind, and holds back what was said there meanwhile."""

    def __init__(self) -> None:
        self.behind: set[str] = set()
        """Channels of which older messages may be missing."""
        self._held: dict[str, list[Heard]] = {}
        self._known: set[str] = set()
        """Channels with a mark, or with one to be."""
        self._met: set[str] = set()
        """Channels whose past was asked for."""
        self._noise: dict[str, int] = {}
        self._since = 0

    def begin(self, channels: Iterable[str], *, now: int) -> None:
        """A session began: messages of these channels may be missing. `now` is a snowflake."""
        self._since = now
        for channel in channels:
            self._fall_behind(channel)

    def discover(self, channel: str) -> bool:
        """True if a direct talk is new to us but older than the session: it may have a past."""
        if channel in self._met or int(channel) >= self._since:
            return False
        self._fall_behind(channel)
        return True

    def is_behind(self, channel: str) -> bool:
        """True while older messages of a channel may be missing."""
        return channel in self.behind

    def holds(self, heard: Heard) -> bool:
        """Whether something has to wait for older messages; then it is kept here."""
        held = self._held.get(heard.channel)
        if held is None:
            return False
        held.append(heard)
        return True

    def finish(self, channel: str) -> list[Heard]:
        """A channel was read to its end; what had to wait comes back."""
        self.behind.discard(channel)
        return self._held.pop(channel, [])

    def release(self, channels: Iterable[str]) -> list[Heard]:
        """Nothing waits there any longer, even if older messages are still missing."""
        return [heard for channel in channels for heard in self._held.pop(channel, [])]

    def note_talk(self, channel: str) -> None:
        """Somebody spoke to us in a room: from now on it has a mark."""
        self._known.add(channel)
        self._noise.pop(channel, None)

    def note_noise(self, channel: str) -> bool:
        """Others talk among themselves; True when it is time to move the channel's mark on."""
        if channel not in self._known or channel in self.behind:
            return False
        count = self._noise.get(channel, 0) + 1
        self._noise[channel] = count % NOISE
        return count == NOISE

    def _fall_behind(self, channel: str) -> None:
        self._known.add(channel)
        self._met.add(channel)
        self.behind.add(channel)
        self._held.setdefault(channel, [])


def make_event(heard: Heard, *, is_in_order: bool) -> RawEvent:
    """The event to be stored. Raises `ValueError`.

    `is_in_order`: nothing older of its channel is missing. Only messages move a mark; the
    order of edits and interactions among them is not known.
    """
    bot, name = heard.context.bot, id_in(heard.data, "id")
    has_place = is_in_order and heard.kind in ("message", "mark")
    match heard.kind:
        case "message":
            event_id = f"{bot}/{name}"
        case "edit":
            event_id = f"{bot}/{name}/{words_in(heard.data, 'edited_timestamp')}"
        case "interaction":
            event_id = f"{bot}/i/{name}"
        case "mark":
            event_id = f"{bot}/mark/{name}"
    return RawEvent(
        event_id=EventId(event_id),
        payload=pack(heard.kind, heard.data, heard.context),
        channel=heard.channel if has_place else "",
        position=name.zfill(20) if has_place else "",
    )
