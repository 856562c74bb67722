"""Tracks recent activity: newest messages, the bot's threads, and their last speakers."""

from adapters.toolkit.caches import BoundedDict


class RecentActivity:
    """The activity in channels that this process has seen."""

    def __init__(self) -> None:
        self.threads: BoundedDict[tuple[str, str], None] = BoundedDict()
        """Threads where every message addresses the bot, see `places.mark_of`."""
        self.direct_chats: BoundedDict[str, None] = BoundedDict()
        """Direct chats with the bot; Slack does not report the chats of other people."""
        self._newest: BoundedDict[str, str] = BoundedDict()
        self._speakers: BoundedDict[tuple[str, str | None], str] = BoundedDict()

    def note_sent(self, channel: str, ts: str) -> None:
        """Record a message, ours or another's."""
        if ts > (self._newest.get(channel) or ""):
            self._newest.put(channel, ts)

    def note_speaker(self, channel: str, thread: str | None, user: str) -> None:
        """Record the last speaker."""
        self._speakers.put((channel, thread), user)

    def newest(self, channel: str) -> str | None:
        """Return the newest message known in a channel or its threads."""
        return self._newest.get(channel)

    def speaker(self, channel: str, thread: str | None) -> str | None:
        """Return the last known speaker of a thread."""
        return self._speakers.get((channel, thread))
