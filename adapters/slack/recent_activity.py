"""Remembers what passed by: the newest messages, the bot's own threads, who spoke in them."""

from adapters.toolkit.caches import Recent


class Tracks:
    """What this process has seen of channels."""

    def __init__(self) -> None:
        self.threads: Recent[tuple[str, str], None] = Recent()
        """Threads in which the bot is meant without being named, see `places.mark_of`."""
        self.talks: Recent[str, None] = Recent()
        """Direct talks with the bot: of other people's it is told nothing."""
        self._newest: Recent[str, str] = Recent()
        self._speakers: Recent[tuple[str, str | None], str] = Recent()

    def note_sent(self, channel: str, ts: str) -> None:
        """A message stands there, of ours or of somebody."""
        if ts > (self._newest.get(channel) or ""):
            self._newest.put(channel, ts)

    def note_speaker(self, channel: str, thread: str | None, user: str) -> None:
        """Somebody wrote there last."""
        self._speakers.put((channel, thread), user)

    def newest(self, channel: str) -> str | None:
        """The newest message known in a channel or its threads."""
        return self._newest.get(channel)

    def speaker(self, channel: str, thread: str | None) -> str | None:
        """Who wrote last in a thread, as far as it is known."""
        return self._speakers.get((channel, thread))
